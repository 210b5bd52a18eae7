/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/foreign/file_opener.h"
#include "src/parse/parsers.h"

/* Opening a file, asking and answering take as long as to read this much: 40 us. */
#define QUESTION_BYTES (64u << 10)

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

/* How long the file is, only the parser knows. */
static int read_dump(struct jit_reading *r)
{
	static const struct perf_map_mark all;
	const struct helper_wait wait = { .until_ns = r->until_ns, .unwanted = r->job.unwanted };
	struct map_search s = { .v = r->v, .nr = r->nr, .is_growing = r->is_growing,
				.mark = r->nr_new ? all : r->dump_mark, .names = &r->names };
	uint64_t from = s.mark.bytes;
	int err;

	if (r->dump.fd < 0)
		return -ENOENT;
	err = parse_jitdump(r->parsers, &r->dump, &wait, &s);
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
	free(r->v);
	free(r);
}
