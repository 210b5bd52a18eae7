/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes jitdumps (src/symbolize/jitdump.h) byte by byte. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "src/base/bytes.h"

static inline void dump_u32(struct byte_buf *b, uint32_t v) { bb_bytes(b, &v, 4); }
static inline void dump_u64(struct byte_buf *b, uint64_t v) { bb_bytes(b, &v, 8); }

static inline void dump_header(struct byte_buf *b, uint64_t flags)
{
	dump_u32(b, 0x4a695444);
	dump_u32(b, 1);
	dump_u32(b, 40);
	dump_u32(b, 62);
	dump_u32(b, 0);
	dump_u32(b, 1234);
	dump_u64(b, 1);
	dump_u64(b, flags);
}

static inline void dump_record(struct byte_buf *b, uint32_t type, uint64_t time_ns, const struct byte_buf *payload)
{
	dump_u32(b, type);
	dump_u32(b, (uint32_t)(16 + payload->nr));
	dump_u64(b, time_ns);
	bb_bytes(b, payload->v, payload->nr);
}

static inline void dump_load(struct byte_buf *b, uint64_t time_ns, uint64_t addr, uint32_t size, uint64_t index, const char *name)
{
	struct byte_buf p = { 0 };

	dump_u64(&p, 0);
	dump_u64(&p, addr);
	dump_u64(&p, addr);
	dump_u64(&p, size);
	dump_u64(&p, index);
	bb_bytes(&p, name, strlen(name) + 1);
	for (uint32_t i = 0; i < size; i++)
		bb_u8(&p, 0xc3);
	dump_record(b, 0, time_ns, &p);
	bb_release(&p);
}

static inline void dump_move(struct byte_buf *b, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	const uint64_t words[] = { 0, to, from, to, size, index };
	struct byte_buf p = { 0 };

	bb_bytes(&p, words, sizeof(words));
	dump_record(b, 1, time_ns, &p);
	bb_release(&p);
}

struct dump_line {
	uint64_t addr;
	uint32_t line, column;
	const char *file;
};

static inline void dump_lines(struct byte_buf *b, uint64_t time_ns, uint64_t addr, const struct dump_line *v, uint64_t nr)
{
	struct byte_buf p = { 0 };

	dump_u64(&p, addr);
	dump_u64(&p, nr);
	for (uint64_t i = 0; i < nr; i++) {
		dump_u64(&p, v[i].addr);
		dump_u32(&p, v[i].line);
		dump_u32(&p, v[i].column);
		bb_bytes(&p, v[i].file, strlen(v[i].file) + 1);
	}
	dump_record(b, 2, time_ns, &p);
	bb_release(&p);
}
