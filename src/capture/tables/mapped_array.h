/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A BPF array that is mapped in pieces, where it is used.
 *
 * The problem. Where a process maps a BPF array, all its pages count as memory of the process, used
 * or not. The arrays of the unwind tables have room for thousands of processes and files: 10 MiB.
 * 300 processes of 60 programs use 0.5 MiB of them.
 *
 * The idea. The process reserves addresses for the whole array, and maps a piece of it before it
 * writes there. A piece that is not mapped yet reads as zeros. Writing to it is a mistake and ends
 * the process.
 *
 *	mapped_array_open(&a, fd, bytes)
 *	mapped_array_need(&a, offset, len)	before what is there is written, or read again
 *	a.v					does not move
 *	mapped_array_rest(&a)			unmaps all pieces; the array keeps its contents
 *	mapped_array_close(&a)
 *
 * Limits. The kernel has the pages of the array all the same. Pieces have 64 KiB, and an array at
 * most 16 MiB.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_PIECE_BYTES (64u << 10)
#define ARRAY_MAX_PIECES 256

struct mapped_array {
	void *v;			/* NULL: it is closed */
	size_t bytes;
	int fd;				/* borrowed */
	uint32_t nr_mapped;		/* pieces */
	uint64_t mapped[ARRAY_MAX_PIECES / 64];	/* a bit each */
};

/* Maps nothing yet. fd: of a map that can be mapped, with at least so many bytes. 0 or -errno. */
int mapped_array_open(struct mapped_array *a, int fd, size_t bytes);
void mapped_array_close(struct mapped_array *a);	/* one that is all zero is fine */

/* Whether the pieces that these bytes are in are mapped. */
bool mapped_array_has(const struct mapped_array *a, size_t offset, size_t len);
/* Maps them. 0 or -errno, which it says. */
int mapped_array_need(struct mapped_array *a, size_t offset, size_t len);
void mapped_array_rest(struct mapped_array *a);
