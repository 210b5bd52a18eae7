/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of a part of the time, which do not read what lies outside: they must show the same as a
 * report of everything from which samples are left out.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/bytes.h"
#include "src/base/io.h"
#include "src/base/opt.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/stack_health.h"

#define SECOND 1000000000ull
#define REAL (1700000000 * SECOND)
enum { THREADS = 3, SECONDS = 40, A_SECOND = 200, MANY_A_SECOND = 2000, FLIP_AT = 40 };

/* What is unusual about a recording. */
struct kind {
	const char *what;
	bool scans;		/* each fifth second has a scan, whose rows are repeated later */
	bool two_events;
	bool weightless;	/* the event does not say what a sample weighs */
	bool clock_steps;	/* the date goes back by ten seconds in the middle */
	unsigned segments;
	bool small;		/* so few samples that they share a chunk with definitions */
	bool big;		/* so many that they share none with rows of scans either */
};

static char path[] = "/tmp/test_time_windows.XXXXXX";
static struct trace_writer *w;

static void put(struct record rec)
{
	assert_int_equal(trace_writer_record(w, &rec), 0);
}

static void put_string(uint32_t id, const char *s)
{
	put((struct record){ .tag = REC_STRING, .string = { id, s, strlen(s) } });
}

static void put_tables(const struct kind *k)
{
	put_string(1, "cpu-clock");
	put_string(2, "ns");
	put_string(3, "page-faults");
	put_string(4, "count");
	put_string(5, "worker");
	put_string(6, "snapshot");
	put((struct record){ .tag = REC_PROCESS, .process = { .id = 1, .tgid = 7, .comm = 5 } });
	for (uint32_t i = 1; i <= THREADS; i++)
		put((struct record){ .tag = REC_THREAD,
				     .thread = { .id = i, .process = 1, .tid = 6 + i, .comm = 5 } });
	put((struct record){ .tag = REC_EVENT,
			     .event = { .id = 1, .name = 1, .unit = 2, .kind = EVENT_CPU_CLOCK,
					.period = k->weightless ? 0 : 5000 } });
	if (k->scans)
		put((struct record){ .tag = REC_EVENT,
				     .event = { .id = 2, .name = 6, .unit = 2, .period = SECOND,
						.kind = EVENT_SNAPSHOT } });
	if (k->two_events)
		put((struct record){ .tag = REC_EVENT,
				     .event = { .id = 3, .name = 3, .unit = 4, .period = 1 } });
}

static void put_clock(uint64_t at, int64_t ahead)
{
	put((struct record){ .tag = REC_CLOCK,
			     .clock = { .mono_ns = at, .real_ns = REAL + at + (uint64_t)ahead } });
}

/* Defines a new frame and node, as something new is met in each second. */
static void put_node(uint32_t id)
{
	put((struct record){ .tag = REC_FRAME,
			     .frame = { .id = id, .kind = FRAME_USER, .addr = 64ull * id } });
	put((struct record){ .tag = REC_NODE, .node = { .id = id, .parent = id / 2, .frame = id } });
}

static void put_scan(uint32_t second)
{
	const struct rec_run run = { 1, THREADS };
	uint64_t at = second * SECOND;

	for (uint32_t i = 1; second % 10 == 0 && i <= THREADS; i++)
		put((struct record){ .tag = REC_SAMPLE,
				     .sample = { .time_ns = at + i, .event = 2, .thread = i,
						 .scan = second / 5 + 1, .state = TASK_SLEEPING,
						 .end = END_ROOT, .ustack = 1,
						 .cpu = UINT32_MAX } });
	if (second % 10)
		put((struct record){ .tag = REC_REPEAT,
				     .repeat = { .time_ns = at, .scan = second / 5 + 1,
						 .runs = &run, .nr_runs = 1 } });
}

static uint32_t samples_of(const struct kind *k)
{
	return k->small ? 20 : k->big ? MANY_A_SECOND : A_SECOND;
}

