/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dumps made here; those of runtimes, and perf's reading of them: tests/live/jit_runtimes.sh. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/symbolize/jitdump.h"
#include "tests/unit/jitdump_builder.h"

#define OUR_CLOCK 0
#define TICKS 1

static struct byte_buf dump, names;
static struct perf_map_query v[64];
static struct perf_map_mark mark;
static size_t nr;

static int setup(void **state)
{
	(void)state;
	dump = names = (struct byte_buf){ 0 };
	mark = (struct perf_map_mark){ 0 };
	nr = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bb_release(&dump);
	bb_release(&names);
	return 0;
}

static void ask(uint64_t addr, uint64_t time_ns)
{
	v[nr] = (struct perf_map_query){ .addr = addr, .time_ns = time_ns, .cookie = (uint32_t)nr, .name = PERF_MAP_NO_NAME };
	nr++;
}

static int find_upto(uint64_t size)
{
	const struct perf_map_source src = { .fd = -1, .data = dump.v, .size = size, .is_growing = true };

	return jitdump_find(&src, v, nr, &mark, &names);
}

static int find(void)
{
	return find_upto(dump.nr);
}

static const struct perf_map_query *asked(uint32_t cookie)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].cookie == cookie)
			return &v[i];
	return NULL;
}

static const char *text(uint32_t at)
{
	return at == PERF_MAP_NO_NAME ? NULL : (const char *)names.v + at;
}

static void expect(uint32_t cookie, const char *name, uint64_t start)
{
	const char *got = text(asked(cookie)->name);

	if (!name) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, name);
	assert_int_equal(asked(cookie)->start, start);
}

static void expect_line(uint32_t cookie, const char *file, uint32_t line, uint32_t column)
{
	const struct perf_map_query *q = asked(cookie);

	assert_int_equal(q->at_line, line);
	assert_int_equal(q->at_column, column);
	if (file)
		assert_string_equal(text(q->at_file), file);
	else
		assert_null(text(q->at_file));
}

static void test_names(void **state)
{
	(void)state;
	dump_header(&dump, OUR_CLOCK);
	dump_load(&dump, 10, 0x1000, 0x10, 1, "first");
	dump_load(&dump, 20, 0x2000, 0x20000, 2, "JS:*hot /a.js:5:6");	/* larger than what is read at once */
	dump_load(&dump, 30, 0x40000, 1, 3, "last");
	ask(0x1000, 100);
	ask(0x100f, 100);
	ask(0x1010, 100);
	ask(0x21fff, 100);
	ask(0x40000, 100);
	assert_int_equal(find(), 0);
	expect(0, "first", 0x1000);
	expect(1, "first", 0x1000);
	expect(2, NULL, 0);
	expect(3, "hot", 0x2000);
	expect(4, "last", 0x40000);
	assert_string_equal(text(asked(3)->sysname), "JS:*hot /a.js:5:6");
	assert_string_equal(text(asked(3)->file), "/a.js");
	assert_int_equal(asked(3)->line, 5);
	assert_int_equal(asked(3)->tier, TIER_OPTIMIZED);
	expect_line(3, NULL, 0, 0);
	assert_int_equal(mark.bytes, dump.nr);
}

static void put_three(uint64_t flags)
{
	dump_header(&dump, flags);
	dump_load(&dump, 10, 0x1000, 0x10, 1, "at 10");
	dump_load(&dump, 30, 0x1008, 0x10, 2, "at 30");
	dump_load(&dump, 50, 0x1000, 0x10, 3, "at 50");
	ask(0x1008, 20);
	ask(0x1008, 30);
	ask(0x1008, 49);
	ask(0x1008, 60);
	ask(0x1008, 5);
	ask(0x1008, 0);
}

/* The code that was there when it was sampled; before all, the first. */
static void test_times(void **state)
{
	(void)state;
	put_three(OUR_CLOCK);
	assert_int_equal(find(), 0);
	expect(0, "at 10", 0x1000);
	expect(1, "at 30", 0x1008);
	expect(2, "at 30", 0x1008);
	expect(3, "at 50", 0x1000);
	expect(4, "at 10", 0x1000);
	expect(5, "at 50", 0x1000);		/* no time: the last code */
}

