/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/trace_list.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/file_limit.h"
#include "src/commands/shut_in.h"

#define SUFFIX ".pbz"

static bool is_kind(const char *path, mode_t kind)
{
	struct stat st;

	return !stat(path, &st) && (st.st_mode & S_IFMT) == kind;
}

static bool is_glob(const char *word)
{
	struct stat st;

	return strpbrk(word, "*?[") && lstat(word, &st);
}

bool trace_list_is_several(const char *word)
{
	return is_kind(word, S_IFDIR) || is_glob(word);
}

/* path is the list's from now on. */
static int add(struct trace_list *l, char *path)
{
	char **place = path ? array_push(&l->v, &l->nr, &l->cap) : NULL;

	if (place)
		*place = path;
	else
		free(path);
	return place ? 0 : fail(-ENOMEM, "the list of traces");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_from(struct trace_list *l, size_t first)
{
	assert(first <= l->nr);
	if (l->nr > first)
		qsort(l->v + first, l->nr - first, sizeof(*l->v), by_name);
}

static bool has_suffix(const char *name)
{
	size_t len = strlen(name), n = strlen(SUFFIX);

	return *name != '.' && len > n && !strcmp(name + len - n, SUFFIX);
}

static int read_directory(struct trace_list *l, DIR *d, const char *path)
{
	size_t len = strlen(path);
	const char *slash = len && path[len - 1] == '/' ? "" : "/";
	struct dirent *e;
	int err = 0;

	for (errno = 0; !err && (e = readdir(d)); errno = 0) {
		char *name;

		if (!has_suffix(e->d_name))
			continue;
		if (asprintf(&name, "%s%s%s", path, slash, e->d_name) < 0)
			name = NULL;
		if (name && !is_kind(name, S_IFREG))
			free(name);
		else
			err = add(l, name);
	}
	return err || !errno ? err : fail(-errno, "%s", path);
}

static int add_directory(struct trace_list *l, const char *path)
{
	DIR *d = opendir(path);
	size_t first = l->nr;
	int err = d ? read_directory(l, d, path) : fail(-errno, "%s", path);

	if (d)
		closedir(d);
	sort_from(l, first);
	return err;
}

static int add_named_directory(struct trace_list *l, const char *path)
{
	size_t first = l->nr;
	int err = add_directory(l, path);

	if (!err && l->nr == first)
		err = fail_why(-ENOENT, "%s has no traces: no file in it is called *" SUFFIX, path);
	return err;
}

static int add_matches(struct trace_list *l, const char *pattern, const glob_t *found)
{
	size_t first = l->nr;
	int err = 0;

	for (size_t i = 0; i < found->gl_pathc && !err; i++)
		if (is_kind(found->gl_pathv[i], S_IFREG))
			err = add(l, strdup(found->gl_pathv[i]));
	sort_from(l, first);
	for (size_t i = 0; i < found->gl_pathc && !err; i++)
		if (is_kind(found->gl_pathv[i], S_IFDIR))
			err = add_directory(l, found->gl_pathv[i]);
	if (!err && l->nr == first)
		err = fail_why(-ENOENT, "no file matches %s", pattern);
	return err;
}

static int add_glob(struct trace_list *l, const char *pattern)
{
	glob_t found;
	int rc = glob(pattern, GLOB_NOSORT, NULL, &found), err;

	if (rc == GLOB_NOSPACE)
		return fail(-ENOMEM, "%s", pattern);
	if (rc && rc != GLOB_NOMATCH)
		return fail(-EIO, "%s", pattern);
	if (rc)
		return fail_why(-ENOENT, "no file matches %s", pattern);
	err = add_matches(l, pattern, &found);
	globfree(&found);
	return err;
}

int trace_list_expand(struct trace_list *l, char *const *words, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (is_kind(words[i], S_IFDIR))
			err = add_named_directory(l, words[i]);
		else if (is_glob(words[i]))
			err = add_glob(l, words[i]);
		else
			err = add(l, strdup(words[i]));
	}
	return err;
}

bool trace_list_open(struct trace_list *l)
{
	bool all = true;

	file_limit_raise(0);
	l->fds = malloc((l->nr ? l->nr : 1) * sizeof(*l->fds));
	for (size_t i = 0; l->fds && i < l->nr; i++) {
		l->fds[i] = file_limit_keep(shut_in_open(l->v[i]));
		all &= l->fds[i] >= 0;
	}
	return all && l->fds;
}

int trace_list_take(struct trace_list *l, size_t i)
{
	int fd = l->fds ? l->fds[i] : -1;

	if (l->fds)
		l->fds[i] = -1;
	return fd;
}

void trace_list_release(struct trace_list *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		if (l->fds && l->fds[i] >= 0)
			close(l->fds[i]);
		free(l->v[i]);
	}
	free(l->v);
	free(l->fds);
	*l = (struct trace_list){ 0 };
}
