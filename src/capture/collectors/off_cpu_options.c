/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of --off-cpu. */
#include "src/capture/collectors/off_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"

#define OFF_CPU_MIN_NS 1000
#define OFF_CPU_BUDGET 0.1

#define AT(field) offsetof(struct off_cpu_options, field)

/* "SDT": letters of states as ps has them. */
static int parse_states(const struct opt *o, const char *value, void *dst)
{
	static const struct { char letter; uint32_t bits; } letters[] = {
		{ 'R', OFF_CPU_RUNNABLE }, { 'S', 0x1 }, { 'D', 0x2 }, { 'I', 0x400 },
		{ 'T', 0x4 }, { 't', 0x8 }, { 'P', 0x40 },
	};
	uint32_t *states = dst;

	*states = 0;
	for (const char *p = value; *p; p++) {
		uint32_t bits = 0;

		for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
			if (letters[i].letter == *p)
				bits = letters[i].bits;
		if (!bits && *p != ',')
			return fail_why(-EINVAL, "--%s %s: %c is no state. Try letters of: R could "
					"go on, S sleeping, D disk, I idle, T stopped, t traced, "
					"P parked", o->name, value, *p);
		*states |= bits;
	}
	return *states ? 0 : fail_why(-EINVAL, "--%s: no state. Try: SD", o->name);
}

static int parse_probability(const struct opt *o, const char *value, void *dst)
{
	char *end;
	double p = strtod(value, &end);

	if (end == value || *end || !(p > 0 && p <= 1))
		return fail_why(-EINVAL, "--%s %s: more than 0, at most 1. Try: --%s 0.1", o->name,
				value, o->name);
	*(double *)dst = p;
	return 0;
}

static int parse_budget(const struct opt *o, const char *value, void *dst)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%")) || !(percent >= 0.1 && percent <= 100))
		return fail_why(-EINVAL, "--%s %s: from 0.1 to 100. Try: --%s 5", o->name, value,
				o->name);
	*(double *)dst = percent / 100;
	return 0;
}

const struct opt off_cpu_rows[OFF_CPU_ROWS] = {
	{ 0, "off-cpu", NULL,
	  "record how long threads are off the CPU, with the stack at which they left it: asleep "
	  "(event off-cpu) and waiting for a CPU (event cpu-wait); sample does so instead of "
	  "sampling, unless -e is given, too",
	  opt_flag, AT(wanted), NULL, "Off-CPU time", NULL },
	{ 0, "min-block-time", "TIME",
	  "leave out shorter off-CPU intervals: 10us, 1ms (default 1us)", opt_duration,
	  AT(min_ns), NULL, NULL, NULL },
	{ 0, "max-block-time", "TIME", "leave out longer ones (default: none)", opt_duration,
	  AT(max_ns), NULL, NULL, NULL },
	{ 0, "wakers", NULL,
	  "also the stack of who ended each sleep, with the time slept as its weight (event "
	  "wakeup)",
	  opt_flag, AT(wakers), NULL, NULL, NULL },
	{ 0, "state", "LETTERS",
	  "only threads that left the CPU in one of these states: R (could go on), S, D, I, T, t, "
	  "P (default: all)",
	  parse_states, AT(states), NULL, NULL, NULL },
	{ 0, "off-cpu-prob", "P",
	  "record this share of the intervals, sampled at random, each with as much more weight "
	  "(default 1)",
	  parse_probability, AT(probability), NULL, NULL, NULL },
	{ 0, "off-cpu-budget", "PERCENT",
	  "how much of one CPU this may take; above that, intervals are sampled at random and "
	  "reweighted (default 10; 100: no limit)",
	  parse_budget, AT(budget), NULL, NULL, NULL },
};

int off_cpu_check(void *own)
{
	struct off_cpu_options *o = own;

	if (!o->wanted && (o->min_ns || o->max_ns || o->states || o->probability > 0 ||
			   o->budget > 0 || o->wakers))
		return fail_why(-EINVAL,
				"--min-block-time, --max-block-time, --state, "
				"--off-cpu-prob, --off-cpu-budget and --wakers say which off-CPU "
				"intervals are recorded, and how. Try: with --off-cpu");
	if (o->max_ns && o->max_ns < o->min_ns)
		return fail_why(-EINVAL, "--max-block-time is less than --min-block-time. "
				"Try: exchange them");
	if (o->wanted && !o->min_ns)
		o->min_ns = OFF_CPU_MIN_NS;
	if (o->wanted && !(o->budget > 0))
		o->budget = OFF_CPU_BUDGET;
	return 0;
}
