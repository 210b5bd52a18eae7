/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/trace_merge.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "tests/unit/trace_fixture.h"

/* What a trace of the fixture is changed by. */
struct change {
	struct trace_writer *w;
	bool no_host;
	const char *part;		/* META recording.part, first of all; NULL: none */
	int64_t step_ns;		/* of a second CLOCK; 0: there is none */
};

static int put_meta(struct trace_writer *w, const char *key, const char *value)
{
	struct record rec = { .tag = REC_META, .meta = { key, value, strlen(value) } };

	return trace_writer_record(w, &rec);
}

static int change(void *ctx, const struct record *rec)
{
	struct change *c = ctx;
	struct record clock = { .tag = REC_CLOCK };

	if (rec->tag == REC_META && c->no_host && !strcmp(rec->meta.key, "host"))
		return 0;
	if (rec->tag == REC_END && c->step_ns) {
		clock.clock = (struct rec_clock){ FIX_T0 + 60 * FIX_MS, FIX_REAL + 60 * FIX_MS + (uint64_t)c->step_ns, 1, 70 };
		if (trace_writer_record(c->w, &clock))
			return -1;
	}
	return trace_writer_record(c->w, rec);
}

static void write_trace(const char *path, struct change c)
{
	unlink(path);
	assert_int_equal(trace_writer_open(path, NULL, &c.w), 0);
	if (c.part)
		assert_int_equal(put_meta(c.w, "recording.part", c.part), 0);
	assert_int_equal(trace_fixture_emit(change, &c), 0);
	assert_int_equal(trace_writer_close(c.w), 0);
}

static struct trace_merge_sum add(struct trace_merge *m, const char *path, const char *name)
{
	struct trace_merge_sum sum;
	struct trace_reader *r;

	assert_int_equal(trace_reader_open(path, NULL, &r), 0);
	assert_int_equal(trace_merge_add(m, r, name, &sum), 0);
	trace_reader_close(r);
	return sum;
}

/* The value of a META in a segment; "" if it has none. The caller frees it. */
static char *meta_of(const char *path, uint32_t segment, const char *key)
{
	struct trace_reader *r;
	struct record rec;
	char *found = strdup("");

	assert_int_equal(trace_reader_open(path, NULL, &r), 0);
	while (trace_reader_next(r, &rec) > 0) {
		if (rec.tag != REC_META || strcmp(rec.meta.key, key) || trace_reader_status(r)->segment != segment)
			continue;
		free(found);
		found = strndup(rec.meta.value, rec.meta.len);
	}
	trace_reader_close(r);
	return found;
}

static void check_meta(const char *path, uint32_t segment, const char *key, const char *want)
{
	char *got = meta_of(path, segment, key);

	assert_string_equal(got, want);
	free(got);
}

struct files {
	char dir[32], a[64], b[64], out[64];
	struct trace_merge m;
};

static struct files setup(struct change a, struct change b)
{
	struct files f = { .dir = "/tmp/probee-merge-XXXXXX" };

	assert_non_null(mkdtemp(f.dir));
	snprintf(f.a, sizeof(f.a), "%s/a.pbz", f.dir);
	snprintf(f.b, sizeof(f.b), "%s/b.pbz", f.dir);
	snprintf(f.out, sizeof(f.out), "%s/out.pbz", f.dir);
	write_trace(f.a, a);
	write_trace(f.b, b);
	return f;
}

static void open_out(struct files *f, struct trace_writer **w)
{
	unlink(f->out);
	assert_int_equal(trace_writer_open(f->out, NULL, w), 0);
	trace_merge_init(&f->m, *w);
}

static void teardown(const struct files *f)
{
	unlink(f->a);
	unlink(f->b);
	unlink(f->out);
	rmdir(f->dir);
}

static void each_recording_has_a_host(void **state)
{
	struct files f = setup((struct change){ .no_host = false }, (struct change){ .no_host = true });
	struct trace_merge_sum sum;
	struct trace_writer *w;

	(void)state;
	open_out(&f, &w);
	sum = add(&f.m, f.a, "a.pbz");
	assert_int_equal(sum.recordings, 1);
	assert_int_equal(sum.samples, FIX_SAMPLES);
	assert_true(sum.first_real_ns == FIX_REAL && sum.last_real_ns == FIX_REAL && !sum.step_ns);
	add(&f.m, f.b, "web-7.pbz");
	assert_int_equal(trace_writer_close(w), 0);
	check_meta(f.out, 0, "host", "fixture");
	check_meta(f.out, 1, "host", "web-7");
	check_meta(f.out, 0, "merge.from", "a.pbz");
	check_meta(f.out, 1, "merge.from", "web-7.pbz");
	check_meta(f.out, 2, "host", "");
	teardown(&f);
}

static void says_that_a_clock_was_set(void **state)
{
	struct files f = setup((struct change){ .step_ns = -3000000000ll }, (struct change){ .step_ns = 12 });
	struct trace_merge_sum sum;
	struct trace_writer *w;
	char want[128];

	(void)state;
	open_out(&f, &w);
	sum = add(&f.m, f.a, "a.pbz");
	assert_true(sum.step_ns == -3000000000ll);
	sum = add(&f.m, f.b, "b.pbz");
	assert_true(sum.step_ns == 12);
	assert_int_equal(trace_writer_close(w), 0);
	snprintf(want, sizeof(want), "begin=%llu end=%llu step=-3000000000 uncertainty=70", FIX_REAL,
		 FIX_REAL + 60 * FIX_MS - 3000000000ull);
	check_meta(f.out, 0, "merge.clock", want);
	teardown(&f);
}

