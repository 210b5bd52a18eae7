/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/uprobe_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/foreign/foreign_file.h"
#include "src/probes/probe_spec.h"
#include "src/probes/uprobe_points.h"

#define CACHE_PATH "/etc/ld.so.cache"
#define CACHE_BYTES_MAX (16u << 20)
#define FILES_MAX 8192

/* glibc's dl-cache.h: struct cache_file_new and struct file_entry_new. */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_HEADER 48
#define CACHE_ENTRY 24

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "libc" is libc.so.6 and libc-2.36.so, but not libcrypto.so.3; so is "c". */
static bool is_called(const char *path, const char *name)
{
	const char *base = base_of(path);
	size_t len = strlen(name);

	if (strncmp(base, name, len) && !strncmp(base, "lib", 3))
		base += 3;
	return !strncmp(base, name, len) && (!base[len] || base[len] == '.' || base[len] == '-');
}

static bool is_known(const struct uprobe_files *f, const char *path, const struct proc_map *map)
{
	for (size_t i = 0; i < f->nr; i++) {
		if (map ? f->v[i].map.dev == map->dev && f->v[i].map.ino == map->ino
			: !strcmp(f->v[i].path, path))
			return true;
	}
	return false;
}

static int add_file(struct uprobe_files *f, const char *path, pid_t pid, const struct proc_map *map)
{
	struct uprobe_file *file;
	char attach[64];

	if (is_known(f, path, map) || f->nr == FILES_MAX)
		return 0;
	file = array_push(&f->v, &f->nr, &f->cap);
	if (!file)
		return -ENOMEM;
	file->fd = -1;
	file->pid = pid;
	file->path = strdup(path);
	if (map) {
		file->map = *map;
		file->map.path = NULL;
		snprintf(attach, sizeof(attach), "/proc/%d/map_files/%llx-%llx", (int)pid,
			 (unsigned long long)map->start, (unsigned long long)map->end);
	}
	file->attach_path = strdup(map ? attach : path);
	return file->path && file->attach_path ? 0 : -ENOMEM;
}

/* A file by its path, under the name that leads to it without links. */
static int add_path(struct uprobe_files *f, const char *path)
{
	char *real = realpath(path, NULL);
	int err = real ? add_file(f, real, 0, NULL) : 0;

	free(real);
	return err;
}

/* A program by its name, which is looked for as the shell does. */
static int add_program(struct uprobe_files *f, const char *name)
{
	const char *p = getenv("PATH");
	char path[4096];

	if (strchr(name, '/') || !p)
		return add_path(f, name);
	while (*p) {
		size_t len = strcspn(p, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, p, name);
		if (!access(path, X_OK))
			return add_path(f, path);
		p += len + (p[len] == ':');
	}
	return 0;
}

struct map_search {
	struct uprobe_files *files;
	const char *name;		/* "": all */
	pid_t pid;
};

static int on_map(void *ctx, const struct proc_map *map)
{
	const struct map_search *s = ctx;

	if (!map->ino || map->path[0] != '/')
		return 0;
	if (*s->name && (s->name[0] == '/' ? strcmp(map->path, s->name) != 0
					   : !is_called(map->path, s->name)))
		return 0;
	return add_file(s->files, map->path, s->pid, map);
}

static int add_mapped(struct uprobe_files *f, const struct id_list *pids, const char *name)
{
	int err = 0;

	for (size_t i = 0; i < pids->nr && !err; i++) {
		struct map_search s = { f, name, (pid_t)pids->v[i] };

		err = procfs_maps(s.pid, on_map, &s);
		if (err == -ENOENT || err == -ESRCH)
			err = fail_why(err, "-p %u: there is no such process", pids->v[i]);
	}
	return err;
}

static uint32_t word_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* The path of entry i; NULL: it is not there, or damaged. */
static const char *cached_path(const uint8_t *cache, size_t len, uint32_t i)
{
	size_t at = CACHE_HEADER + (size_t)i * CACHE_ENTRY;
	uint32_t path;

	if (at + CACHE_ENTRY > len)
		return NULL;
	path = word_at(cache + at + 8);
	return path < len && memchr(cache + path, 0, len - path) ? (const char *)cache + path
								 : NULL;
}

