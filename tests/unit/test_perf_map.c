/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compared with a reader that goes through the lines from the first to the last and lets each later one win. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/symbolize/perf_map.h"

static struct byte_buf names;
static struct perf_map_query v[64];
static size_t nr;

static int setup(void **state)
{
	(void)state;
	names = (struct byte_buf){ 0 };
	nr = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	bb_release(&names);
	return 0;
}

static void ask(uint64_t addr)
{
	v[nr] = (struct perf_map_query){ .addr = addr, .cookie = (uint32_t)nr, .name = PERF_MAP_NO_NAME };
	nr++;
}

static int find_in(const char *text, size_t len)
{
	struct perf_map_mark mark = { 0 };

	return perf_map_find(&(struct perf_map_source){ .fd = -1, .data = text, .size = len }, v, nr, &mark, &names);
}

static const char *answer(uint64_t addr)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].addr == addr)
			return v[i].name == PERF_MAP_NO_NAME ? NULL : (const char *)names.v + v[i].name;
	fail_msg("%#lx was not asked for", addr);
	return NULL;
}

static void expect(uint64_t addr, const char *name, uint64_t start)
{
	const char *got = answer(addr);

	if (!name) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, name);
	for (size_t i = 0; i < nr; i++)
		if (v[i].addr == addr)
			assert_int_equal(v[i].start, start);
}

static void test_lines(void **state)
{
	static const char text[] =
		"1000 10 plain\n"
		"0x2000 0x20 LazyCompile:*with spaces /a b.js:1:2\r\n"
		"  3000 10 leading spaces\n"
		"4000 10\n"
		"5000 10 \n"
		"zz 10 no number\n"
		"11111111111111111 10 too long\n"
		"6000 0 empty\n"
		"FFFFffffFFFFfff0 ff to the end\n"
		"\n"
		"7000  10   more spaces  \n"
		"8000 10 without newline";

	(void)state;
	for (uint64_t a = 0x1000; a <= 0x8000; a += 0x1000)
		ask(a + 1);
	ask(0x100f);
	ask(0x1010);
	ask(UINT64_MAX);
	ask(0x11);
	assert_int_equal(find_in(text, sizeof(text) - 1), 0);
	expect(0x1001, "plain", 0x1000);
	expect(0x100f, "plain", 0x1000);
	expect(0x1010, NULL, 0);
	expect(0x2001, "with spaces", 0x2000);
	expect(0x3001, NULL, 0);
	expect(0x4001, NULL, 0);
	expect(0x5001, NULL, 0);
	expect(0x6001, NULL, 0);
	expect(0x7001, "more spaces", 0x7000);
	expect(0x8001, "without newline", 0x8000);
	expect(UINT64_MAX, "to the end", 0xfffffffffffffff0);
	expect(0x11, NULL, 0);
}

static const char *text_at(uint32_t at)
{
	return at == PERF_MAP_NO_NAME ? NULL : (const char *)names.v + at;
}

/* What a runtime says besides the name, for each address in the code; the raw text stays. */
static void test_labels(void **state)
{
	static const char text[] = "1000 10 JS:*hot /srv/a.js:12:3\n2000 10 Eval:~ :1:1\n3000 10 c\n"
				   "4000 10 JS:~\0/x:1:2\n5000 10 JS:^ /very/long/b.js:7:8\n";

	(void)state;
	ask(0x1000);
	ask(0x1001);
	ask(0x2000);
	ask(0x3000);
	ask(0x4000);
	ask(0x5000);
	assert_int_equal(find_in(text, sizeof(text) - 1), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(text_at(v[i].name), "hot");
		assert_string_equal(text_at(v[i].sysname), "JS:*hot /srv/a.js:12:3");
		assert_string_equal(text_at(v[i].file), "/srv/a.js");
		assert_int_equal(v[i].line, 12);
		assert_int_equal(v[i].lang, LANG_JAVASCRIPT);
		assert_int_equal(v[i].tier, TIER_OPTIMIZED);
	}
	expect(0x2000, "(anonymous)", 0x2000);
	assert_string_equal(text_at(v[2].sysname), "Eval:~ :1:1");
	assert_null(text_at(v[2].file));
	expect(0x3000, "c", 0x3000);
	assert_int_equal(v[3].name, v[3].sysname);
	assert_int_equal(v[3].tier, TIER_NONE);
	expect(0x4000, "(anonymous)", 0x4000);		/* a text ends with its first NUL */
	assert_string_equal(text_at(v[4].sysname), "JS:~");
	expect(0x5000, "(anonymous) b.js:7", 0x5000);
}

