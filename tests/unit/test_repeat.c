/* SPDX-License-Identifier: GPL-2.0-or-later */
/* REPEAT from end to end: what a writer is told about quiet threads is what a reader sees, a row for each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/trace/chunk_decoder.h"
#include "formats/trace/chunk_encoder.h"
#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_reader.h"
#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/io.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_files.h"
#include "tests/unit/trace_fixture.h"

enum { THREADS = 60, WALKS = 40, MAX_PARTS = WALKS + 2 };
#define SCAN_NS FIX_MS

/* What every thread does in every walk, by a simple rule: thread t changes in walk w when that is divisible. */
static bool changes(uint32_t scan, uint32_t thread)
{
	return scan == 1 || (scan * 7 + thread * thread) % 11 == 0;
}

static struct rec_sample row_of(uint32_t scan, uint32_t thread)
{
	uint32_t since = scan;

	while (!changes(since, thread))
		since--;
	return (struct rec_sample){ .time_ns = FIX_T0 + scan * SCAN_NS, .event = FIX_E_SCAN, .thread = thread,
				    .cpu = UINT32_MAX, .kstack = since % 12, .ustack = (since + thread) % 12,
				    .weight = since, .state = TASK_SLEEPING, .end = END_ROOT, .flags = thread,
				    .scan = scan };
}

static int send(record_fn fn, void *ctx, struct record rec)
{
	return fn(ctx, &rec);
}

static int send_definitions(record_fn fn, void *ctx)
{
	int err = fixture_emit_facts(fn, ctx);

	if (!err)
		err = fixture_emit_tasks(fn, ctx);
	if (!err)
		err = fixture_emit_stacks(fn, ctx);
	for (uint32_t t = FIX_T_KWORKER + 1; t <= THREADS && !err; t++)
		err = send(fn, ctx, (struct record){ .tag = REC_THREAD, .thread = { t, FIX_P_SERVER, 100 + t, 1, 0, 0 } });
	return err;
}

/* The rows of those that change and, on the way, the runs of those that do not. */
static int send_scan(record_fn fn, void *ctx, uint32_t scan)
{
	struct rec_run runs[THREADS];
	struct rec_repeat rep = { FIX_T0 + scan * SCAN_NS, scan, runs, 0 };
	int err = 0;

	for (uint32_t t = 1; t <= THREADS && !err; t++) {
		if (changes(scan, t))
			err = send(fn, ctx, (struct record){ .tag = REC_SAMPLE, .sample = row_of(scan, t) });
		else if (t > 1 && !changes(scan, t - 1))
			runs[rep.nr_runs - 1].nr++;
		else
			runs[rep.nr_runs++] = (struct rec_run){ t, 1 };
	}
	return err ? err : send(fn, ctx, (struct record){ .tag = REC_REPEAT, .repeat = rep });
}

/* per_chunk walks share a chunk. Where each chunk ends goes to part_end. */
static uint64_t part_end[MAX_PARTS];
static unsigned nr_parts;

static void end_part(struct trace_writer *w)
{
	struct trace_writer_stats stats;

	assert_int_equal(trace_writer_flush(w), 0);
	trace_writer_stats(w, &stats);
	part_end[nr_parts++] = stats.file_bytes;
}

static void write_scans(const char *name, uint32_t per_chunk)
{
	struct trace_writer_stats stats;
	struct trace_writer *w;

	nr_parts = 0;
	assert_int_equal(trace_writer_open(trace_file(name), NULL, &w), 0);
	assert_int_equal(send_definitions(trace_writer_record, w), 0);
	end_part(w);
	for (uint32_t scan = 1; scan <= WALKS; scan++) {
		assert_int_equal(send_scan(trace_writer_record, w, scan), 0);
		if (scan % per_chunk == 0 || scan == WALKS)
			end_part(w);
	}
	trace_writer_stats(w, &stats);
	assert_int_equal(stats.samples, WALKS * THREADS);
	assert_int_equal(trace_writer_close(w), 0);
}

static void check_row(const struct rec_sample *s, uint8_t seen[WALKS + 1][THREADS + 1])
{
	struct rec_sample want;

	assert_in_range(s->scan, 1, WALKS);
	assert_in_range(s->thread, 1, THREADS);
	want = row_of(s->scan, s->thread);
	assert_int_equal(s->time_ns, want.time_ns);
	assert_int_equal(s->event, want.event);
	assert_int_equal(s->cpu, want.cpu);
	assert_int_equal(s->kstack, want.kstack);
	assert_int_equal(s->ustack, want.ustack);
	assert_int_equal(s->weight, want.weight);
	assert_int_equal(s->state, want.state);
	assert_int_equal(s->end, want.end);
	assert_int_equal(s->flags, want.flags);
	assert_int_equal(seen[s->scan][s->thread]++, 0);
}

