/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message: what the scripts of a page work with. A page of --html holds one message, which is all
 * and the end of it. A page that is fed gets one after the other (src/live/live_page.h), each of
 * which leads from a version to the next one. One script reads both (assets/page/data.js).
 *
 *	page_message_state(out, flags, version)
 *	page_message_section(out, "threads", &section) ...
 *	page_message_pack(&plain, out)
 *
 * A large one is packed while it is made (page_pack.h).
 *
 * A message is one byte, 0: the sections follow as they are, 1: deflated; and the sections. Each is
 * the length of its name, the name, the length of its bytes, the bytes. A section that is empty is
 * left out. Numbers are LEB128 varints; "sv" is zigzag (src/base/bytes.h). A column has one number
 * for each row; "from, nr" before columns says which rows of a table they are, and all before them
 * are known. Sections come in this order:
 *
 *	state		flags (enum page_flag); version
 *	facts		JSON: what hardly changes; of each event its name, unit and kind
 *	now		JSON: sums and times; of each event its sums
 *	strings, processes, threads, functions	as page_tables.h says
 *	quiet		pairs: thread, 1: it slept all the time, 0: it did not
 *	nodes		tree (0: of all events; else 1 + number of its event), from, nr; columns:
 *			node - parent (of the root: 0), function, flags (NODE_...). A parent is
 *			before its children. Trees of single events are in pre-order
 *	waits		JSON; none: there is no snapshot, or nothing has changed. all: how many pass
 *			the filters; threads: a list, as waits_json.h says; scans: those for which
 *			there is room (of a fed page: the newest), each with nr, its number in the
 *			trace, walk, its number in its recording, at_ns, mono_ns (CLOCK_MONOTONIC),
 *			all, its number of threads, edges: a list of [section, number of threads,
 *			tid], more: edges left out, rings: a list of [certain, stood still,
 *			tid ...], heads, and threads: indices of that list
 *
 * A page that is made once has the samples themselves (page_data.h), one that is fed has their
 * numbers by second (src/live/live_page.h), and one that compares has deltas (diff_html.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

struct json_writer;

#define PAGE_MAX_EVENTS 8		/* that a page can show */

enum page_flag {
	PAGE_IS_ALL = 1,	/* forget what you have */
	PAGE_HAS_ENDED = 2,	/* the recording has */
};

/* A node of a call tree in the section "nodes". */
struct page_node {
	uint32_t up;		/* its number less that of its parent */
	uint32_t function;
	uint8_t flags;
};

/*
 * Each appends a section; without memory out is bad. section is empty afterwards, and its memory is
 * released.
 */
void page_message_section(struct byte_buf *out, const char *name, struct byte_buf *section);
void page_message_text(struct byte_buf *out, const char *name, const char *text, size_t len);
/* What is before a section's bytes, where these follow elsewhere. */
void page_message_head(struct byte_buf *out, const char *name, size_t len);
void page_message_state(struct byte_buf *out, unsigned flags, uint64_t version);
void page_message_nodes(struct byte_buf *out, uint32_t tree, uint32_t from,
			const struct page_node *v, size_t nr);

/* A section of JSON, which put(w, ctx) writes. 0 or -ENOMEM */
int page_message_json(struct byte_buf *out, const char *name,
		      void (*put)(struct json_writer *w, const void *ctx), const void *ctx);

/* The sections as a message; short ones are not deflated. 0 or -ENOMEM. The caller releases out. */
int page_message_pack(const struct byte_buf *sections, struct byte_buf *out);

/* Rows from .. end - 1 of a table follow, column by column: equal numbers compress well. */
static inline void page_begin_columns(struct byte_buf *b, size_t from, size_t end)
{
	bb_uv(b, from);
	bb_uv(b, end - from);
}

/* value may use i, the number of the row. */
#define PAGE_PUT_COLUMN(b, from, end, value) \
	for (size_t i = (from); i < (end); i++) \
		bb_uv((b), (value))
