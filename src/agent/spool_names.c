/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/spool_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/agent/window_cutter.h"
#include "src/base/clock.h"
#include "src/base/io.h"

#define OPEN_SUFFIX ".open"
#define WHOLE_SUFFIX ".pbz"

enum { DIGITS = 12, READ_BYTES = 64 << 10 };

void spool_name(char name[SPOOL_NAME_MAX], uint64_t seq, uint64_t real_ns, bool is_whole)
{
	time_t s = (time_t)(real_ns / NSEC_PER_SEC);
	struct tm tm;
	char at[24] = "";

	if (gmtime_r(&s, &tm))
		strftime(at, sizeof(at), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(name, SPOOL_NAME_MAX, "%0*llu.%s%s", DIGITS, (unsigned long long)seq, at,
		 is_whole ? WHOLE_SUFFIX : OPEN_SUFFIX);
}

enum spool_name_kind spool_name_parse(const char *name, uint64_t *seq)
{
	size_t digits = strspn(name, "0123456789"), len = strlen(name);
	const char *suffix = strrchr(name, '.');

	*seq = 0;
	if (digits < DIGITS || digits > 18 || name[digits] != '.' || len >= SPOOL_NAME_MAX)
		return SPOOL_NAME_OTHER;
	*seq = strtoull(name, NULL, 10);
	if (*seq && !strcmp(suffix, OPEN_SUFFIX))
		return SPOOL_NAME_OPEN;
	return *seq && !strcmp(suffix, WHOLE_SUFFIX) ? SPOOL_NAME_WHOLE : SPOOL_NAME_OTHER;
}

void spool_name_complete(const char *open, char whole[SPOOL_NAME_MAX])
{
	snprintf(whole, SPOOL_NAME_MAX, "%.*s%s", (int)(strlen(open) - strlen(OPEN_SUFFIX)), open,
		 WHOLE_SUFFIX);
}

/* ---- what a kill leaves ---- */

struct survey {
	uint64_t chunks;
};

static int count_chunk(void *ctx, const uint8_t *bytes, size_t len, const struct signpost *sp)
{
	struct survey *s = ctx;

	(void)bytes;
	(void)len;
	s->chunks += sp != NULL;
	return 0;
}

int64_t spool_cut_to_whole(int fd)
{
	struct survey survey = { 0 };
	struct window_cutter c = { .piece = count_chunk, .ctx = &survey };
	uint8_t *buf = malloc(READ_BYTES);
	uint64_t at = 0;
	ssize_t n = buf ? 1 : -ENOMEM;
	int err = 0;

	while (n > 0 && !err) {
		n = io_pread(fd, buf, READ_BYTES, at);
		if (n > 0)
			err = window_cutter_feed(&c, buf, (size_t)n);
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(buf);
	window_cutter_release(&c);
	if (n < 0 || (err && err != -EBADMSG))
		return n < 0 ? n : err;
	if (!survey.chunks)
		return 0;
	if (ftruncate(fd, (off_t)c.whole) || fsync(fd))
		return -errno;
	return (int64_t)c.whole;
}

/* ---- for those who send ---- */

int spool_find(int dir, uint64_t from_seq, uint64_t *seq, char name[SPOOL_NAME_MAX])
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	uint64_t n;

	if (!d) {
		found = -errno;
		if (fd >= 0)
			close(fd);
		return found;
	}
	while ((e = readdir(d))) {
		if (spool_name_parse(e->d_name, &n) != SPOOL_NAME_WHOLE || n < from_seq ||
		    (found && n >= *seq))
			continue;
		*seq = n;
		snprintf(name, SPOOL_NAME_MAX, "%.*s", SPOOL_NAME_MAX - 1, e->d_name);
		found = 1;
	}
	closedir(d);
	return found;
}
