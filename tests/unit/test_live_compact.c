/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/fold.h"
#include "src/profile/largest.h"
#include "src/live/live_profile.h"
#include "src/live/live_windows.h"
#include "src/profile/profile.h"
#include "src/report/state_words.h"

#define SEC LIVE_WINDOW_NS
#define T0 (1000 * SEC)

/* A recording that programs come into and leave: ids of definitions ascend, as a recorder gives them. */
struct maker {
	struct live_profile *l;
	uint32_t ids[RECORD_TAGS];
	uint32_t functions[200];	/* frames that all share */
	uint32_t thread;		/* made last */
};

enum { CPU = 1, WALL = 2 };

static void put(struct maker *m, struct record rec)
{
	assert_int_equal(live_profile_record(m->l, &rec), 0);
}

static uint32_t put_string(struct maker *m, const char *fmt, unsigned nr)
{
	char text[64];
	struct record rec = { .tag = REC_STRING };

	snprintf(text, sizeof(text), fmt, nr);
	rec.string = (struct rec_string){ ++m->ids[REC_STRING], text, strlen(text) };
	put(m, rec);
	return m->ids[REC_STRING];
}

static uint32_t put_function(struct maker *m, const char *fmt, unsigned nr)
{
	uint32_t frame = ++m->ids[REC_FRAME], func = ++m->ids[REC_FUNC];
	struct rec_line line = { .func = func };
	struct record rec = { .tag = REC_FRAME };

	rec.frame = (struct rec_frame){ .id = frame, .addr = 64u * nr, .kind = FRAME_USER };
	put(m, rec);
	rec = (struct record){ .tag = REC_FUNC, .func = { .id = func, .name = put_string(m, fmt, nr) } };
	put(m, rec);
	rec = (struct record){ .tag = REC_SYMBOL, .symbol = { .frame = frame, .lines = &line, .nr_lines = 1 } };
	put(m, rec);
	return frame;
}

static uint32_t put_process(struct maker *m, const char *name, unsigned tgid)
{
	struct record rec = { .tag = REC_PROCESS };

	rec.process = (struct rec_process){ .id = m->ids[REC_PROCESS] + 1, .tgid = tgid, .start_boottime_ns = tgid,
					    .comm = put_string(m, name, tgid) };
	m->ids[REC_PROCESS]++;
	put(m, rec);
	return m->ids[REC_PROCESS];
}

static uint32_t put_thread(struct maker *m, uint32_t process, unsigned tid)
{
	struct record rec = { .tag = REC_THREAD };

	rec.thread = (struct rec_thread){ .id = m->ids[REC_THREAD] + 1, .process = process, .tid = tid,
					  .comm = put_string(m, "worker-%u", tid) };
	m->ids[REC_THREAD]++;
	put(m, rec);
	return m->ids[REC_THREAD];
}

static uint32_t put_stack(struct maker *m, unsigned nr)
{
	uint32_t parent = 0;

	for (unsigned depth = 0; depth < 4; depth++) {
		struct record rec = { .tag = REC_NODE };

		rec.node = (struct rec_node){ ++m->ids[REC_NODE], parent, m->functions[(nr + depth * 7) % 200] };
		put(m, rec);
		parent = m->ids[REC_NODE];
	}
	return parent;
}

static void put_sample(struct maker *m, uint64_t time_ns, uint32_t event, uint32_t thread, uint32_t stack, uint64_t weight)
{
	struct record rec = { .tag = REC_SAMPLE };

	rec.sample = (struct rec_sample){ .time_ns = time_ns, .event = event, .thread = thread, .ustack = stack,
					  .weight = weight, .end = END_ROOT, .state = event == CPU ? TASK_RUNNING : TASK_SLEEPING,
					  .scan = event == WALL ? (uint32_t)(time_ns / SEC) : 0 };
	put(m, rec);
}

