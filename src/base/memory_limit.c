/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/memory_limit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"

/* Version 1 says "no limit" with the largest number of whole pages; nothing has so much memory. */
#define NO_LIMIT (1ull << 60)

/* A version of control groups: which line of /proc/self/cgroup is its, and what its files are. */
static const struct version {
	const char *controllers;	/* the second field of the line */
	const char *mounts[2];		/* the first that has the files counts */
	const char *limit, *used;
	const char *cache[2];		/* in memory.stat: pages of files, which can be dropped */
} versions[] = {
	{ "memory", { "/sys/fs/cgroup/memory", NULL }, "memory.limit_in_bytes",
	  "memory.usage_in_bytes", { "total_inactive_file ", "total_active_file " } },
	{ "", { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" }, "memory.max", "memory.current",
	  { "inactive_file ", "active_file " } },
};

/* The number in a file; false: there is no file, or it holds a word ("max"). */
static bool read_number(const char *root, const char *mount, const char *group, const char *file,
			uint64_t *out)
{
	char path[PATH_MAX], *text, *end;
	bool ok;

	if (snprintf(path, sizeof(path), "%s%s%s/%s", root, mount, group, file) >=
		    (int)sizeof(path) ||
	    io_read_file(path, &text, 64) < 0)
		return false;
	*out = strtoull(text, &end, 10);
	ok = end != text;
	free(text);
	return ok;
}

static uint64_t cache_bytes(const char *root, const struct version *v, const char *mount,
			    const char *group)
{
	char path[PATH_MAX], *text, *line;
	uint64_t sum = 0;

	if (snprintf(path, sizeof(path), "%s%s%s/memory.stat", root, mount, group) >=
		    (int)sizeof(path) ||
	    io_read_file(path, &text, 65536) < 0)
		return 0;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		for (size_t i = 0; i < 2; i++)
			if (!strncmp(line, v->cache[i], strlen(v->cache[i])))
				sum += strtoull(line + strlen(v->cache[i]), NULL, 10);
	}
	free(text);
	return sum;
}

/* What a group allows and uses; false: it has no limit. */
static bool read_group(const char *root, const struct version *v, const char *mount,
		       const char *group, struct memory_limit *m)
{
	uint64_t cache;

	if (!read_number(root, mount, group, v->limit, &m->limit_bytes) ||
	    m->limit_bytes >= NO_LIMIT ||
	    !read_number(root, mount, group, v->used, &m->used_bytes))
		return false;
	cache = cache_bytes(root, v, mount, group);
	m->used_bytes -= cache < m->used_bytes ? cache : m->used_bytes;
	return true;
}

static uint64_t room(const struct memory_limit *m)
{
	return m->used_bytes < m->limit_bytes ? m->limit_bytes - m->used_bytes : 0;
}

/* Looks at a group and at all above it. In a container they may all be missing but the topmost. */
static bool climb(const char *root, const struct version *v, const char *mount, char *group,
		  struct memory_limit *least)
{
	bool any = false;

	for (;;) {
		struct memory_limit m = { 0 };
		char *slash;

		if (read_group(root, v, mount, group, &m) &&
		    (!any || room(&m) < room(least))) {
			*least = m;
			any = true;
		}
		slash = strrchr(group, '/');
		if (!slash)
			return any;
		*slash = 0;
	}
}

/* "4:memory:/group" or "0::/group": copies the group if the line is of this version. */
static bool group_of(const char *line, const struct version *v, char *group, size_t size)
{
	const char *controllers = strchr(line, ':'), *path;

	path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path || (size_t)(path - controllers - 1) != strlen(v->controllers) ||
	    memcmp(controllers + 1, v->controllers, strlen(v->controllers)))
		return false;
	return snprintf(group, size, "%.*s", (int)strcspn(path + 1, "\n"), path + 1) < (int)size;
}

static bool look(const char *root, const struct version *v, const char *lines,
		 struct memory_limit *out)
{
	char group[PATH_MAX], copy[PATH_MAX];
	const char *line = lines;
	bool found = false;

	while (line && !group_of(line, v, group, sizeof(group))) {
		line = strchr(line, '\n');
		line = line && line[1] ? line + 1 : NULL;
	}
	for (size_t i = 0; line && i < 2 && v->mounts[i] && !found; i++) {
		memcpy(copy, group, sizeof(copy));
		found = climb(root, v, v->mounts[i], copy, out);
	}
	return found;
}

bool memory_limit_read(const char *root, struct memory_limit *out)
{
	char path[PATH_MAX], *lines;
	bool found = false;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	if (io_read_file(path, &lines, 65536) < 0)
		return false;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]) && !found; i++)
		found = look(root, &versions[i], lines, out);
	free(lines);
	return found;
}
