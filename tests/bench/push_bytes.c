/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_bytes FILE otlp|push|ingest [WINDOWS]: makes the bodies of requests of a trace, WINDOWS (12) windows in each,
 * and prints what they are, in words and numbers: bodies, profiles, samples, rows, late, bytes, raw_bytes, encode_ms (CPU).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/fail.h"
#include "src/report/report.h"
#include "src/push/push_encode.h"

static int drop(void *ctx, const struct push_body *b)
{
	(void)ctx;
	(void)b;
	return 0;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	static const char *const names[PUSH_PROTOCOLS] = { "otlp", "push", "ingest" };
	struct push_encode_opts opts = { .protocol = PUSH_PROTOCOLS };
	struct push_counts c;
	struct report *rep;
	double begin;

	for (int i = 0; argc > 2 && i < PUSH_PROTOCOLS; i++)
		if (!strcmp(argv[2], names[i]))
			opts.protocol = (enum push_protocol)i;
	if (opts.protocol == PUSH_PROTOCOLS)
		return fail_why(2, "usage: push_bytes FILE otlp|push|ingest [WINDOWS]");
	opts.bundle_windows = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;
	if (report_open(argv[1], NULL, &rep))
		return 1;
	begin = cpu_ms();
	if (push_encode(rep, &opts, drop, NULL, &c))
		return 1;
	printf("bodies %" PRIu64 "\nprofiles %" PRIu64 "\nsamples %" PRIu64 "\nrows %" PRIu64 "\nlate %" PRIu64 "\nbytes %" PRIu64
	       "\nraw_bytes %" PRIu64 "\nencode_ms %.1f\n",
	       c.bodies, c.profiles, c.samples, c.rows, c.late, c.bytes, c.raw_bytes, cpu_ms() - begin);
	report_close(rep);
	return 0;
}
