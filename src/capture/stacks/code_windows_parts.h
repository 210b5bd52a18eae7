/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of code_windows.c share. A window is unused (tgid 0), or it is
 *
 *	idle		its process has it (window_of_code), with a table or without
 *	queued		it is to be read as soon as a request is free
 *	pending		its request is in the pool
 *
 *	code_windows.c		which windows there are; budgets; what is read again
 *	code_window_reads.c	from queued to idle: requests and what they find out
 */
#pragma once

#include "src/capture/stacks/code_request.h"
#include "src/capture/stacks/code_shares.h"
#include "src/capture/stacks/code_windows.h"
#include "unwind/unwind_limits.h"

#define MAX_REQUESTS 4			/* at a time */
#define MAX_FRUITLESS 8			/* wants that found the code as it was */
#define TOKENS_FOR_AGAIN 64		/* what has changed is parsed if so many are left */
#define UPDATE_NS (50 * NSEC_PER_MSEC)

enum window_state { WINDOW_IDLE, WINDOW_QUEUED, WINDOW_PENDING };

struct window {
	struct code_windows *cw;
	uint32_t tgid;
	uint32_t answers;		/* so far, for struct code_wait */
	uint64_t serial;		/* of the process */
	uint64_t begin, end;
	uint64_t read_ns, hash;		/* 0: nothing is known */
	uint64_t look_ns, interval_ns;	/* when it is read again, and after how long */
	uint64_t queued_ns, unused_since_ns, left_alone_ns;
	uint64_t seeds[CODE_MAX_SEEDS];	/* code that was met in it; the last ones */
	unsigned nr_seeds;		/* in all */
	unsigned fruitless, retries;
	uint8_t state;			/* enum window_state */
	bool is_wanted;			/* queued: a stack waits for it */
	bool is_met;			/* at a place that is no seed of its table */
	bool evicted;
};

struct code_windows {
	struct code_windows_deps deps;
	struct window v[UNWIND_MAX_WINDOWS];
	struct code_request *requests[MAX_REQUESTS];	/* NULL: not made yet */
	struct memory_reader *memory;	/* used by the pool's thread */
	struct code_pages *pages;
	struct code_shares shares;
	uint64_t next_update_ns, next_show_ns;
	bool is_dirty;			/* some process's windows_dirty is set */
	size_t end;			/* no window from here on was ever used */
	size_t next;			/* to be read again */
	size_t victim;
	unsigned nr_queued;
	bool has_said_over;
	struct code_windows_stats stats;
};

/* The number of its table. */
static inline uint32_t code_window_table(const struct window *w)
{
	return UNWIND_FIRST_WINDOW + (uint32_t)(w - w->cw->v);
}

/* The living process of a window, or NULL. */
struct process *code_window_process(const struct window *w);
/* The mapping in which pc is generated code of p now, or NULL. */
const struct mapping *code_windows_mapping(const struct code_windows *cw, const struct process *p,
					   uint64_t pc);
/* Shows p's window to the kernel side, with or without a table. */
void code_window_publish(struct window *w, struct process *p, bool has_table);
/* Makes it unused; it must not be pending. */
void code_window_forget(struct window *w);

/* is_wanted: a stack waits for it. */
void code_window_queue(struct window *w, struct process *p, bool is_wanted);
void code_window_dequeue(struct window *w);
/* Has queued windows read, as far as requests are free and tokens are left. */
void code_windows_dispatch(struct code_windows *cw);
