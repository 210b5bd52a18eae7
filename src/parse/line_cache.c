/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/line_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/hex.h"
#include "src/base/io.h"
#include "src/base/own_file.h"
#include "src/debug_info/debug_cache.h"

#define ROOT_PARENT "/var/cache"
#define SUFFIX ".lines"
#define NAME_MAX_BYTES 240
#define LOOK_EVERY_BYTES (32u << 20)	/* appended, between two looks at the whole directory */

struct line_cache {
	int dir;
	pthread_mutex_t lock;
	uint64_t appended;		/* since the last look */
};

/* ---- the directory ---- */

/* Where caches of this user are, as the XDG Base Directory Specification says. "": unknown. */
static void find_parent(char path[PATH_MAX])
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int len = 0;

	if (!geteuid())
		len = snprintf(path, PATH_MAX, "%s", xdg && *xdg == '/' ? xdg : ROOT_PARENT);
	else if (xdg && *xdg == '/')
		len = snprintf(path, PATH_MAX, "%s", xdg);
	else if (home && *home == '/')
		len = snprintf(path, PATH_MAX, "%s/.cache", home);
	if (len <= 0 || len >= PATH_MAX)
		path[0] = 0;
}

static int open_own(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && own_folder_verdict(&st) == OWN_ALONE)
		return fd;
	close(fd);
	return -EPERM;
}

static int open_directory(void)
{
	char path[PATH_MAX];
	int parent, fd;

	find_parent(path);
	if (!*path)
		return -ENOENT;
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	parent = open_own(AT_FDCWD, path);
	if (parent < 0)
		return parent;
	fd = mkdirat(parent, "probee", 0700) && errno != EEXIST ? -errno
								: open_own(parent, "probee");
	close(parent);
	return fd;
}

int line_cache_new(struct line_cache **cp)
{
	struct line_cache *c = calloc(1, sizeof(*c));

	*cp = NULL;
	if (!c)
		return -ENOMEM;
	c->dir = open_directory();
	if (c->dir < 0) {
		int err = c->dir;

		free(c);
		return err;
	}
	pthread_mutex_init(&c->lock, NULL);
	c->appended = LOOK_EVERY_BYTES;		/* look at the first time */
	*cp = c;
	return 0;
}

void line_cache_free(struct line_cache *c)
{
	if (!c)
		return;
	close(c->dir);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ---- little files ---- */

static int name_of(const struct line_cache_key *key, char name[NAME_MAX_BYTES])
{
	size_t n;

	if (!key->build_id_len || key->build_id_len > 64)
		return -ENOENT;
	n = (size_t)(hex_put(name, key->build_id, key->build_id_len) - name);
	snprintf(name + n, NAME_MAX_BYTES - n, "-%u-%llx-%llx-%llx.%lx" SUFFIX, key->owner,
		 (unsigned long long)key->dev, (unsigned long long)key->ino,
		 (unsigned long long)key->changed.tv_sec, (unsigned long)key->changed.tv_nsec);
	return 0;
}

struct kept_file {
	char name[NAME_MAX_BYTES];
	uint64_t bytes;
	int64_t used_ns;
};

struct kept_files {
	struct kept_file *v;
	size_t nr, cap;
	uint64_t bytes;
};

static void add_file(struct kept_files *k, int dir, const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);
	struct kept_file *f;
	struct stat st;

	if (len <= suffix || len >= NAME_MAX_BYTES || strcmp(name + len - suffix, SUFFIX) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	f = array_push(&k->v, &k->nr, &k->cap);
	if (!f)
		return;
	memcpy(f->name, name, len + 1);
	f->bytes = (uint64_t)st.st_blocks * 512;
	f->used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	k->bytes += f->bytes;
}

static int by_age(const void *a, const void *b)
{
	const struct kept_file *x = a, *y = b;

	return x->used_ns < y->used_ns ? -1 : x->used_ns > y->used_ns;
}

/* Removes the files that were not used for longest, down to three quarters of the bound. */
static void make_room(const struct line_cache *c)
{
	struct kept_files k = { 0 };
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		add_file(&k, c->dir, e->d_name);
	if (k.bytes > LINE_CACHE_BYTES) {
		qsort(k.v, k.nr, sizeof(*k.v), by_age);
		for (size_t i = 0; i < k.nr && k.bytes > LINE_CACHE_BYTES / 4 * 3; i++) {
			unlinkat(c->dir, k.v[i].name, 0);
			k.bytes -= k.v[i].bytes;
		}
	}
	free(k.v);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* A file of the cache; -errno: it cannot be opened, or is something else than was kept here. */
static int open_kept(const struct line_cache *c, const char *name, int flags)
{
	int fd = openat(c->dir, name, flags | OWN_FILE_FLAGS, 0600), err;
	enum own_verdict v;

	if (fd < 0)
		return -errno;
	err = own_file_check(fd, &v);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int line_cache_open(struct line_cache *c, const struct line_cache_key *key)
{
	char name[NAME_MAX_BYTES];
	int fd;

	if (!c || name_of(key, name))
		return -ENOENT;
	fd = open_kept(c, name, O_RDONLY);
	if (fd < 0)
		return fd;
	futimens(fd, NULL);		/* it is used */
	return fd;
}

/* The head is written last, so that an end on the way leaves the file as it was. */
static void append(int fd, const void *v, size_t len)
{
	struct cache_head h = { 0 };
	ssize_t n = io_pread(fd, &h, sizeof(h), 0);

	if (n < (ssize_t)sizeof(h) || h.magic != CACHE_MAGIC || h.end < sizeof(h) || h.end % 8)
		h = (struct cache_head){ CACHE_MAGIC, sizeof(h) };
	if (h.end + len > LINE_CACHE_FILE_BYTES ||
	    pwrite(fd, v, len, (off_t)h.end) != (ssize_t)len)
		return;
	h.end += len;
	if (pwrite(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return;
}

void line_cache_append(struct line_cache *c, const struct line_cache_key *key, const void *v,
		       size_t len)
{
	char name[NAME_MAX_BYTES];
	int fd;

	if (!c || !len || len % 8 || name_of(key, name))
		return;
	pthread_mutex_lock(&c->lock);
	fd = open_kept(c, name, O_RDWR | O_CREAT);
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		append(fd, v, len);
	if (fd >= 0)
		close(fd);
	c->appended += len;
	if (c->appended >= LOOK_EVERY_BYTES) {
		make_room(c);
		c->appended = 0;
	}
	pthread_mutex_unlock(&c->lock);
}
