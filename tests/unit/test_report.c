/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/stack_health.h"
#include "tests/unit/events_fixture.h"
#include "tests/unit/stderr_text.h"
#include "tests/unit/trace_files.h"
#include "tests/unit/trace_fixture.h"

static struct report *rep;

static const struct report_info *open_file(const char *name, const struct query *q)
{
	report_close(rep);
	rep = NULL;
	assert_int_equal(report_open(trace_file(name), q, &rep), 0);
	return report_info(rep);
}

struct seen {
	size_t nr, stop_after;
	struct {
		uint64_t ms;		/* since FIX_REAL */
		uint32_t segment;
		char comm[16];
	} v[64];
};

static int see(void *ctx, const struct report_sample *s)
{
	struct seen *seen = ctx;

	assert_true(seen->nr < sizeof(seen->v) / sizeof(seen->v[0]));
	seen->v[seen->nr].ms = (s->real_ns - FIX_REAL) / FIX_MS;
	seen->v[seen->nr].segment = s->segment;
	assert_ptr_equal(s->tables, report_tables(rep, s->segment));
	snprintf(seen->v[seen->nr].comm, sizeof(seen->v[0].comm), "%s",
		 s->thread ? definition_store_string(s->tables, s->thread->comm, NULL) : "(none)");
	if (s->thread)
		assert_int_equal(s->process->id, s->thread->process);
	return ++seen->nr == seen->stop_after ? 42 : 0;
}

static size_t count(const char *name, const struct query *q)
{
	struct seen seen = { 0 };

	open_file(name, q);
	assert_int_equal(report_samples(rep, see, &seen), 0);
	return seen.nr;
}

static void says_what_is_in_it(void **state)
{
	const struct report_info *info = open_file("fixture.pbz", NULL);

	(void)state;
	assert_int_equal(info->nr_segments, 1);
	assert_int_equal(info->nr_ended, 1);
	assert_int_equal(info->samples, FIX_SAMPLES);
	assert_int_equal(info->begin_real_ns, FIX_REAL);
	assert_int_equal(info->first_real_ns, FIX_REAL + 10 * FIX_MS);
	assert_int_equal(info->last_real_ns, FIX_REAL + 41 * FIX_MS);
	assert_int_equal(info->duration_ns, 60 * FIX_MS);
	assert_int_equal(info->ends[END_ROOT], 4);
	assert_int_equal(info->ends[END_ROOT_GUESS], 1);
	assert_int_equal(info->ends[END_KTHREAD], 1);
	assert_int_equal(info->roots, 5);
	assert_int_equal(info->user_stacks, 7);
	assert_int_equal(info->guessed, 1);
	assert_int_equal(info->lost[LOSS_RING_FULL], 7);
	assert_int_equal(info->lost[LOSS_THROTTLED], 2);
	assert_int_equal(info->lost_samples, 9);
	assert_int_equal(info->lost_all, 9);
	assert_int_equal(info->frames, 10);
	assert_int_equal(info->frames_unnamed, 2);
	assert_int_equal(info->refused, 0);
	assert_int_equal(info->scans.count, 1);
	assert_int_equal(info->scans.rows, FIX_SCAN_ROWS);
	assert_int_equal(info->scans.longest_ns, 2 * FIX_MS);
	assert_int_equal(info->end.samples, FIX_SAMPLES);
	assert_string_equal(report_path(rep), trace_file("fixture.pbz"));
	assert_true(report_has_loss(rep));
	assert_false(report_is_incomplete(rep));
	assert_string_equal(report_warning(rep), "9 samples lost (ring-full 7, throttled 2)");
}