static void begin(struct maker *m, const struct live_limits *limits)
{
	*m = (struct maker){ .l = NULL };
	assert_int_equal(live_profile_new(&m->l), 0);
	live_profile_limit(m->l, limits);
	for (uint32_t i = 0; i < 200; i++)
		m->functions[i] = put_function(m, "function_%u", i);
	put(m, (struct record){ .tag = REC_EVENT, .event = { .id = CPU, .name = put_string(m, "cpu-clock", 0),
							      .kind = EVENT_CPU_CLOCK, .unit = put_string(m, "ns", 0) } });
	put(m, (struct record){ .tag = REC_EVENT, .event = { .id = WALL, .name = put_string(m, "snapshot", 0),
							      .kind = EVENT_SNAPSHOT, .unit = put_string(m, "count", 0) } });
}

/* Each second a new process with stacks that are only its own, beside one that stays. */
static void run(struct maker *m, unsigned from, unsigned seconds)
{
	static const char *const names[] = { "cc1plus", "sh", "make", "ld" };
	uint32_t server = put_process(m, "server", 1), worker = put_thread(m, server, 2), hot = put_stack(m, 1);

	for (unsigned s = from; s < from + seconds; s++) {
		uint64_t t = T0 + s * SEC;
		uint32_t p = put_process(m, names[s % 4], 1000 + s), thread = put_thread(m, p, 5000 + s);

		for (unsigned i = 0; i < 10; i++)
			put_sample(m, t + i * SEC / 20, CPU, thread, put_stack(m, s * 13 + i), 1 + i);
		for (unsigned i = 0; i < 5; i++)
			put_sample(m, t + SEC / 2 + i, CPU, worker, hot, 100);
		put_sample(m, t + SEC - 2, WALL, worker, hot, 1);
		put_sample(m, t + SEC - 1, WALL, thread, 0, 1);
		m->thread = thread;
	}
}

/* ---- sums ---- */

enum { MOST_WINDOWS = 600, NAMES = 8 };

struct sums {
	uint64_t samples[3], weight[3];		/* by event */
	uint64_t activities[3][ACTIVITIES];	/* weight of the call trees */
	uint64_t windows[MOST_WINDOWS][3];	/* weight */
	uint64_t names[NAMES][3];		/* weight in windows, by name of process */
	uint64_t programs[NAMES];		/* weight in the tree, by its first letter */
	size_t nr_windows;
};

static uint64_t tree(const struct live_profile *l, uint32_t event, uint32_t activities, struct sums *s)
{
	static const struct fold_options by = { .by = { .v = { FOLD_BY_PROGRAM }, .nr = 1 } };
	const struct live_choice which = { .activities = activities };
	struct profile *p;
	uint64_t total;

	assert_int_equal(live_profile_choose(l, event, &which, &by, &p), 0);
	total = p->nodes[0].total;
	for (uint32_t c = p->nodes[0].first_child; s && c != NODE_NONE; c = p->nodes[c].next_sibling)
		s->programs[profile_name(p, p->nodes[c].name)[0] % NAMES] += p->nodes[c].total;
	profile_free(p);
	return total;
}

static unsigned name_of(const struct live_profile *l, uint32_t thread)
{
	const struct definition_store *d = live_profile_tables(l);
	const struct rec_thread *t = definition_store_find_thread(d, thread);
	const struct rec_process *p = t ? definition_store_find_process(d, t->process) : NULL;

	assert_non_null(p);
	return (unsigned)definition_store_string(d, p->comm, NULL)[0] % NAMES;
}