static void test_ticks_are_no_times(void **state)
{
	(void)state;
	put_three(TICKS);
	assert_int_equal(find(), 0);
	for (uint32_t i = 0; i < 6; i++)
		expect(i, "at 50", 0x1000);
}

static void test_lines(void **state)
{
	static const struct dump_line lines[] = {
		{ 0x1000, 3, 1, "/src/a.c" }, { 0x1008, 4, 2, "\xff" }, { 0x1004, 9, 9, "/src/inc.h" }, { 0x1008, 5, 7, "\xff" },
	}, others[] = { { 0x1000, 77, 0, "/other" } };

	(void)state;
	dump_header(&dump, OUR_CLOCK);
	dump_lines(&dump, 1, 0x9000, others, 1);	/* of code that never came */
	dump_lines(&dump, 9, 0x1000, lines, 4);
	dump_load(&dump, 10, 0x1000, 0x10, 1, "f");
	dump_load(&dump, 11, 0x2000, 0x10, 2, "g");	/* has none */
	ask(0x1003, 100);
	ask(0x1004, 100);
	ask(0x100f, 100);
	ask(0x2000, 100);
	assert_int_equal(find(), 0);
	expect_line(0, "/src/a.c", 3, 1);
	expect_line(1, "/src/inc.h", 9, 9);
	expect_line(2, "/src/inc.h", 5, 7);	/* the last of two for one address; 0xff: as before */
	expect_line(3, NULL, 0, 0);
	assert_string_equal(text(asked(0)->file), "/src/a.c");
}

/* V8 counts from the header of the ELF file that perf will make; bytes that are no text are no file. */
static void test_lines_of_v8(void **state)
{
	static const struct dump_line lines[] = { { 0x1040, 3, 5, "/a.js" }, { 0x1048, 4, 6, "/a.js" } },
				      broken[] = { { 0x2040, 8, 9, "\x9e\x80\x02" } };

	(void)state;
	dump_header(&dump, OUR_CLOCK);
	dump_lines(&dump, 9, 0x1000, lines, 2);
	dump_load(&dump, 10, 0x1000, 0x100, 1, "JS:*f /a.js:2:1");
	dump_lines(&dump, 9, 0x2000, broken, 1);
	dump_load(&dump, 10, 0x2000, 0x100, 2, "JS:*g /b.js:7:1");
	ask(0x1007, 100);
	ask(0x1008, 100);
	ask(0x2001, 100);
	assert_int_equal(find(), 0);
	expect_line(0, "/a.js", 3, 5);
	expect_line(1, "/a.js", 4, 6);
	expect_line(2, "/b.js", 8, 9);
	assert_int_equal(asked(2)->line, 7);
}

static void test_moved(void **state)
{
	static const struct dump_line lines[] = { { 0x1000, 3, 0, "/a.c" }, { 0x1008, 4, 0, "/a.c" } };

	(void)state;
	dump_header(&dump, OUR_CLOCK);
	dump_lines(&dump, 9, 0x1000, lines, 2);
	dump_load(&dump, 10, 0x1000, 0x10, 7, "f");
	dump_load(&dump, 11, 0x2000, 0x10, 8, "g");
	dump_move(&dump, 20, 0x1000, 0x5000, 0x10, 7);
	dump_move(&dump, 20, 0x1000, 0x6000, 0x10, 99);	/* of code that nobody knows */
	ask(0x1009, 15);
	ask(0x5009, 25);
	ask(0x6000, 25);
	assert_int_equal(find(), 0);
	expect(0, "f", 0x1000);
	expect(1, "f", 0x5000);
	expect_line(1, "/a.c", 4, 0);
	expect(2, NULL, 0);
}

/* Records that are not there as a whole are read the next time, and those of lines with their code. */
static void test_growing(void **state)
{
	static const struct dump_line lines[] = { { 0x1000, 3, 0, "/a.c" } };
	size_t at;

	(void)state;
	dump_header(&dump, OUR_CLOCK);
	dump_load(&dump, 10, 0x3000, 0x10, 1, "e");
	at = dump.nr;
	dump_lines(&dump, 9, 0x1000, lines, 1);
	dump_load(&dump, 10, 0x1000, 0x10, 2, "f");
	for (size_t len = at; len < dump.nr; len++) {
		nr = 0;
		ask(0x1000, 100);
		mark.bytes = 0;
		assert_int_equal(find_upto(len), 0);
		assert_int_equal(mark.bytes, at);
		expect(0, NULL, 0);
	}
	assert_int_equal(find(), 0);
	expect(0, "f", 0x1000);
	expect_line(0, "/a.c", 3, 0);
	assert_int_equal(mark.bytes, dump.nr);
	nr = 0;
	ask(0x1000, 100);
	assert_int_equal(find(), 0);
	expect(0, NULL, 0);			/* in front of the mark */
}

