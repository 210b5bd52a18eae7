/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/diff/diff_stats.h"

/* Newton's method. From above it falls steadily, by half while it is far off. */
double diff_root(double x)
{
	double y = x > 1 ? x : 1, last;

	if (!(x > 0))
		return 0;
	do {
		last = y;
		y = (y + x / y) / 2;
	} while (y < last);
	return last;
}

double diff_block_variance(const double d[DIFF_BLOCKS])
{
	const double n = DIFF_BLOCKS, m = DIFF_BATCH;
	double sum = 0, squares = 0;

	for (int i = 0; i < DIFF_BLOCKS; i++)
		sum += d[i];
	for (int i = 0; i + DIFF_BATCH <= DIFF_BLOCKS; i++) {
		double batch = 0;

		for (int j = 0; j < DIFF_BATCH; j++)
			batch += d[i + j];
		squares += (batch / m - sum / n) * (batch / m - sum / n);
	}
	/* The mean has m / ((n - m + 1) (n - m)) times the squares; the sum n * n times that. */
	return squares * m * n * n / ((n - m + 1) * (n - m));
}

/*
 * If the true weight is w on both sides, these have w/a and w/b samples of weights a and b, with
 * variances of weight w*a and w*b. The most likely w for n samples is n / (1/a + 1/b), so the sum
 * of both variances is n*a*b.
 */
double diff_count_variance(double samples, double weight_before, double weight_after)
{
	double a = weight_before > 0 ? weight_before : weight_after;
	double b = weight_after > 0 ? weight_after : weight_before;

	return samples * a * b;
}

double diff_p_value(double t, unsigned freedom)
{
	double v = freedom, sine = (t < 0 ? -t : t) / diff_root(v + t * t), cos2 = v / (v + t * t);
	double term = 1, sum = 1, p;

	for (unsigned j = 1; j < freedom / 2; j++) {
		term *= cos2 * (2 * j - 1) / (2 * j);
		sum += term;
	}
	p = 1 - sine * sum;
	return p > 0 ? p : 0;
}

double diff_discover(const double *p, size_t nr, double share)
{
	double most = -1;

	for (size_t i = 0; i < nr; i++)
		if (p[i] <= share * (double)(i + 1) / (double)nr)
			most = p[i];
	return most;
}