static void says_what_stands_under_a_picture(void **state)
{
	struct profile_facts f;

	(void)state;
	open_file("fixture.pbz", NULL);
	report_facts(rep, &f);
	assert_string_equal(f.host, "fixture");
	assert_string_equal(f.kernel, "6.1.0-test");
	assert_string_equal(f.tool, "probee 0.1.0");
	assert_string_equal(f.argv, "probee sample -a -F 99");
	assert_string_equal(f.event, "cpu-clock");
	assert_string_equal(f.unit, "ns");
	assert_string_equal(f.shown, "CPU time (cpu-clock, 99 Hz). Also recorded: snapshot; see --event");
	assert_int_equal(f.begin_real_ns, FIX_REAL + 10 * FIX_MS);
	assert_int_equal(f.duration_ns, 60 * FIX_MS);
	assert_int_equal(f.samples_total, FIX_CPU_SAMPLES);
	assert_int_equal(f.lost, 9);
	assert_int_equal(f.frames, 10);
	assert_int_equal(f.frames_unnamed, 2);
	assert_false(f.incomplete);
}

static void hands_out_samples_as_often_as_wanted(void **state)
{
	static const uint64_t ms[FIX_SAMPLES] = { 10, 20, 21, 30, 31, 40, 40, 41 };
	struct seen seen, rows;

	(void)state;
	open_file("fixture.pbz", NULL);
	for (int round = 0; round < 3; round++) {
		memset(&seen, 0, sizeof(seen));
		memset(&rows, 0, sizeof(rows));
		assert_int_equal(report_samples(rep, see, &seen), 0);
		assert_int_equal(seen.nr, FIX_CPU_SAMPLES);
		for (size_t i = 0; i < FIX_CPU_SAMPLES; i++)
			assert_int_equal(seen.v[i].ms, ms[i]);
		assert_string_equal(seen.v[0].comm, "server");
		assert_int_equal(report_scan_rows(rep, see, &rows), 0);
		assert_int_equal(rows.nr, FIX_SCAN_ROWS);
		for (size_t i = 0; i < FIX_SCAN_ROWS; i++)
			assert_int_equal(rows.v[i].ms, ms[FIX_CPU_SAMPLES + i]);
		assert_string_equal(rows.v[2].comm, "kworker/0:1");
	}
	seen = (struct seen){ .stop_after = 3 };
	assert_int_equal(report_samples(rep, see, &seen), 42);
	assert_int_equal(seen.nr, 3);
}

static void hands_out_only_what_was_asked_for(void **state)
{
	uint32_t id;
	const char *comms[] = { "kw*", "work?r" };
	struct query q = { .pids = { &id, 1, 0 } };

	(void)state;
	id = 100;
	assert_int_equal(count("fixture.pbz", &q), 5);
	q.weight = WEIGHT_WALL;
	assert_int_equal(count("fixture.pbz", &q), 2);
	id = 7;
	assert_int_equal(count("fixture.pbz", &q), 1);
	id = 101;
	assert_int_equal(count("fixture.pbz", &q), 0);
	q = (struct query){ .tids = { &id, 1, 0 } };
	assert_int_equal(count("fixture.pbz", &q), 2);
	q = (struct query){ .comms = { comms, 2, 0 }, .event = "snapshot" };
	assert_int_equal(count("fixture.pbz", &q), 2);
	q.states = 1u << TASK_RUNNING;
	assert_int_equal(count("fixture.pbz", &q), 1);
	q = (struct query){ .from = { TIME_RELATIVE, 10 * FIX_MS }, .to = { TIME_RELATIVE, 20 * FIX_MS } };
	assert_int_equal(count("fixture.pbz", &q), 2);	/* at 20 and 21 ms, not at 30 */
	q = (struct query){ .from = { TIME_DATE, FIX_REAL + 31 * FIX_MS } };
	assert_int_equal(count("fixture.pbz", &q), 1);
	q.weight = WEIGHT_WALL;
	assert_int_equal(count("fixture.pbz", &q), 3);
	q = (struct query){ .from = { TIME_RELATIVE, UINT64_MAX } };
	assert_int_equal(count("fixture.pbz", &q), 0);
	assert_int_equal(report_info(rep)->samples, FIX_SAMPLES);
}