static void sum_up(const struct live_profile *l, struct sums *s)
{
	const struct live_windows *w = live_profile_windows(l);
	const struct live_event *e;
	size_t nr;

	memset(s, 0, sizeof(*s));
	e = live_profile_events(l, &nr);
	assert_int_equal(nr, 3);
	for (uint32_t i = 1; i < 3; i++) {
		s->samples[i] = e[i].samples;
		s->weight[i] = e[i].weight;
		for (unsigned a = 0; a < ACTIVITIES; a++)
			s->activities[i][a] = tree(l, i, 1u << a, NULL);
		assert_int_equal(tree(l, i, 0, s), e[i].weight);
	}
	s->nr_windows = w->nr;
	assert_true(w->nr < MOST_WINDOWS);
	for (size_t i = 0; i < w->nr; i++)
		for (size_t k = 0; k < w->v[i].nr; k++) {
			struct live_kind kind = live_profile_kind(l, w->v[i].v[k].id);

			s->windows[i][kind.event] += w->v[i].v[k].weight;
			s->names[name_of(l, kind.thread)][kind.event] += w->v[i].v[k].weight;
		}
}

static void check_sums(const struct live_profile *l, const struct sums *want)
{
	struct sums got;

	sum_up(l, &got);
	assert_memory_equal(&got, want, sizeof(got));
}

/* ---- tests ---- */

static const struct live_limits tiny = { .counts = 600, .growths = 3000, .bytes = 4 << 20, .recent_ns = 20 * SEC };
static const struct live_limits vast = { .counts = 1 << 28, .growths = 1 << 28, .bytes = 1 << 30, .recent_ns = 20 * SEC };

static void sums_stay_exact(void **state)
{
	struct maker m;
	struct sums want;
	uint64_t threads, strings;

	(void)state;
	begin(&m, &vast);
	run(&m, 0, 1500);
	assert_int_equal(live_profile_epoch(m.l), 0);
	sum_up(m.l, &want);
	assert_true(want.weight[CPU] > 0 && want.weight[WALL] == 3000);
	live_profile_begin_part(m.l);		/* nothing refers to the definitions but the counts */
	threads = tables_count(live_profile_tables(m.l), REC_THREAD);
	strings = tables_count(live_profile_tables(m.l), REC_STRING);
	live_profile_limit(m.l, &tiny);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(live_profile_compact(m.l), 0);
		assert_int_equal(live_profile_epoch(m.l), i);
		check_sums(m.l, &want);
	}
	assert_true(live_profile_folded(m.l) > 10000);
	assert_true(tables_count(live_profile_tables(m.l), REC_THREAD) < threads / 10);
	assert_true(tables_count(live_profile_tables(m.l), REC_STRING) < strings / 3);
	live_profile_free(m.l);
}

static bool has_name(const struct live_profile *l, const char *name)
{
	struct profile *p;
	bool found = false;

	assert_int_equal(live_profile_read(l, CPU, NULL, &p), 0);
	for (uint32_t i = 0; i < intern_count(p->names); i++)
		found |= !strcmp(profile_name(p, i), name);
	profile_free(p);
	return found;
}

/* What is recent and what is large keep their stacks; what is rare and old has a name that says so. */
static void the_right_stacks_are_kept(void **state)
{
	struct maker m;
	const struct rec_sample *row;
	const struct definition_store *d;
	uint32_t rows = 0;

	(void)state;
	begin(&m, &vast);
	put_sample(&m, T0, CPU, put_thread(&m, put_process(&m, "huge", 3), 3), put_stack(&m, 50), 1u << 30);
	run(&m, 1, 1000);
	m.functions[0] = put_function(&m, "only_lately", 0x9999);
	put_sample(&m, T0 + 1000 * SEC, CPU, m.thread, put_stack(&m, 200), 1);
	assert_false(has_name(m.l, "[older stacks]"));
	live_profile_limit(m.l, &tiny);
	assert_int_equal(live_profile_compact(m.l), 0);
	d = live_profile_tables(m.l);
	assert_true(has_name(m.l, "[older stacks]"));
	assert_true(has_name(m.l, "only_lately"));
	assert_true(has_name(m.l, "function_50"));
	for (uint32_t i = 1; i < live_profile_threads(m.l); i++) {
		row = live_profile_row(m.l, i);
		if (!row)
			continue;
		rows++;
		assert_int_equal(row->thread, i);
		assert_true(row->scan + 8 >= live_profile_scan(m.l));
		assert_non_null(definition_store_find_thread(d, row->thread));
		assert_true(!row->ustack || definition_store_find_node(d, row->ustack));
	}
	assert_int_equal(rows, 1 + 9);
	live_profile_free(m.l);
}

