/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that a perf event can count, by perf's names, and lists of them from the command line.
 *
 *	struct event_list l = { 0 };
 *	event_list_parse(o, "cpu-clock,faults", &l)	parses an option; any number of times
 *	event_list_complete(&l, freq, period)		once all options are known
 *	event_list_release(&l)
 *
 * An event by time (cpu-clock) has a frequency. One that counts (page-faults) has a period or a
 * frequency. With a period N each N-th occurrence is sampled, and the sample weighs N. With a
 * frequency the kernel adapts the period to get about so many samples a second, and a sample weighs
 * what the period was.
 *
 * Written as NAME, NAME/period=N/ or NAME/freq=HZ/; NAME may end with :u or :k, and counts only in
 * programs or only in the kernel then; with :p, :pp, :ppp the CPU is asked for the exact place.
 * Other events of the hardware are those of pmu_event.h. A name may also be that of a kind of
 * capture (bpf/kinds.def), which has neither modes nor settings. "help" stands for
 * event_table_help().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/knobs.h"
#include "src/capture/collectors/probe_list.h"

struct opt;

/* A row of the table. The numbers are those of include/uapi/linux/perf_event.h. */
struct event_type {
	const char *name, *alias;	/* alias: perf's other name; NULL: none */
	const char *unit;		/* of its weight: "ns", "cycles", "count" */
	uint32_t type;			/* PERF_TYPE_... */
	uint64_t config;		/* PERF_COUNT_... */
	uint8_t kind;			/* enum event_kind */
	bool by_time;			/* a clock: its frequency is made an exact period */
};

extern const struct event_type event_types[];	/* ends with a NULL name; the preferred one first */

const struct event_type *event_type_find(const char *name, size_t len);	/* NULL: not known */

struct event_spec {
	const struct event_type *type;
	struct event_type *own;		/* the same if the list owns it (pmu_event.h), or NULL */
	char name[96];			/* "cycles:u" */
	bool no_user, no_kernel;	/* it does not count there */
	uint8_t precise;		/* attr.precise_ip */
	uint64_t config1, config2;
	double freq_hz;			/* 0: that of the recording */
	uint64_t period;		/* 0: by frequency */
};

/* The period of an event by time, from its frequency. */
static inline uint64_t event_spec_period_ns(const struct event_spec *e)
{
	return (uint64_t)(1e9 / e->freq_hz + 0.5);
}

struct event_list {
	struct probe_list probes;	/* what is no event of perf's */
	struct event_spec v[WIRE_MAX_EVENTS];
	bool wants_help;		/* -e help */
	uint32_t named;			/* bit i: collectors[i] is asked for (kinds.def) */
	size_t nr;			/* 0: the default, cycles where the hardware counts them */
};

/* dst: a struct event_list. 0, or -EINVAL, which was explained with the list of all events. */
int event_list_parse(const struct opt *o, const char *value, void *dst);

/*
 * Fills in what the command line says for all: events that count get this period (0: none was
 * given); the others, and those without a period, get this frequency. -EINVAL: a period was given
 * and no event counts; explained.
 */
int event_list_complete(struct event_list *l, double freq_hz, uint64_t period);
void event_list_release(struct event_list *l);

/* Lists the events that there are, and whether this machine counts them, on -e help. */
void event_table_help(FILE *out);
