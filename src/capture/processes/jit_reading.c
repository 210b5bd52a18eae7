/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/foreign/file_opener.h"
#include "src/parse/parsers.h"

/* Opening a file, asking and answering take as long as to read this much: 40 us. */
#define QUESTION_BYTES (64u << 10)

/* Code that was replaced more often than that between two readings is not told apart. */
#define MAX_ROUNDS 16

/* What is read of a file of this size. 0: nothing new was asked, and nothing was added. */
static uint64_t bytes_to_read(const struct jit_reading *r, uint64_t size, uint64_t known)
{
	uint64_t bytes = r->nr_new || size < known ? size : size - known;

	return bytes < PERF_MAP_MAX_BYTES ? bytes : PERF_MAP_MAX_BYTES;
}

static int read_map(struct jit_reading *r, struct jit_place *at)
{
	const struct helper_wait wait = { .until_ns = r->until_ns, .unwanted = r->job.unwanted };
	struct map_search s = { .v = r->v, .nr = r->nr, .is_growing = r->is_growing,
				.mark = at->mark, .names = &r->names };
	struct stat st;
	int fd = file_opener_perf_map(r->opener, &at->tmp, &wait, &st), err = 0;
	uint64_t bytes;

	r->cost_bytes += QUESTION_BYTES;
	if (fd < 0)
		return fd;
	bytes = bytes_to_read(r, (uint64_t)st.st_size, at->mark.bytes);
	r->cost_bytes += bytes ? bytes + r->nr * sizeof(*r->v) : 0;
	if (bytes)
		err = parse_perf_map(r->parsers, fd, &st, &wait, &s);
	at->mark = s.mark;
	close(fd);
	return err;
}

/* Notes what was found of a watched address, and asks for what was there before. */
static int note_change(struct jit_reading *r, struct perf_map_query *q)
{
	struct jit_change *c;

	if (q->name == PERF_MAP_NO_NAME || !q->since_ns || (q->time_ns && q->since_ns > q->time_ns))
		return 0;
	c = array_push(&r->changes, &r->nr_changes, &r->cap_changes);
	if (!c)
		return -ENOMEM;
	*c = (struct jit_change){ q->addr, q->since_ns, q->sysname };
	if (q->since_ns <= r->since_ns)
		return 0;
	q->time_ns = q->since_ns - 1;
	q->name = PERF_MAP_NO_NAME;
	return 1;
}

static int by_time(const void *a, const void *b)
{
	const struct jit_change *x = a, *y = b;

	return x->since_ns < y->since_ns ? -1 : x->since_ns > y->since_ns;
}

/*
 * All code that came to watched addresses since r->since_ns: a dump answers with the last one
 * before a time, so it is asked again and again for the one before that.
 */
static int read_changes(struct jit_reading *r, const struct map_search *asked,
			const struct helper_wait *wait)
{
	struct perf_map_query *v = calloc(r->nr + 1, sizeof(*v));
	size_t nr = 0;
	int err = v ? 0 : -ENOMEM;

	for (size_t i = 0; v && i < r->nr; i++)
		if (r->v[i].cookie == WATCHED)
			v[nr++] = r->v[i];
	for (int round = 0; nr && err >= 0 && round < MAX_ROUNDS; round++) {
		struct map_search s = *asked;
		size_t kept = 0;

		for (size_t i = 0; i < nr && err >= 0; i++) {
			err = note_change(r, &v[i]);
			if (err > 0)
				v[kept++] = v[i];
		}
		nr = kept;
		s.v = v;
		s.nr = nr;
		if (err >= 0 && nr)
			err = parse_jitdump(r->parsers, &r->dump, wait, &s);
		r->cost_bytes += nr ? QUESTION_BYTES + nr * sizeof(*v) : 0;
	}
	free(v);
	if (r->nr_changes)
		qsort(r->changes, r->nr_changes, sizeof(*r->changes), by_time);
	return err;
}

/* How long the file is, only the parser knows. */
static int read_dump(struct jit_reading *r)
{
	static const struct perf_map_mark all;
	const struct helper_wait wait = { .until_ns = r->until_ns, .unwanted = r->job.unwanted };
	struct map_search before;
	struct map_search s = { .v = r->v, .nr = r->nr, .is_growing = r->is_growing,
				.mark = r->nr_new ? all : r->dump_mark, .names = &r->names };
	uint64_t from = s.mark.bytes;
	int err;

	if (r->dump.fd < 0)
		return -ENOENT;
	before = s;
	err = parse_jitdump(r->parsers, &r->dump, &wait, &s);
	if (!err)
		read_changes(r, &before, &wait);
	/* One that cannot be read is not waited for, either. */
	r->dump_read_ns = r->begin_ns;
	/* Most of a dump is code, which is passed over. */
	r->cost_bytes += QUESTION_BYTES + r->nr * sizeof(*r->v) + (s.mark.bytes - from) / 2;
	r->dump_mark = s.mark;
	return err == -ENOEXEC ? -ENOENT : err;
}

/* A dump knows lines, and when the code was there; what has no name in it may have one in a map. */
static void run(struct worker_job *job)
{
	struct jit_reading *r = (struct jit_reading *)job;

	r->err = read_dump(r);
	for (size_t i = 0; i < r->nr_places; i++) {
		int err = read_map(r, &r->places[i]);

		r->err = r->err == -ENOENT ? err : r->err;
	}
}

static void done(struct worker_job *job, bool cancelled)
{
	struct jit_reading *r = (struct jit_reading *)job;

	r->done = true;
	if (cancelled)
		r->err = -ECANCELED;
}

struct jit_reading *jit_reading_new(size_t nr)
{
	struct jit_reading *r = calloc(1, sizeof(*r));

	if (r) {
		r->dump.fd = -1;
		r->v = calloc(nr + 1, sizeof(*r->v));
	}
	if (!r || !r->v) {
		jit_reading_free(r);
		return NULL;
	}
	r->nr = nr;
	r->job.run = run;
	r->job.done = done;
	return r;
}

void jit_reading_free(struct jit_reading *r)
{
	if (!r)
		return;
	bb_release(&r->names);
	if (r->dump.fd >= 0)
		close(r->dump.fd);
	free(r->changes);
	free(r->v);
	free(r);
}
