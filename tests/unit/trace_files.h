/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace files for tests of reports, in a directory of their own.
 *
 *	trace_files_begin()			0, or -1
 *	trace_file("a.pbz")			its path; static until the fourth next call
 *	trace_file_join("ab.pbz", "a.pbz", "b.pbz")	cat a b > ab
 *	trace_file_cut("cut.pbz", "a.pbz", 20)	all but the last 20 bytes
 *	trace_files_end()			removes everything
 *
 *	trace_files_setup, trace_files_teardown	begin and end as fixtures of cmocka
 *
 * What fails aborts.
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace/trace_writer.h"
#include "src/base/io.h"

static char trace_dir[] = "/tmp/probee-unit.XXXXXX";

static inline int trace_files_begin(void)
{
	return mkdtemp(trace_dir) ? 0 : -1;
}

static inline const char *trace_file(const char *name)
{
	static char paths[4][512];
	static unsigned at;
	char *path = paths[at++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", trace_dir, name);
	return path;
}

static inline void trace_files_end(void)
{
	DIR *d = opendir(trace_dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlink(trace_file(e->d_name));
	if (d)
		closedir(d);
	rmdir(trace_dir);
}

static inline int trace_files_setup(void **state)
{
	(void)state;
	return trace_files_begin();
}

static inline int trace_files_teardown(void **state)
{
	(void)state;
	trace_files_end();
	return 0;
}

static inline char *trace_file_load(const char *name, size_t *len)
{
	char *bytes;
	ssize_t n = io_read_file(trace_file(name), &bytes, 64u << 20);

	if (n < 0)
		abort();
	*len = (size_t)n;
	return bytes;
}

static inline void trace_file_append(const char *name, const char *mode, const char *bytes, size_t len)
{
	FILE *f = fopen(trace_file(name), mode);

	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
		abort();
}

static inline void trace_file_join(const char *name, const char *first, const char *second)
{
	size_t len;
	char *bytes = trace_file_load(first, &len);

	trace_file_append(name, "w", bytes, len);
	free(bytes);
	bytes = trace_file_load(second, &len);
	trace_file_append(name, "a", bytes, len);
	free(bytes);
}

static inline void trace_file_cut(const char *name, const char *whole, size_t cut)
{
	size_t len;
	char *bytes = trace_file_load(whole, &len);

	if (cut > len)
		abort();
	trace_file_append(name, "w", bytes, len - cut);
	free(bytes);
}

/* A trace of what emit() sends into a writer; it may flush it to end a chunk. */
static inline void trace_file_write(const char *name, int (*emit)(struct trace_writer *w))
{
	struct trace_writer *w;

	if (trace_writer_open(trace_file(name), NULL, &w) || emit(w) || trace_writer_close(w))
		abort();
}
