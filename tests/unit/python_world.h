/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made process memory for tests of src/runtimes: a few KiB at one address, into which objects of CPython 3.11 are put. */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "src/runtimes/runtime.h"

#define WORLD_BASE 0x7f0000000000ull
#define WORLD_BYTES 65536

struct python_world {
	uint8_t bytes[WORLD_BYTES];
	unsigned reads, fail_at;	/* the read of this number fails; 0: none does */
	int error;
	/* Before this read, the word at change_at becomes change_to. 0: none. */
	unsigned change_before;
	uint64_t change_at, change_to;
};

static inline int world_setup(void **state)
{
	*state = calloc(1, sizeof(struct python_world));
	return *state ? 0 : -1;
}

static inline int world_teardown(void **state)
{
	free(*state);
	return 0;
}

static inline void world_put(struct python_world *w, uint64_t addr, const void *v, size_t len)
{
	memcpy(w->bytes + (addr - WORLD_BASE), v, len);
}

static inline void world_u64(struct python_world *w, uint64_t addr, uint64_t v)
{
	world_put(w, addr, &v, sizeof(v));
}

static inline void world_u32(struct python_world *w, uint64_t addr, uint32_t v)
{
	world_put(w, addr, &v, sizeof(v));
}

static inline int world_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct python_world *w = ctx;

	if (++w->reads == w->fail_at)
		return w->error;
	if (w->reads == w->change_before)
		world_u64(w, w->change_at, w->change_to);
	if (len > TARGET_READ_BYTES || addr < WORLD_BASE || addr - WORLD_BASE > WORLD_BYTES ||
	    len > WORLD_BYTES - (addr - WORLD_BASE))
		return -EFAULT;
	memcpy(buf, w->bytes + (addr - WORLD_BASE), len);
	return 0;
}

/* kind: bytes of a character; ascii only with kind 1. As in 3.11. */
static inline void world_string(struct python_world *w, uint64_t at, unsigned kind, int ascii, const void *text, uint64_t nr)
{
	world_u64(w, at, 1);
	world_u64(w, at + 16, nr);
	world_u32(w, at + 32, kind << 2 | 0x20 | (ascii ? 0x40 : 0));
	world_put(w, at + (ascii ? 48 : 72), text, nr * kind);
}
