/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* fail() is a macro of cmocka. */
#include "src/recording/record_tee.c"

#include <cmocka.h>

#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_fixture.h"

/* Counts what it is given, and fails where it is told to. */
struct counter {
	uint64_t records, chunks, segments;
	uint64_t fail_at, fail_at_chunk;	/* 0: never */
};

static int count_record(void *ctx, const struct record *rec)
{
	struct counter *c = ctx;

	(void)rec;
	return ++c->records == c->fail_at ? -ENOMEM : 0;
}

static int count_chunk(void *ctx)
{
	struct counter *c = ctx;

	return ++c->chunks == c->fail_at_chunk ? -ENOMEM : 0;
}

static int count_segment(void *ctx)
{
	((struct counter *)ctx)->segments++;
	return 0;
}

static struct trace_writer *begin(struct record_tee *t)
{
	char path[] = "/tmp/probee-tee-XXXXXX";
	struct trace_writer *w;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	unlink(path);
	record_tee_init(t, w);
	return w;
}

static void add(struct record_tee *t, struct counter *c)
{
	record_tee_add(t, &(struct record_consumer){ "the counter", count_record, count_chunk,
						     count_segment, c });
}

static uint64_t written(struct trace_writer *w)
{
	struct trace_writer_stats st;

	trace_writer_stats(w, &st);
	return st.records;
}

static void all_are_given_all(void **state)
{
	struct counter a = { 0 }, b = { 0 };
	struct record_tee t;
	struct trace_writer *w = begin(&t);

	(void)state;
	add(&t, &a);
	add(&t, &b);
	assert_int_equal(trace_fixture_emit(record_tee_record, &t), 0);
	assert_true(written(w) > 50);
	assert_int_equal(a.records, written(w));
	assert_int_equal(b.records, written(w));
	assert_int_equal(a.chunks, 0);
	assert_int_equal(record_tee_flush(&t), 0);
	assert_int_equal(record_tee_flush(&t), 0);
	assert_int_equal(a.chunks, 1);
	assert_int_equal(trace_writer_close(w), 0);
}

/* A chunk that closes because it is full ends with the record that filled it. */
static void full_chunks_are_told_as_well(void **state)
{
	struct counter c = { 0 };
	struct record_tee t;
	struct trace_writer *w = begin(&t);
	struct trace_writer_stats st;
	char text[1000] = { 0 };

	(void)state;
	add(&t, &c);
	for (uint32_t i = 1; i <= 1000; i++) {
		struct record rec = { .tag = REC_STRING, .string = { i, text, sizeof(text) } };

		assert_int_equal(record_tee_record(&t, &rec), 0);
		trace_writer_stats(w, &st);
		assert_int_equal(c.records, i);
		assert_int_equal(c.chunks, st.chunks);
	}
	assert_true(c.chunks > 1);
	assert_int_equal(trace_writer_close(w), 0);
}

static void a_consumer_that_fails_ends_alone(void **state)
{
	struct counter bad = { .fail_at = 5 }, late = { .fail_at_chunk = 1 }, good = { 0 };
	struct record_tee t;
	struct trace_writer *w = begin(&t);

	(void)state;
	add(&t, &bad);
	add(&t, &late);
	add(&t, &good);
	stderr_begin();
	assert_int_equal(trace_fixture_emit(record_tee_record, &t), 0);
	assert_string_equal(stderr_end(), "probee: the counter, without which the recording goes on: Cannot allocate memory\n");
	assert_int_equal(bad.records, 5);
	assert_int_equal(late.records, written(w));
	stderr_begin();
	assert_int_equal(record_tee_flush(&t), 0);
	assert_non_null(strstr(stderr_end(), "the counter"));
	assert_int_equal(t.nr, 1);
	assert_int_equal(good.records, written(w));
	assert_int_equal(good.chunks, 1);
	assert_int_equal(trace_writer_close(w), 0);
}

/* What is not in the trace is not shown either. */
static void an_error_of_the_writer_ends_all(void **state)
{
	struct counter c = { 0 };
	struct record_tee t;
	struct trace_writer *w = begin(&t);
	struct record bad = { .tag = REC_SAMPLE, .sample = { .thread = 77 } };

	(void)state;
	add(&t, &c);
	stderr_begin();
	assert_int_equal(record_tee_record(&t, &bad), -EINVAL);
	assert_int_equal(record_tee_record(&t, &bad), -EINVAL);
	stderr_end();
	assert_int_equal(c.records, 0);
	assert_int_equal(trace_writer_close(w), -EINVAL);
}

/* The last chunk of a segment ends before the next one begins, and ids begin at 1 again. */
static void segments_are_told(void **state)
{
	struct counter c = { 0 };
	struct record_tee t;
	struct trace_writer *w = begin(&t);
	struct record rec = { .tag = REC_STRING, .string = { 1, "a", 1 } };

	(void)state;
	add(&t, &c);
	assert_int_equal(record_tee_record(&t, &rec), 0);
	assert_int_equal(record_tee_begin_segment(&t), 0);
	assert_int_equal(c.chunks, 1);
	assert_int_equal(c.segments, 1);
	assert_int_equal(record_tee_record(&t, &rec), 0);
	assert_int_equal(c.records, 2);
	assert_int_equal(trace_writer_close(w), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_given_all),
		cmocka_unit_test(full_chunks_are_told_as_well),
		cmocka_unit_test(a_consumer_that_fails_ends_alone),
		cmocka_unit_test(segments_are_told),
		cmocka_unit_test(an_error_of_the_writer_ends_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
