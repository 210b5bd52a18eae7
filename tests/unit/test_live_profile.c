/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "tests/unit/fixture_report.h"

extern const struct renderer renderer_collapse, renderer_text;

static const struct render_opts plain;

static char *render(const struct renderer *r, const struct profile *p)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(r->render(p, &plain, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static char *live_stacks(const struct live_profile *l, uint32_t event)
{
	struct profile *p;
	char *text;

	assert_int_equal(live_profile_read(l, event, NULL, &p), 0);
	text = render(&renderer_collapse, p);
	profile_free(p);
	return text;
}

static void check_stacks(const struct live_profile *l, uint32_t event, const char *want)
{
	char *got = live_stacks(l, event);

	assert_string_equal(got, want);
	free(got);
}

/* What a report of a trace with the same records says. */
static struct profile *reported(const char *path, enum query_weight weight)
{
	struct query q = { .weight = weight };
	struct profile *p;
	struct report *rep;

	assert_int_equal(report_open(path, &q, &rep), 0);
	assert_int_equal(fold_report(rep, NULL, &p), 0);
	report_close(rep);
	return p;
}

static void is_the_report(const struct live_profile *l, uint32_t event, const char *path, enum query_weight weight)
{
	struct profile *want = reported(path, weight), *got;
	const struct profile_facts *w = &want->facts, *g;
	char *a, *b;

	assert_int_equal(live_profile_read(l, event, NULL, &got), 0);
	g = &got->facts;
	a = render(&renderer_collapse, got);
	b = render(&renderer_collapse, want);
	assert_string_equal(a, b);
	free(a);
	free(b);
	assert_string_equal(g->host, w->host);
	assert_string_equal(g->argv, w->argv);
	assert_string_equal(g->stacks, w->stacks);
	assert_string_equal(g->not_whole, w->not_whole);
	assert_string_equal(g->scans, w->scans);
	assert_string_equal(g->warning, w->warning);
	assert_int_equal(g->begin_real_ns, w->begin_real_ns);
	assert_int_equal(g->duration_ns, w->duration_ns);
	assert_int_equal(g->samples, w->samples);
	assert_int_equal(g->samples_total, w->samples_total);
	assert_int_equal(g->lost, w->lost);
	assert_int_equal(g->frames, w->frames);
	assert_int_equal(g->frames_unnamed, w->frames_unnamed);
	a = render(&renderer_text, got);
	assert_non_null(strstr(a, "call tree"));
	free(a);
	profile_free(want);
	profile_free(got);
}

static void is_what_a_report_says(void **state)
{
	char path[] = "/tmp/probee-live-XXXXXX";
	struct live_profile *l;

	(void)state;
	fixture_write(path, NULL);
	assert_int_equal(live_profile_new(&l), 0);
	assert_int_equal(trace_fixture_emit(live_profile_record, l), 0);
	is_the_report(l, FIX_E_CPU, path, WEIGHT_CPU);
	is_the_report(l, FIX_E_SCAN, path, WEIGHT_WALL);
	check_stacks(l, 77, "");
	live_profile_free(l);
	unlink(path);
}

static struct live_profile *begun(void)
{
	struct live_profile *l;

	assert_int_equal(live_profile_new(&l), 0);
	assert_int_equal(fixture_emit_facts(live_profile_record, l), 0);
	assert_int_equal(fixture_emit_tasks(live_profile_record, l), 0);
	return l;
}

static void put(struct live_profile *l, const struct record *rec)
{
	assert_int_equal(live_profile_record(l, rec), 0);
}

static void put_sample(struct live_profile *l, struct rec_sample s)
{
	put(l, &(struct record){ .tag = REC_SAMPLE, .sample = s });
}

/* Names are those that are known when it is read. */
static void can_be_read_at_any_time(void **state)
{
	struct live_profile *l = begun();

	(void)state;
	check_stacks(l, FIX_E_CPU, "");
	put(l, &(struct record){ .tag = REC_FRAME, .frame = fixture_frames[1] });
	put(l, &(struct record){ .tag = REC_NODE, .node = { 1, 0, 2 } });
	put_sample(l, (struct rec_sample){ .event = FIX_E_CPU, .thread = FIX_T_WORKER, .ustack = 1, .end = END_ROOT });
	check_stacks(l, FIX_E_CPU, "worker;[server+0x1234] 1\n");
	put_sample(l, (struct rec_sample){ .event = FIX_E_CPU, .thread = FIX_T_WORKER, .ustack = 1, .end = END_ROOT });
	put_sample(l, (struct rec_sample){ .event = FIX_E_CPU, .thread = FIX_T_SERVER, .ustack = 1, .end = END_ROOT });
	put(l, &(struct record){ .tag = REC_FUNC, .func = fixture_funcs[1] });
	put(l, &(struct record){ .tag = REC_SYMBOL, .symbol = { .frame = 2, .lines = &(struct rec_line){ 2, 0, 0, 0 }, .nr_lines = 1 } });
	check_stacks(l, FIX_E_CPU, "server;main 1\nworker;main 2\n");
	check_stacks(l, FIX_E_CPU, "server;main 1\nworker;main 2\n");
	live_profile_free(l);
}

static void check_event(const struct live_profile *l, uint32_t event, uint64_t samples, uint64_t weight)
{
	size_t nr;
	const struct live_event *e = live_profile_events(l, &nr);

	assert_true(event < nr);
	assert_int_equal(e[event].samples, samples);
	assert_int_equal(e[event].weight, weight);
}

/* A weight of its own, or the event's period; each event for itself; a REPEAT has the weight of what it repeats. */
static void weights_are_summed_by_event(void **state)
{
	struct live_profile *l = begun();
	struct rec_run runs[] = { { 1, 2 }, { 3, 5 } };
	size_t nr;

	(void)state;
	live_profile_events(l, &nr);
	assert_int_equal(nr, 0);
	put_sample(l, (struct rec_sample){ .event = FIX_E_CPU, .thread = 1 });
	put_sample(l, (struct rec_sample){ .event = FIX_E_CPU, .thread = 1, .weight = 5 });
	check_event(l, FIX_E_CPU, 2, FIX_PERIOD + 5);
	put_sample(l, (struct rec_sample){ .event = FIX_E_SCAN, .thread = 1, .scan = 1, .weight = 1ull << 40 });
	put_sample(l, (struct rec_sample){ .event = FIX_E_SCAN, .thread = 2, .scan = 1 });
	put_sample(l, (struct rec_sample){ .event = FIX_E_CPU, .thread = 2, .weight = 7 });	/* no row of a scan */
	put(l, &(struct record){ .tag = REC_REPEAT, .repeat = { FIX_T0, 2, runs, 2 } });
	put(l, &(struct record){ .tag = REC_REPEAT, .repeat = { FIX_T0, 3, runs, 1 } });
	check_event(l, FIX_E_SCAN, 6, 3 * ((1ull << 40) + 1));
	check_event(l, FIX_E_CPU, 3, FIX_PERIOD + 12);
	live_profile_free(l);
}

#define THREADS 40

struct both {
	struct trace_writer *w;
	struct live_profile *l;
};

static void both_put(struct both *b, const struct record *rec)
{
	assert_int_equal(trace_writer_record(b->w, rec), 0);
	put(b->l, rec);
}

static int both_record(void *ctx, const struct record *rec)
{
	both_put(ctx, rec);
	return 0;
}

static void random_scan(struct both *b, uint32_t scan)
{
	uint64_t t = FIX_T0 + scan * 100 * FIX_MS;
	uint32_t from = 1 + (uint32_t)rand() % THREADS;
	struct rec_run run = { from, 1 + (uint32_t)rand() % (THREADS + 1 - from) };

	if (scan > 1)
		both_put(b, &(struct record){ .tag = REC_REPEAT, .repeat = { t, scan, &run, 1 } });
	for (uint32_t i = 1; i <= THREADS; i++) {
		if (scan > 1 && rand() % 3)
			continue;
		both_put(b, &(struct record){ .tag = REC_SAMPLE, .sample = {
			.time_ns = t - (uint64_t)rand() % 90 * FIX_MS, .thread = i, .scan = scan, .event = FIX_E_SCAN,
			.ustack = (uint32_t)rand() % 6, .kstack = (uint32_t)rand() % 2 * 8,
			.end = (uint8_t)(rand() % 2 ? END_ROOT : END_NO_FDE) } });
	}
}

static void repeats_are_the_reports(void **state)
{
	(void)state;
	srand(11);
	for (unsigned round = 0; round < 10; round++) {
		char path[] = "/tmp/probee-live-XXXXXX";
		struct both b;
		int fd = mkstemp(path);

		close(fd);
		assert_int_equal(trace_writer_open(path, NULL, &b.w), 0);
		assert_int_equal(live_profile_new(&b.l), 0);
		assert_int_equal(fixture_emit_facts(both_record, &b), 0);
		assert_int_equal(fixture_emit_tasks(both_record, &b), 0);
		assert_int_equal(fixture_emit_stacks(both_record, &b), 0);
		for (uint32_t i = 4; i <= THREADS; i++)
			both_put(&b, &(struct record){ .tag = REC_THREAD, .thread = { .id = i, .tid = i, .process = 1,
										     .comm = 1 + i % 3 } });
		for (uint32_t scan = 1; scan < 30; scan++)
			random_scan(&b, scan);
		both_put(&b, &(struct record){ .tag = REC_END, .end = { .time_ns = FIX_T0 + 4000 * FIX_MS } });
		assert_int_equal(trace_writer_close(b.w), 0);
		is_the_report(b.l, FIX_E_SCAN, path, WEIGHT_WALL);
		live_profile_free(b.l);
		unlink(path);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_a_report_says),
		cmocka_unit_test(can_be_read_at_any_time),
		cmocka_unit_test(weights_are_summed_by_event),
		cmocka_unit_test(repeats_are_the_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
