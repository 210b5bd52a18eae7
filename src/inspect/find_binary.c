/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/inspect/find_binary.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "src/base/io.h"

#define MAX_CONF_BYTES (1u << 20)
#define MAX_INCLUDES 4	/* depth of includes; a file that includes itself ends there */

struct search {
	const struct binary_search *s;
	const char *name;
	char *found;			/* PATH_MAX bytes; "": nothing found yet */
};

/* Looks in one directory; true ends the search. */
static bool look_in(struct search *l, const char *root, const char *dir, size_t len)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s%.*s/%s", root, (int)len, dir, l->name);

	if (!len || n < 0 || n >= (int)sizeof(path) || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	if (!l->s->is_wanted(path)) {
		if (!l->found[0])
			strcpy(l->found, path);
		return false;
	}
	strcpy(l->found, path);
	return true;
}

/* Looks in the directories of a list, which is split at any of the separators. */
static bool look_in_list(struct search *l, const char *root, const char *list,
			 const char *separators)
{
	for (; list && *list; list += strspn(list, separators)) {
		size_t len = strcspn(list, separators);

		if (look_in(l, root, list, len))
			return true;
		list += len;
	}
	return false;
}

static bool look_by_conf(struct search *l, const char *path, int depth);

/* Looks in the files of a folder whose names match, in order of their names. */
static bool look_by_names(struct search *l, const char *folder, const char *pattern, int depth)
{
	struct dirent **names = NULL;
	char path[PATH_MAX];
	bool done = false;
	int nr = scandir(folder, &names, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);

		if (!done && n > 0 && n < (int)sizeof(path) &&
		    !fnmatch(pattern, names[i]->d_name, FNM_PERIOD))
			done = look_by_conf(l, path, depth);
		free(names[i]);
	}
	free(names);
	return done;
}

/*
 * "include /etc/ld.so.conf.d/A*.conf". A relative pattern is relative to the folder of conf. Only
 * the last part of a pattern is one; glob() would know more, but it frees its memory twice (glibc
 * 2.36) when there is none left.
 */
static bool look_by_include(struct search *l, const char *conf, char *pattern, int depth)
{
	const char *slash = strrchr(conf, '/');
	char absolute[PATH_MAX], *name;
	int n;

	if (pattern[0] == '/')
		n = snprintf(absolute, sizeof(absolute), "%s%s", l->s->root, pattern);
	else
		n = snprintf(absolute, sizeof(absolute), "%.*s/%s", (int)(slash - conf), conf,
			     pattern);
	if (n < 0 || n >= (int)sizeof(absolute))
		return false;
	name = strrchr(absolute, '/');
	*name = 0;
	return look_by_names(l, absolute, name + 1, depth + 1);
}

/* A line of ld.so.conf: a directory, perhaps with "=libc6" behind it, or an include. */
static bool look_by_line(struct search *l, const char *conf, char *line, int depth)
{
	char *state = NULL, *word;
	bool done = false;

	line[strcspn(line, "#\r")] = 0;
	word = strtok_r(line, " \t", &state);
	if (!word)
		return false;
	if (word[0] == '/')
		return look_in(l, l->s->root, word, strcspn(word, "="));
	if (strcmp(word, "include"))
		return false;		/* such as "hwcap ..." */
	while (!done && (word = strtok_r(NULL, " \t", &state)))
		done = look_by_include(l, conf, word, depth);
	return done;
}

/* Looks in the directories that a file lists. path begins with the root. */
static bool look_by_conf(struct search *l, const char *path, int depth)
{
	char *text = NULL, *state = NULL, *line;
	bool done = false;

	if (depth > MAX_INCLUDES || io_read_file(path, &text, MAX_CONF_BYTES) < 0)
		return false;
	for (line = strtok_r(text, "\n", &state); line && !done;
	     line = strtok_r(NULL, "\n", &state))
		done = look_by_line(l, path, line, depth);
	free(text);
	return done;
}

static bool look_by_musl(struct search *l)
{
	char path[PATH_MAX], *text = NULL;
	struct utsname u;
	bool done;

	uname(&u);
	snprintf(path, sizeof(path), "%s/etc/ld-musl-%s.path", l->s->root, u.machine);
	if (io_read_file(path, &text, MAX_CONF_BYTES) < 0)
		return false;
	done = look_in_list(l, l->s->root, text, ":\n");
	free(text);
	return done;
}

static bool find_library(struct search *l)
{
	char conf[PATH_MAX];

	snprintf(conf, sizeof(conf), "%s/etc/ld.so.conf", l->s->root);
	return look_in_list(l, "", l->s->library_path, ":;") || look_by_conf(l, conf, 0) ||
	       look_by_musl(l) ||
	       look_in_list(l, l->s->root, "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib", ":");
}

bool find_binary(const struct binary_search *s, const char *name, char found[PATH_MAX])
{
	struct search l = { s, name, found };

	found[0] = 0;
	if (strstr(name, ".so"))
		(void)(find_library(&l) || look_in_list(&l, "", s->path, ":"));
	else
		(void)(look_in_list(&l, "", s->path, ":") || find_library(&l));
	return found[0];
}