static void test_a_file(void **state)
{
	struct perf_map_source src = { .fd = memfd_create("dump", MFD_CLOEXEC), .size = UINT64_MAX };

	(void)state;
	dump_header(&dump, OUR_CLOCK);
	for (uint32_t i = 0; i < 3000; i++)
		dump_load(&dump, 10, 0x1000 + i * 0x100, 0x80 + i % 60, i, i % 2 ? "odd" : "even");
	assert_int_equal(write(src.fd, dump.v, dump.nr), (ssize_t)dump.nr);
	ask(0x1000, 100);
	ask(0x1000 + 2999 * 0x100, 100);
	ask(0x1000 + 1234 * 0x100 + 0xff, 100);
	assert_int_equal(jitdump_find(&src, v, nr, &mark, &names), 0);
	expect(0, "even", 0x1000);
	expect(1, "odd", 0x1000 + 2999 * 0x100);
	expect(2, NULL, 0);
	assert_int_equal(mark.bytes, dump.nr);
	close(src.fd);
}

/* ---- hostile dumps ---- */

static void test_no_dump(void **state)
{
	(void)state;
	ask(0x1000, 1);
	assert_int_equal(find(), -ENOEXEC);
	dump_header(&dump, OUR_CLOCK);
	assert_int_equal(find_upto(39), -ENOEXEC);
	assert_int_equal(find(), 0);
	dump.v[4] = 2;				/* version */
	assert_int_equal(find(), -ENOEXEC);
	dump.v[4] = 1;
	dump.v[8] = 39;				/* length of the header */
	assert_int_equal(find(), -ENOEXEC);
	dump.v[8] = 41;				/* not there as a whole */
	assert_int_equal(find(), -ENOEXEC);
	dump.v[8] = 40;
	dump.v[0] = 0x4a;			/* the other byte order */
	assert_int_equal(find(), -ENOEXEC);
}

static void test_records_of_odd_lengths(void **state)
{
	static const struct byte_buf none;
	struct byte_buf half = { 0 };

	(void)state;
	dump_header(&dump, OUR_CLOCK);
	for (uint32_t type = 0; type < 6; type++)
		dump_record(&dump, type, 1, &none);	/* too short for what they are */
	dump_u64(&half, 0);
	for (uint32_t type = 0; type < 6; type++)
		dump_record(&dump, type, 1, &half);
	dump_record(&dump, UINT32_MAX, 1, &half);
	dump_load(&dump, 10, 0x1000, 0x10, 1, "f");
	dump_u32(&dump, 0);
	dump_u32(&dump, 15);			/* shorter than its own head: the rest is not read */
	dump_u64(&dump, 0);
	dump_load(&dump, 10, 0x2000, 0x10, 1, "g");
	ask(0x1000, 100);
	ask(0x2000, 100);
	assert_int_equal(find(), 0);
	expect(0, "f", 0x1000);
	expect(1, NULL, 0);
	bb_release(&half);
}

/* Many records that all cover many questions: it ends. */
static void test_too_much(void **state)
{
	(void)state;
	dump_header(&dump, OUR_CLOCK);
	for (uint32_t i = 0; i < 1100000; i++)
		dump_load(&dump, 10, 0, 0, i, "");
	for (size_t at = 40; at < dump.nr; at += 57)
		memset(dump.v + at + 40, 0xff, 8);	/* code_size */
	for (uint32_t i = 0; i < 64; i++)
		ask(0x1000 + i, 100);
	assert_int_equal(find(), -E2BIG);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names), TEST(test_times), TEST(test_ticks_are_no_times), TEST(test_lines), TEST(test_lines_of_v8),
		TEST(test_moved), TEST(test_growing), TEST(test_a_file), TEST(test_no_dump), TEST(test_records_of_odd_lengths),
		TEST(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