static void put_second(const struct kind *k, uint32_t second)
{
	uint32_t nr = samples_of(k);

	put_node(second + 1);
	if (k->scans && second % 5 == 0)
		put_scan(second);
	for (uint32_t i = 0; i < nr; i++)
		put((struct record){ .tag = REC_SAMPLE,
				     .sample = { .time_ns = second * SECOND + i * (SECOND / nr),
						 .event = k->two_events && i % 3 == 0 ? 3 : 1,
						 .thread = 1 + i % THREADS, .cpu = i % 2,
						 .ustack = 1 + (second + i) % (second + 1),
						 .end = i % 50 ? END_ROOT : END_NO_FDE,
						 .state = TASK_RUNNING } });
	assert_int_equal(trace_writer_flush(w), 0);
}

static void put_segment(const struct kind *k)
{
	put_clock(0, 0);
	put_tables(k);
	for (uint32_t i = 0; i < SECONDS; i++) {
		put_second(k, i);
		if (i == SECONDS / 2)
			put_clock(i * SECOND, k->clock_steps ? -10 * (int64_t)SECOND : 0);
	}
	put((struct record){ .tag = REC_END,
			     .end = { .time_ns = SECONDS * SECOND, .target_status = -1 } });
}

static void write_trace(const struct kind *k)
{
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	for (unsigned i = 0; i <= k->segments; i++) {
		if (i)
			assert_int_equal(trace_writer_begin_segment(w), 0);
		put_segment(k);
	}
	assert_int_equal(trace_writer_close(w), 0);
}

/* ---- a window is what a filter by hand leaves ---- */

struct sums {
	uint64_t from_ns, to_ns, samples, weight, stacks, whole, all, scans;
};

static int add(void *ctx, const struct report_sample *s)
{
	struct sums *sums = ctx;

	sums->all++;
	if (s->real_ns < sums->from_ns || s->real_ns >= sums->to_ns)
		return 0;
	sums->samples++;
	sums->weight += s->weight;
	sums->stacks += stack_end_has_stack(s->rec->end);
	sums->whole += stack_end_is_root(s->rec->end);
	return 0;
}

/* The samples of all events, which is what report_info() counts. */
static struct sums by_hand(const struct kind *k, uint64_t from_ns, uint64_t to_ns, bool shown_only)
{
	static const char *const events[] = { "cpu-clock", "snapshot", "page-faults" };
	struct sums sums = { .from_ns = from_ns, .to_ns = to_ns };

	for (size_t i = 0; i < (shown_only ? 1 : 3); i++) {
		struct query q = { .event = events[i] };
		struct report *rep;

		if ((i == 1 && !k->scans) || (i == 2 && !k->two_events))
			continue;
		assert_int_equal(report_open(path, &q, &rep), 0);
		assert_int_equal(report_samples(rep, add, &sums), 0);
		report_close(rep);
	}
	return sums;
}

static void check_window(const struct kind *k, struct time_point from, struct time_point to,
			 uint64_t from_ns, uint64_t to_ns)
{
	struct sums shown = by_hand(k, from_ns, to_ns, true),
		    all = by_hand(k, from_ns, to_ns, false), got = { .to_ns = UINT64_MAX };
	struct query q = { .from = from, .to = to, .event = "cpu-clock" };
	const struct report_info *info;
	struct profile *p;
	struct report *rep;

	assert_int_equal(report_open(path, &q, &rep), 0);
	info = report_info(rep);
	assert_int_equal(report_samples(rep, add, &got), 0);
	assert_int_equal(got.samples, shown.samples);
	assert_int_equal(got.weight, shown.weight);
	assert_int_equal(fold_report(rep, NULL, &p), 0);
	assert_int_equal(p->facts.samples, shown.samples);
	assert_int_equal(p->facts.samples_total, shown.all);
	assert_int_equal(p->nodes[0].total, shown.weight);
	assert_int_equal(info->samples, all.all);
	assert_int_equal(info->seen, all.samples);
	assert_int_equal(info->user_stacks, all.stacks);
	assert_int_equal(info->roots, all.whole);
	assert_int_equal(report_health(rep)->all.stacks, all.stacks);
	assert_false(report_is_incomplete(rep));
	profile_free(p);
	report_close(rep);
}