static void test_the_latest_wins(void **state)
{
	static const char text[] = "1000 100 old\n1080 100 over its end\n1010 10 within\n1018 1 inmost\n2000 10 a\n2000 10 b\n";

	(void)state;
	ask(0x1000);
	ask(0x1010);
	ask(0x1018);
	ask(0x1020);
	ask(0x1080);
	ask(0x2008);
	ask(0x1010);
	assert_int_equal(find_in(text, sizeof(text) - 1), 0);
	expect(0x1000, "old", 0x1000);
	expect(0x1010, "within", 0x1010);
	expect(0x1018, "inmost", 0x1018);
	expect(0x1020, "old", 0x1000);
	expect(0x1080, "over its end", 0x1080);
	expect(0x2008, "b", 0x2000);
	assert_int_equal(v[1].addr, 0x1010);	/* both that asked for the same */
	assert_int_equal(v[2].addr, 0x1010);
	assert_int_equal(v[1].name, v[2].name);
	/* A second map answers what the first did not. */
	ask(0x9000);
	assert_int_equal(find_in("9000 10 other\n1000 10 not again\n", 33), 0);
	expect(0x9000, "other", 0x9000);
	expect(0x1000, "old", 0x1000);
}

static void test_long_names_are_cut(void **state)
{
	size_t len = 300000;
	char *text = malloc(len);

	(void)state;
	memset(text, 'x', len);
	memcpy(text, "1000 10 ", 8);
	memcpy(text + len - 16, "\n2000 10 short\n\n", 16);
	ask(0x1000);
	ask(0x2000);
	assert_int_equal(find_in(text, len), 0);
	assert_int_equal(strlen(answer(0x1000)), PERF_MAP_NAME_MAX);
	expect(0x2000, "short", 0x2000);
	free(text);
}

/* ---- many lines ---- */

#define LINES 20000

struct line {
	uint64_t start, size;
};

static const struct line *last_covering(const struct line *lines, uint64_t addr)
{
	for (size_t i = LINES; i-- > 0;)
		if (addr - lines[i].start < lines[i].size)
			return &lines[i];
	return NULL;
}

static void test_many_lines(void **state)
{
	static struct line lines[LINES];
	struct byte_buf text = { 0 };
	char buf[256];
	uint64_t x = 1;

	(void)state;
	for (size_t i = 0; i < LINES; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		lines[i] = (struct line){ 0x10000 + (x >> 40) % 0x100000, (x >> 20) % 512 };
		bb_bytes(&text, buf, (size_t)snprintf(buf, sizeof(buf), "%lx %lx n%zu%.*s\n", lines[i].start, lines[i].size, i,
						      (int)(x >> 33) % 100, "                                 .............."));
	}
	for (size_t i = 0; i < 60; i++)
		ask(0x10000 + i * 17477);
	assert_true(text.nr > 5 * 65536);
	assert_int_equal(find_in((char *)text.v, text.nr), 0);
	for (size_t i = 0; i < nr; i++) {
		const struct line *want = last_covering(lines, v[i].addr);

		assert_int_equal(v[i].name != PERF_MAP_NO_NAME, want != NULL);
		if (!want)
			continue;
		assert_int_equal(v[i].start, want->start);
		snprintf(buf, sizeof(buf), "n%zu", (size_t)(want - lines));
		assert_memory_equal(names.v + v[i].name, buf, strlen(buf));
	}
	bb_release(&text);
}

/* ---- maps that grow ---- */

static struct perf_map_mark so_far;

static int find_so_far(const char *text, size_t len)
{
	return perf_map_find(&(struct perf_map_source){ .fd = -1, .data = text, .size = len, .is_growing = true }, v, nr,
			     &so_far, &names);
}

/* What had no answer is looked for in what was added, what is asked for newly in all. */
static void test_growing(void **state)
{
	static const char text[] = "1000 10 one\n2000 10 two\n3000 10 three\n2000 10 again\n4000 10 four";

	(void)state;
	so_far = (struct perf_map_mark){ 0 };
	ask(0x1000);
	ask(0x3000);
	assert_int_equal(find_so_far(text, 25), 0);
	assert_int_equal(so_far.bytes, 24);		/* the line that has begun is left for later */
	expect(0x1000, "one", 0x1000);
	expect(0x3000, NULL, 0);
	v[1].is_old = 1;
	ask(0x2000);
	v[2].is_old = 1;				/* not in the whole text: "two" is before the mark */
	assert_int_equal(find_so_far(text, 39), 0);
	expect(0x3000, "three", 0x3000);
	expect(0x2000, NULL, 0);
	assert_int_equal(find_so_far(text, sizeof(text) - 1), 0);
	expect(0x2000, "again", 0x2000);
	ask(0x4000);
	assert_int_equal(find_so_far(text, sizeof(text) - 1), 0);
	expect(0x4000, NULL, 0);			/* its line has no end yet */
	nr = 0;
	ask(0x1008);
	assert_int_equal(find_so_far(text, sizeof(text) - 1), 0);
	expect(0x1008, "one", 0x1000);			/* from before the mark, because it is new */
}