/* A CLOCK record after its samples, the realtime clock having been set in between; no event, no END. */
static int emit_stepped(struct trace_writer *w)
{
	record_fn fn = trace_writer_record;
	void *ctx = w;
	int err = 0;

	FIX_SEND(META, meta, { "host", "stepped", 7 });
	FIX_SEND(META, meta, { "only", "here", 4 });
	FIX_SEND(CLOCK, clock, { 1000 * FIX_MS, FIX_REAL, 0, 0 });
	FIX_SEND(SAMPLE, sample, { .time_ns = 1001 * FIX_MS, .end = END_READ_RA, .flags = SAMPLE_LATE });
	FIX_SEND(SAMPLE, sample, { .time_ns = 1008 * FIX_MS, .end = 77, .flags = SAMPLE_KERNEL_TRUNCATED });
	err = err ? err : trace_writer_flush(w);
	FIX_SEND(CLOCK, clock, { 1010 * FIX_MS, FIX_REAL + 510 * FIX_MS, 0, 0 });
	FIX_SEND(META, meta, { "host", "renamed", 7 });
	FIX_SEND(SAMPLE, sample, { .time_ns = 1012 * FIX_MS, .end = END_READ_RA });
	FIX_SEND(LOST, lost, { 0, 0, LOSS_TASK_EVENTS, 0, 1234567 });
	FIX_SEND(LOST, lost, { 0, 0, 99, 0, 1 });
	return err;
}

static void the_nearest_clock_gives_the_date(void **state)
{
	const struct report_info *info = open_file("stepped.pbz", NULL);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(report_samples(rep, see, &seen), 0);
	assert_int_equal(seen.nr, 3);
	assert_int_equal(seen.v[0].ms, 1);
	assert_int_equal(seen.v[1].ms, 508);
	assert_int_equal(seen.v[2].ms, 512);
	assert_string_equal(seen.v[0].comm, "(none)");
	assert_int_equal(report_real_ns(rep, 0, 1004 * FIX_MS), FIX_REAL + 4 * FIX_MS);
	assert_int_equal(report_real_ns(rep, 7, 5), 5);
	assert_int_equal(info->duration_ns, 12 * FIX_MS);
	assert_int_equal(info->late, 1);
	assert_int_equal(info->kernel_truncated, 1);
	assert_int_equal(info->ends[END_READ_RA], 2);
	assert_int_equal(info->ends[STACK_ENDS], 1);
	assert_int_equal(info->lost[LOSS_CAUSES], 1);
	assert_int_equal(info->lost_samples, 0);
	assert_string_equal(report_warning(rep), "1,234,567 starts and ends of processes were not heard of; "
						 "1 loss of another kind; the recording was not finished");
}

static void meta_data(void **state)
{
	size_t len, nr;

	(void)state;
	open_file("stepped.pbz", NULL);
	assert_string_equal(report_meta(rep, "host", &len), "renamed");
	assert_int_equal(len, 7);
	assert_null(report_meta(rep, "none", &len));
	assert_int_equal(len, 0);

	trace_file_join("joined.pbz", "fixture.pbz", "stepped.pbz");
	open_file("joined.pbz", NULL);
	assert_string_equal(report_meta(rep, "host", NULL), "fixture");
	assert_string_equal(report_meta(rep, "only", NULL), "here");
	report_metas(rep, &nr);
	assert_int_equal(nr, sizeof(fixture_metas) / sizeof(fixture_metas[0]) + 3);
}

