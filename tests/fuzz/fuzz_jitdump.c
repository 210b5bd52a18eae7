/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jitdumps of anybody's making. The first byte sets how many addresses are asked for, then come those, two bytes each,
 * and their times, one byte each, then the dump.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/record.h"
#include "src/symbolize/jitdump.h"

#define MAX_QUERIES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(uint32_t at, const struct byte_buf *names)
{
	if (at == PERF_MAP_NO_NAME)
		return;
	if (at >= names->nr || (at && names->v[at - 1]) || !names->v[at] || !memchr(names->v + at, 0, names->nr - at) ||
	    strlen((const char *)names->v + at) > PERF_MAP_NAME_MAX || strchr((const char *)names->v + at, '\n'))
		__builtin_trap();
}

/* As parse_take_queries() wants it. */
static void check(const struct perf_map_query *q, const struct byte_buf *names)
{
	if (q->name == PERF_MAP_NO_NAME)
		return;
	check_text(q->name, names);
	check_text(q->sysname, names);
	check_text(q->file, names);
	check_text(q->at_file, names);
	if (q->sysname == PERF_MAP_NO_NAME || q->start > q->addr || q->tier >= TIERS || q->lang >= LANGS)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr = size ? data[0] % MAX_QUERIES : 0;
	struct perf_map_query v[MAX_QUERIES];
	struct perf_map_source src = { .fd = -1 };
	struct perf_map_mark mark = { 0 };
	struct byte_buf names = { 0 };

	if (size < 1 + 3 * nr)
		return 0;
	for (size_t i = 0; i < nr; i++)
		v[i] = (struct perf_map_query){
			.addr = data[1 + 3 * i] | (uint64_t)data[2 + 3 * i] << 8, .time_ns = data[3 + 3 * i],
			.cookie = (uint32_t)i, .name = PERF_MAP_NO_NAME,
		};
	src.data = data + 1 + 3 * nr;
	src.size = size - 1 - 3 * nr;
	jitdump_find(&src, v, nr, &mark, &names);
	for (size_t i = 0; i < nr; i++)
		check(&v[i], &names);
	if (mark.bytes > src.size)
		__builtin_trap();
	bb_release(&names);
	return 0;
}
