/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the script of a page gets to work with: the samples of each event, by thread and in the
 * order of time, with a call tree for each event, and who waited for whom.
 *
 *	page_data_read(rep, opts, &d)		one pass over the samples
 *	page_data_encode(&d, pack)		the sections of a message, and frees the samples
 *	page_data_release(&d)
 *
 * The first event is the one that the report shows; the others that have samples follow unless the
 * query asks for one. Samples of different events are never added. Each event has a tree of its
 * own. Besides the sections that all pages have, there are, for each event:
 *
 *	samples		event, what a tick is in ns, how often ticks were made longer; nr; threads
 *			nr; columns by thread: thread, its number of entries; columns by entry: tick
 *			(each thread's first: since the beginning; others: since the one before),
 *			node, CPU + 1 (0: none), activity, number of samples, scan (sv, since the
 *			one before), weight (0: as many times the usual one as there are samples;
 *			else weight + 1)
 *	strip		event; weights by PAGE_STRIP columns of equal time and enum activity: the
 *			time line where ticks have become long
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/render/page/page_functions.h"
#include "formats/render/page/page_message.h"
#include "formats/render/page/page_samples.h"
#include "formats/render/page/page_tables.h"
#include "src/base/hash_index.h"
#include "src/profile/answer.h"
#include "src/report/answer_lines.h"
#include "src/profile/fold.h"
#include "src/report/quiet_threads.h"
#include "src/report/report_subject.h"

#define PAGE_STRIP 800u
#define PAGE_WAITS_BYTES (4u << 20)	/* of JSON: about a sixth of that in the page */
#define PAGE_WAITS_ROWS 150000u

struct byte_buf;
struct page_pack;
struct profile;
struct render_opts;
struct report;
struct trace_event;

struct page_event {
	uint32_t event;			/* index of report_events() */
	const struct trace_event *info;
	struct fold *fold;		/* while the trace is read */
	struct profile *profile;
	struct page_samples samples;
	uint64_t nr_samples, weight, scans;
	uint64_t *strip;		/* PAGE_STRIP * ACTIVITIES */
	uint64_t usual;			/* what one sample weighs, as far as known */
	uint32_t last_scan, last_segment;
	uint32_t earlier_scans;		/* the highest number of a scan in the segments before */
	struct report_subject subject;
};

struct page_data {
	struct report *rep;
	const struct render_opts *opts;
	struct fold_options fold;
	struct page_event events[PAGE_MAX_EVENTS];
	size_t nr_events;
	uint32_t left_out;		/* events with samples for which there was no room */
	struct page_tables t;
	struct page_functions functions;	/* of all trees */
	bool *is_quiet;			/* by thread */
	size_t cap_is_quiet;
	/* By id in the segment that is read: index plus 1. */
	uint32_t segment;
	uint32_t *thread_of, *process_of;
	size_t cap_thread_of, cap_process_of;
	struct quiet_threads quiet;
	struct answer *answer;		/* of the event that the report shows */
	struct answer_lines lines;
	uint64_t begin_ns;		/* CLOCK_REALTIME: tick 0 is there */
	uint64_t nr_entries;
	uint64_t strip_ns;	/* a column of a strip; the first begins with the first sample */
};

/* 0 or -errno; what is not -ENOMEM was said. */
int page_data_read(struct report *rep, const struct render_opts *opts, struct page_data *d);
void page_data_release(struct page_data *d);

/* The profile of the event that the report shows, with all facts. */
const struct profile *page_data_profile(const struct page_data *d);

/* 0 or -errno, silently; page_pack_end() tells what else failed. */
int page_data_encode(struct page_data *d, struct page_pack *out);

/* page_head.c: the sections "facts" and "now". 0 or -ENOMEM */
int page_head_put(const struct page_data *d, struct byte_buf *out);
/* page_tree.c: the section "nodes", and places[node of the profile] in it. 0 or -ENOMEM */
int page_tree_put(struct page_data *d, const struct profile *p, uint32_t tree,
		  struct byte_buf *out, uint32_t **places);
/* page_waits.c: the section "waits". 0 or -errno, silently */
int page_waits_put(const struct page_data *d, struct byte_buf *out);
