/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* fail() is a macro of cmocka. */
#include "src/recording/record_tee.c"

#include <cmocka.h>

#include "src/profile/live_scans.h"
#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_csv;

static const struct render_opts plain;

/* A recording under way: a writer and its rows beside it. */
struct steps {
	char path[64];
	struct trace_writer *w;
	struct live_scans *l;
	struct record_tee tee;
};

static void begin(struct steps *s)
{
	int fd;

	strcpy(s->path, "/tmp/probee-live-XXXXXX");
	fd = mkstemp(s->path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(trace_writer_open(s->path, NULL, &s->w), 0);
	assert_int_equal(live_scans_new(&s->l), 0);
	record_tee_init(&s->tee, s->w);
	record_tee_add(&s->tee, &(struct record_consumer){ "rows", live_scans_record, live_scans_chunk_end, NULL, s->l });
}

/* The file stays until finish(). */
static void end(struct steps *s)
{
	assert_int_equal(record_tee_flush(&s->tee), 0);
	assert_int_equal(trace_writer_close(s->w), 0);
	live_scans_end(s->l);
}

static void finish(struct steps *s)
{
	unlink(s->path);
	live_scans_free(s->l);
}

/* What the renderer makes of the rows that are ready. */
static char *rows_text(struct live_scans *l, size_t at_once)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	void *state;
	long n;

	assert_int_equal(renderer_csv.rows->begin(&plain, live_scans_arch(l), out, &state), 0);
	while ((n = live_scans_rows(l, at_once, renderer_csv.rows->row, state)) > 0)
		assert_true((size_t)n <= at_once);
	assert_int_equal(n, 0);
	renderer_csv.rows->end(state);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The rows of all events, in the order of the file: the fixture's samples of CPU time come first. */
static char *rows_of_the_report(void)
{
	static const struct render_opts no_header = { .quiet = true };
	char *cpu = fixture_render(&renderer_csv, &plain, NULL), *all;
	char *wall = fixture_render_wall(&renderer_csv, &no_header, NULL);

	assert_true(asprintf(&all, "%s%s", cpu, wall) > 0);
	free(cpu);
	free(wall);
	return all;
}

static void rows_are_those_of_the_report(void **state)
{
	char *want = rows_of_the_report();

	(void)state;
	for (size_t at_once = 1; at_once < 10; at_once += 4) {
		struct steps s;
		char *got;

		begin(&s);
		assert_int_equal(trace_fixture_emit(record_tee_record, &s.tee), 0);
		end(&s);
		assert_int_equal(live_scans_waiting(s.l), FIX_SAMPLES);
		got = rows_text(s.l, at_once);
		assert_string_equal(got, want);
		assert_int_equal(live_scans_waiting(s.l), 0);
		free(got);
		finish(&s);
	}
	free(want);
}

static void send(struct steps *s, const struct record *rec)
{
	assert_int_equal(record_tee_record(&s->tee, rec), 0);
	assert_int_equal(record_tee_flush(&s->tee), 0);
}

static int count_row(void *ctx, const struct report_sample *s)
{
	assert_true(s->real_ns >= FIX_REAL);
	++*(unsigned *)ctx;
	return 0;
}

static unsigned ready(struct live_scans *l)
{
	unsigned n = 0;

	while (live_scans_rows(l, 100, count_row, &n) > 0)
		;
	return n;
}

static void define_frame(struct steps *s, uint32_t id, uint8_t kind)
{
	send(s, &(struct record){ .tag = REC_FRAME, .frame = { .id = id, .kind = kind, .binary = 1, .addr = id } });
	send(s, &(struct record){ .tag = REC_NODE, .node = { id, 0, id } });
}

static void row_and_receipt(struct steps *s, uint32_t scan, uint32_t stack)
{
	uint64_t t = FIX_T0 + scan * 100 * FIX_MS;

	send(s, &(struct record){ .tag = REC_SAMPLE, .sample = { .time_ns = t, .thread = 1, .ustack = stack, .scan = scan } });
	send(s, &(struct record){ .tag = REC_SCAN, .scan = { .scan = scan, .time_ns = t, .rows = 1 } });
}

static void date(struct steps *s, uint32_t scan)
{
	uint64_t t = (scan * 100 + 50) * FIX_MS;

	send(s, &(struct record){ .tag = REC_CLOCK, .clock = { .mono_ns = FIX_T0 + t, .real_ns = FIX_REAL + t } });
}

static void name(struct steps *s, uint32_t frame)
{
	send(s, &(struct record){ .tag = REC_SYMBOL, .symbol = { .frame = frame, .status = SYMBOL_NONE } });
}

/* Receipt, date and names: in whatever order they come, and each scan for itself. */
static void a_scan_is_ready_when_all_of_it_is_there(void **state)
{
	struct steps s;

	(void)state;
	begin(&s);
	send(&s, &(struct record){ .tag = REC_BINARY, .binary = { .id = 1 } });
	send(&s, &(struct record){ .tag = REC_THREAD, .thread = { .id = 1, .tid = 7 } });
	define_frame(&s, 1, FRAME_USER);
	row_and_receipt(&s, 1, 1);
	assert_true(live_scans_need_names(s.l));
	assert_int_equal(ready(s.l), 0);
	name(&s, 1);
	assert_false(live_scans_need_names(s.l));
	assert_int_equal(ready(s.l), 0);	/* no date */
	date(&s, 1);
	assert_int_equal(ready(s.l), 1);

	row_and_receipt(&s, 2, 1);
	define_frame(&s, 2, FRAME_USER);
	row_and_receipt(&s, 3, 2);
	date(&s, 3);
	assert_int_equal(ready(s.l), 1);	/* scan 2 knows its names */
	assert_int_equal(live_scans_waiting(s.l), 1);
	define_frame(&s, 3, FRAME_KERNEL);	/* has none to wait for */
	row_and_receipt(&s, 4, 3);
	date(&s, 4);
	assert_int_equal(ready(s.l), 0);	/* behind scan 3 */
	name(&s, 2);
	assert_int_equal(ready(s.l), 2);
	row_and_receipt(&s, 5, 3);
	end(&s);
	assert_int_equal(ready(s.l), 1);
	finish(&s);
}

/* A recording without names waits for none. */
static void no_scan_waits_for_names_that_never_come(void **state)
{
	struct steps s;

	(void)state;
	begin(&s);
	send(&s, &(struct record){ .tag = REC_META, .meta = { "symbolize", "none", 4 } });
	send(&s, &(struct record){ .tag = REC_BINARY, .binary = { .id = 1 } });
	send(&s, &(struct record){ .tag = REC_THREAD, .thread = { .id = 1, .tid = 7 } });
	define_frame(&s, 1, FRAME_USER);
	row_and_receipt(&s, 1, 1);
	date(&s, 1);
	assert_false(live_scans_need_names(s.l));
	assert_int_equal(ready(s.l), 1);
	end(&s);
	finish(&s);
}

/* Where its rows will stand in the file is not known before its chunk is closed. */
static void a_scan_waits_for_the_end_of_its_chunk(void **state)
{
	struct steps s;

	(void)state;
	begin(&s);
	send(&s, &(struct record){ .tag = REC_THREAD, .thread = { .id = 1, .tid = 7 } });
	assert_int_equal(record_tee_record(&s.tee, &(struct record){ .tag = REC_SAMPLE, .sample = { .time_ns = FIX_T0, .thread = 1, .scan = 1 } }), 0);
	assert_int_equal(record_tee_record(&s.tee, &(struct record){ .tag = REC_SCAN, .scan = { .scan = 1, .time_ns = FIX_T0, .rows = 1 } }), 0);
	assert_int_equal(record_tee_record(&s.tee, &(struct record){ .tag = REC_CLOCK, .clock = { .mono_ns = FIX_T0, .real_ns = FIX_REAL } }), 0);
	assert_int_equal(ready(s.l), 0);
	assert_int_equal(record_tee_flush(&s.tee), 0);
	assert_int_equal(ready(s.l), 1);
	end(&s);
	finish(&s);
}

#define THREADS 40

/* One scan with rows that come too late, threads that are repeated, and chunks that end anywhere. */
static void random_scan(struct steps *s, uint32_t scan, bool repeats)
{
	uint64_t t = FIX_T0 + scan * 100 * FIX_MS;
	uint32_t from = 1 + (uint32_t)rand() % THREADS, nr = repeats ? (uint32_t)rand() % (THREADS + 1 - from) : 0;
	struct rec_run runs[2] = { { from, nr ? nr : 1 }, { THREADS, 1 } };

	if (repeats)
		assert_int_equal(record_tee_record(&s->tee, &(struct record){ .tag = REC_REPEAT, .repeat = { t, scan, runs, from + runs[0].nr <= THREADS ? 2 : 1 } }), 0);
	for (uint32_t i = 1; i <= THREADS; i++) {
		uint64_t late = rand() % 5 ? 0 : (uint64_t)rand() % 150 * FIX_MS;

		if (repeats && rand() % 3)
			continue;
		assert_int_equal(record_tee_record(&s->tee, &(struct record){ .tag = REC_SAMPLE, .sample = {
			.time_ns = t + i % 4 * FIX_MS - late, .thread = i, .scan = scan, .cpu = (uint32_t)rand() % 100 } }), 0);
		if (rand() % 20 == 0)
			assert_int_equal(record_tee_flush(&s->tee), 0);
	}
}

struct reader {
	struct report_sample_log {
		uint64_t time_ns;
		uint32_t thread, scan, cpu;
	} v[4096];
	size_t nr;
};

static int log_row(void *ctx, const struct report_sample *s)
{
	struct reader *r = ctx;

	assert_true(r->nr < sizeof(r->v) / sizeof(r->v[0]));
	r->v[r->nr++] = (struct report_sample_log){ s->rec->time_ns, s->rec->thread, s->rec->scan, s->rec->cpu };
	return 0;
}

static void rows_have_the_order_of_the_file(void **state)
{
	static struct reader want, got;

	(void)state;
	srand(7);
	for (unsigned round = 0; round < 20; round++) {
		struct report *rep;
		struct steps s;

		begin(&s);
		for (uint32_t i = 1; i <= THREADS; i++)
			send(&s, &(struct record){ .tag = REC_THREAD, .thread = { .id = i, .tid = i } });
		for (uint32_t scan = 1; scan < 40; scan++)
			random_scan(&s, scan, scan > 1);
		end(&s);
		want.nr = got.nr = 0;
		while (live_scans_rows(s.l, 100, log_row, &got) > 0)
			;
		assert_int_equal(report_open(s.path, NULL, &rep), 0);
		assert_int_equal(report_samples(rep, log_row, &want), 0);
		report_close(rep);
		assert_int_equal(got.nr, want.nr);
		for (size_t i = 0; i < want.nr; i++)
			assert_memory_equal(&got.v[i], &want.v[i], sizeof(want.v[i]));
		finish(&s);
	}
	assert_true(want.nr > 500);
}

static int refuse(void *ctx, const struct report_sample *s)
{
	(void)ctx;
	(void)s;
	return -EPIPE;
}

static void errors_of_the_reader_come_back(void **state)
{
	struct steps s;

	(void)state;
	begin(&s);
	assert_int_equal(trace_fixture_emit(record_tee_record, &s.tee), 0);
	end(&s);
	assert_int_equal(live_scans_rows(s.l, 3, refuse, NULL), -EPIPE);
	finish(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_the_report),
		cmocka_unit_test(a_scan_is_ready_when_all_of_it_is_there),
		cmocka_unit_test(no_scan_waits_for_names_that_never_come),
		cmocka_unit_test(a_scan_waits_for_the_end_of_its_chunk),
		cmocka_unit_test(rows_have_the_order_of_the_file),
		cmocka_unit_test(errors_of_the_reader_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
