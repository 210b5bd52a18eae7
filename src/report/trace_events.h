/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a trace: what made its samples, how many samples each has, and what they weigh.
 *
 * A trace may hold several recordings, each with definitions of its own. Two events of different
 * recordings count as one if their names and units are equal. Samples of different events are never
 * added unless the query names them together: a report shows one event, which
 * trace_events_choose() picks.
 *
 *	trace_events_init(&t)			0 or -ENOMEM, as all that return int
 *	trace_events_sample(&t, segment, tables, rec, nr)	nr samples like rec, in the order
 *							of the file
 *	trace_events_define(&t, segment, tables)	each segment, for events without samples
 *	trace_events_end(&t)
 *	trace_events_join(&t, query, path, &joined)
 *	trace_events_choose(&t, query, &chosen)	unless some were joined
 *	trace_events_weigh(&t, segment, rec, &weight)	which event a sample is of
 *	trace_events_release(&t)
 *
 * The weight of a sample is its own or, when that is 0, the period that its recording states. An
 * event that has samples with neither is counted: its unit is "samples", and each sample weighs 1.
 * Samples whose EVENT record was lost are two such events: the rows of scans, and all others.
 *
 * Memory grows with EVENT records, never with samples. Names and units are foreign bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct definition_store;
struct intern;
struct query;
struct rec_event;
struct rec_sample;

#define NO_EVENT UINT32_MAX

struct trace_event {
	const char *name, *unit;	/* end with NUL; "ns", "cycles", "count", "bytes", ... */
	uint8_t kind;			/* enum event_kind; EVENT_KINDS: its record was lost */
	uint64_t freq_mhz, period;	/* of the first recording that has them; 0: unknown */
	bool varies;			/* another recording has another rate */
	bool is_counted;		/* each sample weighs 1 */
	bool shares_name;		/* another event of this name has another unit */
	uint32_t joined;		/* index plus 1 of the event it is a part of; 0: none */
	uint64_t samples;
	uint64_t weight;		/* of all samples, in unit; at most UINT64_MAX */
	uint32_t id;			/* its EVENT id in the first recording that has it */
	uint32_t name_id, unit_id;	/* internal */
};

struct event_slot {			/* the event of an EVENT id, and its period here */
	uint32_t event;			/* index plus 1; 0: not resolved */
	uint64_t period;
};

struct event_segment {
	struct event_slot *slots;	/* by EVENT id */
	size_t cap_slots;
};

struct trace_events {
	struct trace_event *v;		/* in the order of their first sample or record */
	size_t nr, cap;
	struct intern *names;
	struct hash_index index;
	struct event_segment *segments;
	size_t nr_segments, cap_segments;
	uint32_t lost, lost_scans;	/* events of samples without a record; NO_EVENT: none */
};

int trace_events_init(struct trace_events *t);
void trace_events_release(struct trace_events *t);

/* Whether a sample of this EVENT id has come. */
bool trace_events_has(const struct trace_events *t, uint32_t segment, uint32_t id);
int trace_events_sample(struct trace_events *t, uint32_t segment,
			const struct definition_store *tables, const struct rec_sample *rec,
			uint64_t nr);

/* Once for each segment, after all samples; then trace_events_end(). */
int trace_events_define(struct trace_events *t, uint32_t segment,
			const struct definition_store *tables);
void trace_events_end(struct trace_events *t);

/* Returns the event of a sample (NO_EVENT: none), and sets its weight. After trace_events_end(). */
uint32_t trace_events_weigh(const struct trace_events *t, uint32_t segment,
			    const struct rec_sample *rec, uint64_t *weight);

/*
 * The event that is shown: what the query asks for, else CPU time, else of those that have samples
 * the one that the recording has defined first. *chosen is NO_EVENT where the trace has none and
 * nothing was asked for. -ENODATA: the trace has no samples of what the query asks for;
 * trace_events_refuse() says so.
 */
int trace_events_choose(const struct trace_events *t, const struct query *q, uint32_t *chosen);

/*
 * If the query names several events ("cpu-clock,off-cpu"): makes them one, which has all of their
 * samples, and sets *joined to its index; else to NO_EVENT. Times of one thread on and off a CPU
 * add up; events of other units never do. 0; -ENODATA: one of the names is none; -EINVAL: their
 * units differ; both explained; or -ENOMEM.
 */
int trace_events_join(struct trace_events *t, const struct query *q, const char *path,
		      uint32_t *joined);

/* Says what there is instead; chosen: by trace_events_choose(). Returns -ENODATA. */
int trace_events_refuse(const struct trace_events *t, const struct query *q, const char *path,
			uint32_t chosen);

/* Time that is measured by no clock: each sample says how long something took. */
bool trace_event_has_lengths(const struct trace_event *e);

/*
 * The event's name for --event: "cpu-clock"; "cycles (count)" if another "cycles" has another unit.
 */
#define EVENT_LABEL_MAX 96
const char *trace_event_label(const struct trace_event *e, char buf[EVENT_LABEL_MAX]);

/*
 * Lists labels: "cpu-clock, page-faults". Either events with samples or those without, except
 * "but".
 */
void trace_events_list(const struct trace_events *t, bool with_samples, uint32_t but, char *out,
		       size_t size);
