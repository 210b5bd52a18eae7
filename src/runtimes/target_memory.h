/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process whose runtime is looked into: where the bytes come from is the caller's
 * business (a process that may be left behind, pages in a file, a test's array). All that is read
 * there is foreign: it may change between two reads, and lead anywhere.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TARGET_READ_BYTES (64u << 10)

struct target_memory {
	/*
	 * 0: buf has all of the len bytes at addr; -EFAULT: they are not there; another -errno:
	 * they could not be read now. Reads are at most TARGET_READ_BYTES long.
	 */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t len);
	void *ctx;
};

static inline int target_read(const struct target_memory *m, uint64_t addr, void *buf, size_t len)
{
	return m->read(m->ctx, addr, buf, len);
}

/*
 * Bytes that were copied from there, or out of a file. Where a field is in them is foreign, too: a
 * table of the process says so, or a layout that a parser has answered. So fields are taken out by
 * these functions alone. A field that is not whole inside of the bytes is 0.
 */
struct target_bytes {
	const uint8_t *v;
	size_t len;
};

#define TARGET_BYTES(array) ((struct target_bytes){ array, sizeof(array) })

/* A number of size bytes, which is at most 8. */
static inline uint64_t target_bytes_number(struct target_bytes b, uint64_t at, unsigned size)
{
	uint64_t value = 0;

	if (at <= b.len && size <= b.len - at && size <= sizeof(value))
		memcpy(&value, b.v + at, size);
	return value;
}

static inline uint64_t target_bytes_u64(struct target_bytes b, uint64_t at)
{
	return target_bytes_number(b, at, 8);
}

static inline uint32_t target_bytes_u32(struct target_bytes b, uint64_t at)
{
	return (uint32_t)target_bytes_number(b, at, 4);
}

/* An aligned or unaligned word of 64 bits. */
static inline int target_read_u64(const struct target_memory *m, uint64_t addr, uint64_t *value)
{
	return m->read(m->ctx, addr, value, sizeof(*value));
}
