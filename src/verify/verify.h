/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the stacks of a trace by elfutils: each RAWSTACK record's registers and memory are unwound
 * again by libdw, in the files as they are now, and its frames are compared with those that probee
 * found.
 *
 *	verify_open(path, &v)		reads the trace once: definitions
 *	verify_run(v, fn, ctx)		reads it again and judges
 *	verify_close(v)
 *
 * Messages are printed where they arise.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"
#include "unwind/row.h"

struct definition_store;
struct verify;

enum verdict_kind {
	VERDICT_EQUAL,
	VERDICT_LIBDW_SHORTER,		/* equal until libdw gave up */
	VERDICT_PROBEE_SHORTER,		/* equal until probee gave up, and it says so */
	VERDICT_GUESS,			/* they differ behind code without CFI, where libdw guesses
					   by frame pointers */
	VERDICT_HANDLER,		/* they differ behind CFA_EH_RETURN, where libdw follows CFI
					   that does not hold */
	VERDICT_DIFFERENT,
	VERDICT_UNFIT,			/* of another machine, or its thread is not in the trace */
	VERDICTS
};

struct verify_frame {
	uint32_t binary;		/* record id; 0: anonymous or unmapped, addr is absolute
					   then */
	uint64_t addr;			/* virtual address of the file; behind the call unless
					   exact */
	bool exact;
	uint32_t frame;			/* probee's: id of its FRAME record */
	const char *symbol;		/* libdw's: only at the first difference; NULL: unknown */
	uint64_t symbol_offset;
};

struct verdict {
	enum verdict_kind kind;
	const struct rec_rawstack *raw;
	const struct definition_store *tables;
	const struct verify_frame *ours, *theirs;	/* innermost first */
	uint32_t nr_ours, nr_theirs;
	uint32_t at;			/* the first frame that differs, or that one of them has
					   not */
	const char *why;		/* libdw's reason to stop; NULL: an outermost frame */
	bool has_rule;			/* probee's rule for frame at - 1, from the file as it is
					   now */
	struct unwind_rule rule;
	uint16_t machine;		/* e_machine of that file */
};

/* Borrowed for the call; not 0 stops and is returned. */
typedef int (*verdict_fn)(void *ctx, const struct verdict *v);

/* 0, or -errno after a message. */
int verify_open(const char *path, struct verify **vp);
int verify_run(struct verify *v, verdict_fn fn, void *ctx);
void verify_close(struct verify *v);		/* NULL is fine */

/* Calls fn for each file that was needed and is not what was recorded. */
void verify_bad_files(struct verify *v, void (*fn)(void *ctx, const char *path, bool changed),
		      void *ctx);
