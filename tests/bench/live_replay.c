/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_replay TRACE: gives its records to a trace writer and to a live profile, from memory, and
 * prints what one sample costs each of them:
 *	samples N, writer_ns N, profile_ns N, read_ms N
 * These are CPU times of what depends on the number of samples alone, without scans, names and the
 * kernel's work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/clock.h"
#include "src/live/live_profile.h"
#include "src/profile/profile.h"

/* CPU time of this thread, which other processes of the machine influence little. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

struct samples {
	struct record *v;
	size_t nr, cap;
};

static int keep(struct samples *s, const struct record *rec)
{
	if (s->nr == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 4096;
		s->v = realloc(s->v, s->cap * sizeof(*s->v));
	}
	if (!s->v)
		return 1;
	s->v[s->nr++] = *rec;
	return 0;
}

/* Definitions go to both at once. Samples are kept for later, because they hold no pointers. */
static int read_all(struct trace_reader *r, struct samples *s, struct trace_writer *w, struct live_profile *l)
{
	struct record rec;
	int n, err = 0;

	while (!err && (n = trace_reader_next(r, &rec)) > 0) {
		if (rec.tag == REC_SAMPLE)
			err = keep(s, &rec);
		else
			err = trace_writer_record(w, &rec) || live_profile_record(l, &rec);
	}
	return err || n < 0;
}

static double ns_each(const struct samples *s, record_fn fn, void *ctx)
{
	uint64_t begin = cpu_ns();

	for (size_t i = 0; i < s->nr; i++)
		if (fn(ctx, &s->v[i]))
			exit(1);
	return (double)(cpu_ns() - begin) / (double)s->nr;
}

static double read_ms(const struct live_profile *l)
{
	uint64_t begin = cpu_ns();
	size_t nr;

	live_profile_events(l, &nr);
	for (uint32_t event = 1; event < nr; event++) {
		struct profile *p = NULL;

		if (live_profile_read(l, event, NULL, &p))
			exit(1);
		profile_free(p);
	}
	return (double)(cpu_ns() - begin) / 1e6;
}

int main(int argc, char **argv)
{
	struct samples s = { NULL, 0, 0 };
	struct trace_reader *r;
	struct trace_writer *w;
	struct live_profile *l;

	if (argc != 2 || trace_reader_open(argv[1], NULL, &r) || trace_writer_open("/dev/null", NULL, &w) ||
	    live_profile_new(&l) || read_all(r, &s, w, l) || !s.nr)
		return 1;
	printf("samples %zu\n", s.nr);
	printf("writer_ns %.1f\n", ns_each(&s, trace_writer_record, w));
	printf("profile_ns %.1f\n", ns_each(&s, live_profile_record, l));
	printf("read_ms %.1f\n", read_ms(l));
	trace_reader_close(r);
	trace_writer_close(w);
	live_profile_free(l);
	free(s.v);
	return 0;
}
