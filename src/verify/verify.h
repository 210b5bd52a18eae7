/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the stacks of a trace by elfutils: libdw unwinds the registers and memory of each RAWSTACK
 * record again, in the files as they are now, and its frames are compared with those that probee
 * found.
 *
 *	verify_open(fd, path, &v)	reads the definitions of the trace
 *	verify_run(v, fn, ctx)		reads the trace again and passes a verdict on each stack
 *	verify_close(v)
 *
 * Messages are printed where a failure occurs.
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
	VERDICT_PROBEE_SHORTER,		/* equal until probee gave up, and its end says why */
	/* They differ after code without CFI, where libdw guesses by frame pointers. */
	VERDICT_GUESS,
	/* They differ after CFA_EH_RETURN, where libdw follows CFI that does not hold. */
	VERDICT_HANDLER,
	VERDICT_DIFFERENT,
	VERDICT_UNFIT,			/* other machine, or the thread is not in the trace */
	VERDICTS
};

struct verify_frame {
	/* Record id; 0: anonymous or unmapped, and addr is absolute then. */
	uint32_t binary;
	uint64_t addr;	/* virtual address in the file; after the call unless exact */
	bool exact;
	uint32_t frame;			/* probee's: id of its FRAME record */
	bool is_behind_runtime;		/* probee's: frames of a runtime come before it */
	const char *symbol;		/* libdw's: only at the first difference; NULL: unknown */
	uint64_t symbol_offset;
};

struct verdict {
	enum verdict_kind kind;
	const struct rec_rawstack *raw;
	const struct definition_store *tables;
	const struct verify_frame *ours, *theirs;	/* innermost first */
	uint32_t nr_ours, nr_theirs;
	uint32_t at;			/* first frame that differs or that only one of them has */
	const char *why;		/* libdw's reason to stop; NULL: an outermost frame */
	bool has_rule;	/* probee's rule for frame at - 1, in the file as it is now */
	struct unwind_rule rule;
	uint16_t machine;		/* e_machine of that file */
};

/* The verdict is borrowed for the call. A result other than 0 ends the run and is returned. */
typedef int (*verdict_fn)(void *ctx, const struct verdict *v);

/*
 * fd: of the trace, a regular file that is open already; it is closed in any case. -1: path is
 * opened. 0, or -errno after a message.
 */
int verify_open(int fd, const char *path, struct verify **vp);
int verify_run(struct verify *v, verdict_fn fn, void *ctx);
void verify_close(struct verify *v);		/* NULL is fine */

/* Calls fn for each file that was needed and is not the recorded one. */
void verify_bad_files(struct verify *v, void (*fn)(void *ctx, const char *path, bool changed),
		      void *ctx);
