/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace, encoded into a directory that tests/push/bodies.py reads:
 *
 *	struct encoded e;
 *	encode(&e, emit, &opts);	emit writes the trace; e.counts, e.dir, e.names (of bodies)
 *	PYTHON(&e, "assert len(profiles)==3")	statements about profiles = bodies.load(e.dir)
 *	encoded_release(&e);
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/render/json_writer.h"
#include "formats/trace/trace_writer.h"
#include "src/report/report.h"
#include "src/push/push_encode.h"

struct encoded {
	char dir[64];
	struct push_counts counts;
	unsigned bodies;
	size_t largest;			/* before compression */
	int err;
	uint64_t samples, lost;		/* sums of the bodies */
	int end_at;			/* ends with -ECANCELED at this body; 0: never */
};

typedef int (*emit_fn)(struct trace_writer *w);

static inline FILE *encoded_file(const struct encoded *e, const char *suffix)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%04u.%s", e->dir, e->bodies, suffix);
	return fopen(path, "w");
}

static inline int keep_body(void *ctx, const struct push_body *b)
{
	struct encoded *e = ctx;
	struct json_writer w = { .out = encoded_file(e, "json") };
	FILE *f = encoded_file(e, "body");

	assert_non_null(f);
	assert_non_null(w.out);
	assert_int_equal(fwrite(b->bytes, 1, b->len, f), b->len);
	fclose(f);
	json_begin(&w, '{');
	json_put_text(&w, "path", b->path);
	json_put_text(&w, "content_type", b->content_type);
	json_put_bool(&w, "gzip", b->is_gzip);
	json_put_u64(&w, "raw_len", b->raw_len);
	json_put_u64(&w, "profiles", b->profiles);
	json_put_u64(&w, "samples", b->samples);
	json_put_u64(&w, "lost", b->lost);
	json_put_u64(&w, "from", b->from_ns);
	json_put_u64(&w, "to", b->to_ns);
	json_put_text(&w, "what", b->what);
	json_end(&w, '}');
	fclose(w.out);
	e->samples += b->samples;
	e->lost += b->lost;
	if (b->raw_len > e->largest)
		e->largest = b->raw_len;
	e->bodies++;
	return e->end_at && (int)e->bodies >= e->end_at ? -ECANCELED : 0;
}

static inline void encode(struct encoded *e, emit_fn emit, const struct push_encode_opts *opts)
{
	char path[] = "/tmp/probee-push-XXXXXX";
	struct trace_writer *w;
	struct report *rep;
	int fd = mkstemp(path), end_at = e->end_at;

	memset(e, 0, sizeof(*e));
	e->end_at = end_at;
	strcpy(e->dir, "/tmp/probee-bodies-XXXXXX");
	assert_non_null(mkdtemp(e->dir));
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_int_equal(trace_writer_open(path, NULL, &w), 0);
	assert_int_equal(emit(w), 0);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(report_open(path, NULL, &rep), 0);
	unlink(path);
	e->err = push_encode(rep, opts, keep_body, e, &e->counts);
	report_close(rep);
}

static inline void encoded_release(struct encoded *e)
{
	char path[320];
	DIR *d = opendir(e->dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", e->dir, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(e->dir);
	memset(e, 0, sizeof(*e));
}

/* Both directories have equal files. */
static inline bool encoded_equal(const struct encoded *a, const struct encoded *b)
{
	char command[256];

	snprintf(command, sizeof(command), "diff -r %s %s >&2", a->dir, b->dir);
	return system(command) == 0;
}

/* A python3 that has protobuf; NULL: there is none, and without it a test says nothing. */
static inline const char *python(void)
{
	static const char *const names[] = { "python3", "/usr/bin/python3" };
	char command[128];

	for (size_t i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "command -v protoc >/dev/null && "
			 "%s -c 'import google.protobuf' 2>/dev/null", names[i]);
		if (!system(command))
			return names[i];
	}
	return NULL;
}

static inline void python_says(const struct encoded *e, const char *statements)
{
	const char *name = python();
	FILE *in;
	char command[160];

	if (!name)
		skip();
	snprintf(command, sizeof(command), "PYTHONDONTWRITEBYTECODE=1 %s - %s >&2", name, e->dir);
	in = popen(command, "w");
	assert_non_null(in);
	fprintf(in, "import sys,collections\nsys.path.insert(0,'tests/push')\nimport bodies\n"
		    "profiles=bodies.load(sys.argv[1])\n%s", statements);
	assert_int_equal(pclose(in), 0);
}
