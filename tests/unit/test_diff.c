/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole comparison, of simulated recordings whose differences are known. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/diff/diff.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/profile/view.h"
#include "tests/unit/simulated.h"
#include "tests/unit/stderr_text.h"

#define PAIRS 100

static struct fold_options by_program = { .by = { .v = { FOLD_BY_PROGRAM }, .nr = 1 } };

static struct profile *compare_files(const char *before, const char *after,
				     enum delta_scale scale, const struct view *view)
{
	static const struct view plain;
	struct diff_options opts = { .fold = &by_program, .view = view ? view : &plain,
				     .scale = scale };
	struct report *a, *b;
	struct profile *p = NULL;

	assert_int_equal(report_open(trace_file(before), NULL, &a), 0);
	assert_int_equal(report_open(trace_file(after), NULL, &b), 0);
	assert_int_equal(diff_check(a, b), 0);
	assert_int_equal(diff_reports(a, b, &opts, &p), 0);
	report_close(a);
	report_close(b);
	return p;
}

static struct profile *compare(const struct sim *before, const struct sim *after,
			       enum delta_scale scale)
{
	sim_write(before, "a.pbz");
	sim_write(after, "b.pbz");
	return compare_files("a.pbz", "b.pbz", scale, NULL);
}

static uint32_t node_of(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < p->nr_nodes; i++)
		if (!strcmp(profile_name(p, p->nodes[i].name), name))
			return i;
	fail_msg("there is no %s", name);
	return 0;
}

static const struct delta *delta_of(const struct profile *p, const char *name)
{
	return &p->deltas->nodes[node_of(p, name)].total;
}

/* How many of PAIRS show a difference, and of f15 one that is "more". */
static void try_pairs(struct sim s, uint32_t slow_percent, enum delta_scale scale,
		      const struct view *view, int *any, int *found)
{
	*any = *found = 0;
	for (uint64_t i = 0; i < PAIRS; i++) {
		struct sim t = s;
		struct profile *p;

		s.seed = 2 * i + 1;
		t.seed = 2 * i + 2;
		t.slow_percent = slow_percent;
		sim_write(&s, "a.pbz");
		sim_write(&t, "b.pbz");
		p = compare_files("a.pbz", "b.pbz", scale, view);
		*any += p->deltas->differing || p->deltas->functions_differing;
		*found += delta_of(p, "f15")->verdict == DELTA_MORE;
		profile_free(p);
	}
}

/* Chance alone: of PAIRS about two show something, as DIFF_FALSE says. */
static void same_load(void **state)
{
	static const enum delta_scale scales[] = { SCALE_TIME, SCALE_SHARE };
	int any, found;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		try_pairs((struct sim){ .samples = 1000 }, 0, scales[i], NULL, &any, &found);
		assert_in_range(any, 0, 5);
	}
}

/* Each function stays for eight samples, so counts vary eight times as much as random ones. */
static void bursts(void **state)
{
	static const struct view views[] = { { .inverted = false }, { .inverted = true } };
	int any, found;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		try_pairs((struct sim){ .samples = 2000, .burst = 8 }, 0, SCALE_TIME, &views[i],
			  &any, &found);
		assert_in_range(any, 0, 5);
	}
}

static void slower_function(void **state)
{
	int any, found;

	(void)state;
	try_pairs((struct sim){ .samples = 3000, .is_command = true }, 20, SCALE_AUTO, NULL,
		  &any, &found);
	assert_in_range(found, 95, PAIRS);
}

static void time_is_scaled(void **state)
{
	struct sim s = { .seed = 1, .samples = 500 }, t = { .seed = 2, .samples = 2000 };
	struct profile *p = compare(&s, &t, SCALE_TIME);
	const struct delta *all = delta_of(p, "all");

	(void)state;
	assert_int_equal(all->after, 2000ull * SIM_PERIOD);
	assert_in_range(all->before, 1999ull * SIM_PERIOD, 2001ull * SIM_PERIOD);
	profile_free(p);
	p = compare_files("a.pbz", "b.pbz", SCALE_NONE, NULL);
	assert_int_equal(delta_of(p, "all")->before, 500ull * SIM_PERIOD);
	assert_int_equal(delta_of(p, "all")->verdict, DELTA_MORE);
	profile_free(p);
	/* Half of the time after is empty: as time it is less, and as shares the same. */
	t.samples = 1000;
	t.empty_percent = 50;
	p = compare(&s, &t, SCALE_TIME);
	assert_int_equal(delta_of(p, "all")->verdict, DELTA_LESS);
	profile_free(p);
	p = compare_files("a.pbz", "b.pbz", SCALE_SHARE, NULL);
	assert_int_equal(p->deltas->differing, 0);
	profile_free(p);
}

