/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits one record of the BPF programs (bpf/wire.h) into its parts. All lengths and kinds are
 * checked and a record that does not fit is refused, so that a mistake of the kernel side does not
 * corrupt our memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

struct wire_stack {
	const struct wire_sample *head;
	/* head->nr_user frames, innermost first, with UNWIND_ flags in the top bits. */
	const uint64_t *user;
	const uint64_t *kernel;		/* head->nr_kernel addresses, innermost first */
	const struct wire_dump *dump;	/* NULL: it is none, or waited as a part of others */
	const struct wire_delta *delta;	/* NULL: it is none */
	const uint64_t *regs;		/* NULL: it came without registers and memory */
	/*
	 * The memory: whole pages, from the stack pointer's on; of a delta, the pages from number
	 * WIRE_PART_PAGES on begin at outer.
	 */
	uint64_t start, bytes, outer;
	uint64_t absent;		/* bit i: page i of it is not there */
	const uint8_t *memory;		/* the bytes from start on in one piece, or NULL */
	/* Else its blocks of WIRE_BLOCK bytes, or NULL: delta holds those that have changed. */
	const uint8_t *const *blocks;
	const struct wire_wait *wait;	/* NULL: the thread was on a CPU, or it is a sample */
	/* NULL: the thread waits for no descriptor, or for one that is not open. */
	const struct wire_object *object;
	bool again;			/* of a scan: taken by a second visit of the thread */
	bool deferred;			/* unwound in user space, with the mappings of its time */
	uint8_t state;			/* enum task_state */
	uint8_t end;			/* enum stack_end */
};

/* The stack is borrowed until it returns. 0, or an error that ends the recording. */
typedef int (*wire_stack_fn)(void *ctx, const struct wire_stack *stack);

/*
 * Visits one thread again, outside of a scan. Its row goes to fn; there is no row if the thread has
 * ended. 0; -ENOTSUP: the kernel cannot do it; -EAGAIN: the task reader hung or died; -EINTR: the
 * recording is to end; or another -errno.
 */
typedef int (*revisit_fn)(void *ctx, uint32_t tid, wire_stack_fn fn, void *fn_ctx);

/* true: the thread was on a CPU or its memory map was locked, so its stack could not be taken. */
bool wire_stack_is_missing(const struct wire_stack *stack);

/* Returns the size of the record at data in bytes, -EBADMSG, or 0: len is less than its size. */
long wire_decode(const void *data, size_t len, struct wire_stack *out);

/* Bytes of a record without memory: the head, and then frames, wait and object. */
size_t wire_record_bytes(const struct wire_sample *h);

/*
 * The byte number of an address in the memory of a stack, counted over its pages. UINT64_MAX: it
 * is not there.
 */
uint64_t wire_stack_at(const struct wire_stack *s, uint64_t addr);
