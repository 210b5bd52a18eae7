/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/map_at.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/io.h"

/* linux/fs.h of Linux 6.11, which the headers of older distributions do not have. */
struct map_query {
	uint64_t size;
	uint64_t flags, addr;
	uint64_t start, end;
	uint64_t rights;		/* MAP_..., as flags */
	uint64_t page_size;
	uint64_t offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	uint32_t name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)
enum { MAP_READABLE = 1, MAP_WRITABLE = 2, MAP_EXECUTABLE = 4 };

#define LINE_BYTES (4 * PATH_MAX + 128)

void map_at_path(char path[MAP_AT_PATH], pid_t tid, uint64_t addr)
{
	snprintf(path, MAP_AT_PATH, "/proc/%d/maps/%" PRIx64, tid, addr);
}

bool map_at_is_path(const char *path)
{
	return strstr(path, "/maps/") != NULL;
}

/* The name as /proc/PID/maps has it: a newline would begin another line. */
static void put_name(char *line, size_t at, const char *name)
{
	for (; *name && at + 5 < LINE_BYTES; name++) {
		if (*name != '\n') {
			line[at++] = *name;
			continue;
		}
		memcpy(line + at, "\\012", 4);
		at += 4;
	}
	line[at] = 0;
}

/* 0 and the line; -ENOTTY: this kernel cannot be asked; or another -errno. */
static int ask(int fd, uint64_t addr, char *line)
{
	char name[PATH_MAX + 16] = "";
	struct map_query q = { .size = sizeof(q), .addr = addr, .flags = MAP_EXECUTABLE,
			       .name_size = sizeof(name), .name_addr = (uintptr_t)name };
	int n;

	if (ioctl(fd, MAP_QUERY, &q))
		return errno == ENOENT ? 0 : -errno;
	n = snprintf(line, LINE_BYTES,
		     "%" PRIx64 "-%" PRIx64 " %c%cxp %" PRIx64 " %x:%x %" PRIu64 " ", q.start,
		     q.end, q.rights & MAP_READABLE ? 'r' : '-',
		     q.rights & MAP_WRITABLE ? 'w' : '-', q.offset, q.dev_major, q.dev_minor,
		     q.inode);
	put_name(line, (size_t)n, q.name_size ? name : "");
	return 0;
}

/* Copies the line that holds addr out of the whole file. */
static ssize_t search(const char *maps, uint64_t addr, char *line, size_t max)
{
	char *text, *next;
	ssize_t n = io_read_file(maps, &text, max);

	if (n < 0)
		return n;
	for (char *at = text; *at; at = next) {
		char *end;
		uint64_t start = strtoull(at, &end, 16);
		uint64_t stop = *end == '-' ? strtoull(end + 1, &end, 16) : 0;

		next = strchrnul(at, '\n');
		if (*next)
			*next++ = 0;
		if (start <= addr && addr < stop && end[0] == ' ' && end[1] && end[2] &&
		    end[3] == 'x')
			snprintf(line, LINE_BYTES, "%s", at);
	}
	free(text);
	return 0;
}

ssize_t map_at_read(const char *path, char **text, size_t max)
{
	char maps[MAP_AT_PATH], *line = calloc(1, LINE_BYTES);
	const char *slash = strrchr(path, '/');
	uint64_t addr = strtoull(slash + 1, NULL, 16);
	int fd, err;

	if (!line)
		return -ENOMEM;
	snprintf(maps, sizeof(maps), "%.*s", (int)(slash - path), path);
	fd = open(maps, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : ask(fd, addr, line);
	if (fd >= 0)
		close(fd);
	if (err == -ENOTTY)
		err = (int)search(maps, addr, line, max);
	if (err) {
		free(line);
		return err;
	}
	*text = line;
	return (ssize_t)strlen(line);
}
