/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/late_names/late_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/hex.h"
#include "src/base/no_answer.h"
#include "src/foreign/debug_server.h"
#include "src/foreign/file_opener.h"
#include "src/parse/kernel_file.h"

#define BUILD_ID_TEXT (16 + 2 * 64 + 8)

/* One candidate after the other, until one fits. */
struct search {
	const struct late_files *files;
	const struct late_binary *binary;
	enum late_cause cause;		/* of the best candidate so far */
};

static int64_t mtime_of(const struct stat *st)
{
	return st->st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_mtim.tv_nsec;
}

static bool build_ids_are_equal(const struct late_binary *b, const struct elf_identity *id)
{
	return id->build_id_len == b->build_id_len &&
	       !memcmp(id->build_id, b->build_id, b->build_id_len);
}

/*
 * A file that nobody could look at while recording, on a busy machine for example: the mapping said
 * its numbers, and it counts if nothing of it has changed since the recording began.
 */
static enum late_cause judge_by_numbers(const struct late_binary *b, const struct stat *st)
{
	uint64_t dev = (uint64_t)major(st->st_dev) << 20 | minor(st->st_dev);
	int64_t changed_ns = st->st_ctim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_ctim.tv_nsec;

	if (!b->ino || b->ino != st->st_ino || b->dev != dev)
		return LATE_OTHER_INODE;
	return changed_ns < b->began_ns ? LATE_OK : LATE_CHANGED;
}

/* A build-id tells the file, whatever its time is. */
static enum late_cause judge(const struct search *s, const struct elf_identity *id,
			     const struct stat *st)
{
	const struct late_binary *b = s->binary;

	if (b->build_id_len)
		return build_ids_are_equal(b, id) ? LATE_OK : LATE_OTHER_FILE;
	if (b->size_bytes && b->size_bytes != (uint64_t)st->st_size)
		return LATE_OTHER_SIZE;
	if (s->files->trust_paths)
		return LATE_OK;
	if (!b->size_bytes && !b->mtime_ns)
		return judge_by_numbers(b, st);
	return b->mtime_ns == mtime_of(st) ? LATE_OK : LATE_OTHER_TIME;
}

static enum late_cause cause_of_error(int err)
{
	if (is_no_answer(err) || err == -EBUSY)
		return LATE_LIMITED;
	return err == -ENOEXEC ? LATE_OTHER_FILE : LATE_UNREADABLE;
}

static void note_cause(struct search *s, enum late_cause cause)
{
	if (s->cause == LATE_NO_FILE || cause == LATE_OK)
		s->cause = cause;
}

/* true: it is fd, a kept file or -errno, which is taken. */
static bool try_kept(struct search *s, int fd, struct late_found *out)
{
	const struct parse_file file = { fd, out->st.st_uid, out->st.st_dev };
	enum late_cause cause;
	int err;

	if (fd < 0) {
		if (fd != -ENOENT && fd != -ENOTDIR)
			note_cause(s, cause_of_error(fd));
		return false;
	}
	err = parse_identity(s->files->parsers, &file, 0, &out->elf);
	cause = err ? cause_of_error(err) : judge(s, &out->elf, &out->st);
	note_cause(s, cause);
	if (cause == LATE_OK) {
		out->fd = fd;
		return true;
	}
	if (!err)
		free(out->elf.segments);
	out->elf = (struct elf_identity){ 0 };
	close(fd);
	return false;
}

/* true: dir/path is it. */
static bool try_file(struct search *s, const struct late_dir *dir, const char *path,
		     struct late_found *out)
{
	return try_kept(s, file_opener_beneath(s->files->opener, dir->fd, path, &out->st), out);
}

/* What a server gives is nobody's: it is parsed as a file of the user. */
static bool try_server(struct search *s, struct late_found *out)
{
	const struct late_binary *b = s->binary;

	int fd = s->files->server && b->build_id_len
			 ? debug_server_find(s->files->server, b->build_id, b->build_id_len, NULL)
			 : -ENOENT;

	out->st = (struct stat){ .st_uid = geteuid() };
	return try_kept(s, fd, out);
}

/* ".build-id/12/3456.debug"; false: the binary has none. */
static bool build_id_path(const struct late_binary *b, const char *suffix, char *path)
{
	int at;

	if (b->build_id_len < 2)
		return false;
	at = sprintf(path, ".build-id/%02x/", b->build_id[0]);
	strcpy(hex_put(path + at, b->build_id + 1, b->build_id_len - 1u), suffix);
	return true;
}

static bool try_binary(struct search *s, const struct late_dir *dir, struct late_found *out)
{
	const char *path = s->binary->path, *slash = strrchr(path, '/');
	char by_id[BUILD_ID_TEXT];

	if (*path == '/' && try_file(s, dir, path, out)) {
		/* Only there the file's debug link can be followed: by its path here. */
		out->path = strcmp(dir->path, "/") ? NULL : path;
		return true;
	}
	if (slash && slash[1] && try_file(s, dir, slash + 1, out))
		return true;
	return build_id_path(s->binary, "", by_id) && try_file(s, dir, by_id, out);
}

static bool try_debug(struct search *s, struct late_found *out)
{
	const struct late_dirs *dirs = &s->files->debug_dirs;
	char path[BUILD_ID_TEXT];

	for (size_t i = 0; i < dirs->nr; i++)
		if (build_id_path(s->binary, ".debug", path) && try_file(s, &dirs->v[i], path, out))
			return true;
	return false;
}

enum late_cause late_files_find(const struct late_files *files, const struct late_binary *b,
				struct late_found *out)
{
	struct search s = { .files = files, .binary = b, .cause = LATE_NO_FILE };
	struct late_found debug = { .fd = -1, .debug_fd = -1 };
	bool found = false;

	*out = debug;
	for (size_t i = 0; i < files->binary_dirs.nr && !found; i++)
		found = try_binary(&s, &files->binary_dirs.v[i], out);
	if (!try_debug(&s, &debug) && (found || !try_server(&s, &debug)))
		return found ? LATE_OK : s.cause;
	if (!found) {
		*out = debug;
		return LATE_OK;
	}
	out->debug_fd = debug.fd;
	free(debug.elf.segments);
	return LATE_OK;
}

static bool try_kernel(struct search *s, const struct late_dirs *dirs, const char *release,
		       bool (*next)(const struct kernel_wanted *w, size_t i,
				    char path[KERNEL_PLACE_MAX]),
		       struct late_found *out)
{
	const struct kernel_wanted w = { release, s->binary->build_id, s->binary->build_id_len };
	char path[KERNEL_PLACE_MAX];

	for (size_t d = 0; d < dirs->nr; d++)
		for (size_t i = 0; next(&w, i, path); i++)
			if (*path && try_file(s, &dirs->v[d], path, out))
				return true;
	return false;
}

enum late_cause late_files_find_kernel(const struct late_files *files, const struct late_binary *b,
				       const char *release, struct late_found *out)
{
	struct search s = { .files = files, .binary = b, .cause = LATE_NO_FILE };

	*out = (struct late_found){ .fd = -1, .debug_fd = -1 };
	if (b->build_id_len &&
	    !try_kernel(&s, &files->debug_dirs, release, kernel_debug_place, out))
		try_kernel(&s, &files->binary_dirs, release, kernel_root_place, out);
	return s.cause;
}