/* Each row read is right and comes once per recording; how many there are. */
static uint64_t read_rows(struct trace_reader *r)
{
	static uint8_t seen[WALKS + 1][THREADS + 1];
	uint32_t segment = UINT32_MAX, scan = 0;
	struct record rec;
	uint64_t rows = 0;
	int rc;

	while ((rc = trace_reader_next(r, &rec)) > 0) {
		if (segment != trace_reader_status(r)->segment) {
			segment = trace_reader_status(r)->segment;
			memset(seen, 0, sizeof(seen));
			scan = 0;
		}
		assert_int_not_equal(rec.tag, REC_REPEAT);
		if (rec.tag != REC_SAMPLE)
			continue;
		check_row(&rec.sample, seen);
		assert_true(rec.sample.scan >= scan);		/* rows of walks do not mix */
		scan = rec.sample.scan;
		rows++;
	}
	assert_int_equal(rc, 0);
	return rows;
}

static uint64_t count_rows(const void *data, size_t len, struct trace_status *st)
{
	struct trace_reader *r;
	uint64_t rows;

	assert_int_equal(trace_reader_open_memory(data, len, NULL, &r), 0);
	rows = read_rows(r);
	*st = *trace_reader_status(r);
	assert_int_equal(trace_reader_rewind(r), 0);
	assert_int_equal(read_rows(r), rows);
	assert_int_equal(trace_reader_status(r)->lost_repeats, st->lost_repeats);
	trace_reader_close(r);
	return rows;
}

static void test_every_thread_in_every_scan(void **state)
{
	static const uint32_t per_chunk[] = { 1, 3, 7, WALKS };

	(void)state;
	for (size_t i = 0; i < sizeof(per_chunk) / sizeof(per_chunk[0]); i++) {
		struct trace_status st;
		size_t len;
		char *data;

		write_scans("walks.pbz", per_chunk[i]);
		data = trace_file_load("walks.pbz", &len);
		assert_int_equal(count_rows(data, len, &st), WALKS * THREADS);
		assert_int_equal(st.record_count[REC_REPEAT], WALKS);
		assert_true(st.record_count[REC_SAMPLE] < WALKS * THREADS / 5);
		assert_int_equal(st.bad_chunks + st.lost_repeats, 0);
		free(data);
	}
}

static void test_recordings_one_behind_the_other(void **state)
{
	struct trace_status st;
	size_t len;
	char *data;

	(void)state;
	write_scans("walks.pbz", 3);
	trace_file_join("two.pbz", "walks.pbz", "walks.pbz");
	data = trace_file_load("two.pbz", &len);
	assert_int_equal(count_rows(data, len, &st), 2 * WALKS * THREADS);
	assert_int_equal(st.nr_segments, 2);
	assert_int_equal(st.bad_chunks + st.lost_repeats, 0);
	free(data);
}

/* A lost chunk: nothing that may have changed in it is shown as it was before; what is new is. */
static void test_damage(void **state)
{
	size_t len;
	char *data;

	(void)state;
	write_scans("walks.pbz", 1);
	data = trace_file_load("walks.pbz", &len);
	for (uint32_t scan = 1; scan <= WALKS; scan++) {	/* part 0 has the definitions */
		struct trace_status st;
		uint64_t rows = (scan - 1) * THREADS, lost = 0;
		uint8_t known[THREADS + 1] = { 0 };

		for (uint32_t w = scan + 1; w <= WALKS; w++)
			for (uint32_t t = 1; t <= THREADS; t++) {
				known[t] |= changes(w, t);
				rows += known[t];
				lost += !known[t];
			}
		data[part_end[scan] - 2] ^= 1;
		assert_int_equal(count_rows(data, len, &st), rows);
		data[part_end[scan] - 2] ^= 1;
		assert_int_equal(st.lost_repeats, lost);
		assert_int_equal(st.bad_chunks, 1);
	}
	free(data);
}

struct wanted {
	uint64_t rows;
	uint32_t first, last;		/* walks */
};

