/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of live_page share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/render/page/page_message.h"
#include "formats/render/page/page_tables.h"
#include "src/base/bytes.h"
#include "src/base/hash_index.h"
#include "src/live/live_entries.h"
#include "src/live/live_page.h"
#include "src/live/live_stacks.h"
#include "src/live/live_threads.h"
#include "src/live/live_waits.h"

#define LIVE_NO_EVENT 255

struct json_writer;
struct syscall_names;

/* How long the tables were in a version. */
struct live_marks {
	struct page_rows rows;
	uint32_t nodes, stacks, counts;
};

struct live_version {
	struct live_marks marks;
	struct byte_buf entries;	/* that came with it */
};

/* What a thread of the page's tables is besides. */
struct live_thread_state {
	uint32_t record;		/* id of its THREAD record */
	bool is_quiet, has_been_active, has_rows;
	uint64_t changed;		/* version in which is_quiet has changed */
};

struct live_page {
	const struct live_profile *l;
	uint64_t version, base_ns;
	bool has_base, shows_idle;
	struct page_tables t;
	struct live_thread_state *states;	/* by thread */
	size_t cap_states;
	uint32_t *process_of, *thread_of;	/* by id of the record: index plus 1 */
	size_t cap_process_of, cap_thread_of;
	uint32_t nr_quiet;
	size_t nr_noted;		/* counts whose activity is known in .threads */
	struct live_stacks stacks;
	uint32_t *stack_of, *thread_of_count;	/* by count */
	size_t cap_stack_of, cap_thread_of_count;
	size_t nr_counts;		/* that are told */
	uint32_t events[PAGE_MAX_EVENTS];	/* their ids */
	size_t nr_events;
	uint32_t left_out;
	struct live_entries entries;
	struct byte_buf came;		/* with the next version */
	struct live_threads rows;
	struct live_waits waits;
	uint64_t waits_changed;
	struct syscall_names *calls;
	char *facts;			/* JSON */
	uint64_t facts_changed;
	uint64_t stacks_whole, stacks_all;	/* user stacks that came, and whole ones */
	/* The newest versions, the last of which is .version; all before first are forgotten. */
	struct live_version *log;
	size_t nr_log, cap_log, log_bytes;
};

/* live_facts.c: the column "event" of a count of this event id. */
uint8_t live_page_event(const struct live_page *p, uint32_t event);
/* live_facts.c: which events there are, and the facts. 1: something has changed; 0; -ENOMEM */
int live_facts_update(struct live_page *p);
/* live_facts.c: the section "now" as JSON. 0 or -ENOMEM */
int live_facts_put_now(const struct live_page *p, struct byte_buf *out);
/* live_tables.c: threads, processes, stacks and counts that have come. 0 or -ENOMEM */
int live_tables_update(struct live_page *p);
/* live_tables.c: which threads slept all the time. 1: that has changed; 0 */
int live_tables_find_quiet(struct live_page *p);