static void two_recordings(void **state)
{
	const struct report_info *info;
	struct seen seen = { 0 };

	(void)state;
	trace_file_join("joined.pbz", "fixture.pbz", "stepped.pbz");
	info = open_file("joined.pbz", NULL);
	assert_int_equal(info->nr_segments, 2);
	assert_int_equal(info->nr_ended, 1);
	assert_int_equal(info->samples, FIX_SAMPLES + 3);
	assert_int_equal(info->duration_ns, 72 * FIX_MS);
	assert_int_equal(info->first_real_ns, FIX_REAL + 1 * FIX_MS);
	assert_int_equal(info->last_real_ns, FIX_REAL + 512 * FIX_MS);
	assert_int_equal(info->end.samples, FIX_SAMPLES);
	assert_true(report_is_incomplete(rep));
	assert_non_null(strstr(report_warning(rep), "1 of 2 recordings were not finished"));
	assert_non_null(report_tables(rep, 1));
	assert_null(report_tables(rep, 2));
	assert_int_equal(report_samples(rep, see, &seen), 0);
	assert_int_equal(seen.nr, FIX_CPU_SAMPLES);
	trace_file_join("joined.pbz", "fixture.pbz", "fixture.pbz");
	memset(&seen, 0, sizeof(seen));
	open_file("joined.pbz", NULL);
	assert_int_equal(report_scan_rows(rep, see, &seen), 0);
	assert_int_equal(seen.nr, 2 * FIX_SCAN_ROWS);
	assert_int_equal(seen.v[FIX_SCAN_ROWS - 1].segment, 0);
	assert_string_equal(seen.v[FIX_SCAN_ROWS - 1].comm, "kworker/0:1");
	assert_int_equal(seen.v[FIX_SCAN_ROWS].segment, 1);
	assert_string_equal(seen.v[FIX_SCAN_ROWS].comm, "server");
}

static void a_cut_file_gives_what_is_left(void **state)
{
	const struct report_info *info;

	(void)state;
	trace_file_cut("cut.pbz", "stepped.pbz", 5);
	info = open_file("cut.pbz", NULL);
	assert_true(info->status.truncated);
	assert_int_equal(info->samples, 2);
	assert_true(report_is_incomplete(rep));
	assert_true(report_has_loss(rep));
	assert_string_equal(report_warning(rep), "the file was cut short");
	assert_int_equal(count("cut.pbz", NULL), 2);
}

static void a_damaged_file_is_said_to_be(void **state)
{
	size_t len;
	char *bytes = trace_file_load("stepped.pbz", &len);

	(void)state;
	memset(bytes + len - 20, 0x55, 4);
	trace_file_append("damaged.pbz", "w", bytes, len);
	free(bytes);
	assert_int_equal(count("damaged.pbz", NULL), 2);
	assert_int_equal(report_info(rep)->status.bad_chunks, 1);
	assert_true(report_is_incomplete(rep));
	assert_non_null(strstr(report_warning(rep), "1 chunk damaged"));
}

static void whose_code_ends_stacks(void **state)
{
	const struct stack_health *h;

	(void)state;
	open_file("fixture.pbz", NULL);
	h = report_health(rep);
	assert_int_equal(h->all.stacks, 7);
	assert_int_equal(h->all.whole, 5);
	assert_int_equal(h->all.whole_guessed, 1);
	assert_int_equal(h->nr_broken, 2);
	assert_int_equal(h->broken[0].end, END_RUNNING);
	assert_string_equal(stack_health_path(h, &h->broken[0], NULL), "");
	assert_int_equal(h->broken[0].samples, 1);
	assert_int_equal(h->broken[1].end, END_NO_FDE);
	assert_string_equal(stack_health_path(h, &h->broken[1], NULL), "(no mapping)");
	assert_int_equal(h->broken[1].addr, 0x7f0000001234);
	open_file("stepped.pbz", NULL);
	h = report_health(rep);
	assert_int_equal(h->nr_broken, 2);
	assert_int_equal(h->broken[0].end, END_READ_RA);
	assert_int_equal(h->broken[0].samples, 2);
	assert_int_equal(h->broken[1].end, 77);
}