static void the_first_part_begins_a_recording(void **state)
{
	struct files f = setup((struct change){ .no_host = false }, (struct change){ .part = "3" });
	struct trace_writer *w;

	(void)state;
	check_meta(f.b, 0, "recording.part", "3");
	open_out(&f, &w);
	add(&f.m, f.a, "a.pbz");
	add(&f.m, f.b, "b.pbz");
	assert_int_equal(trace_writer_close(w), 0);
	check_meta(f.out, 1, "recording.part", "");
	check_meta(f.out, 1, "tool", "probee 0.1.0");
	teardown(&f);
}

/* What was merged is merged again: what was said the first time stays. */
static void says_it_once(void **state)
{
	struct files f = setup((struct change){ .no_host = true }, (struct change){ .no_host = false });
	struct trace_writer *w;
	char *id, *again;

	(void)state;
	open_out(&f, &w);
	add(&f.m, f.a, "a.pbz");
	assert_int_equal(trace_writer_close(w), 0);
	id = meta_of(f.out, 0, "merge.id");
	assert_int_equal(strlen(id), 32);
	rename(f.out, f.b);
	open_out(&f, &w);
	add(&f.m, f.b, "b.pbz");
	assert_int_equal(trace_writer_close(w), 0);
	again = meta_of(f.out, 0, "merge.id");
	assert_string_equal(id, again);
	check_meta(f.out, 0, "merge.from", "a.pbz");
	check_meta(f.out, 0, "host", "a");
	free(id);
	free(again);
	teardown(&f);
}

/* ---- damage ---- */

struct chunked {
	struct trace_writer *w;
	unsigned nr;
};

/* A chunk for each few records, so that what is referred to is often in another one. */
static int put_chunked(void *ctx, const struct record *rec)
{
	struct chunked *c = ctx;
	int err = trace_writer_record(c->w, rec);

	return err || ++c->nr % 4 ? err : trace_writer_flush(c->w);
}

static uint8_t *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	uint8_t *v = malloc(1 << 20);

	assert_non_null(f);
	*len = fread(v, 1, 1 << 20, f);
	fclose(f);
	return v;
}

static uint32_t below(uint64_t *seed, size_t limit)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*seed >> 33) % limit);
}

/* Changes a byte, cuts the end off, or takes something out of the middle. */
static size_t damage(uint8_t *v, size_t len, uint64_t *seed)
{
	size_t at = below(seed, len), nr = below(seed, 400) + 1;

	switch (below(seed, 3)) {
	case 0: v[at] ^= (uint8_t)(1 + below(seed, 255)); return len;
	case 1: return at;
	}
	if (at + nr > len)
		nr = len - at;
	memmove(v + at, v + at + nr, len - at - nr);
	return len - nr;
}

struct counted {
	uint64_t samples, definitions, segments;
	bool is_damaged;
};

/* What a reader finds, with rows of REPEATs. */
static struct counted count(struct trace_reader *r)
{
	struct counted c = { 0 };
	uint32_t last = UINT32_MAX;
	struct record rec;

	while (trace_reader_next(r, &rec) > 0) {
		c.segments += trace_reader_status(r)->segment != last;
		last = trace_reader_status(r)->segment;
		c.samples += rec.tag == REC_SAMPLE;
		c.definitions += record_is_definition(rec.tag);
	}
	c.is_damaged = trace_reader_status(r)->bad_chunks;
	return c;
}

/* Whatever can be read of a damaged trace is in the copy, and nothing else. */
static void what_is_left_of_damaged_traces_is_copied(void **state)
{
	struct files f = setup((struct change){ .no_host = false }, (struct change){ .no_host = true });
	struct trace_reader_options opts = { .forgets = true };
	uint64_t seed = 7, damaged = 0;
	struct chunked c = { .nr = 0 };
	uint8_t *whole, *v;
	size_t len;

	(void)state;
	unlink(f.a);
	assert_int_equal(trace_writer_open(f.a, NULL, &c.w), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(trace_fixture_emit(put_chunked, &c), 0);
		if (i < 2)
			assert_int_equal(trace_writer_begin_segment(c.w), 0);
	}
	assert_int_equal(trace_writer_close(c.w), 0);
	whole = read_file(f.a, &len);
	v = malloc(len);
	for (unsigned i = 0; i < 400; i++) {
		struct trace_merge_sum sum;
		struct counted want, got;
		struct trace_writer *w;
		struct trace_reader *r;
		size_t left = len;

		memcpy(v, whole, len);
		for (unsigned k = i ? below(&seed, 3) + 1 : 0; k && left; k--)
			left = damage(v, left, &seed);
		if (trace_reader_open_memory(v, left, &opts, &r))
			continue;	/* that is no trace any more */
		want = count(r);
		open_out(&f, &w);
		assert_int_equal(trace_merge_add(&f.m, r, "a.pbz", &sum), 0);
		trace_reader_close(r);
		assert_int_equal(trace_writer_close(w), 0);
		assert_int_equal(sum.samples, want.samples);
		assert_int_equal(sum.recordings, want.segments);
		if (!want.segments)
			continue;
		assert_int_equal(trace_reader_open(f.out, NULL, &r), 0);
		got = count(r);
		trace_reader_close(r);
		assert_int_equal(got.samples, want.samples);
		assert_int_equal(got.definitions, want.definitions);
		assert_int_equal(got.segments, want.segments);
		damaged += want.is_damaged && got.is_damaged;
	}
	assert_true(damaged > 50);
	free(whole);
	free(v);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_recording_has_a_host),
		cmocka_unit_test(says_that_a_clock_was_set),
		cmocka_unit_test(the_first_part_begins_a_recording),
		cmocka_unit_test(says_it_once),
		cmocka_unit_test(what_is_left_of_damaged_traces_is_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
