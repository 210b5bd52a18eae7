/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps of generated code of anybody's making. The first byte sets how many addresses are asked for, then come those, two
 * bytes each, then the map. Held against the plain reading: line by line, the latest wins. And read in two steps, as it
 * grows: there are as many names as in one.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/record.h"
#include "src/symbolize/perf_map.h"

#define MAX_QUERIES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct perf_map_query *q, const struct byte_buf *names)
{
	if (q->name == PERF_MAP_NO_NAME)
		return;
	if (q->sysname >= names->nr || (q->file != PERF_MAP_NO_NAME && q->file >= names->nr) || q->tier >= TIERS)
		__builtin_trap();
	if (q->start > q->addr || q->name >= names->nr || !names->v[q->name] ||
	    !memchr(names->v + q->name, 0, names->nr - q->name))
		__builtin_trap();
}

/* Does a line of nothing but digits, a to z and spaces cover the address? -1: it is another kind of line. */
static int covers(const char *line, uint64_t addr)
{
	size_t first = strspn(line, "0123456789abcdef"), gap = strspn(line + first, " ");
	const char *second = line + first + gap;
	size_t len = strspn(second, "0123456789abcdef");
	const char *name = second + len + strspn(second + len, " ");

	if (strspn(line, "0123456789abcdefghijklmnopqrstuvwyz ") < strlen(line))
		return -1;
	if (!first || first > 16 || !gap || !len || len > 16 || second[len] != ' ' || !*name)
		return 0;
	return addr >= strtoull(line, NULL, 16) && addr - strtoull(line, NULL, 16) < strtoull(second, NULL, 16);
}

/* A name is there if and only if some line covers the address. */
static void check_covered(const struct perf_map_query *q, const char *map, size_t len)
{
	const char *end = map + len, *next;
	bool found = false;

	for (const char *p = map; p < end; p = next + 1) {
		char line[128];
		int c;

		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next : end;
		if (next - p >= (long)sizeof(line))
			return;
		memcpy(line, p, (size_t)(next - p));
		line[next - p] = 0;
		c = strlen(line) < (size_t)(next - p) ? -1 : covers(line, q->addr);
		if (c < 0)
			return;
		found |= c;
	}
	if (found != (q->name != PERF_MAP_NO_NAME))
		__builtin_trap();
}

/* What the second step adds is what one step finds: every line is seen once, whole. */
static void check_steps(const struct perf_map_source *src, const struct perf_map_query *want, size_t nr)
{
	struct perf_map_source part = *src;
	struct perf_map_query v[MAX_QUERIES];
	struct perf_map_mark mark = { 0 };
	struct byte_buf names = { 0 };

	for (size_t i = 0; i < nr; i++)
		v[i] = (struct perf_map_query){ .addr = want[i].addr, .cookie = want[i].cookie, .name = PERF_MAP_NO_NAME };
	part.size = src->size / 2;
	part.is_growing = true;
	if (perf_map_find(&part, v, nr, &mark, &names) || mark.bytes > part.size)
		__builtin_trap();
	for (size_t i = 0; i < nr; i++)
		v[i].is_old = 1;
	if (perf_map_find(src, v, nr, &mark, &names) || mark.bytes > src->size)
		__builtin_trap();
	for (size_t i = 0; i < nr; i++)
		if ((v[i].name == PERF_MAP_NO_NAME) != (want[i].name == PERF_MAP_NO_NAME))
			__builtin_trap();
	bb_release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map_mark mark = { 0 };
	size_t nr = size ? data[0] % MAX_QUERIES : 0;
	struct perf_map_query v[MAX_QUERIES];
	struct byte_buf names = { 0 };
	struct perf_map_source src;

	if (size < 1 + 2 * nr)
		return 0;
	for (size_t i = 0; i < nr; i++)
		v[i] = (struct perf_map_query){
			.addr = data[1 + 2 * i] | (uint64_t)data[2 + 2 * i] << 8, .cookie = (uint32_t)i,
			.name = PERF_MAP_NO_NAME,
		};
	src = (struct perf_map_source){ .fd = -1, .data = data + 1 + 2 * nr, .size = size - 1 - 2 * nr };
	if (!perf_map_find(&src, v, nr, &mark, &names)) {
		for (size_t i = 0; i < nr; i++) {
			check(&v[i], &names);
			check_covered(&v[i], src.data, (size_t)src.size);
		}
		check_steps(&src, v, nr);
	}
	bb_release(&names);
	return 0;
}
