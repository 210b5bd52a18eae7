/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/hex.h"
#include "src/parse/kernel_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/no_answer.h"
#include "src/foreign/file_opener.h"
#include "src/parse/parsers.h"

#define MAX_RELEASE 128
/* In a format: the release, and the build-id as debug files have it in their path. */
#define RELEASE '%'
#define BUILD_ID '#'

static const char *const debug_places[] = {
	".build-id/#.debug", "boot/vmlinux-%", "boot/vmlinux-%.debug", "lib/modules/%/vmlinux",
	"lib/modules/%/vmlinux.debug",
};
static const char *const root_places[] = {
	"lib/modules/%/vmlinux", "lib/modules/%/build/vmlinux", "boot/vmlinux-%", "boot/vmlinux",
};

/* It becomes a part of paths. */
static bool release_is_plain(const char *release)
{
	size_t len = strlen(release);

	return len && len <= MAX_RELEASE && !strchr(release, '/') && release[0] != '.';
}

static size_t put_build_id(const struct kernel_wanted *w, char *out)
{
	char *end = hex_put(out, w->build_id, w->build_id_len ? 1 : 0);

	if (w->build_id_len > 1) {
		*end++ = '/';
		end = hex_put(end, w->build_id + 1, w->build_id_len - 1);
	}
	return (size_t)(end - out);
}

static bool place(const struct kernel_wanted *w, const char *const *v, size_t nr, size_t i,
		  char path[KERNEL_PLACE_MAX])
{
	const char *p = i < nr ? v[i] : "";
	size_t n = 0;

	path[0] = 0;
	if ((strchr(p, BUILD_ID) && (w->build_id_len < 2 || w->build_id_len > 64)) ||
	    (strchr(p, RELEASE) && !release_is_plain(w->release)))
		return true;
	for (; *p; p++)
		if (*p == BUILD_ID)
			n += put_build_id(w, path + n);
		else if (*p == RELEASE)
			n += (size_t)sprintf(path + n, "%s", w->release);
		else
			path[n++] = *p;
	path[n] = 0;
	return i < nr;
}

#define NR(v) (sizeof(v) / sizeof((v)[0]))

bool kernel_debug_place(const struct kernel_wanted *w, size_t i, char path[KERNEL_PLACE_MAX])
{
	return place(w, debug_places, NR(debug_places), i, path);
}

bool kernel_root_place(const struct kernel_wanted *w, size_t i, char path[KERNEL_PLACE_MAX])
{
	return place(w, root_places, NR(root_places), i, path);
}

static bool is_it(struct parsers *p, int fd, const struct kernel_wanted *w, const struct stat *st)
{
	const struct parse_file file = { fd, st->st_uid, st->st_dev };
	struct elf_identity id;
	bool is;

	if (parse_identity(p, &file, 0, &id))
		return false;
	is = id.build_id_len == w->build_id_len &&
	     !memcmp(id.build_id, w->build_id, w->build_id_len);
	free(id.segments);
	return is;
}

struct search {
	struct file_opener *opener;
	struct parsers *parsers;
	const struct kernel_wanted *wanted;
};

/* The file, -ENOENT: none of these, or another -errno, with which the search ends. */
static int find_beneath(const struct search *s, const char *dir,
			bool (*next)(const struct kernel_wanted *w, size_t i,
				     char path[KERNEL_PLACE_MAX]),
			struct stat *st)
{
	int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), err = -ENOENT;
	char path[KERNEL_PLACE_MAX];

	if (root < 0)
		return -ENOENT;
	for (size_t i = 0; err == -ENOENT && next(s->wanted, i, path); i++) {
		int fd = *path ? file_opener_beneath(s->opener, root, path, st) : -ENOENT;

		if (fd >= 0 && is_it(s->parsers, fd, s->wanted, st))
			err = fd;
		else if (fd >= 0)
			close(fd);
		else if (is_no_answer(fd) || fd == -EBUSY)
			err = fd;
	}
	close(root);
	return err;
}

int kernel_file_find(struct file_opener *o, struct parsers *p, const struct kernel_wanted *w,
		     struct stat *st)
{
	const struct search s = { o, p, w };
	int fd = -ENOENT;

	if (!w->build_id_len)
		return fd;
	fd = find_beneath(&s, "/usr/lib/debug", kernel_debug_place, st);
	return fd == -ENOENT ? find_beneath(&s, "/", kernel_root_place, st) : fd;
}
