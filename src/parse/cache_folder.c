/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/hex.h"
#include "src/base/own_file.h"
#include "src/symbolize/symbolizer.h"

#define ROOT_PARENT "/var/cache"
#define NAME_MAX_BYTES 240
#define LOOK_EVERY_BYTES (32u << 20)	/* written, between two looks at the whole folder */

static const char *const suffixes[] = {
	[CACHE_LINES] = ".lines", [CACHE_TABLE] = ".table",
};

#define NR_KINDS (sizeof(suffixes) / sizeof(suffixes[0]))

struct cache_folder {
	int dir;
	pthread_mutex_t lock;		/* of the number */
	uint64_t written;		/* since the last look */
};

struct cache_key cache_key_of(const uint8_t *build_id, uint32_t build_id_len, uint32_t owner,
			      const struct symbol_inode *inode)
{
	if (!inode)
		return (struct cache_key){ 0 };
	return (struct cache_key){ build_id, build_id_len, owner,
				   inode->dev, inode->ino, inode->changed };
}

/* ---- the folder ---- */

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

int cache_folder_new(struct cache_folder **cp)
{
	struct cache_folder *c = calloc(1, sizeof(*c));

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
	c->written = LOOK_EVERY_BYTES;		/* look at the first time */
	*cp = c;
	return 0;
}

void cache_folder_free(struct cache_folder *c)
{
	if (!c)
		return;
	close(c->dir);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ---- its files ---- */

static int name_of(const struct cache_key *key, enum cached kind,
		   char name[NAME_MAX_BYTES])
{
	size_t n;

	if (!key->build_id_len || key->build_id_len > 64)
		return -ENOENT;
	n = (size_t)(hex_put(name, key->build_id, key->build_id_len) - name);
	snprintf(name + n, NAME_MAX_BYTES - n, "-%u-%llx-%llx-%llx.%lx%s", key->owner,
		 (unsigned long long)key->dev, (unsigned long long)key->ino,
		 (unsigned long long)key->changed.tv_sec, (unsigned long)key->changed.tv_nsec,
		 suffixes[kind]);
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

static bool is_ours(const char *name, size_t len)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		size_t suffix = strlen(suffixes[i]);

		if (len > suffix && !strcmp(name + len - suffix, suffixes[i]))
			return true;
	}
	return false;
}

static void add_file(struct kept_files *k, int dir, const char *name)
{
	size_t len = strlen(name);
	struct kept_file *f;
	struct stat st;

	if (len >= NAME_MAX_BYTES || !is_ours(name, len) ||
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
static void make_room(const struct cache_folder *c)
{
	struct kept_files k = { 0 };
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		add_file(&k, c->dir, e->d_name);
	if (k.bytes > CACHE_FOLDER_BYTES) {
		qsort(k.v, k.nr, sizeof(*k.v), by_age);
		for (size_t i = 0; i < k.nr && k.bytes > CACHE_FOLDER_BYTES / 4 * 3; i++) {
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
static int open_kept(const struct cache_folder *c, const char *name, int flags)
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

int cache_folder_open(struct cache_folder *c, const struct cache_key *key,
		      enum cached kind)
{
	char name[NAME_MAX_BYTES];
	int fd;

	if (!c || name_of(key, kind, name))
		return -ENOENT;
	fd = open_kept(c, name, O_RDONLY);
	if (fd < 0)
		return fd;
	futimens(fd, NULL);		/* it is used */
	return fd;
}

int cache_folder_write(struct cache_folder *c, const struct cache_key *key,
		       enum cached kind, cache_write_fn fn, const void *v, size_t len)
{
	char name[NAME_MAX_BYTES];
	int fd, err;

	if (!c || name_of(key, kind, name))
		return -ENOENT;
	pthread_mutex_lock(&c->lock);
	err = fd = open_kept(c, name, O_RDWR | O_CREAT);
	if (fd >= 0) {
		err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : fn(fd, v, len);
		close(fd);
	}
	c->written += len;
	if (c->written >= LOOK_EVERY_BYTES) {
		make_room(c);
		c->written = 0;
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}
