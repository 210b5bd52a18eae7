/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/hex.h"
#include "src/foreign/debug_files.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/elf/debug_name.h"
#include "src/foreign/foreign_file.h"

#define DEBUG_ROOT "/usr/lib/debug"
#define MAX_FOUND BESIDE_MAX
#define MAX_ALTERNATIVES 4		/* files for one name of a dwz file */

_Static_assert(DEBUG_FILES_MAX <= MAX_FOUND, "one array holds either");

struct found_file {
	int fd;
	uint32_t name;			/* as in struct beside_file */
	dev_t dev;
	ino_t ino;
};

struct debug_search {
	const struct stat *binary;
	const char *mapped;		/* the path of the binary; "": unknown */
	char dir[PATH_MAX];		/* of the binary */
	int from;			/* the file that has the names; -1: the binary */
	/* What is searched now. */
	const char *path;		/* of the binary, beneath root */
	int root;
	bool is_ours;
	bool is_its;			/* path counts from this root */
	char from_path[PATH_MAX];	/* beneath root; "": unknown */
	char from_dir[PATH_MAX];
	uint32_t name;
	/* What was found. */
	struct found_file v[MAX_FOUND];
	bool only_owners;		/* the path is the binary's own words */
	size_t nr, max;
};

/* ---- paths ---- */

static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = 0;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Takes "//", "." and ".." out of an absolute path, as if there were no links. */
static void normalize(const char *path, char out[PATH_MAX])
{
	size_t len = 0;

	for (const char *p = path; *p;) {
		size_t n = strcspn(++p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.') {
			while (len && out[--len] != '/')
				;
		} else if (n && !(n == 1 && *p == '.')) {
			out[len++] = '/';
			memcpy(out + len, p, n);
			len += n;
		}
		p += n;
	}
	out[len] = 0;
}

static bool begins(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

static bool read_link(int fd, char out[PATH_MAX])
{
	char self[40];
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, out, PATH_MAX - 1);
	out[n > 0 ? n : 0] = 0;
	return n > 0 && out[0] == '/';
}

/* Both paths are the kernel's; "" if path is not beneath root. */
static const char *beneath(const char *path, const char *root)
{
	if (!strcmp(root, "/"))
		return path;
	return begins(path, root) ? path + strlen(root) : "";
}

/*
 * The paths of the binary and of the file from, as they count from root. The kernel counts from the
 * root of the mount namespace. It tells the path of a mapping as the asking process sees it, or as
 * the process that has the mapping does, which is not the same with chroot(2).
 */
static void find_paths(struct debug_search *s)
{
	char root[PATH_MAX], path[PATH_MAX];
	struct stat st;
	bool has_root = read_link(s->root, root);

	s->path = has_root ? beneath(s->mapped, root) : "";
	s->path = *s->path ? s->path : s->mapped;
	memcpy(s->dir, s->path, strlen(s->path) + 1);
	cut_last(s->dir);
	s->from_path[0] = s->from_dir[0] = 0;
	if (!has_root || s->from < 0 || fstat(s->from, &st) || !st.st_nlink ||
	    !read_link(s->from, path))
		return;
	snprintf(s->from_path, sizeof(s->from_path), "%s", beneath(path, root));
	memcpy(s->from_dir, s->from_path, sizeof(s->from_dir));
	cut_last(s->from_dir);
}

/* ---- one file ---- */

static bool is_known(const struct debug_search *s, const struct stat *st)
{
	bool is = st->st_ino == s->binary->st_ino && st->st_dev == s->binary->st_dev;

	for (size_t i = 0; i < s->nr; i++)
		is |= s->name == s->v[i].name && st->st_ino == s->v[i].ino &&
		      st->st_dev == s->v[i].dev;
	return is;
}

static bool add_file(struct debug_search *s, const char *path, bool is_in_debug, unsigned links)
{
	const uid_t owners[] = { s->binary->st_uid };
	const struct foreign_want want = {
		.owners = owners, .nr_owners = 1, .links = links, .is_public = true,
		.on = is_in_debug && s->is_ours ? 0 : s->binary->st_dev,
		.only_owners = s->only_owners && !is_in_debug,
	};
	struct stat st;
	int fd = s->nr < s->max ? foreign_open(s->root, path, &want, &st) : -1;

	if (fd < 0)
		return false;
	if (is_known(s, &st)) {
		close(fd);
		return false;
	}
	s->v[s->nr++] = (struct found_file){ fd, s->name, st.st_dev, st.st_ino };
	return true;
}

