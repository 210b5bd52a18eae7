/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace that grows, byte by byte, gives the records that it gives when it is whole. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "formats/trace/trace_reader.h"
#include "tests/unit/fixture_report.h"

struct bytes {
	char *v;
	size_t len;
};

static struct bytes fixture_bytes(void)
{
	char path[] = "/tmp/probee-follow.XXXXXX";
	struct bytes b;
	struct stat st;
	int fd;

	fixture_write(path, NULL);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	b.len = (size_t)st.st_size;
	b.v = malloc(b.len);
	assert_non_null(b.v);
	assert_int_equal(read(fd, b.v, b.len), b.len);
	close(fd);
	unlink(path);
	return b;
}

/* The tags of all records that come now, appended to out. */
static size_t take(struct trace_reader *r, uint8_t *out, size_t nr)
{
	struct record rec;
	int rc;

	while ((rc = trace_reader_next(r, &rec)) > 0)
		out[nr++] = (uint8_t)rec.tag;
	assert_int_equal(rc, 0);
	return nr;
}

static size_t take_whole(const struct bytes *b, uint8_t *out)
{
	struct trace_reader *r;
	size_t nr;

	assert_int_equal(trace_reader_open_memory(b->v, b->len, NULL, &r), 0);
	nr = take(r, out, 0);
	trace_reader_close(r);
	return nr;
}

/* Grows the file by step bytes between two looks. */
static void grow(const struct bytes *b, size_t step, const uint8_t *want, size_t want_nr)
{
	int fd = memfd_create("grow", MFD_CLOEXEC), copy;
	uint8_t got[512];
	struct trace_reader *r = NULL;
	size_t nr = 0, at = 0;

	assert_true(fd >= 0);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	while (at < b->len) {
		size_t n = b->len - at < step ? b->len - at : step;

		assert_int_equal(pwrite(fd, b->v + at, n, (off_t)at), n);
		at += n;
		if (!r && at >= 64) {
			assert_int_equal(trace_reader_open_fd(copy, "grow", NULL, &r), 0);
			trace_reader_follow(r);
			nr = take(r, got, nr);
		} else if (r) {
			assert_true(trace_reader_more(r));
			nr = take(r, got, nr);
		}
	}
	assert_non_null(r);
	assert_false(trace_reader_more(r));
	assert_int_equal(nr, want_nr);
	assert_memory_equal(got, want, nr);
	assert_int_equal(trace_reader_status(r)->bad_chunks, 0);
	assert_int_equal(trace_reader_status(r)->skipped_bytes, 0);
	assert_false(trace_reader_status(r)->truncated);
	assert_true(trace_reader_status(r)->has_end);
	trace_reader_close(r);
	close(fd);
}

static void test_grows(void **state)
{
	static const size_t steps[] = { 1, 7, 48, 100, 1000, 100000 };
	struct bytes b = fixture_bytes();
	uint8_t want[512];
	size_t nr = take_whole(&b, want);

	(void)state;
	assert_true(nr > FIX_SAMPLES);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		grow(&b, steps[i], want, nr);
	free(b.v);
}

/* What was read is not needed again: a hole may take its place. */
static void test_offset(void **state)
{
	struct bytes b = fixture_bytes();
	uint8_t tags[512];
	struct trace_reader *r;

	(void)state;
	assert_int_equal(trace_reader_open_memory(b.v, b.len, NULL, &r), 0);
	trace_reader_follow(r);
	assert_int_equal(trace_reader_offset(r), 0);
	take(r, tags, 0);
	assert_int_equal(trace_reader_offset(r), b.len);
	trace_reader_close(r);
	free(b.v);
}

/* Damage in the middle is damage, as in a file that does not grow, and what comes behind it is read. */
static void test_damage_before_the_end(void **state)
{
	struct bytes b = fixture_bytes(), two = { malloc(2 * b.len), 2 * b.len };
	uint8_t tags[1024], whole[1024];
	struct trace_reader *r;
	size_t nr;

	(void)state;
	assert_non_null(two.v);
	memcpy(two.v, b.v, b.len);
	memcpy(two.v + b.len, b.v, b.len);
	memset(two.v + b.len - 40, 0x55, 30);
	assert_int_equal(trace_reader_open_memory(two.v, two.len, NULL, &r), 0);
	trace_reader_follow(r);
	nr = take(r, tags, 0);
	assert_int_equal(nr, take_whole(&two, whole));
	assert_memory_equal(tags, whole, nr);
	assert_true(nr > FIX_SAMPLES);
	assert_int_equal(trace_reader_status(r)->bad_chunks, 1);
	assert_true(trace_reader_status(r)->has_end);
	trace_reader_close(r);
	free(two.v);
	free(b.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_offset),
		cmocka_unit_test(test_damage_before_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
