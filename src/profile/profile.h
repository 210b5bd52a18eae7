/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call tree: what a report draws. Grown by fold.c, read-only for renderers; names are resolved.
 *
 * Node 0 is the root ("all"). Children of a node are sorted by name, so equal input gives equal
 * output. Nodes are merged by {name, kind, inlined, binary} under the same parent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"
#include "src/profile/trace_summary.h"

#define NODE_NONE UINT32_MAX

enum {
	NODE_INLINED = 1,
	NODE_GUESSED = 2,
	NODE_SYNTHETIC = 4 /* no code: thread name, cpu_01, [kthread] */
};

struct node {
	uint32_t parent;		/* NODE_NONE for the root */
	uint32_t first_child, next_sibling;	/* NODE_NONE: no more */
	uint32_t name;			/* profile_name() */
	uint32_t binary;		/* profile_name(): path of its file; 0 none */
	uint32_t file, line;		/* profile_name(), source line; 0 unknown */
	uint16_t depth;			/* root 0 */
	uint8_t kind;			/* enum frame_kind */
	uint8_t flags;			/* NODE_... */
	uint64_t self, total;		/* weight; total is self plus all children */
	uint64_t self_samples, total_samples;
};

/* A tree may have millions of them, and all work on it waits for memory. */
_Static_assert(sizeof(struct node) == 64, "one cache line each");

/* What every picture says under its title. All strings may be "". */
struct profile_facts {
	const char *host, *kernel, *tool, *argv;
	const char *event;		/* name of the one that is shown: "cpu-clock" */
	const char *unit;		/* of self and total: "ns", "count", "samples", ... */
	const char *noun;		/* its samples are called "samples" or "thread states" */
	const char *thing;		/* what a weight counts where unit is no measure:
					   "page-faults", "samples" */
	const char *shown;		/* report_shown_text(): what is shown, and what else there
					   is */
	const char *amount;		/* report_amount_text() of what passed the filters */
	const char *title;		/* report_title_text(): of the picture */
	uint64_t begin_real_ns;		/* date of the first sample, UTC */
	uint64_t duration_ns;
	uint64_t samples;		/* that passed the filters */
	uint64_t weight;		/* of these, in unit */
	uint64_t samples_total;		/* of the event, in the trace */
	uint64_t lost;
	uint64_t roots;			/* samples with a whole user stack, of user_stacks */
	uint64_t user_stacks;
	const char *stacks;		/* report_stacks_text() of them */
	const char *not_whole;		/* report_broken_text(): who is to blame for those that are
					   not whole */
	uint64_t frames, frames_unnamed;	/* distinct ones */
	const char *scans;		/* report_scans(): the receipts of walks, and who was not
					   seen */
	struct report_scans scan_sums;
	bool incomplete;		/* truncated or damaged trace, no END record */
	const char *warning;		/* one line about losses and damage; "" when there is
					   none */
};

struct stack_health;

struct profile {
	struct node *nodes;
	size_t nr_nodes, cap_nodes;
	struct intern *names;
	struct profile_facts facts;
	struct stack_health *health;	/* of the samples in it; NULL: nothing is known */
};

/* NULL is fine. The strings of facts live in names. Frees health too. */
void profile_free(struct profile *p);

const char *profile_name(const struct profile *p, uint32_t name);