/*
 * Opens the file of this path beneath the root, if it is one that may be used. A path counts from
 * our root only in /usr/lib/debug, or if the path of the binary does. true: it was opened.
 */
static bool __attribute__((format(printf, 3, 4)))
try_path(struct debug_search *s, unsigned links, const char *format, ...)
{
	char path[PATH_MAX], plain[PATH_MAX];
	bool is_in_debug;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n <= 0 || n >= (int)sizeof(path) || path[0] != '/')
		return false;
	normalize(path, plain);
	is_in_debug = begins(plain, DEBUG_ROOT);
	if (s->is_ours && !s->is_its && !is_in_debug)
		return false;
	return add_file(s, is_in_debug ? plain : path, is_in_debug, links);
}

/* Distributions have links in /usr/lib/debug, and they stay in it. */
static void try_by_build_id(struct debug_search *s, const uint8_t *id, uint32_t len)
{
	char hex[2 * 64 + 1] = "";

	if (len < 2 || len > 64)
		return;
	hex_put(hex, id + 1, len - 1);
	try_path(s, FOREIGN_LINKS, DEBUG_ROOT "/.build-id/%02x/%s.debug", id[0], hex);
}

/* ---- roots ---- */

/* true: path beneath root is the binary itself, so root is the root that its path counts from. */
static bool is_its_root(const struct debug_search *s)
{
	static const struct foreign_want no_links = { .links = FOREIGN_NO_LINKS };
	int fd = *s->path ? foreign_look_up(s->root, s->path, &no_links) : -1;
	struct stat st;
	bool same = fd >= 0 && !fstat(fd, &st) && st.st_ino == s->binary->st_ino &&
		    st.st_dev == s->binary->st_dev;

	if (fd >= 0)
		close(fd);
	return same;
}

static void search_root(struct debug_search *s, pid_t pid,
			void (*search)(struct debug_search *s, const void *what), const void *what)
{
	s->root = foreign_root(pid);
	if (s->root < 0)
		return;
	s->is_ours = !pid;
	find_paths(s);
	s->is_its = is_its_root(s);
	search(s, what);
	close(s->root);
}

static void search_roots(struct debug_search *s, pid_t pid, const char *path,
			 void (*search)(struct debug_search *s, const void *what), const void *what)
{
	s->mapped = path && path[0] == '/' && strlen(path) < PATH_MAX ? path : "";
	search_root(s, 0, search, what);
	if (pid)
		search_root(s, pid, search, what);
}

/* ---- debug files ---- */

/*
 * Distributions have made /lib a link to /usr/lib. A package that was built before has the debug
 * files of its libraries in /usr/lib/debug/lib, though its libraries are mapped from /usr/lib.
 */
static void try_merged(struct debug_search *s, const char *link)
{
	static const char *const merged[] = { "/bin",   "/sbin",  "/lib",
					      "/lib32", "/lib64", "/libx32" };
	static const char usr[] = "/usr";
	const char *dir = begins(s->dir, usr) ? s->dir + strlen(usr) : s->dir;

	for (size_t i = 0; i < sizeof(merged) / sizeof(merged[0]); i++)
		if (begins(dir, merged[i]) || !strcmp(dir, merged[i]))
			try_path(s, FOREIGN_LINKS, DEBUG_ROOT "%s%s/%s", dir == s->dir ? usr : "",
				 dir, link);
}

static void try_debug(struct debug_search *s, const void *what)
{
	/* Beside the binary a link could be its user's. */
	static const struct {
		const char *before, *behind;
		unsigned links;
	} places[] = { { "", "", FOREIGN_NO_LINKS },
		       { "", "/.debug", FOREIGN_NO_LINKS },
		       { DEBUG_ROOT, "", FOREIGN_LINKS } };
	const struct debug_name *n = what;

	try_by_build_id(s, n->build_id, n->build_id_len);
	if ((s->is_ours && !s->is_its) || !*s->path || !*n->link || strchr(n->link, '/'))
		return;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		try_path(s, places[i].links, "%s%s%s/%s", places[i].before, s->dir,
			 places[i].behind, n->link);
	try_merged(s, n->link);
}

