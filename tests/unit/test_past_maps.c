/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was mapped when, from MAPPING records in any order that a trace can have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/verify/past_maps.h"

#define PROCESS 1

static void binary(struct past_maps *pm, uint32_t id, uint64_t offset, uint64_t vaddr)
{
	struct rec_segment s = { .offset = offset, .vaddr = vaddr, .filesz = 0x10000 };
	struct record rec = { .tag = REC_BINARY, .binary = { .id = id, .segments = &s, .nr_segments = 1 } };

	assert_int_equal(past_maps_record(pm, &rec), 0);
}

static void mapping(struct past_maps *pm, uint8_t op, uint64_t time_ns, uint64_t start, uint64_t len, uint32_t bin)
{
	struct record rec = {
		.tag = REC_MAPPING,
		.mapping = { .time_ns = time_ns, .process = PROCESS, .op = op, .start = start, .len = len,
			     .pgoff_bytes = 0x1000, .binary = bin },
	};

	assert_int_equal(past_maps_record(pm, &rec), 0);
}

static uint32_t binary_at(struct past_maps *pm, uint64_t time_ns, uint64_t addr)
{
	struct past_list list = { 0 };
	const struct past_map *m;
	uint32_t found;

	assert_int_equal(past_maps_at(pm, PROCESS, time_ns, &list), 0);
	m = past_list_find(&list, addr);
	found = m ? m->binary : 0;
	free(list.v);
	return found;
}

static void test_time(void **state)
{
	struct past_maps pm = { 0 };

	(void)state;
	binary(&pm, 1, 0x1000, 0x401000);
	binary(&pm, 2, 0x1000, 0x1000);
	mapping(&pm, MAPPING_SNAPSHOT, 100, 0x10000, 0x1000, 1);
	mapping(&pm, MAPPING_DEL, 200, 0x10000, 0x1000, 1);
	mapping(&pm, MAPPING_ADD, 300, 0x10000, 0x1000, 2);
	assert_int_equal(binary_at(&pm, 150, 0x10000), 1);
	assert_int_equal(binary_at(&pm, 150, 0x10fff), 1);
	assert_int_equal(binary_at(&pm, 150, 0x11000), 0);
	assert_int_equal(binary_at(&pm, 150, 0xffff), 0);
	assert_int_equal(binary_at(&pm, 300, 0x10000), 2);
	/* Nothing was there, as far as is known; what came later is the best guess. */
	assert_int_equal(binary_at(&pm, 250, 0x10000), 2);
	past_maps_release(&pm);
}

/* What came later replaces what it overlaps, even if nothing said that that went. */
static void test_overlap(void **state)
{
	struct past_maps pm = { 0 };

	(void)state;
	binary(&pm, 1, 0x1000, 0x1000);
	binary(&pm, 2, 0x1000, 0x1000);
	mapping(&pm, MAPPING_ADD, 100, 0x10000, 0x4000, 1);
	mapping(&pm, MAPPING_ADD, 200, 0x12000, 0x1000, 2);
	assert_int_equal(binary_at(&pm, 150, 0x12000), 1);
	assert_int_equal(binary_at(&pm, 250, 0x12000), 2);
	past_maps_release(&pm);
}

static void test_vaddr(void **state)
{
	struct past_maps pm = { 0 };
	struct past_list list = { 0 };

	(void)state;
	binary(&pm, 1, 0x1000, 0x401000);
	mapping(&pm, MAPPING_ADD, 100, 0x70000000, 0x1000, 1);
	assert_int_equal(past_maps_at(&pm, PROCESS, 100, &list), 0);
	assert_int_equal(list.nr, 1);
	assert_int_equal(0x70000010 + list.v[0].to_vaddr, 0x401010);
	assert_int_equal(past_maps_at(&pm, PROCESS + 1, 100, &list), 0);
	assert_int_equal(list.nr, 0);
	free(list.v);
	past_maps_release(&pm);
}

/* A hostile trace: ids and ranges that make no sense. */
static void test_nonsense(void **state)
{
	struct past_maps pm = { 0 };

	(void)state;
	binary(&pm, UINT32_MAX, 0, 0);
	binary(&pm, 0, 0, 0);
	assert_null(past_maps_binary(&pm, UINT32_MAX));
	assert_null(past_maps_binary(&pm, 7));
	mapping(&pm, MAPPING_ADD, 100, UINT64_MAX - 10, 100, 1);
	mapping(&pm, MAPPING_ADD, 100, 0x1000, 0, 1);
	mapping(&pm, MAPPING_DEL, 100, 0x5000, 0x1000, 1);
	mapping(&pm, MAPPING_ADD, 100, 0x1000, 0x1000, 99);
	assert_int_equal(binary_at(&pm, 100, 0x1000), 99);
	past_maps_release(&pm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_vaddr),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
