/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a little of another process's memory, as long as that does not block.
 *
 * The problem. A process may exchange a page of its memory at any moment for one of a file whose
 * server never answers (FUSE). No check of the page helps, because it may be exchanged behind the
 * check, and no signal ends the thread that reads such a page.
 *
 * The idea. A child reads (src/base/helper_process.h), and the caller waits for it for 200 ms. A
 * child that does not answer is left behind, the memory of that process is not read until the child
 * has ended, and the next call starts another child. One that was killed is replaced, too.
 *
 * Limits. Eight children are left behind at a time at most; meanwhile no memory is read. A read
 * takes some 10 us. A process in which two children hung is not read again; it is remembered by its
 * number, so one that gets this number later is not read either.
 *
 *	memory_reader_new()
 *	memory_reader_get(r, pid, addr, buf, bytes)
 *	memory_reader_free(r)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_READER_BYTES (68u << 10)	/* the most that one call reads */

struct memory_reader;

struct memory_reader *memory_reader_new(void);		/* NULL: no memory; starts no child yet */
/* true: buf has all of the bytes. */
bool memory_reader_get(struct memory_reader *r, pid_t pid, uint64_t addr, void *buf, size_t bytes);
unsigned memory_reader_hung(const struct memory_reader *r);	/* children left behind so far */
void memory_reader_free(struct memory_reader *r);	/* NULL is fine */
