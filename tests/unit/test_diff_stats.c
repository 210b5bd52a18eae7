/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values to compare with are SciPy's (1.x, stats.t.sf and stats.false_discovery_control). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "src/diff/diff_stats.h"

static void near(double got, double want, double relative)
{
	double off = got > want ? got - want : want - got;

	if (off > relative * (want < 0 ? -want : want))
		fail_msg("%.15g is not %.15g", got, want);
}

static void roots(void **state)
{
	(void)state;
	assert_true(diff_root(0) == 0);
	assert_true(diff_root(-1) == 0);
	near(diff_root(2), 1.4142135623730951, 1e-15);
	near(diff_root(1e-18), 1e-9, 1e-15);
	near(diff_root(4e38), 2e19, 1e-15);
}

static void tails_of_t(void **state)
{
	static const struct {
		double t;
		unsigned freedom;
		double p;
	} values[] = {
		{ 0.5, 22, 0.622039556075 },   { -0.5, 22, 0.622039556075 },
		{ 1, 22, 0.328183261881 },     { 3.5, 22, 0.00202409918853 },
		{ 6, 22, 4.87327345431e-06 },  { 1.96, 400, 0.0506896703 },
		{ 3, 400, 0.00286870901482 },  { 5, 2, 0.0377495513506 },
		{ 2.776445, 4, 0.0500000053821 },
	};

	(void)state;
	assert_true(diff_p_value(0, 22) == 1);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		near(diff_p_value(values[i].t, values[i].freedom), values[i].p, 1e-9);
	near(diff_p_value(DIFF_T95, DIFF_FREEDOM), 0.05, 1e-4);
	assert_true(diff_p_value(1e9, DIFF_FREEDOM) >= 0);
}

static void block_variance(void **state)
{
	double d[DIFF_BLOCKS], steady[DIFF_BLOCKS], slow[DIFF_BLOCKS], quick[DIFF_BLOCKS];

	(void)state;
	for (int i = 0; i < DIFF_BLOCKS; i++) {
		d[i] = i * 7919 % 101 - 50;
		steady[i] = 7;
		slow[i] = i & 2 ? 1 : -1;	/* pairs of blocks are alike: they vary for the sum */
		quick[i] = i & 1 ? 1 : -1;	/* what one has too much, the next one lacks */
	}
	/* By the definition of overlapping batch means, with NumPy. */
	near(diff_block_variance(d), 15538.916129, 1e-9);
	assert_true(diff_block_variance(steady) == 0);
	assert_true(diff_block_variance(slow) > diff_block_variance(quick));
}

static void count_variance(void **state)
{
	(void)state;
	near(diff_count_variance(300, 1, 1), 300, 1e-15);		/* Poisson: 100 and 200 */
	near(diff_count_variance(300, 10, 10), 30000, 1e-15);
	near(diff_count_variance(300, 2, 8), 4800, 1e-15);
	near(diff_count_variance(5, 0, 3), 45, 1e-15);			/* no samples on one side */
	assert_true(diff_count_variance(5, 0, 0) == 0);
}

static void discoveries(void **state)
{
	static const double p[] = { .001, .008, .039, .041, .042, .06, .074, .205, .212,
				    .216, .222, .251, .269, .275, .34, .341, .384, .569,
				    .594, .696, .762, .94, .942, .975, .986 };
	const size_t nr = sizeof(p) / sizeof(p[0]);

	(void)state;
	assert_true(diff_discover(p, nr, 0.02) == -1);
	assert_true(diff_discover(p, nr, 0.05) == .001);
	assert_true(diff_discover(p, nr, 0.1) == .008);
	assert_true(diff_discover(p, nr, 0.22) == .042);
	assert_true(diff_discover(p, nr, 0.26) == .06);
	assert_true(diff_discover(p, nr, 0.5) == .275);
	assert_true(diff_discover(p, 0, 0.5) == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots),	  cmocka_unit_test(tails_of_t),
		cmocka_unit_test(block_variance), cmocka_unit_test(count_variance),
		cmocka_unit_test(discoveries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
