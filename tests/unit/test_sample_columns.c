/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/trace/sample_columns.h"

#define BASE 1000000ull

static void encode(struct byte_buf *b, const struct rec_sample *rows, size_t n, uint64_t base)
{
	struct sample_columns c = { 0 };

	assert_int_equal(sample_columns_encode(&c, b, rows, n, base), 0);
	sample_columns_release(&c);
}

static void check_round_trip(const struct rec_sample *rows, size_t n, uint64_t base)
{
	struct sample_columns c = { 0 };
	struct byte_buf b = { 0 };
	struct byte_reader r;

	encode(&b, rows, n, base);
	r = br_make(b.v, b.nr);
	assert_int_equal(sample_columns_decode(&c, &r, base), 0);
	assert_int_equal(c.nr_rows, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(c.rows[i].time_ns, rows[i].time_ns);
		assert_int_equal(c.rows[i].event, rows[i].event);
		assert_int_equal(c.rows[i].thread, rows[i].thread);
		assert_int_equal(c.rows[i].cpu, rows[i].cpu);
		assert_int_equal(c.rows[i].weight, rows[i].weight);
		assert_int_equal(c.rows[i].state, rows[i].state);
		assert_int_equal(c.rows[i].ran_ns, rows[i].ran_ns);
		assert_int_equal(c.rows[i].syscall, rows[i].syscall);
		assert_int_equal(c.rows[i].wait, rows[i].wait);
		assert_int_equal(c.rows[i].owner, rows[i].owner);
		assert_int_equal(c.rows[i].wait_kind, rows[i].wait_kind);
		assert_int_equal(c.rows[i].holders, rows[i].holders);
		assert_int_equal(c.rows[i].object, rows[i].object);
		assert_int_equal(c.rows[i].variable, rows[i].variable);
		assert_int_equal(c.rows[i].file, rows[i].file);
		assert_memory_equal(c.rows[i].args, rows[i].args, sizeof(rows[i].args));
	}
	sample_columns_release(&c);
	bb_release(&b);
}

static void test_waits(void **state)
{
	static const struct rec_sample rows[] = {
		{ .time_ns = BASE, .ran_ns = BASE, .syscall = 203, .wait = 0x7fff00001000, .owner = 77,
		  .wait_kind = WAIT_PIPE, .holders = 2, .object = 4711, .variable = 12,
		  .file = 9, .args = { 3, 0x7fff00001000, 77, 1, 2, 5 } },
		{ .time_ns = BASE + 5, .ran_ns = BASE + 4, .syscall = 1, .wait = 4 },	/* ran after the base */
		{ .time_ns = BASE + 9 },						/* nothing is known */
		{ .time_ns = BASE + 9, .ran_ns = 1, .wait = UINT64_MAX, .owner = UINT32_MAX, .syscall = UINT32_MAX,
		  .wait_kind = 255, .holders = UINT32_MAX, .object = UINT64_MAX,
		  .variable = UINT32_MAX, .file = UINT32_MAX,
		  .args = { UINT64_MAX, 0, UINT64_MAX, 0, 0, UINT64_MAX } },
	};

	(void)state;
	check_round_trip(rows, 4, BASE);
	check_round_trip(rows, 2, BASE);
	check_round_trip(rows, 1, BASE);
}

/* Times far apart: differences are modulo 2^64. One value is lost: the one that is 2^63 before the base. */
static void test_far_times(void **state)
{
	static const uint64_t times[] = { 1, 2, INT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MAX + 2, UINT64_MAX - 1, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < 7; i++)
		for (size_t j = 0; j < 7; j++)
			if (times[j] - times[i] != 1ull << 63)
				check_round_trip(&(struct rec_sample){ .time_ns = times[j], .ran_ns = times[i] }, 1, times[j]);
}

/* 1 plus the zig-zag of the difference, by hand. */
static void test_bytes(void **state)
{
	static const struct rec_sample rows[] = {
		{ .time_ns = BASE, .ran_ns = BASE - 3, .cpu = UINT32_MAX },
		{ .time_ns = BASE, .ran_ns = BASE + 2, .cpu = UINT32_MAX },
	};
	static const uint8_t want[] = { 2, 2, 1, 4, 2, 0, 0, 22, 0, 2, 7, 4 };
	struct byte_buf b = { 0 };

	(void)state;
	encode(&b, rows, 2, BASE);
	assert_int_equal(b.nr, sizeof(want));
	assert_memory_equal(b.v, want, sizeof(want));
	bb_release(&b);
}

static void test_absent_costs_nothing(void **state)
{
	struct rec_sample row = { .time_ns = BASE, .thread = 3, .cpu = UINT32_MAX };
	struct byte_buf without = { 0 }, with = { 0 };

	(void)state;
	encode(&without, &row, 1, BASE);
	assert_int_equal(without.nr, 2 + 4 + 4);	/* counts, time, thread */
	row.owner = 5;
	encode(&with, &row, 1, BASE);
	assert_int_equal(with.nr, without.nr + 4);
	bb_release(&without);
	bb_release(&with);
}

static void test_limits(void **state)
{
	/* syscall and owner of 33 bits; ran twice */
	static const uint8_t bad[][17] = {
		{ 1, 2, 1, 4, 1, 1, 24, 1, 5, 0x80, 0x80, 0x80, 0x80, 0x10 },
		{ 1, 2, 1, 4, 1, 1, 28, 1, 5, 0x80, 0x80, 0x80, 0x80, 0x10 },
		{ 1, 3, 1, 4, 1, 1, 22, 1, 1, 5, 22, 1, 1, 5 },
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct byte_reader r = br_make(bad[i], 14);
		struct sample_columns c = { 0 };

		assert_int_equal(sample_columns_decode(&c, &r, BASE), -EBADMSG);
		sample_columns_release(&c);
	}
}