/* A file of two runs against one of one. */
static void runs_are_counted(void **state)
{
	struct sim s = { .seed = 1, .samples = 1000, .is_command = true };
	struct profile *p;

	(void)state;
	sim_write(&s, "x.pbz");
	s.seed = 2;
	sim_write(&s, "y.pbz");
	trace_file_join("xy.pbz", "x.pbz", "y.pbz");
	p = compare_files("xy.pbz", "x.pbz", SCALE_AUTO, NULL);
	assert_int_equal(p->deltas->scale, SCALE_RUN);
	assert_int_equal(delta_of(p, "all")->before, 1000ull * SIM_PERIOD);
	assert_int_equal(delta_of(p, "all")->after, 1000ull * SIM_PERIOD);
	profile_free(p);
}

/* The same recording does not differ from itself in any way. */
static void itself(void **state)
{
	static const struct view views[] = { { .inverted = true },
					     { .callers = "f15", .keeps_levels = true },
					     { .callees = "g1" } };
	struct sim s = { .seed = 3, .samples = 2000, .burst = 3 };

	(void)state;
	sim_write(&s, "s.pbz");
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct profile *p = compare_files("s.pbz", "s.pbz", SCALE_TIME, &views[i]);

		assert_true(p->deltas->tested > 0);
		for (size_t n = 0; n < p->nr_nodes; n++) {
			assert_int_equal(p->deltas->nodes[n].total.before,
					 p->deltas->nodes[n].total.after);
			assert_in_range(p->deltas->nodes[n].total.verdict, DELTA_FEW, DELTA_SAME);
		}
		profile_free(p);
	}
}

/* A function that is slower is so in each view of its stacks. */
static void views(void **state)
{
	static const struct view views[] = { { .inverted = true },
					     { .callers = "f15" },
					     { .callees = "f15" } };
	struct sim s = { .seed = 1, .samples = 4000 },
		   t = { .seed = 2, .samples = 4000, .slow_percent = 50 };

	(void)state;
	sim_write(&s, "a.pbz");
	sim_write(&t, "b.pbz");
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct profile *p = compare_files("a.pbz", "b.pbz", SCALE_NONE, &views[i]);

		assert_int_equal(delta_of(p, "f15")->verdict, DELTA_MORE);
		profile_free(p);
	}
}

/* What cannot be divided by is left as it is. */
static void no_cpus(void **state)
{
	struct sim s = { .seed = 1, .samples = 100 };
	struct profile *p;

	(void)state;
	sim_write(&s, "a.pbz");
	p = compare_files("a.pbz", "a.pbz", SCALE_CPUS, NULL);
	assert_int_equal(p->deltas->differing, 0);
	profile_free(p);
}

static int check_quietly(const char *before, const char *after, char *said, size_t size)
{
	struct report *a, *b;
	int err;

	assert_int_equal(report_open(trace_file(before), NULL, &a), 0);
	assert_int_equal(report_open(trace_file(after), NULL, &b), 0);
	stderr_begin();
	err = diff_check(a, b);
	snprintf(said, size, "%.500s", stderr_end());
	report_close(a);
	report_close(b);
	return err;
}

static void other_events(void **state)
{
	struct sim s = { .seed = 1, .samples = 100 },
		   cycles = { .seed = 1, .samples = 100, .unit = "cycles" };
	char said[512];

	(void)state;
	sim_write(&s, "a.pbz");
	sim_write(&cycles, "c.pbz");
	assert_int_equal(check_quietly("a.pbz", "c.pbz", said, sizeof(said)), -EINVAL);
	assert_non_null(strstr(said, "cannot be compared"));
	assert_int_equal(check_quietly("a.pbz", "a.pbz", said, sizeof(said)), 0);
	assert_string_equal(said, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_load),	    cmocka_unit_test(bursts),
		cmocka_unit_test(slower_function),  cmocka_unit_test(time_is_scaled),
		cmocka_unit_test(runs_are_counted), cmocka_unit_test(itself),
		cmocka_unit_test(views),	    cmocka_unit_test(no_cpus),
		cmocka_unit_test(other_events),
	};

	return cmocka_run_group_tests(tests, trace_files_setup, trace_files_teardown);
}