static int count_wanted(void *ctx, const struct report_sample *s)
{
	struct wanted *w = ctx;

	assert_in_range(s->rec->scan, w->first, w->last);
	assert_int_equal(s->thread->tid, s->rec->thread <= 2 ? 99 + s->rec->thread :
					 s->rec->thread == 3 ? 7 : 100 + s->rec->thread);
	w->rows++;
	return 0;
}

/* A window of time has the rows in it, although those that they repeat are outside. */
static void test_window_of_a_report(void **state)
{
	struct query q = { .from = { TIME_RELATIVE, 9 * SCAN_NS }, .to = { TIME_RELATIVE, 12 * SCAN_NS } };
	struct wanted w = { 0, 10, 12 };
	struct report *rep;

	(void)state;
	write_scans("walks.pbz", 2);
	assert_int_equal(report_open(trace_file("walks.pbz"), &q, &rep), 0);
	assert_int_equal(report_samples(rep, count_wanted, &w), 0);
	assert_int_equal(w.rows, 3 * THREADS);
	report_close(rep);
}

/* What a pass saw, but for the times. */
struct sums {
	uint64_t rows, weight, hash;
	uint64_t scans;
	uint32_t segment, scan;		/* the latest */
};

static int sum_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct sums *s = ctx;

	(void)real_ns;
	if (!s->scan || segment != s->segment || scan > s->scan) {
		s->scans++;
		s->segment = segment;
		s->scan = scan;
	}
	return 0;
}

static int sum_rows(void *ctx, const struct report_sample *rs, uint64_t nr)
{
	const struct rec_sample *rec = rs->rec;
	struct sums *s = ctx;

	s->rows += nr;
	s->weight += rs->weight;
	s->hash += nr * hash_u64(hash_u64(rs->segment, (uint64_t)rec->thread << 32 | rec->ustack),
				 (uint64_t)rec->kstack << 32 | rec->flags);
	return sum_scan(s, rs->segment, rec->scan, rs->real_ns);
}

static int sum_row(void *ctx, const struct report_sample *rs)
{
	return sum_rows(ctx, rs, 1);
}

static void check_counted(const char *file, const struct query *q)
{
	struct report_counting counting = { .samples = sum_rows, .scan = sum_scan };

	for (int scan_rows = 0; scan_rows < 2; scan_rows++) {
		struct sums one_by_one = { 0 }, counted = { 0 };
		struct report *rep;

		counting.scan_rows = scan_rows;
		assert_int_equal(report_open(trace_file(file), q, &rep), 0);
		assert_int_equal(scan_rows ? report_scan_rows(rep, sum_row, &one_by_one)
					   : report_samples(rep, sum_row, &one_by_one), 0);
		assert_int_equal(report_counted(rep, &counting, &counted), 0);
		assert_true(one_by_one.rows > 0);
		assert_memory_equal(&counted, &one_by_one, sizeof(counted));
		report_close(rep);
	}
}

/* Rows that are only counted are as many, and the same, as those that come out one by one. */
static void test_counted_rows(void **state)
{
	uint32_t tids[] = { 107, 111, 112 };
	struct query late = { .from = { TIME_RELATIVE, 9 * SCAN_NS }, .to = { TIME_RELATIVE, 12 * SCAN_NS } },
		     few = { .tids = { .v = tids, .nr = 3 } };
	size_t len;
	char *data;

	(void)state;
	write_scans("walks.pbz", 2);
	check_counted("walks.pbz", NULL);
	check_counted("walks.pbz", &late);
	check_counted("walks.pbz", &few);
	trace_file_join("two.pbz", "walks.pbz", "walks.pbz");
	check_counted("two.pbz", NULL);
	check_counted("two.pbz", &few);
	write_scans("walks.pbz", 1);
	data = trace_file_load("walks.pbz", &len);
	for (uint32_t scan = 1; scan <= WALKS; scan += 3) {
		data[part_end[scan] - 2] ^= 1;
		trace_file_append("lost.pbz", "w", data, len);
		check_counted("lost.pbz", NULL);
		check_counted("lost.pbz", &late);
		data[part_end[scan] - 2] ^= 1;
	}
	free(data);
}

static int add(void *chunk, const struct record *rec)
{
	return chunk_encoder_add(chunk, rec);
}

static int add_sample(struct chunk_encoder *c, uint64_t time_ns, uint32_t thread, uint32_t scan)
{
	const struct rec_sample s = { .time_ns = time_ns, .thread = thread, .scan = scan };

	return send(add, c, (struct record){ .tag = REC_SAMPLE, .sample = s });
}