/* Rows are read in blocks of 256, and each encoding goes on in the next block. */
static void test_blocks(void **state)
{
	static const size_t sizes[] = { 255, 256, 257, 511, 512, 600 };
	struct rec_sample rows[600];

	(void)state;
	for (size_t i = 0; i < 600; i++)
		rows[i] = (struct rec_sample){
			.time_ns = BASE + i / 3 * 1000, .event = 1, .cpu = i > 250 && i < 520,
			.thread = (uint32_t)(i * 7919 % 300), .weight = 5000000 + i,
			.ran_ns = BASE - i * 77, .state = i % 200 == 0,
		};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_round_trip(rows, sizes[i], BASE);
}

static int decode_uvs(const uint64_t *columns, size_t nr, size_t times, uint64_t odd_time)
{
	struct byte_buf time = { 0 }, body = { 0 }, b = { 0 };
	struct sample_columns c = { 0 };
	struct byte_reader r;
	int err;

	for (size_t i = 0; i < times; i++)
		bb_uv(&time, i == 256 ? odd_time : 1);
	for (size_t i = 1; i < nr; i++)
		bb_uv(&body, columns[i]);
	bb_uv(&b, times);
	bb_uv(&b, 2);
	bb_uv(&b, 1);
	bb_u8(&b, 4);
	bb_uv(&b, time.nr);
	bb_bytes(&b, time.v, time.nr);
	bb_uv(&b, 5);
	bb_u8(&b, (uint8_t)columns[0]);
	bb_uv(&b, body.nr);
	bb_bytes(&b, body.v, body.nr);
	r = br_make(b.v, b.nr);
	err = sample_columns_decode(&c, &r, BASE);
	assert_true(err ? !c.nr_rows : c.nr_rows == times);
	sample_columns_release(&c);
	bb_release(&time);
	bb_release(&body);
	bb_release(&b);
	return err;
}

/* What is wrong with a column may show only in its last block. */
static void test_bad_blocks(void **state)
{
	static const uint64_t one[] = { 1, 7 }, two[] = { 1, 7, 7 }, none[] = { 1 },
			      runs[] = { 3, 200, 1, 100, 2 }, few[] = { 3, 200, 1, 99, 2 },
			      many[] = { 3, 200, 1, 101, 2 }, zero[] = { 3, 256, 1, 0, 2, 44, 1 },
			      wide[] = { 3, 256, 1, 44, 1ull << 32 };

	(void)state;
	assert_int_equal(decode_uvs(one, 2, 300, 1), 0);
	assert_int_equal(decode_uvs(two, 3, 300, 1), -EBADMSG);
	assert_int_equal(decode_uvs(none, 1, 300, 1), -EBADMSG);
	assert_int_equal(decode_uvs(runs, 5, 300, 1), 0);
	assert_int_equal(decode_uvs(few, 5, 300, 1), -EBADMSG);
	assert_int_equal(decode_uvs(many, 5, 300, 1), -EBADMSG);
	assert_int_equal(decode_uvs(zero, 7, 300, 1), -EBADMSG);
	assert_int_equal(decode_uvs(wide, 5, 300, 1), -EBADMSG);
	/* The first row of the second block is earlier than the one before. */
	assert_int_equal(decode_uvs(one, 2, 300, UINT64_MAX), -EBADMSG);
}

/* Rows of scans alone: those that a reader of all would keep, wherever they lie in the blocks. */
static void check_scan_rows(const struct rec_sample *rows, size_t n)
{
	struct sample_columns c = { 0 };
	struct byte_buf b = { 0 };
	struct byte_reader r;
	uint64_t nr, nr_scan_rows;
	size_t at = 0;

	encode(&b, rows, n, BASE);
	r = br_make(b.v, b.nr);
	assert_int_equal(sample_columns_peek(r, &nr, &nr_scan_rows), 0);
	assert_int_equal(sample_columns_decode_scans(&c, &r, BASE), 0);
	assert_int_equal(br_left(&r), 0);
	assert_int_equal(nr, n);
	assert_int_equal(nr_scan_rows, c.nr_rows);
	for (size_t i = 0; i < n; i++) {
		if (!rows[i].scan)
			continue;
		assert_true(at < c.nr_rows);
		assert_memory_equal(&c.rows[at++], &rows[i], sizeof(*rows));
	}
	assert_int_equal(at, c.nr_rows);
	sample_columns_release(&c);
	bb_release(&b);
}

static void test_scan_rows(void **state)
{
	static const uint32_t first[] = { 0, 3, 250, 256, 511, 600, 1199, 1200 };
	static struct rec_sample rows[1200];

	(void)state;
	for (size_t k = 0; k < sizeof(first) / sizeof(first[0]); k++) {
		for (uint32_t i = 0; i < 1200; i++)
			rows[i] = (struct rec_sample){
				.time_ns = BASE + i, .thread = i * 7919 % 100000, .cpu = i & 3,
				.ustack = 1u << i % 32, .weight = i % 5 ? 10 : 1 + (uint64_t)i * i * i,
				.scan = i >= first[k] && i < first[k] + 20 && i % 3 ? 7 : 0,
				.ran_ns = i % 9 ? 0 : BASE + 5 * i };
		check_scan_rows(rows, 1200);
		check_scan_rows(rows, first[k] % 260 + 1);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_far_times),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_absent_costs_nothing),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_bad_blocks),
		cmocka_unit_test(test_scan_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