size_t foreign_open_debug(pid_t pid, const char *path, const struct stat *st,
			  const struct debug_name *name, int fds[DEBUG_FILES_MAX])
{
	struct debug_search s = { .binary = st, .from = -1, .max = DEBUG_FILES_MAX };

	search_roots(&s, pid, path, try_debug, name);
	for (size_t i = 0; i < s.nr; i++)
		fds[i] = s.v[i].fd;
	return s.nr;
}

/* ---- files that are named in debug information ---- */

static bool try_unit(struct debug_search *s, const char *name, const char *dir)
{
	const char *const places[] = { s->dir, s->from_dir };

	if (name[0] == '/')
		return try_path(s, FOREIGN_LINKS, "%s", name);
	if (!*name)
		return false;
	if (dir[0] == '/' && try_path(s, FOREIGN_LINKS, "%s/%s", dir, name))
		return true;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (*places[i] && (try_path(s, FOREIGN_LINKS, "%s/%s/%s", places[i],
					    dir[0] == '/' ? "" : dir, name) ||
				   try_path(s, FOREIGN_LINKS, "%s/%s", places[i], last_part(name))))
			return true;
	return try_path(s, FOREIGN_LINKS, DEBUG_ROOT "/%s", name);
}

static bool try_package(struct debug_search *s)
{
	return (*s->path && try_path(s, FOREIGN_LINKS, "%s.dwp", s->path)) ||
	       (*s->from_path && *s->path &&
		try_path(s, FOREIGN_LINKS, "%s/%s.dwp", s->from_dir, last_part(s->path))) ||
	       (*s->from_path && try_path(s, FOREIGN_LINKS, "%s.dwp", s->from_path));
}

/* All of them: only the build-id says which one it is. */
static void try_alternative(struct debug_search *s, const struct beside_name *n, const char *name)
{
	const char *in_dwz = strstr(name, "/.dwz/");

	if (name[0] == '/')
		try_path(s, FOREIGN_LINKS, "%s", name);
	else if (*name && *s->from_dir)
		try_path(s, FOREIGN_LINKS, "%s/%s", s->from_dir, name);
	try_by_build_id(s, n->build_id, n->build_id_len);
	if (in_dwz)
		try_path(s, FOREIGN_LINKS, DEBUG_ROOT "%s", in_dwz);
	if (*last_part(name))
		try_path(s, FOREIGN_LINKS, DEBUG_ROOT "/.dwz/%s", last_part(name));
}

static bool has_name(const struct debug_search *s, uint32_t name)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].name == name)
			return true;
	return false;
}

static void try_beside(struct debug_search *s, const void *what)
{
	const struct beside_names *names = what;
	size_t max = s->max;

	for (uint32_t i = 0; i < names->nr; i++) {
		const struct beside_name *n = &names->v[i];
		const char *name = names->text + n->name;

		s->name = i;
		s->only_owners = true;
		if (n->kind == BESIDE_ALT) {
			s->max = s->nr + MAX_ALTERNATIVES < max ? s->nr + MAX_ALTERNATIVES : max;
			try_alternative(s, n, name);
			s->max = max;
		} else if (!has_name(s, i) && n->kind == BESIDE_DWO) {
			try_unit(s, name, names->text + n->dir);
		} else if (!has_name(s, i)) {
			try_package(s);
		}
	}
}

size_t foreign_open_beside(pid_t pid, const char *path, const struct stat *st, int from,
			   const struct beside_names *names, struct beside_file files[BESIDE_MAX])
{
	struct debug_search s = { .binary = st, .from = from, .max = MAX_FOUND };

	search_roots(&s, pid, path, try_beside, names);
	for (size_t i = 0; i < s.nr; i++)
		files[i] = (struct beside_file){ s.v[i].fd, s.v[i].name };
	return s.nr;
}
