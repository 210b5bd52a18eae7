/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process of anybody's making, for fuzzers of its readers: some bytes, again and again at all addresses, so that
 * every pointer leads somewhere. Some reads fail; a reader that reads without end aborts.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "src/runtimes/target_memory.h"

struct memory {
	const uint8_t *bytes;
	size_t len;
	unsigned reads, fail_mask;	/* a read whose number has none of these bits fails; 0: none does */
};

static inline void require(int ok)
{
	if (!ok)
		abort();
}

static inline int read_at_most(void *ctx, uint64_t addr, void *buf, size_t len, unsigned max)
{
	struct memory *m = ctx;
	uint8_t *to = buf;

	require(len <= TARGET_READ_BYTES && ++m->reads < max);
	if (m->fail_mask && !(m->reads & m->fail_mask))
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		to[i] = m->bytes[(addr + i) % m->len];
	return 0;
}
