/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runtimes (interpreters) of processes, as the kernel side reads them: the frame program of each
 * binary that has one, and for each process the number of its program and its constants.
 *
 *	process_runtimes_new(&fds, &r)
 *	process_runtimes_watch(r, fn, ctx)	fn learns of each process with a runtime
 *	process_runtimes_found(r, binary, &image)	once per binary that is a runtime
 *	process_runtimes_same(r, binary, other)		binary is a copy of other
 *	process_runtimes_publish(r, p)		after each change of p's mappings, and of the
 *						above; before the kernel side may need it
 *	process_runtimes_forget(r, tgid)	its mappings are not published any more
 *	process_runtimes_of(r, p, slot, &bias)	a runtime of p, or NULL
 *	process_runtimes_free(r)
 *
 * Nothing of the process's memory is read here. Mostly all that is needed follows from the file and
 * from where it is mapped, and what others have found in memory makes it shorter. Where the file
 * does not say enough, a process is published only when they have found the rest.
 *
 * A process may have several (a Python that has loaded Perl). Each has a slot, which frames tell
 * (UNWIND_RUNTIME_SLOT_SHIFT); it is not given to another one as long as the process lives.
 *
 * Limits: a process has PROGRAM_SLOTS runtimes, and a recording PROGRAM_MAX_NR different
 * programs. Others have no frames of their own, and a line says so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/runtime.h"

struct process;
struct process_runtimes;

struct process_runtimes_fds {
	int programs;			/* BPF array of struct frame_program, or -1: none */
	int runtimes;			/* BPF hash: tgid -> struct unwind_runtimes */
};

int process_runtimes_new(struct process_runtimes **rp);
void process_runtimes_free(struct process_runtimes *r);	/* NULL is fine */

/*
 * fn is called for each process that has a runtime when it is published. It may not call back.
 */
void process_runtimes_watch(struct process_runtimes *r,
			    void (*fn)(void *ctx, const struct process *p), void *ctx);

/* The maps; until then nothing is published. */
void process_runtimes_set(struct process_runtimes *r, const struct process_runtimes_fds *fds);

/* true: it was not known; processes that have mapped it are to be published. */
bool process_runtimes_found(struct process_runtimes *r, uint32_t binary,
			    const struct runtime_image *image);
bool process_runtimes_same(struct process_runtimes *r, uint32_t binary, uint32_t other);

/*
 * A shorter way to the state of p's threads was found (runtime_shorten()): these are its constants
 * as long as this runtime is mapped where it is.
 */
void process_runtimes_shorten(struct process_runtimes *r, const struct process *p,
			      const struct runtime_image *image, uint64_t bias,
			      const struct unwind_runtime *rt);

/*
 * A process whose runtime is to be looked at first (runtime_is_attached_late()); each is given
 * once, and again after a change of its mappings as long as it was not attached. false: no more.
 */
bool process_runtimes_take_late(struct process_runtimes *r, uint32_t *tgid, uint64_t *serial);

/* The runtime of p that is to be looked at, or NULL. */
const struct runtime_image *process_runtimes_late_of(const struct process_runtimes *r,
						     const struct process *p, uint64_t *bias);

/*
 * runtime_attach() has found these in p, whose runtime is mapped with that bias. rt NULL: the
 * runtime is of a version that is not known.
 */
void process_runtimes_attached(struct process_runtimes *r, const struct process *p, uint64_t bias,
			       const struct runtime_image *image,
			       const struct unwind_runtime *rt);

void process_runtimes_publish(struct process_runtimes *r, const struct process *p);
void process_runtimes_forget(struct process_runtimes *r, uint32_t tgid);

/* NULL: there is none in that slot. bias: what is added to a virtual address of the file. */
const struct runtime_image *process_runtimes_of(struct process_runtimes *r,
						const struct process *p, uint32_t slot,
						uint64_t *bias);

/* Runtime number i that was found, and how many processes had it; NULL: no more. */
const struct runtime_image *process_runtimes_nth(const struct process_runtimes *r, size_t i,
						 uint32_t *binary);
