/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/io.h"

enum { FIFO_WAIT_MS = 5000, COPY_SIZE = 64 << 10 };

static const struct {
	const char *magic;
	uint8_t len;
	const char *what;
} magics[] = {
	{ "PERFILE2", 8, "a perf.data file" },
	{ "\x7f" "ELF", 4, "an ELF file" },
	{ "\x1f\x8b", 2, "gzip (perhaps a pprof profile)" },
	{ "\x28\xb5\x2f\xfd", 4, "plain zstd" },
	{ "FLR\0", 4, "a Java flight recording" },
	{ "BZh", 3, "bzip2" },
	{ "\xfd" "7zXZ", 5, "xz" },
	{ "PK\x03\x04", 4, "a zip archive" },
	{ "{", 1, "JSON" },
	{ "[", 1, "JSON" },
	{ "<", 1, "XML, SVG or HTML" },
	{ "#!", 2, "a script" },
};

const char *trace_source_guess(const void *head, size_t len)
{
	const uint8_t *p = head;
	size_t text = 0;

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (len >= magics[i].len && !memcmp(head, magics[i].magic, magics[i].len))
			return magics[i].what;
	while (text < len &&
	       (p[text] >= 0x20 || p[text] == '\n' || p[text] == '\t' || p[text] == '\r'))
		text++;
	return len && text == len ? "text" : NULL;
}

int trace_source_spool(void)
{
	const char *dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && fd < 0; i++)
		if (dirs[i])
			fd = open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = memfd_create("probee-trace", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The first bytes decide whether an endless pipe is worth keeping. */
static bool may_be_trace(const uint8_t *head, size_t len)
{
	return len < 4 || !memcmp(head + 1, "\x2a\x4d\x18", 3);
}

/* Reads up to len bytes; 0 at the end. */
static ssize_t read_some(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Copies from in to out until in ends; stops at once if in does not begin like a trace. */
static int copy_all(struct trace_source *s, int in, int out)
{
	uint8_t *buf = malloc(COPY_SIZE);
	bool is_wanted = true;
	int err = buf ? 0 : fail(-ENOMEM, "read %s", s->name);

	while (!err && is_wanted) {
		ssize_t n = read_some(in, buf, COPY_SIZE);

		if (n < 0)
			err = fail((int)n, "read %s", s->name);
		if (n <= 0)
			break;
		is_wanted = s->size || may_be_trace(buf, (size_t)n);
		s->size += (uint64_t)n;
		err = io_write(out, buf, (size_t)n, NULL);
		if (err)
			fail(err, "keep %s in a temporary file", s->name);
	}
	free(buf);
	return err;
}

static int spool(struct trace_source *s)
{
	int in = s->fd, out = trace_source_spool(), err;

	if (out < 0)
		return fail(out, "keep %s in a temporary file", s->name);
	s->size = 0;
	err = copy_all(s, in, out);
	close(in);
	s->fd = out;
	s->base = 0;
	return err;
}

/*
 * Waits for a writer, because a FIFO that was opened without blocking looks empty until one comes.
 */
static int wait_for_writer(const struct trace_source *s, bool is_stdin)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	if (fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) & ~O_NONBLOCK))
		return fail(-errno, "open %s", s->name);
	if (!is_stdin && poll(&p, 1, FIFO_WAIT_MS) == 0)
		return fail_why(-ENOEXEC, "%s is a FIFO that nobody writes to", s->name);
	return 0;
}

/* Prepares reading according to the kind of the descriptor. */
static int source_prepare(struct trace_source *s, bool is_stdin)
{
	struct stat st;
	off_t at;

	if (fstat(s->fd, &st))
		return fail(-errno, "open %s", s->name);
	if (S_ISDIR(st.st_mode))
		return fail_why(-EISDIR, "%s is a directory, not a probee trace", s->name);
	if (S_ISREG(st.st_mode)) {
		at = is_stdin ? lseek(s->fd, 0, SEEK_CUR) : 0;
		s->base = at > 0 ? (uint64_t)at : 0;
		s->size = (uint64_t)st.st_size > s->base ? (uint64_t)st.st_size - s->base : 0;
		return 0;
	}
	if (isatty(s->fd))
		return fail_why(-ENOEXEC, "%s is a terminal, not a probee trace", s->name);
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return fail_why(-ENOEXEC, "%s is a device, not a probee trace", s->name);
	return wait_for_writer(s, is_stdin) ?: spool(s);
}

/*
 * Explains why a trace cannot be opened. A trace that root recorded belongs to root alone, because
 * it may hold secrets of other users; it has to be given to the user who is meant to read it.
 */
static int explain_open(int err, const char *path)
{
	static const char harmless[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
	bool quote = path[strspn(path, harmless)];
	char hint[512];
	struct stat st;

	if (err != -EACCES || stat(path, &st) || !S_ISREG(st.st_mode) || st.st_uid == geteuid())
		return fail(err, "open %s", path);
	snprintf(hint, sizeof(hint), "sudo chown $USER %s%s%s", quote ? "'" : "", path,
		 quote ? "'" : "");
	return fail_try(err, hint, "open %s", path);
}

int trace_source_open(const char *path, struct trace_source *s)
{
	bool is_stdin = !strcmp(path, "-");
	int err;

	*s = (struct trace_source){ .name = is_stdin ? "standard input" : path };
	if (is_stdin)
		s->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->fd < 0)
		return explain_open(-errno, s->name);
	err = source_prepare(s, is_stdin);
	if (err)
		trace_source_close(s);
	return err;
}

void trace_source_open_fd(int fd, const char *name, struct trace_source *s)
{
	struct stat st;

	*s = (struct trace_source){ .name = name, .fd = fd };
	if (!fstat(fd, &st) && st.st_size > 0)
		s->size = (uint64_t)st.st_size;
}

void trace_source_open_memory(const void *data, size_t len, struct trace_source *s)
{
	*s = (struct trace_source){ .name = "memory", .fd = -1, .memory = data, .size = len };
}

void trace_source_close(struct trace_source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

bool trace_source_look(struct trace_source *s)
{
	uint64_t before = s->size;
	struct stat st;

	if (s->fd < 0 || fstat(s->fd, &st) || st.st_size < 0 || (uint64_t)st.st_size < s->base)
		return false;
	s->size = (uint64_t)st.st_size - s->base;
	return s->size > before;
}

ssize_t trace_source_read(const struct trace_source *s, void *buf, size_t len, uint64_t offset)
{
	if (s->fd >= 0)
		return io_pread(s->fd, buf, len, s->base + offset);
	if (offset >= s->size)
		return 0;
	if (len > s->size - offset)
		len = s->size - offset;
	memcpy(buf, s->memory + offset, len);
	return (ssize_t)len;
}
