/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"

#define MAX_MOUNTINFO (16u << 20)

/* A line: "36 35 98:0 /root /mountpoint options tags... - type source options". */
typedef bool (*line_fn)(void *ctx, const char *line);

/* Calls fn for each line, until it returns true. */
static bool find_line(pid_t pid, line_fn fn, void *ctx)
{
	char path[64], *text, *line, *next;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/mountinfo", pid);
	if (io_read_file(path, &text, MAX_MOUNTINFO) < 0)
		return false;
	for (line = text; *line && !found; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = 0;
		found = fn(ctx, line);
	}
	free(text);
	return found;
}

struct by_device {
	uint64_t dev;
	char *type;
};

static bool is_of_device(void *ctx, const char *line)
{
	struct by_device *by = ctx;
	unsigned maj, min;
	const char *tail;

	if (sscanf(line, "%*u %*u %u:%u ", &maj, &min) != 2 ||
	    ((uint64_t)maj << 20 | min) != by->dev)
		return false;
	tail = strstr(line, " - ");
	if (!tail || sscanf(tail, " - %63s", by->type) != 1)
		by->type[0] = 0;
	return true;
}

bool mounts_find_type(pid_t pid, uint64_t dev, char type[MOUNT_TYPE_MAX])
{
	struct by_device by = { dev, type };

	return find_line(pid, is_of_device, &by);
}

/* "ext4 /dev/vdb /mnt/data" of a line. false: it has another form, or the text is too long. */
static bool put_text(const char *line, char text[MOUNT_TEXT_MAX])
{
	const char *tail = strstr(line, " - ");
	int place = 0, place_end = 0, what_end = 0, n;

	if (!tail || sscanf(line, "%*u %*u %*s %*s %n%*s%n", &place, &place_end) < 0 ||
	    !place_end || sscanf(tail, " - %*s %*s%n", &what_end) < 0 || !what_end)
		return false;
	n = snprintf(text, MOUNT_TEXT_MAX, "%.*s %.*s", what_end - 3, tail + 3,
		     place_end - place, line + place);
	return n < MOUNT_TEXT_MAX;
}

struct by_id {
	uint32_t id;
	char *text;
	bool found;
};

static bool is_of_id(void *ctx, const char *line)
{
	struct by_id *by = ctx;
	unsigned id;

	if (sscanf(line, "%u ", &id) != 1 || id != by->id)
		return false;
	by->found = put_text(line, by->text);
	return true;
}

bool mounts_text_of_id(pid_t pid, uint32_t id, char text[MOUNT_TEXT_MAX])
{
	struct by_id by = { .id = id, .text = text };

	return find_line(pid, is_of_id, &by) && by.found;
}

struct by_path {
	const char *path;
	size_t longest;			/* bytes of the best place so far */
	char *text;
	bool found;
};

static unsigned octal(const char *s)
{
	unsigned v = 0;

	for (int i = 0; i < 3; i++) {
		if (s[i] < '0' || s[i] > '7')
			return 256;
		v = v * 8 + (unsigned)(s[i] - '0');
	}
	return v;
}

/* The length of a place, which ends with a blank, if the path begins with it; else 0. */
static size_t place_in(const char *place, const char *path)
{
	const char *p = path;

	while (*place && *place != ' ') {
		unsigned c = (unsigned char)*place++;

		if (c == '\\' && octal(place) < 256) {
			c = octal(place);
			place += 3;
		}
		if ((unsigned char)*p++ != c)
			return 0;
	}
	/* "/" is the beginning of all; others end where a name ends. */
	return p == path + 1 || !*p || *p == '/' ? (size_t)(p - path) : 0;
}

/* What is mounted later at one place covers what was there. */
static bool is_nearer(void *ctx, const char *line)
{
	struct by_path *by = ctx;
	int place = 0;
	size_t n;

	if (sscanf(line, "%*u %*u %*s %*s %n", &place) < 0 || !place)
		return false;
	n = place_in(line + place, by->path);
	if (n && n >= by->longest) {
		by->longest = n;
		by->found = put_text(line, by->text);
	}
	return false;
}

bool mounts_text_of_path(pid_t pid, const char *path, char text[MOUNT_TEXT_MAX])
{
	struct by_path by = { .path = path, .text = text };

	find_line(pid, is_nearer, &by);
	return by.found;
}
