/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/wire.h"
#include "src/base/memory_limit.h"
#include "src/capture/bpf/map_sizes.h"

#define MIB (1ull << 20)

static const struct map_needs usual = { .samples_hz = 99, .nr_cpus = 2, .only_samples = true };
static const struct map_needs with_scans = { .samples_hz = 99, .nr_cpus = 2, .has_scans = true };

static struct map_sizes sizes_for(uint64_t limit, uint64_t used, bool fits)
{
	struct memory_limit m = { limit, used };
	struct map_sizes s;

	assert_int_equal(map_sizes_init(&s, &usual, &m), fits);
	return s;
}

static void test_enough_memory(void **state)
{
	struct map_sizes s;

	(void)state;
	assert_true(map_sizes_init(&s, &usual, NULL));
	assert_false(s.is_reduced);
	assert_int_equal(s.ring_bytes, 8 * MIB);
	s = sizes_for(1024 * MIB, 100 * MIB, true);
	assert_false(s.is_reduced);
}

static void test_what_is_recorded(void **state)
{
	static const struct { struct map_needs needs; uint64_t ring; uint32_t mappings; } v[] = {
		{ { .samples_hz = 99, .nr_cpus = 2, .only_samples = true }, 8 * MIB, 262144 },
		{ { .samples_hz = 99, .nr_cpus = 2, .only_samples = true, .few_processes = true }, 2 * MIB, 65536 },
		{ { .samples_hz = 99, .nr_cpus = 3, .only_samples = true, .few_processes = true }, 8 * MIB, 65536 },
		{ { .samples_hz = 99, .nr_cpus = 2, .few_processes = true }, 8 * MIB, 65536 },
		{ { .nr_cpus = 2, .only_samples = true, .few_processes = true }, 8 * MIB, 65536 },
		{ { .samples_hz = 9999, .nr_cpus = 1, .only_samples = true, .few_processes = true }, 32 * MIB, 65536 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct map_sizes s;

		assert_true(map_sizes_init(&s, &v[i].needs, NULL));
		assert_int_equal(s.ring_bytes, v[i].ring);
		assert_int_equal(s.mappings, v[i].mappings);
		assert_false(s.is_reduced);
	}
}

static void test_little_memory(void **state)
{
	struct map_sizes s = sizes_for(32 * MIB, MIB, true), less = sizes_for(64 * MIB, MIB, true);

	(void)state;
	assert_true(s.is_reduced && less.is_reduced);
	assert_false(s.is_tight);
	assert_true(s.ring_bytes < less.ring_bytes && s.mappings < less.mappings && s.processes < less.processes);
	sizes_for(8 * MIB, MIB, false);
	sizes_for(64 * MIB, 65 * MIB, false);
	assert_true(map_sizes_init(&s, &with_scans, &(struct memory_limit){ 32 * MIB, 3 * MIB }));
	assert_true(s.is_tight);
	assert_true(map_sizes_init(&s, &with_scans, &(struct memory_limit){ 64 * MIB, 3 * MIB }));
	assert_false(s.is_tight);
	assert_false(map_sizes_init(&s, &with_scans, &(struct memory_limit){ 24 * MIB, 0 }));
}

/* Halving comes to an end, at sizes that are powers of two and of use. */
static void test_halving(void **state)
{
	struct map_sizes s;
	char text[256];
	int times = 0;

	(void)state;
	assert_true(map_sizes_init(&s, &usual, NULL));
	assert_int_equal(map_sizes_memos(&s, 2), 32);
	while (map_sizes_halve(&s))
		times++;
	assert_int_equal(map_sizes_memos(&s, 2), 0);
	assert_int_equal(times, 5);
	assert_int_equal(s.ring_bytes, 256 << 10);
	assert_int_equal(s.mappings, 8192);
	assert_int_equal(s.processes, 1024);
	map_sizes_text(&s, text, sizeof(text));
	assert_non_null(strstr(text, "0.25 MiB instead of 8.00"));
	assert_non_null(strstr(text, "1024 processes with 8192 mappings instead of 16384 with 262144"));
}

/* Mirrors of many CPUs take no more than those of few; what a state has beside them is 14 KiB. */
static void test_mirrors(void **state)
{
	const uint64_t full = 4ull * WIRE_PART_PAGES * UNWIND_MEMORY_PAGE;
	struct map_sizes s = { 0 };

	(void)state;
	assert_int_equal(map_sizes_part_pages(&s, 1), WIRE_PART_PAGES);
	assert_int_equal(map_sizes_part_pages(&s, 16), WIRE_PART_PAGES);
	for (uint32_t cpus = 1; cpus <= 64; cpus++) {
		uint32_t pages = map_sizes_part_pages(&s, cpus);

		assert_int_equal(pages & (pages - 1), 0);
		assert_true(pages >= 8);	/* 64 KiB of a stack in both parts */
		assert_true(cpus * (full - WIRE_DELTA_SPARE(pages)) <= 8 * MIB);
	}
	s.is_tight = true;
	assert_int_equal(map_sizes_part_pages(&s, 1), WIRE_PART_PAGES / 4);
}

/* However many CPUs there are, what each may need at times takes no more than 64 of them would. */
static void test_many_cpus(void **state)
{
	const uint64_t memo_bytes = 129 * 1024 / 32;
	struct map_sizes s = { 0 };

	(void)state;
	for (uint32_t cpus = 1; cpus <= 8192; cpus++) {
		uint32_t slots = map_sizes_shared_slots(cpus), memos = map_sizes_memos(&s, cpus);

		assert_int_equal(slots, cpus < 64 ? cpus : 64);
		assert_in_range(memos, 2, 32);
		assert_true(memos * memo_bytes * cpus <= 9 * MIB || memos == 2);
	}
	assert_int_equal(map_sizes_leaving_sets(2), 32);
	assert_int_equal(map_sizes_leaving_sets(64), 32);
	assert_int_equal(map_sizes_leaving_sets(1024), 2);
	assert_int_equal(map_sizes_memos(&s, 64), 32);
	assert_int_equal(map_sizes_memos(&s, 256), 8);
	assert_int_equal(map_sizes_memos(&s, 1024), 2);
}

static void test_rings(void **state)
{
	static const struct {
		double hz;
		uint32_t cpus, mib;
	} rows[] = {
		{ 99, 2, 8 }, { 99, 512, 8 }, { 99, 1024, 32 }, { 999, 64, 8 }, { 999, 128, 32 },
		{ 9999, 1, 32 },
	};
	struct map_sizes s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct map_needs needs = { .samples_hz = rows[i].hz, .nr_cpus = rows[i].cpus };

		assert_true(map_sizes_init(&s, &needs, NULL));
		assert_int_equal(s.ring_bytes, rows[i].mib * MIB);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enough_memory),
		cmocka_unit_test(test_what_is_recorded),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_halving),
		cmocka_unit_test(test_mirrors),
		cmocka_unit_test(test_many_cpus),
		cmocka_unit_test(test_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