static void a_window_equals_a_filter(void **state)
{
	static const struct kind kinds[] = {
		{ .what = "plain" },
		{ .what = "scans", .scans = true },
		{ .what = "events", .two_events = true },
		{ .what = "no weight", .weightless = true },
		{ .what = "clock", .clock_steps = true },
		{ .what = "segments", .segments = 1 },
		{ .what = "small", .small = true },
		{ .what = "big scans", .big = true, .scans = true },
		{ .what = "small scans", .small = true, .scans = true, .clock_steps = true },
	};
	const struct time_point none = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		/* The last sample of a date that goes back is not the one with the last date. */
		uint64_t last = kinds[i].clock_steps ? 0 : SECONDS * SECOND -
			SECOND / samples_of(&kinds[i]);

		write_trace(&kinds[i]);
		check_window(&kinds[i], (struct time_point){ TIME_RELATIVE, 12 * SECOND },
			     (struct time_point){ TIME_RELATIVE, 14 * SECOND }, REAL + 12 * SECOND,
			     REAL + 14 * SECOND);
		check_window(&kinds[i], none, (struct time_point){ TIME_RELATIVE, SECOND / 2 }, 0,
			     REAL + SECOND / 2);
		check_window(&kinds[i], (struct time_point){ TIME_DATE, REAL + 22 * SECOND + 5 },
			     none, REAL + 22 * SECOND + 5, UINT64_MAX);
		if (last)
			check_window(&kinds[i],
				     (struct time_point){ TIME_BEFORE_END, SECOND }, none,
				     REAL + last - SECOND, UINT64_MAX);
	}
}

/* ---- rows of scans, which repeat rows from before the window ---- */

static int count(void *ctx, const struct report_sample *s, uint64_t nr)
{
	struct sums *sums = ctx;

	sums->samples += nr;
	sums->weight += s->weight;
	sums->stacks += s->rec->ustack * nr;
	return 0;
}

static int count_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct sums *sums = ctx;

	(void)segment;
	(void)real_ns;
	sums->scans += scan;
	return 0;
}

/* Scans are at each fifth second; those of odd numbers have rows, the others repeat them. */
static void check_scans(uint64_t from_s, uint64_t to_s, bool alone)
{
	static const struct report_counting counting = { .samples = count, .scan = count_scan };
	struct query q = { .event = "snapshot",
			   .from = { TIME_RELATIVE, from_s * SECOND },
			   .to = { TIME_RELATIVE, to_s * SECOND } };
	const struct opt tid = { .name = "tid" };
	uint64_t rows = 0, repeats = 0;
	struct report *rep;

	for (uint64_t s = from_s; s < to_s; s++) {
		rows += s % 5 == 0 ? alone ? 1 : THREADS : 0;
		repeats += s % 10 == 5 ? s / 5 + 1 : 0;
	}
	if (alone)
		assert_int_equal(opt_id_list(&tid, "8", &q.tids), 0);
	assert_int_equal(report_open(path, &q, &rep), 0);
	for (int pass = 0; pass < 3; pass++) {
		struct sums one = { .to_ns = UINT64_MAX }, counted = { 0 };

		assert_int_equal(report_samples(rep, add, &one), 0);
		assert_int_equal(one.samples, rows);
		assert_int_equal(one.weight, rows * SECOND);
		assert_int_equal(report_counted(rep, &counting, &counted), 0);
		assert_int_equal(counted.samples, rows);
		assert_int_equal(counted.weight, rows * SECOND);
		assert_int_equal(counted.stacks, rows);
		assert_int_equal(counted.scans, repeats);
	}
	assert_int_equal(report_info(rep)->scan_rows, SECONDS / 5 * THREADS);
	report_close(rep);
	query_release(&q);
}