/* The segment goes on to use its ids, those of threads and stacks that were given up, too. */
static void the_segment_goes_on(void **state)
{
	struct maker m, whole;
	struct sums want;
	struct rec_run all;

	(void)state;
	begin(&m, &tiny);
	begin(&whole, &vast);
	run(&m, 0, 1000);
	run(&whole, 0, 1000);
	assert_true(live_profile_epoch(m.l) > 0);
	for (uint32_t t = 1; t <= m.ids[REC_THREAD]; t += 50) {
		put_sample(&m, T0 + 1001 * SEC, CPU, t, 1 + t, 5);
		put_sample(&whole, T0 + 1001 * SEC, CPU, t, 1 + t, 5);
	}
	all = (struct rec_run){ m.ids[REC_THREAD] - 3, 4 };	/* these have rows still */
	put(&m, (struct record){ .tag = REC_REPEAT, .repeat = { T0 + 1002 * SEC, 2002, &all, 1 } });
	put(&whole, (struct record){ .tag = REC_REPEAT, .repeat = { T0 + 1002 * SEC, 2002, &all, 1 } });
	sum_up(whole.l, &want);
	check_sums(m.l, &want);
	live_profile_free(m.l);
	live_profile_free(whole.l);
}

/* Ten times as much does not need more than twice the room, if parts begin now and then. */
static void memory_is_bounded(void **state)
{
	struct maker m;
	size_t early = 0, bytes;

	(void)state;
	begin(&m, &tiny);
	for (unsigned part = 0; part < 50; part++) {
		uint32_t functions[200];

		run(&m, part * 100, 100);
		bytes = definition_store_bytes(live_profile_tables(m.l));
		assert_true(live_profile_windows(m.l)->nr_growths < 4 * tiny.growths);
		if (part == 5)
			early = bytes;
		if (part > 5)
			assert_true(bytes < 2 * early);
		assert_int_equal(live_profile_begin_part(m.l), 0);
		memcpy(functions, m.functions, sizeof(functions));
		memset(m.ids, 0, sizeof(m.ids));
		for (uint32_t i = 0; i < 200; i++)
			m.functions[i] = put_function(&m, "function_%u", i);
		for (uint32_t e = CPU; e <= WALL; e++)
			put(&m, (struct record){ .tag = REC_EVENT, .event = {
				.id = e, .name = put_string(&m, e == CPU ? "cpu-clock" : "snapshot", 0),
				.kind = e == CPU ? EVENT_CPU_CLOCK : EVENT_SNAPSHOT,
				.unit = put_string(&m, e == CPU ? "ns" : "count", 0) } });
	}
	assert_true(live_profile_epoch(m.l) > 2);
	live_profile_free(m.l);
}

static void the_largest(void **state)
{
	(void)state;
	srand(5);
	for (unsigned round = 0; round < 2000; round++) {
		double v[40], copy[40], least = 1e9, most = -1;
		size_t nr = (size_t)rand() % 40, keep = (size_t)rand() % 45, got = 0;
		struct largest l;

		for (size_t i = 0; i < nr; i++)
			v[i] = rand() % (1 + (int)round % 30);
		memcpy(copy, v, sizeof(v));
		largest_init(&l, copy, nr, keep);
		for (size_t i = 0; i < nr; i++) {
			if (largest_has(&l, v[i])) {
				got++;
				least = v[i] < least ? v[i] : least;
			} else {
				most = v[i] > most ? v[i] : most;
			}
		}
		assert_int_equal(got, keep < nr ? keep : nr);
		assert_true(!got || least >= most);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_stay_exact),
		cmocka_unit_test(the_right_stacks_are_kept),
		cmocka_unit_test(the_segment_goes_on),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(the_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
