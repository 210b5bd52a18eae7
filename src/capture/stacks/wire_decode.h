/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record as the kernel handed it out -> its parts, checked. Trusts nothing about lengths: what
 * does not fit is refused, so that a mistake on the kernel side cannot become one of ours.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

struct wire_stack {
	const struct wire_sample *head;
	const uint64_t *user;		/* head->nr_user frames, innermost first, UNWIND_ flags in
					   the top bits */
	const uint64_t *kernel;		/* head->nr_kernel addresses, innermost first */
	const struct wire_dump *dump;	/* NULL: registers and memory did not come with it */
	const uint8_t *memory;		/* raw->bytes from raw->start on */
	const struct wire_wait *wait;	/* NULL: was on a CPU, or it is a sample */
	const struct wire_object *object;	/* NULL: it waits for no descriptor, or there was
						   none of that number */
	bool again;			/* of a walk: taken after the thread's visit */
	bool deferred;			/* walked in user space, with the mappings of its time */
	uint8_t state;			/* enum task_state */
	uint8_t end;			/* enum stack_end */
};

/* Borrowed until it returns. 0, or an error that ends the recording. */
typedef int (*wire_stack_fn)(void *ctx, const struct wire_stack *stack);

/*
 * Walks one thread again: its row goes to fn, or there is none any more. 0; -ENOTSUP: the kernel
 * cannot; -EAGAIN: its reader hung; or another -errno.
 */
typedef int (*revisit_fn)(void *ctx, uint32_t tid, wire_stack_fn fn, void *fn_ctx);

/* The visit could not take the stack: the thread was on a CPU, or its memory map was locked. */
bool wire_stack_is_missing(const struct wire_stack *stack);

/* Bytes of the record at data, or -EBADMSG; 0: more bytes are needed (len is short). */
long wire_decode(const void *data, size_t len, struct wire_stack *out);