static void a_window_has_the_rows_that_are_repeated_in_it(void **state)
{
	(void)state;
	for (int size = 0; size < 3; size++) {
		const struct kind k = { .scans = true, .small = size == 0, .big = size == 2 };

		write_trace(&k);
		for (uint64_t from = 0; from < SECONDS; from += 3)
			for (uint64_t len = 1; len < 16; len += 7)
				check_scans(from, from + len < SECONDS ? from + len : SECONDS,
					    from % 2);
	}
}

/* ---- the bytes ---- */

static struct byte_buf load(void)
{
	struct byte_buf b = { 0 };
	char *text;
	ssize_t n = io_read_file(path, &text, 64 << 20);

	assert_true(n > 0);
	bb_bytes(&b, text, (size_t)n);
	free(text);
	return b;
}

static void save(const struct byte_buf *b)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(b->v, 1, b->nr, f), b->nr);
	assert_int_equal(fclose(f), 0);
}

/* The offset of the nr-th signpost with these contents, counted from 0. */
static size_t find_post(const struct byte_buf *b, unsigned contents, unsigned nr,
			struct signpost *sp)
{
	size_t at = IDENT_SIZE;

	for (; at < b->nr; at += SIGNPOST_SIZE + sp->data_size) {
		assert_true(signpost_decode(b->v + at, b->nr - at, sp));
		if (sp->contents == contents && !nr--)
			return at;
	}
	return 0;
}

static void samples_have_chunks_of_their_own(void **state)
{
	const struct kind plain = { 0 }, small = { .small = true }, scans = { .scans = true },
			  big = { .scans = true, .big = true };
	struct signpost sp;
	struct byte_buf b;

	(void)state;
	write_trace(&plain);
	b = load();
	assert_int_not_equal(find_post(&b, CHUNK_HAS_SAMPLES, SECONDS - 1, &sp), 0);
	assert_int_equal(sp.nr_samples, A_SECOND);
	assert_int_equal(find_post(&b, CHUNK_HAS_SAMPLES, SECONDS, &sp), 0);
	assert_int_equal(find_post(&b, CHUNK_HAS_SAMPLES | CHUNK_HAS_TABLES, 0, &sp), 0);
	bb_release(&b);
	write_trace(&small);
	b = load();
	assert_int_equal(find_post(&b, CHUNK_HAS_SAMPLES, 0, &sp), 0);
	bb_release(&b);
	write_trace(&scans);
	b = load();
	/* The chunks of seconds with a scan must be read. */
	assert_int_not_equal(
		find_post(&b, CHUNK_HAS_SAMPLES | CHUNK_HAS_TABLES, SECONDS / 5 - 1, &sp), 0);
	assert_int_equal(find_post(&b, CHUNK_HAS_SAMPLES | CHUNK_HAS_TABLES, SECONDS / 5, &sp), 0);
	bb_release(&b);
	write_trace(&big);
	b = load();
	/* Where there are many samples, rows of scans stand with the definitions alone. */
	assert_int_not_equal(
		find_post(&b, CHUNK_HAS_SAMPLES | CHUNK_HAS_TABLES, SECONDS / 10 - 1, &sp), 0);
	assert_int_equal(sp.nr_samples, THREADS);
	assert_int_equal(find_post(&b, CHUNK_HAS_SAMPLES | CHUNK_HAS_TABLES, SECONDS / 10, &sp), 0);
	assert_int_not_equal(find_post(&b, CHUNK_HAS_SAMPLES, SECONDS - 1, &sp), 0);
	assert_int_equal(sp.nr_samples, MANY_A_SECOND);
	bb_release(&b);
}