static int add_of_cache(struct uprobe_files *f, const uint8_t *cache, size_t len, const char *name)
{
	uint32_t nr = len >= CACHE_HEADER && !memcmp(cache, CACHE_MAGIC, 20) ? word_at(cache + 20)
									     : 0;
	int err = 0;

	for (uint32_t i = 0; i < nr && !err; i++) {
		const char *path = cached_path(cache, len, i);

		if (path && (!*name || is_called(path, name)))
			err = add_path(f, path);
	}
	return err;
}

/* The libraries of this machine, as ldconfig has found them. */
static int add_libraries(struct uprobe_files *f, const char *name)
{
	int fd = open(CACHE_PATH, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;
	uint8_t *cache;
	ssize_t len;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || st.st_size > CACHE_BYTES_MAX)
		st.st_size = 0;
	cache = malloc((size_t)st.st_size + 1);
	len = cache ? pread(fd, cache, (size_t)st.st_size, 0) : -1;
	if (!cache)
		err = -ENOMEM;
	else if (len > 0)
		err = add_of_cache(f, cache, (size_t)len, name);
	free(cache);
	close(fd);
	return err;
}

int uprobe_files_find(const struct uprobe_scope *scope, const struct probe_spec *spec,
		      struct uprobe_files *out)
{
	char absolute[PATH_MAX];
	const char *name = spec->file;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (name[0] != '/' && strchr(name, '/') && realpath(name, absolute))
		name = absolute;
	if (scope->pids && scope->pids->nr)
		err = add_mapped(out, scope->pids, name);
	if (!err && !out->nr && name[0] == '/')
		err = add_path(out, name);
	if (!err && scope->command && name[0] != '/' && (!*name || is_called(scope->command, name)))
		err = add_program(out, scope->command);
	if (!err && !(scope->pids && scope->pids->nr) && name[0] != '/')
		err = add_libraries(out, name);
	if (!err && !out->nr && spec->kind == PROBE_USDT && *name && !strchr(name, '/'))
		err = add_program(out, name);
	if (err == -ENOMEM)
		err = fail(err, "look for %s", spec->name);
	if (!err && !out->nr && *name)
		return fail_why(-ENOENT, "%s: there is no file %s %s. Try: with its path, "
				"%s:/path/to/file:%s", spec->name, name,
				name[0] == '/'		       ? "here"
				: scope->pids && scope->pids->nr ? "in these processes"
						 : "among the libraries of this machine",
				probe_kind_name(spec->kind), spec->function);
	return err;
}

void uprobe_files_open(struct uprobe_files *f)
{
	static const struct foreign_want any = { .links = FOREIGN_LINKS };
	int root = foreign_root(0);
	struct stat st;

	for (size_t i = 0; i < f->nr; i++) {
		struct uprobe_file *file = &f->v[i];
		struct proc_map map = file->map;

		map.path = file->path;
		file->fd = file->pid ? foreign_open_mapped(file->pid, &map, &st)
				     : foreign_open(root, file->path, &any, &st);
	}
	if (root >= 0)
		close(root);
}

size_t uprobe_files_open_debug(struct uprobe_files *f)
{
	size_t nr = 0;
	struct stat st;

	for (size_t i = 0; i < f->nr; i++) {
		struct uprobe_file *file = &f->v[i];

		if (file->has_debug_name && file->fd >= 0 && !fstat(file->fd, &st))
			file->nr_debug_fds = foreign_open_debug(file->pid, file->path, &st,
								&file->debug, file->debug_fds);
		nr += file->nr_debug_fds > 0;
	}
	return nr;
}

void uprobe_files_free(struct uprobe_files *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		free(f->v[i].path);
		free(f->v[i].attach_path);
		if (f->v[i].fd >= 0)
			close(f->v[i].fd);
		while (f->v[i].nr_debug_fds)
			close(f->v[i].debug_fds[--f->v[i].nr_debug_fds]);
	}
	free(f->v);
	memset(f, 0, sizeof(*f));
}
