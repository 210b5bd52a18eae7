/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process that says it were a Java virtual machine. 64 bytes: where fields are; two bytes: the version, and
 * which reads fail; the others are the memory, again and again at all addresses, so that every pointer leads somewhere.
 * Looking ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct memory {
	const uint8_t *bytes;
	size_t len;
	unsigned reads, fail_mask;
};

static int read_memory(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct memory *m = ctx;
	uint8_t *to = buf;

	if (len > TARGET_READ_BYTES || ++m->reads > 66000)
		abort();
	/* Not all are served, because most would be those of a long list of threads. */
	if ((m->fail_mask && !(m->reads & m->fail_mask)) || m->reads > 300)
		return -EFAULT;
	for (size_t i = 0, n; i < len; i += n) {
		size_t at = (addr + i) % m->len;

		n = m->len - at < len - i ? m->len - at : len - i;
		memcpy(to + i, m->bytes + at, n);
	}
	return 0;
}

/* All offsets of the layout, one byte each; 255: there is no such field. */
static void fill(struct hotspot_layout *l, const uint8_t *fields)
{
	uint32_t *first = &l->locks.list_length, *last = &l->locks.klass_super;

	for (uint32_t *at = first; at <= last; at++)
		*at = *fields == 255 ? HOTSPOT_ABSENT : *fields * 16u, fields++;
	l->klass_name = fields[0] * 16u;
	l->symbol_body = fields[1];
	l->locks.java_threads_vaddr = 1 + fields[2];
	l->locks.oop_base_vaddr = fields[3];
	l->locks.oop_shift_vaddr = fields[4];
	l->locks.klass_base_vaddr = fields[5];
	l->locks.klass_shift_vaddr = fields[6];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct runtime_wait waits[4] = { { 1, 9 }, { 2, 9 }, { 0x01010101, 9 }, { 0, 9 } };
	struct runtime_wait_hints hints = { 0 };
	struct hotspot_layout l = { .is_read = 1 };
	struct memory memory;
	const struct target_memory m = { read_memory, &memory };

	if (len < 80)
		return 0;
	memory = (struct memory){ data + 66, len - 66, 0, data[64] };
	memcpy(&waits[3].tid, data + 66, 4);
	l.version = (11u + data[65] % 16) << 24;
	fill(&l, data);
	for (int i = 0; i < 2 && hotspot_knows_locks(&l); i++) {
		memory.reads = 0;
		if (hotspot_waits(&l, data[65], &m, &hints, waits, 4))
			return 0;
		for (int w = 0; w < 4; w++)
			if (waits[w].owner && waits[w].owner == waits[w].tid)
				abort();
	}
	return 0;
}