static uint64_t bad_chunks_of(uint64_t from_s, uint64_t to_s, uint64_t *samples)
{
	struct query q = { .from = { TIME_RELATIVE, from_s * SECOND },
			   .to = { TIME_RELATIVE, to_s * SECOND } };
	struct sums sums = { .to_ns = UINT64_MAX };
	struct report *rep;
	uint64_t bad;

	assert_int_equal(report_open(path, &q, &rep), 0);
	bad = report_info(rep)->status.bad_chunks;
	assert_int_equal(report_is_incomplete(rep), bad > 0);
	assert_int_equal(report_samples(rep, add, &sums), 0);
	*samples = sums.samples;
	report_close(rep);
	return bad;
}

static void damage_is_met_where_something_is_read(void **state)
{
	const struct kind plain = { 0 };
	struct byte_buf b;
	struct signpost sp;
	uint64_t samples;

	(void)state;
	write_trace(&plain);
	b = load();
	b.v[find_post(&b, CHUNK_HAS_SAMPLES, 20, &sp) + SIGNPOST_SIZE + FLIP_AT] ^= 1;
	save(&b);
	assert_int_equal(bad_chunks_of(10, 12, &samples), 0);
	assert_int_equal(samples, 2 * A_SECOND);
	assert_int_equal(bad_chunks_of(19, 22, &samples), 1);
	assert_int_equal(samples, 2 * A_SECOND);
	/* The last chunk of samples is cut: nothing of it may be left out as if it were there. */
	b.nr = find_post(&b, CHUNK_HAS_SAMPLES, SECONDS - 1, &sp) + SIGNPOST_SIZE +
	       sp.data_size - 1;
	save(&b);
	for (int whole = 0; whole < 2; whole++) {
		struct query q = { .from = { TIME_RELATIVE, whole ? 0 : SECOND },
				   .to = { TIME_RELATIVE, 2 * SECOND } };
		struct report *rep;

		assert_int_equal(report_open(path, whole ? NULL : &q, &rep), 0);
		assert_true(report_info(rep)->status.truncated);
		assert_int_equal(report_info(rep)->samples,
				 (SECONDS - 1 - whole) * (uint64_t)A_SECOND);
		report_close(rep);
	}
	bb_release(&b);
}

/* A signpost that lies must not make definitions disappear from one pass and not from others. */
static void contents_must_be_true(void **state)
{
	const struct kind plain = { 0 };
	struct signpost sp;
	struct byte_buf b;
	uint64_t samples;
	size_t at;

	(void)state;
	write_trace(&plain);
	b = load();
	at = find_post(&b, CHUNK_HAS_TABLES, 20, &sp);
	sp.contents = CHUNK_HAS_SAMPLES;
	sp.nr_samples = 1;
	sp.first_ns = sp.last_ns = 20 * SECOND;
	signpost_encode(b.v + at, &sp);
	save(&b);
	assert_int_equal(bad_chunks_of(0, 60, &samples), 1);
	assert_int_equal(samples, SECONDS * A_SECOND);
	bb_release(&b);
}

/* ---- the reader ---- */

struct asked {
	uint64_t from_ns, to_ns, nr, rows;
};

static bool wants(void *ctx, const struct trace_rows *rows)
{
	struct asked *a = ctx;

	a->nr++;
	a->rows += rows->nr;
	return rows->last_ns >= a->from_ns && rows->first_ns < a->to_ns;
}

struct came {
	uint64_t samples, scan_rows, others, sum;
	uint64_t sampled;		/* the part of sum that is samplers' */
};

static struct came read_all(struct trace_reader *r)
{
	struct came came = { 0 };
	struct record rec;
	int n;

	assert_int_equal(trace_reader_rewind(r), 0);
	while ((n = trace_reader_next(r, &rec)) > 0) {
		if (rec.tag != REC_SAMPLE)
			came.others++;
		else if (rec.sample.scan)
			came.scan_rows++;
		else
			came.samples++;
		if (rec.tag == REC_SAMPLE)
			came.sum += rec.sample.time_ns * 31 + rec.sample.ustack;
		if (rec.tag == REC_SAMPLE && !rec.sample.scan)
			came.sampled += rec.sample.time_ns * 31 + rec.sample.ustack;
	}
	assert_int_equal(n, 0);
	return came;
}

