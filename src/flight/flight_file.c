/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/flight/flight_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/trace/trace_output.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/output/output_files.h"

#define SUFFIX ".pbz"
#define PIECE (256u << 10)

void flight_file_name(const char *path, int64_t time_s, char *out, size_t size)
{
	size_t len = strlen(path), end = strlen(SUFFIX);
	bool has = len > end && !strcmp(path + len - end, SUFFIX);
	time_t t = (time_t)time_s;
	struct tm tm = { 0 };
	char when[32];

	localtime_r(&t, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(out, size, "%.*s-%s%s", (int)(has ? len - end : len), path, when,
		 has ? SUFFIX : "");
}

/* Opens the only file of files. has_guard: who writes it may be killed, and shall leave nothing. */
static int open_file(const char *path, bool force, bool has_guard, struct output_files **files)
{
	int i, err = 0;

	*files = output_files_new(force);
	if (!*files)
		return fail(-ENOMEM, "%s", path);
	i = output_files_add(*files, path, &trace_output_kind, NULL);
	if (i >= 0 && has_guard)
		err = output_files_guard(*files);
	return i < 0 ? i : err ? err : output_files_open(*files, (size_t)i);
}

int flight_file_try(const char *path, bool force)
{
	struct output_files *files = NULL;
	int fd = open_file(path, force, false, &files);

	output_files_free(files);
	return fd < 0 ? fd : 0;
}

static int copy(int out, int fd, uint64_t from, uint64_t to)
{
	char *piece = malloc(PIECE);
	int err = piece ? 0 : -ENOMEM;

	while (from < to && !err) {
		size_t len = to - from < PIECE ? (size_t)(to - from) : PIECE;
		ssize_t n = io_pread(fd, piece, len, from);

		if (n <= 0)
			err = n ? (int)n : -EIO;
		else
			err = io_write(out, piece, (size_t)n, NULL);
		from += n > 0 ? (uint64_t)n : 0;
	}
	free(piece);
	return err;
}

int flight_file_write(const char *path, bool force, int fd, uint64_t from, uint64_t to)
{
	struct output_files *files = NULL;
	int out = open_file(path, force, true, &files), err = out < 0 ? out : 0;

	if (!err) {
		err = copy(out, fd, from, to);
		if (err)
			fail(err, "write %s", path);
	}
	if (!err)
		err = output_files_publish(files, 0);
	if (!err && output_files_close(files, 0))
		err = fail(-EIO, "write %s", path);
	output_files_free(files);
	return err;
}