static void notes(void **state)
{
	const struct report_note *n;
	size_t nr;

	(void)state;
	open_file("fixture.pbz", NULL);
	n = report_notes(rep, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(n->severity, 1);
	assert_string_equal(n->text, "kptr_restrict hides kernel addresses");
	assert_int_equal(report_real_ns(rep, n->segment, n->time_ns), FIX_REAL + 1);
}

static int emit_nothing(struct trace_writer *w)
{
	return trace_writer_record(w, &(struct record){ .tag = REC_END, .end = { .time_ns = 1 } });
}

static void a_recording_of_nothing(void **state)
{
	const struct report_info *info;
	struct query q = { .from = { TIME_OF_DAY, 5 } };
	struct profile_facts f;

	(void)state;
	trace_file_write("nothing.pbz", emit_nothing);
	assert_int_equal(count("nothing.pbz", &q), 0);
	info = report_info(rep);
	assert_int_equal(info->first_real_ns, 0);
	assert_int_equal(info->nr_ended, 1);
	assert_false(report_has_loss(rep));
	assert_string_equal(report_warning(rep), "");
	report_facts(rep, &f);
	assert_string_equal(f.host, "");
	assert_string_equal(f.event, "");
}

static void what_is_no_trace_is_refused(void **state)
{
	struct report *r = rep;

	(void)state;
	trace_file_append("text.pbz", "w", "hello\n", 6);
	stderr_begin();
	assert_int_equal(report_open(trace_file("text.pbz"), NULL, &r), -ENOEXEC);
	assert_non_null(strstr(stderr_end(), "not a probee trace"));
	assert_null(r);
	stderr_begin();
	assert_int_equal(report_open(trace_file("absent.pbz"), NULL, &r), -ENOENT);
	assert_non_null(strstr(stderr_end(), "absent.pbz"));
}

static int setup(void **state)
{
	(void)state;
	if (trace_files_begin() || trace_fixture_write(trace_file("fixture.pbz")))
		return -1;
	trace_file_write("stepped.pbz", emit_stepped);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_close(rep);
	trace_files_end();
	return 0;
}

static int see_idle(void *ctx, const struct report_sample *s)
{
	uint32_t tgid = 99;

	if (s->thread->tid)
		return 0;
	assert_null(s->process);
	assert_true(report_sample_tgid(s, &tgid));
	assert_int_equal(tgid, 0);
	++*(unsigned *)ctx;
	return 0;
}

/* Process 0 is in no table; a process whose record was lost is not it. */
static void idle_threads_are_of_process_0(void **state)
{
	const struct rec_thread lost = { .tid = 5 };
	uint32_t tgid, id = 0;
	struct query q = { .pids = { &id, 1, 0 } };
	unsigned idle = 0;

	(void)state;
	trace_file_write("events.pbz", events_emit);
	open_file("events.pbz", NULL);
	assert_int_equal(report_samples(rep, see_idle, &idle), 0);
	assert_int_equal(idle, 1);
	assert_false(report_sample_tgid(&(struct report_sample){ .thread = &lost }, &tgid));
	assert_false(report_sample_tgid(&(struct report_sample){ .thread = NULL }, &tgid));
	idle = 0;
	open_file("events.pbz", &q);
	assert_int_equal(report_samples(rep, see_idle, &idle), 0);
	assert_int_equal(idle, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_is_in_it),
		cmocka_unit_test(says_what_stands_under_a_picture),
		cmocka_unit_test(hands_out_samples_as_often_as_wanted),
		cmocka_unit_test(hands_out_only_what_was_asked_for),
		cmocka_unit_test(the_nearest_clock_gives_the_date),
		cmocka_unit_test(meta_data),
		cmocka_unit_test(two_recordings),
		cmocka_unit_test(a_cut_file_gives_what_is_left),
		cmocka_unit_test(a_damaged_file_is_said_to_be),
		cmocka_unit_test(whose_code_ends_stacks),
		cmocka_unit_test(notes),
		cmocka_unit_test(a_recording_of_nothing),
		cmocka_unit_test(idle_threads_are_of_process_0),
		cmocka_unit_test(what_is_no_trace_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
