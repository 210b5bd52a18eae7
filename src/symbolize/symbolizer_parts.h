/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What symbolizer.c, symbolizer_lines.c and symbolizer_settle.c share. Internal to the symbolizer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/worker.h"
#include "src/symbolize/symbol_batch.h"
#include "src/symbolize/symbolizer.h"

/*
 * One binary. While a batch of it is open, the table belongs to the thread that runs the batch;
 * everything else is the owner's.
 */
struct subject {
	struct symbol_source src;	/* .path is owned, .fd too */
	struct elf_symbols *table;
	struct kernel_symbols *kernel;	/* owned; for SOURCE_KERNEL without data */
	uint32_t id;
	int err;			/* of the load; it is not tried again */
	struct symbol_file_notes notes;
	/* Lines are added while the next names are looked up, so their notes are apart. */
	struct symbol_file_notes line_notes;
	size_t table_bytes;
	uint64_t last_used;		/* count of batches */
	struct symbol_answer *pending;
	size_t nr_pending, cap_pending;
	bool is_open;			/* a batch is queued or running */
	unsigned nr_batches;		/* made, and not freed yet */
};

struct batch {
	struct worker_job job;
	struct symbolizer *owner;
	struct subject *subject;
	struct symbol_batch b;
	size_t answered;
	bool is_lost;			/* given up, because of time or of its parser */
	bool is_copy;			/* of one in symbolizer.adding */
	uint64_t generation;		/* another than the owner's: its requests were forgotten */
	struct batch *next;
};

struct symbolizer {
	struct worker_pool *pool;
	struct symbolizer_options opts;
	struct subject **subjects;	/* by id */
	size_t nr_subjects, cap_subjects;
	struct subject kernel;		/* all SOURCE_KERNEL binaries are this one */
	struct subject unknown;		/* ids that were never added */
	struct batch *answered, **answered_tail;
	struct batch *waiting;		/* for their lines */
	struct batch *adding;		/* names to whose copies lines are being added */
	bool is_adding_lines;		/* to batches of one owner at a time */
	unsigned nr_open;		/* batches queued or running */
	size_t nr_pending;		/* requests of all subjects that are in no batch yet */
	uint64_t nr_batches;		/* done */
	uint64_t nr_lost;		/* requests */
	uint64_t generation;		/* counts how often requests were forgotten */
	size_t table_bytes;
};

struct symbol_file symbolizer_file_of(struct subject *s, unsigned max_depth,
				      struct symbol_file_notes *notes);

/* These are called in the owner's thread. */

bool symbolizer_wants_lines(const struct symbolizer *s, const struct batch *job);
/* The batch that comes first of those that wait; NULL: none waits. */
struct batch *symbolizer_take_waiting(struct symbolizer *s);
/* The batch that comes first, with all others of its owner chained to it; NULL: none waits. */
struct batch *symbolizer_take_group(struct symbolizer *s);

/* Puts a batch behind those that have answers, or frees it if its requests were forgotten. */
void symbolizer_put_answered(struct symbolizer *s, struct batch *job);
void symbolizer_free_batch(struct batch *job);
/* Starts what can be started, batches included that there was no memory for before. */
void symbolizer_work(struct symbolizer *s);
/* Gives the answers that are there; one that fn refuses counts as given. */
int symbolizer_deliver(struct symbolizer *s, symbol_fn fn, void *ctx);
void symbolizer_wait_for_jobs(struct symbolizer *s);	/* for a moment */
void symbolizer_free_batches(struct batch *job);	/* and those that are chained to it */
void symbolizer_start_lines(struct symbolizer *s);	/* unless some are being added */
/* Names that wait for their lines, or all that lack them, are given without. */
void symbolizer_give_up_waiting(struct symbolizer *s);
void symbolizer_give_up_lines(struct symbolizer *s);
