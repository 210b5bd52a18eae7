/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process whose runtime is looked into: where the bytes come from is the caller's
 * business (a process that may be left behind, pages in a file, a test's array). All that is read
 * there is foreign: it may change between two reads, and lead anywhere.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct v8_scripts;

struct target_memory {
	/*
	 * 0: buf has all of the len bytes at addr; -EFAULT: they are not there; another -errno:
	 * they could not be read now. Reads are at most TARGET_READ_BYTES long.
	 */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	void *ctx;
};

/* The memory of one of several processes, and what is kept of them from one read to the next. */
struct kept_memory {
	struct target_memory memory;
	struct v8_scripts *scripts;	/* v8_lines.h */
	uint64_t process;		/* its number, never that of another one */
};

#define TARGET_READ_BYTES (64u << 10)

static inline int target_read(const struct target_memory *m, uint64_t addr, void *buf, size_t len)
{
	return m->read(m->ctx, addr, buf, len);
}

/* An aligned or unaligned word of 64 bits. */
static inline int target_read_u64(const struct target_memory *m, uint64_t addr, uint64_t *value)
{
	return m->read(m->ctx, addr, value, sizeof(*value));
}
