/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many frames of a trace have names, and why the others have none: by binary and cause, the
 * most frequent first. The trace alone tells this: what SYMBOL records say, and what they do not.
 *
 *	name_health_init(&h, &tally, tables_of, ctx)	behind stack_health_init() of the same
 *							tally; 0 or -ENOMEM, silently
 *	h.all, h.rows[i]
 *	name_health_release(&h)
 *
 * Each figure comes twice: distinct frames, and frames as often as they were sampled ("times"): a
 * function without a name that is in every stack matters more than a hundred that were met once.
 * Binaries are told apart by path, so those of several recordings in one file come together.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/report/stack_health.h"

enum name_cause {
	NAME_STRIPPED,			/* the file has no table of all symbols */
	NAME_NO_SYMBOL,			/* it has one, and nothing in it is at the address */
	NAME_UNREADABLE,
	NAME_GONE,			/* there was no file any more */
	NAME_LIMITED,			/* given up: time or memory */
	NAME_NOT_ASKED,			/* --no-symbolize, or the recording ended before */
	NAME_GENERATED,			/* made at run time, without a map of names */
	NAME_HIDDEN,			/* the kernel did not show its addresses */
	NAME_NO_FILE,			/* at an address where nothing was known to be mapped */
	NAME_LATE,			/* made at run time, and not read in time */
	NAME_UNANSWERED,		/* the helper process that was asked ended */
	NAME_ENDED,			/* the process ended before its file was opened */
	NAME_CAUSES
};

struct name_count {
	uint64_t frames, times;
};

struct name_row {			/* frames without a name of one binary, for one cause */
	uint32_t path;			/* name_health_path() */
	uint8_t cause;			/* enum name_cause */
	struct name_count n;
	uint64_t all;			/* frames of this binary, with and without a name */
};

struct name_health {
	struct name_count all, named, with_lines;	/* with_lines: of named */
	struct name_count in_file, unknown;	/* the others: file and offset, or not even that */
	struct name_count causes[NAME_CAUSES];
	struct name_row *rows;
	size_t nr_rows, cap_rows;
	struct intern *paths;
};

int name_health_init(struct name_health *h, struct stack_tally *t, health_tables_fn tables_of,
		     const void *ctx);
void name_health_release(struct name_health *h);
const char *name_health_path(const struct name_health *h, const struct name_row *row, size_t *len);

const char *name_cause_name(unsigned cause);	/* "stripped", for scripts */
const char *name_cause_text(unsigned cause);	/* "the file has no symbol table" */
const char *name_cause_remedy(unsigned cause);	/* ""; else what to do */
