/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of runtimes (unwind/frame_program.h): which place of the trace stands for a code object,
 * and what it is called.
 *
 * The problem. A frame tells the address of a code object in the memory of its process. What it is
 * called is there, too, and nowhere else: it has to be read before the process ends or the object
 * is freed, and reading the memory of a process may block for ever.
 *
 * The idea. A code object that is seen for the first time is read at once, by a thread that reads
 * through a child which can be left behind (memory_reader.h). What was read is kept, so each object
 * is read once, and its lines are found without reading again. It is known again by its process,
 * its address and its cookie; a frame with another cookie is of another object, and has a place of
 * its own. So a name is never that of an object which came later, as far as the cookie tells:
 * runtime_code_read() compares it. An object that was gone by then is read again when it is met
 * again within a second; its frames have no name until then, or are told that it is gone.
 *
 *	runtime_names_new(&deps, &n)
 *	runtime_names_frame(n, p, words, &f)		the frame's place in the trace
 *	runtime_names_request(n, p, id, words)		of a new frame
 *	runtime_names_collect(n, fn, ctx, wait)		names that have come; with wait: all
 *	runtime_names_settle(n, fn, ctx, wait)		the same for all, and forgets the others
 *	runtime_names_free(n)
 *
 * Limits: RUNTIME_NAMES_MAX code objects, of which each user may have a part (code_owners.h); a
 * mark stands for the frames of those beyond. A process whose memory does not answer has no names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/capture/session/code_owners.h"
#include "src/symbolize/symbolizer.h"
#include "unwind/frame_program.h"

struct child_forker;
struct user_costs;
struct binaries;
struct patience;
struct process;
struct process_runtimes;
struct runtime_image;
struct runtime_names;
struct stack_frame;
struct unwind_runtime;

#define RUNTIME_NAMES_MAX (1u << 17)

struct runtime_names_deps {
	struct binaries *binaries;
	struct process_runtimes *runtimes;
	void (*begin_thread)(void);	/* gives up the rights of the thread */
	struct child_forker *forker;	/* of who reads memory */
	struct user_costs *costs;	/* of memory_reader_new() */
	/* Called for the process with that serial: process_runtimes_shorten(). NULL: not wanted. */
	void (*on_short_way)(void *ctx, uint32_t tgid, uint64_t serial,
			     const struct runtime_image *image, uint64_t bias,
			     const struct unwind_runtime *rt);
	void *ctx;
	process_owner_fn process_owner;	/* gets owner_ctx; NULL: all processes are one user's */
	void *owner_ctx;
};

struct runtime_names_stats {
	uint64_t named, gone, failed;	/* code objects; failed: could not be read */
	uint64_t refused;		/* there were too many */
	uint64_t late;			/* frames whose code objects were not read in time */
	uint64_t kept;			/* code objects, now */
};

int runtime_names_new(const struct runtime_names_deps *deps, struct runtime_names **np);
void runtime_names_free(struct runtime_names *n);	/* NULL is fine */

/* words: both of the frame. Not 0: why there is no frame; the process may have no runtime. */
enum runtime_failure runtime_names_frame(struct runtime_names *n, const struct process *p,
					 const uint64_t words[2], struct stack_frame *f);
/* Whether generated code that has called this frame's loop is a trampoline of the same function. */
bool runtime_names_has_trampolines(struct runtime_names *n, const struct process *p,
				   const uint64_t words[2]);
int runtime_names_request(struct runtime_names *n, const struct process *p, uint32_t cookie,
			  const uint64_t words[2]);

/* A stack with this frame has to wait: its code object is read now, which may be gone then. */
void runtime_names_meet(struct runtime_names *n, const struct process *p, const uint64_t words[2]);

/* The words of a stack that leads to its root: see runtime_shift(). */
bool runtime_names_shift(struct runtime_names *n, const struct process *p, const uint64_t *words,
			 size_t nr, uint64_t *out);

/*
 * No frame of p is asked for any more. Its objects are given up when their frames are named, so
 * that a recording of many days does not come to its limits by programs that have ended.
 */
void runtime_names_forget(struct runtime_names *n, const struct process *p);

/* See jit_names_collect() and jit_names_settle(). */
int runtime_names_collect(struct runtime_names *n, symbol_fn fn, void *ctx, struct patience *wait);
int runtime_names_settle(struct runtime_names *n, symbol_fn fn, void *ctx, struct patience *wait);
void runtime_names_stats(const struct runtime_names *n, struct runtime_names_stats *out);