/* Java writes its map anew each time. */
static void test_written_anew(void **state)
{
	static const char before[] = "1000 10 one\n2000 10 two\n", after[] = "2000 10 other\n1000 10 first\n3000 10 x\n";

	(void)state;
	so_far = (struct perf_map_mark){ 0 };
	assert_int_equal(find_so_far(before, sizeof(before) - 1), 0);
	ask(0x2000);
	v[0].is_old = 1;
	assert_int_equal(find_so_far(before, sizeof(before) - 1), 0);
	expect(0x2000, NULL, 0);
	assert_int_equal(find_so_far(after, sizeof(after) - 1), 0);
	expect(0x2000, "other", 0x2000);
	nr = 0;
	ask(0x1000);
	v[0].is_old = 1;
	assert_int_equal(find_so_far("1000 10 short\n", 14), 0);
	expect(0x1000, "short", 0x1000);
}

/* Lines of all lengths end at the mark and at the ends of blocks: in steps as in one go. */
static void test_growing_in_steps(void **state)
{
	struct byte_buf text = { 0 };
	char line[128];

	(void)state;
	so_far = (struct perf_map_mark){ 0 };
	for (unsigned i = 0; i < 20000; i++)
		bb_bytes(&text, line, (size_t)snprintf(line, sizeof(line), "%x 10 n%u%.*s\n", 0x10000 + i * 16, i,
						       (int)(i % 60), "............................................................"));
	for (unsigned i = 0; i < 60; i++)
		ask(0x10000 + i * 5333);
	for (size_t len = 1; len < text.nr; len += 37777) {
		assert_int_equal(find_so_far((char *)text.v, len), 0);
		for (size_t i = 0; i < nr; i++)
			v[i].is_old = 1;
	}
	assert_int_equal(find_so_far((char *)text.v, text.nr), 0);
	for (size_t i = 0; i < nr; i++) {
		assert_int_not_equal(v[i].name, PERF_MAP_NO_NAME);
		assert_int_equal(v[i].start, v[i].addr & ~15ull);
	}
	bb_release(&text);
}

/* ---- hostile files ---- */

static int find_in_file(uint64_t size, const char *begin, const char *end)
{
	struct perf_map_source src = { .fd = memfd_create("map", MFD_CLOEXEC), .size = size };
	struct perf_map_mark mark = { 0 };
	int err;

	assert_true(src.fd >= 0);
	assert_int_equal(ftruncate(src.fd, (off_t)size), 0);
	assert_int_equal(pwrite(src.fd, begin, strlen(begin), 0), (ssize_t)strlen(begin));
	assert_int_equal(pwrite(src.fd, end, strlen(end), (off_t)(size - strlen(end))), (ssize_t)strlen(end));
	err = perf_map_find(&src, v, nr, &mark, &names);
	close(src.fd);
	return err;
}

/* Of a file that is too large the end counts, where the newest names are. */
static void test_too_large(void **state)
{
	(void)state;
	ask(0x1000);
	ask(0x2000);
	assert_int_equal(find_in_file(PERF_MAP_MAX_BYTES + (1 << 20), "1000 10 first\n", "\n2000 10 last\n"), -E2BIG);
	expect(0x2000, "last", 0x2000);
	expect(0x1000, NULL, 0);
}

static void test_file_that_shrinks(void **state)
{
	struct perf_map_source src = { .fd = memfd_create("map", MFD_CLOEXEC), .size = 1 << 20 };
	struct perf_map_mark mark = { .bytes = 1 << 10, .hash = 1 };

	(void)state;
	ask(0x1000);
	assert_int_equal(perf_map_find(&src, v, nr, &mark, &names), -EIO);
	assert_int_equal(mark.bytes, 0);
	expect(0x1000, NULL, 0);
	close(src.fd);
}

static void test_nothing(void **state)
{
	(void)state;
	assert_int_equal(find_in("", 0), 0);
	assert_int_equal(find_in("1000 10 a\n", 10), 0);
	ask(1);
	assert_int_equal(find_in("", 0), 0);
	assert_int_equal(find_in("\n", 1), 0);
	expect(1, NULL, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lines), TEST(test_labels), TEST(test_the_latest_wins), TEST(test_long_names_are_cut), TEST(test_many_lines),
		TEST(test_growing), TEST(test_written_anew), TEST(test_growing_in_steps),
		TEST(test_too_large), TEST(test_file_that_shrinks), TEST(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
