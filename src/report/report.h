/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace that is open for reporting: its names, its receipts, and its samples as often as they are
 * wanted.
 *
 *	report_open(path, &query, &rep)		reads the whole trace once, because names come after
 *						the samples; with a window of time only the samples
 *						in it (report_learn.c)
 *	report_info(rep)			its contents: counts, losses, ends of stacks
 *	report_samples(rep, fn, ctx)		the samples of one event that pass the query, in the
 *						order of the file
 *	report_facts(rep, &facts)		the facts that stand under every picture
 *	report_close(rep)
 *
 * With a window of time, the numbers of samples, losses, receipts of scans and messages are still
 * those of the whole trace; how stacks ended and how often frames had names is of the window, and
 * damage outside of it is only known where something had to be read.
 *
 * Memory grows with definitions (frames, stacks, names), never with samples. A trace may hold
 * several recordings (cat a.pbz b.pbz). Each is a segment here, with definitions of its own; the
 * parts of a recording that goes on in other segments are one (part_joiner.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"
#include "src/report/query.h"
#include "src/report/report_sample.h"
#include "src/report/trace_summary.h"

struct cpu_check;
struct name_health;
struct profile_facts;
struct query;
struct quiet_threads;
struct report;
struct stack_health;
struct definition_store;
struct loss;
struct trace_event;
struct trace_events;

/*
 * query (NULL: everything of the event that trace_events_choose() picks) is borrowed until
 * report_close(). Says why it fails; -ENODATA: the trace has no samples of the event asked for;
 * -EAGAIN, which is not said: it has none yet (query.may_come).
 */
int report_open(const char *path, const struct query *query, struct report **rp);
/* Opens a trace by its descriptor, which is closed in any case; path is its name. */
int report_open_fd(int fd, const char *path, const struct query *query, struct report **rp);
void report_close(struct report *rep);			/* NULL is fine */
const char *report_path(const struct report *rep);

/* The sample is borrowed for the call. A result other than 0 ends the pass and is returned. */
typedef int (*report_sample_fn)(void *ctx, const struct report_sample *s);

/* Gives fn the samples of the event that is shown, if they pass the filters. */
int report_samples(struct report *rep, report_sample_fn fn, void *ctx);

/* Gives fn the samples of all events that pass. Those of different events are never added. */
int report_all_samples(struct report *rep, report_sample_fn fn, void *ctx);

/* Gives fn the rows of snapshots that pass the filters, whichever event is shown. */
int report_scan_rows(struct report *rep, report_sample_fn fn, void *ctx);

/*
 * Gives fn rows as report_scan_rows() does, but of REPEATs only those rows that are of this scan of
 * this segment. unfiltered: rows that do not pass, too.
 */
int report_rows_of(struct report *rep, uint32_t segment, uint32_t scan, bool unfiltered,
		   report_sample_fn fn, void *ctx);

/*
 * Gives the samples of the functions above to those who count them. Rows that a REPEAT stands for
 * come later than others, at the latest before the next segment, and together with all that are
 * like them: nr, with the weight of all of them. Their .rec and .real_ns are of an earlier row.
 */
struct report_counting {
	bool scan_rows;			/* rows of snapshots, not samples of the event */
	bool any_event;			/* samples of all events, filtered by time alone */
	bool unfiltered;
	int (*samples)(void *ctx, const struct report_sample *s, uint64_t nr);
	/* At least one of the rows that are to come was taken in this scan. NULL: unwanted. */
	int (*scan)(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns);
};
int report_counted(struct report *rep, const struct report_counting *c, void *ctx);

const struct report_info *report_info(const struct report *rep);

/* Every recording in it has its END record. */
bool report_has_ended(const struct report *rep);
/* It has not ended, and the query says that more may come. */
bool report_is_growing(const struct report *rep);

/* All events of the trace, and the one that is shown; NULL: it has none. */
const struct trace_events *report_events(const struct report *rep);
const struct trace_event *report_event(const struct report *rep);
const struct query *report_query(const struct report *rep);	/* NULL: everything */

/*
 * True if anything is missing: --strict refuses such a trace. Losses of any kind, rows that scans
 * should have had, what report_is_incomplete() says, and stacks that a tree could not tell apart.
 */
bool report_has_loss(const struct report *rep);
/* Damaged, cut, without END, or larger than the limits allow. */
bool report_is_incomplete(const struct report *rep);
/*
 * What to say of a trace without samples, behind its name: nothing was sampled, or what is left of
 * it has none. NULL: it has samples.
 */
const char *report_emptiness(const struct report *rep);

/*
 * What may be made of the samples, in proportion to the size of the file; 0: no limit. A call tree
 * beyond it still has all weights, but not all stacks: report_set_blurred() remembers that.
 */
struct report_limits {
	uint32_t nodes;			/* of the call tree */
	uint64_t name_bytes;		/* of all names in it */
	uint64_t steps;			/* frames that are looked at to make it */
	uint64_t output_bytes;		/* of one report */
};
void report_limits(const struct report *rep, struct report_limits *l);
void report_set_blurred(struct report *rep);
bool report_is_blurred(const struct report *rep);

/*
 * One line about losses, damage and measurements that contradict each other; "" when there are
 * none. Borrowed.
 */
const char *report_warning(const struct report *rep);

/*
 * The sum of all receipts of scans and the threads that could not be seen at all, as text; "" when
 * there is neither. Borrowed.
 */
const char *report_scans(const struct report *rep);

/* How busy the CPUs were, measured in different ways. */
const struct cpu_check *report_cpus(const struct report *rep);

/*
 * Fills all facts except those counted from samples that passed a query: facts.amount and .title
 * are "". Strings are borrowed until report_close().
 */
void report_facts(const struct report *rep, struct profile_facts *facts);

/*
 * What is missing, and when: the next loss (loss_list.h) in the order of the file that lies in the
 * window of time of the query, if it has one. *at begins with 0. false: there are no more.
 */
bool report_next_loss(const struct report *rep, size_t *at, struct loss *loss, uint64_t *real_ns);

/* The definitions of a segment, 0 .. nr_segments - 1. */
const struct definition_store *report_tables(const struct report *rep, uint32_t segment);

/*
 * The value of a META key in the first recording that has it; NULL: none has. It ends with NUL; len
 * may be NULL.
 */
const char *report_meta(const struct report *rep, const char *key, size_t *len);

/* What a recording says of itself, 0 .. nr_segments - 1; NULL: there is no such recording. */
const struct recording_facts *report_recording(const struct report *rep, uint32_t segment);

const struct report_meta_item *report_metas(const struct report *rep, size_t *nr);
const struct report_note *report_notes(const struct report *rep, size_t *nr);

/*
 * How good the user stacks of all samples are, or of all in the window of time that the query asks
 * for, and which code causes those that are not whole.
 */
const struct stack_health *report_health(const struct report *rep);

/* How many frames have names, and why the others have none; shares are of the same samples. */
const struct name_health *report_names(const struct report *rep);

/* Finds the quiet threads. *out is all 0 before. 0 or an error, silently. */
int report_find_quiet(struct report *rep, struct quiet_threads *out);
/*
 * From now on, the samples that pass lack those of quiet threads (quiet_threads.h), or have them
 * again. 0 or an error, silently.
 */
int report_hide_quiet(struct report *rep, bool hide);
/* The quiet threads that are left out now, and their rows. */
void report_hidden(const struct report *rep, uint64_t *threads, uint64_t *rows);

/* When the recording began, CLOCK_MONOTONIC, as far as known; 0: unknown. */
uint64_t report_begin_ns(const struct report *rep, uint32_t segment);

/*
 * The time in which a segment was recorded, CLOCK_REALTIME, as far as the query lets it pass;
 * nothing if it has neither a beginning nor samples. from_ns <= to_ns.
 */
void report_span(const struct report *rep, uint32_t segment, struct time_window *span);

/* A CLOCK_MONOTONIC time of a segment as CLOCK_REALTIME. */
uint64_t report_real_ns(const struct report *rep, uint32_t segment, uint64_t mono_ns);
