/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the agent's own CPU time within its budget, by the rates of the recorder.
 *
 * After each window the cost of that window is looked at. Above the budget the rates are halved
 * from the next window on, down to a RATE_MOST_TIMES-th. They are doubled again when the cost has
 * been so low for RISE_WINDOWS in a row that twice as much would fit. What a recorder takes for its
 * start is no reason to lower anything: its first RATE_SETTLE_WINDOWS are passed over, and so is
 * the one after a change, of which a part was at the old rate.
 *
 *	rate_budget_started(&b)		a recorder was started
 *	rate_budget_window(&b, now, cpu_ns)	a window has ended; cpu_ns: all until now.
 *						RATE_LOWER, RATE_RISE: b.times has changed
 *	b.cost				of the last window, CPU seconds a second
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RATE_MOST_TIMES 32
#define RATE_SETTLE_WINDOWS 4

enum rate_change { RATE_STAYS, RATE_LOWER, RATE_RISE, RATE_AT_LOWEST };

struct rate_budget {
	double budget;			/* CPU seconds a second; 0: none */
	uint32_t times;			/* the rates are divided by this: 1, 2, 4, ... */
	double cost;
	uint64_t last_ns, last_cpu_ns;
	unsigned settling;		/* windows that are still passed over */
	unsigned low;			/* windows in a row with room */
	bool skips;			/* the next window: the rate was changed in it */
	bool is_at_lowest;		/* said once */
};

void rate_budget_init(struct rate_budget *b, double budget);
void rate_budget_started(struct rate_budget *b);
enum rate_change rate_budget_window(struct rate_budget *b, uint64_t now, uint64_t cpu_ns);