/* A pass may end at any record. */
static void read_some(struct trace_reader *r)
{
	struct record rec;

	assert_int_equal(trace_reader_rewind(r), 0);
	assert_int_equal(trace_reader_next(r, &rec), 1);
}

static void the_reader_leaves_out_what_nobody_wants(void **state)
{
	for (int i = 0; i < 6; i++) {
		const struct kind k = { .scans = i & 1, .small = i / 2 == 1, .big = i / 2 == 2 };
		uint64_t a_second = samples_of(&k);
		struct asked a = { 3 * SECOND, 5 * SECOND, 0, 0 };
		struct came all, some, known;
		struct trace_reader *r;

		write_trace(&k);
		assert_int_equal(trace_reader_open(path, NULL, &r), 0);
		all = read_all(r);
		assert_int_equal(all.samples, SECONDS * a_second);
		trace_reader_choose(r, wants, &a);
		some = read_all(r);
		/* In some seconds rows of a scan are in the same record: those come out. */
		assert_int_equal(a.nr, SECONDS);
		assert_int_equal(a.rows, SECONDS * a_second);
		assert_int_equal(some.samples, 2 * a_second);
		assert_int_equal(some.others, all.others);
		assert_int_equal(some.scan_rows, all.scan_rows);
		trace_reader_know_tables(r);
		/*
		 * These passes end with the last chunk that is wanted, and have only the last row
		 * of each thread before the first one, with which all but one of them begin.
		 */
		for (int pass = 0; pass < 3; pass++) {
			known = read_all(r);
			assert_int_equal(known.samples, some.samples);
			assert_int_equal(known.scan_rows, k.scans ? THREADS : 0);
			assert_int_equal(known.sampled, some.sampled);
			assert_int_equal(known.others, 0);
			read_some(r);
		}
		a.from_ns = a.to_ns = UINT64_MAX;
		trace_reader_choose(r, NULL, &a);
		trace_reader_choose(r, wants, &a);
		for (int pass = 0; pass < 2; pass++)
			assert_int_equal(read_all(r).samples, 0);
		trace_reader_choose(r, NULL, NULL);
		known = read_all(r);
		assert_int_equal(known.sum, all.sum);
		assert_int_equal(known.others, 0);
		trace_reader_close(r);
	}
	(void)state;
}

/* What a signpost says of the number of rows is not what decides how many there are. */
static void wrong_numbers_of_rows_change_nothing(void **state)
{
	const struct kind plain = { 0 };
	struct signpost sp;
	struct trace_reader *r;
	struct byte_buf b;
	struct came first;
	size_t at;

	(void)state;
	write_trace(&plain);
	b = load();
	at = find_post(&b, CHUNK_HAS_SAMPLES, 20, &sp);
	sp.nr_samples = 0;
	signpost_encode(b.v + at, &sp);
	assert_int_equal(trace_reader_open_memory(b.v, b.nr, NULL, &r), 0);
	first = read_all(r);
	assert_int_equal(first.samples, SECONDS * A_SECOND);
	trace_reader_know_tables(r);
	assert_int_equal(read_all(r).sum, first.sum);
	trace_reader_close(r);
	bb_release(&b);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_equals_a_filter),
		cmocka_unit_test(a_window_has_the_rows_that_are_repeated_in_it),
		cmocka_unit_test(samples_have_chunks_of_their_own),
		cmocka_unit_test(damage_is_met_where_something_is_read),
		cmocka_unit_test(contents_must_be_true),
		cmocka_unit_test(the_reader_leaves_out_what_nobody_wants),
		cmocka_unit_test(wrong_numbers_of_rows_change_nothing),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