static int add_repeat(struct chunk_encoder *c, uint64_t time_ns, uint32_t scan, uint32_t thread, uint32_t nr)
{
	const struct rec_run run = { thread, nr };

	return send(add, c, (struct record){ .tag = REC_REPEAT, .repeat = { time_ns, scan, &run, 1 } });
}

static int add_threads(struct chunk_encoder *c, uint32_t nr)
{
	int err = send(add, c, (struct record){ .tag = REC_PROCESS, .process = { .id = 1 } });

	for (uint32_t t = 1; t <= nr && !err; t++)
		err = send(add, c, (struct record){ .tag = REC_THREAD, .thread = { .id = t, .process = 1 } });
	return err;
}

/* Rows are sorted between two REPEATs and never across one. */
static void test_order_in_a_chunk(void **state)
{
	static const struct { uint64_t time_ns; uint32_t thread, scan;
	} want[] = {
		{ 10, 2, 1 }, { 12, 1, 1 }, { 12, 3, 1 }, { 20, 1, 2 }, { 20, 3, 2 },
		{ 5, 1, 3 }, { 31, 2, 3 }, { 30, 1, 4 }, { 30, 2, 4 }, { 2, 3, 5 },
	};
	struct chunk_encoder c = { 0 };
	struct chunk_decoder d = { 0 };
	struct signpost sp = { 0 };
	struct byte_buf raw = { 0 };
	struct record rec;
	size_t n = 0;
	int rc;

	(void)state;
	assert_int_equal(add_threads(&c, 3), 0);
	assert_int_equal(add_sample(&c, 12, 1, 1) | add_sample(&c, 10, 2, 1) | add_sample(&c, 12, 3, 1), 0);
	assert_int_equal(send(add, &c, (struct record){ .tag = REC_REPEAT, .repeat = {
		20, 2, (const struct rec_run[]){ { 1, 1 }, { 3, 1 } }, 2 } }), 0);
	assert_int_equal(add_sample(&c, 31, 2, 3) | add_sample(&c, 5, 1, 3), 0);
	assert_int_equal(add_repeat(&c, 30, 4, 1, 2), 0);
	assert_int_equal(add_sample(&c, 2, 3, 5), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	assert_true(chunk_encoder_is_empty(&c));
	chunk_decoder_begin(&d, raw.v + CHUNK_HEAD_SIZE, raw.nr - CHUNK_HEAD_SIZE, 12);
	while ((rc = chunk_decoder_next(&d, &rec)) > 0) {
		if (rec.tag != REC_SAMPLE)
			continue;
		assert_in_range(n, 0, sizeof(want) / sizeof(want[0]) - 1);
		assert_int_equal(rec.sample.time_ns, want[n].time_ns);
		assert_int_equal(rec.sample.thread, want[n].thread);
		assert_int_equal(rec.sample.scan, want[n++].scan);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(n, sizeof(want) / sizeof(want[0]));
	chunk_encoder_release(&c);
	chunk_decoder_release(&d);
	bb_release(&raw);
}

/* Chunks that nobody may leave out are marked; rows of REPEATs are not among a signpost's samples. */
static void test_signposts(void **state)
{
	struct chunk_encoder c = { 0 };
	struct byte_buf raw = { 0 };
	struct signpost sp = { .segment = 7, .seq = 9 };

	(void)state;
	assert_int_equal(add_sample(&c, 12, 0, 0) | add_sample(&c, 10, 0, 0), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	assert_int_equal(sp.contents, CHUNK_HAS_SAMPLES);
	assert_int_equal(sp.segment * 100 + sp.seq, 709);

	assert_int_equal(add_sample(&c, 12, 1, 0) | add_sample(&c, 11, 1, 1), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	assert_int_equal(sp.contents, CHUNK_HAS_SAMPLES | CHUNK_HAS_TABLES);

	assert_int_equal(add_repeat(&c, 50, 2, 1, 1), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	assert_int_equal(sp.contents, CHUNK_HAS_TABLES);
	assert_int_equal(sp.nr_samples + sp.first_ns + sp.last_ns, 0);

	assert_int_equal(add_sample(&c, 20, 1, 3) | add_sample(&c, 22, 1, 3), 0);
	assert_int_equal(add_repeat(&c, 90, 4, 1, 1), 0);
	assert_int_equal(add_sample(&c, 18, 1, 5) | add_sample(&c, 21, 1, 5), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	assert_int_equal(sp.contents, CHUNK_HAS_SAMPLES | CHUNK_HAS_TABLES);
	assert_int_equal(sp.nr_samples, 4);
	assert_int_equal(sp.first_ns, 18);
	assert_int_equal(sp.last_ns, 22);
	chunk_encoder_release(&c);
	bb_release(&raw);
}

/* The encoder asks for a new chunk before a reader would refuse this one. */
static void test_rows_of_a_chunk_are_limited(void **state)
{
	const uint32_t most = 1 << 22;	/* thread ids */
	struct chunk_encoder c = { 0 };
	struct chunk_decoder d = { 0 };
	struct byte_buf raw = { 0 };
	struct signpost sp = { 0 };
	struct record rec;

	(void)state;
	assert_int_equal(add_repeat(&c, 1, 1, 1, CHUNK_MAX_REPEATED - 1), 0);
	assert_false(chunk_encoder_is_full(&c));
	assert_int_equal(add_repeat(&c, 1, 2, 1, most), 0);
	assert_true(chunk_encoder_is_full(&c));
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	assert_false(chunk_encoder_is_full(&c));
	chunk_decoder_lose(&d);
	chunk_decoder_begin(&d, raw.v + CHUNK_HEAD_SIZE, sp.raw_size - CHUNK_HEAD_SIZE, 1);
	assert_int_equal(chunk_decoder_next(&d, &rec), 0);
	assert_int_equal(d.scan_rows.left_out, CHUNK_MAX_REPEATED - 1 + most);

	raw.nr = 0;
	assert_int_equal(add_repeat(&c, 1, 1, 1, most) | add_repeat(&c, 1, 2, 1, most) | add_repeat(&c, 1, 3, 1, 1), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	chunk_decoder_begin(&d, raw.v + CHUNK_HEAD_SIZE, sp.raw_size - CHUNK_HEAD_SIZE, 1);
	assert_int_equal(chunk_decoder_next(&d, &rec), -EBADMSG);
	chunk_decoder_begin(&d, raw.v + CHUNK_HEAD_SIZE, sp.raw_size - CHUNK_HEAD_SIZE, 1);
	assert_int_equal(chunk_decoder_next(&d, &rec), -EBADMSG);
	chunk_encoder_release(&c);
	chunk_decoder_release(&d);
	bb_release(&raw);
}

/* A REPEAT that is wrong anywhere gives no row at all, and what was under way is forgotten with the chunk. */
static void test_all_or_nothing(void **state)
{
	static const struct rec_run reaching[] = { { 1, 2 }, { 4, 1 } };
	struct chunk_encoder c = { 0 };
	struct chunk_decoder d = { 0 };
	struct byte_buf raw = { 0 };
	struct signpost sp = { 0 };
	struct record rec;
	unsigned rows = 0;
	int rc;

	(void)state;
	assert_int_equal(add_threads(&c, 4), 0);
	assert_int_equal(add_sample(&c, 1, 1, 1) | add_sample(&c, 1, 2, 1) | add_sample(&c, 1, 4, 0), 0);
	assert_int_equal(send(add, &c, (struct record){ .tag = REC_REPEAT, .repeat = { 2, 2, reaching, 2 } }), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	chunk_decoder_begin(&d, raw.v + CHUNK_HEAD_SIZE, raw.nr - CHUNK_HEAD_SIZE, 1);
	while ((rc = chunk_decoder_next(&d, &rec)) > 0)
		rows += rec.tag == REC_SAMPLE;
	assert_int_equal(rc, -EBADMSG);
	assert_int_equal(rows, 3);

	/* Left in the middle of a REPEAT: the next chunk does not go on with it. */
	raw.nr = 0;
	assert_int_equal(add_repeat(&c, 3, 3, 1, 2), 0);
	assert_int_equal(chunk_encoder_finish(&c, &raw, &sp), 0);
	chunk_decoder_begin(&d, raw.v + CHUNK_HEAD_SIZE, raw.nr - CHUNK_HEAD_SIZE, 3);
	assert_int_equal(chunk_decoder_next(&d, &rec), 1);
	assert_int_equal(rec.sample.thread, 1);
	chunk_decoder_begin(&d, "", 0, 3);
	assert_int_equal(chunk_decoder_next(&d, &rec), 0);
	chunk_decoder_begin_segment(&d);
	chunk_decoder_begin(&d, raw.v + CHUNK_HEAD_SIZE, raw.nr - CHUNK_HEAD_SIZE, 3);
	assert_int_equal(chunk_decoder_next(&d, &rec), -EBADMSG);
	chunk_encoder_release(&c);
	chunk_decoder_release(&d);
	bb_release(&raw);
}

/* The rows kept for REPEATs are part of what a thread costs: refused before they are made room for. */
static void test_memory_is_limited(void **state)
{
	const struct trace_reader_options opts = { .max_table_bytes = 64 << 20 };
	const struct record far = { .tag = REC_THREAD, .thread = { .id = 1 << 20 } };
	const struct record row = { .tag = REC_SAMPLE, .sample = { .thread = 1 << 20, .scan = 1 } };
	struct trace_reader *r;
	struct trace_writer *w;
	struct record rec;

	(void)state;
	assert_int_equal(trace_writer_open(trace_file("far.pbz"), NULL, &w), 0);
	assert_int_equal(trace_writer_record(w, &far) | trace_writer_record(w, &row), 0);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_reader_open(trace_file("far.pbz"), &opts, &r), 0);
	assert_int_equal(trace_reader_next(r, &rec), 1);
	assert_int_equal(rec.tag, REC_THREAD);
	assert_int_equal(trace_reader_next(r, &rec), 0);
	assert_true(trace_reader_status(r)->refused_bytes > 0);
	trace_reader_close(r);
}

enum { MANY = 10000, CHANGED = 50, LATER_SCANS = 20 };

/* One thread in each two hundred has another stack, the others are quiet; then the chunk ends, as it does each second. */
static int send_quiet_scan(struct trace_writer *w, uint32_t scan)
{
	struct rec_run runs[CHANGED];
	uint64_t time_ns = FIX_T0 + scan * 1000 * FIX_MS;
	uint32_t behind = 1;
	int err = 0;

	for (uint32_t i = 0; i < CHANGED; i++) {
		uint32_t t = MANY / CHANGED * i + 2 + scan * scan * (i + 3) % 199;
		struct rec_sample s = row_of(1, t);

		runs[i] = (struct rec_run){ behind, t - behind };
		behind = t + 1;
		s.scan = scan;
		s.time_ns = time_ns + t * 1000;
		s.ustack = (t + scan) % 12;
		err |= send(trace_writer_record, w, (struct record){ .tag = REC_SAMPLE, .sample = s });
	}
	err |= send(trace_writer_record, w, (struct record){ .tag = REC_REPEAT, .repeat = { time_ns, scan, runs, CHANGED } });
	return err | trace_writer_flush(w);
}

/* What all this is for: a walk over 10,000 threads of which 50 changed costs at most 0.1 bytes per thread. */
static void test_quiet_threads_cost_little(void **state)
{
	struct trace_writer_stats first, all;
	struct trace_writer *w;
	int err;

	(void)state;
	assert_int_equal(trace_writer_open(trace_file("many.pbz"), NULL, &w), 0);
	err = send_definitions(trace_writer_record, w);
	for (uint32_t t = THREADS + 1; t <= MANY; t++)
		err |= send(trace_writer_record, w, (struct record){ .tag = REC_THREAD, .thread = { .id = t } });
	for (uint32_t t = 1; t <= MANY; t++)
		err |= send(trace_writer_record, w, (struct record){ .tag = REC_SAMPLE, .sample = row_of(1, t) });
	err |= trace_writer_flush(w);
	trace_writer_stats(w, &first);
	for (uint32_t scan = 2; scan < 2 + LATER_SCANS; scan++)
		err |= send_quiet_scan(w, scan);
	trace_writer_stats(w, &all);
	assert_int_equal(err | trace_writer_close(w), 0);
	assert_true(all.samples - first.samples > LATER_SCANS * (MANY - 200));	/* behind the last that changed */
	assert_true((all.file_bytes - first.file_bytes) * 10 <= all.samples - first.samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_thread_in_every_scan),
		cmocka_unit_test(test_recordings_one_behind_the_other),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_window_of_a_report),
		cmocka_unit_test(test_counted_rows),
		cmocka_unit_test(test_order_in_a_chunk),
		cmocka_unit_test(test_signposts),
		cmocka_unit_test(test_rows_of_a_chunk_are_limited),
		cmocka_unit_test(test_all_or_nothing),
		cmocka_unit_test(test_memory_is_limited),
		cmocka_unit_test(test_quiet_threads_cost_little),
	};

	return cmocka_run_group_tests(tests, trace_files_setup, trace_files_teardown);
}
