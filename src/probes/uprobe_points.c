/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/uprobe_points.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/file_limit.h"
#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/elf/debug_name.h"
#include "src/probes/uprobe_files.h"
#include "src/probes/uprobe_search.h"
#include "src/probes/usdt_notes.h"
#include "src/rights/sandbox.h"

#define SEARCH_NS (15 * NSEC_PER_SEC)
#define SEARCH_BYTES (1ull << 30)
#define ANSWER_BYTES_MAX (32u << 20)
#define TEXT_MAX 4096

enum answer_kind {
	ANSWER_MATCH,
	ANSWER_ERROR,			/* the symbol's text says what is wrong with the spec */
	ANSWER_DEBUG_NAME		/* in place of the symbol: a struct debug_name */
};

/* What the process that searches writes for each match; texts follow. */
struct answer {
	uint32_t file, symbol_len, refused_len, arguments_len;
	uint32_t kind;			/* enum answer_kind */
	uint32_t pad;
	uint64_t offset, address, size, semaphore;
	struct usdt_frame frame;
};

/* ---- the process that searches ---- */

struct writer {
	int fd;
	uint32_t file;
};

static int put_all(int fd, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n <= 0)
			return -EPIPE;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int put_bytes(int fd, struct answer *a, const void *symbol, size_t len)
{
	int err;

	a->symbol_len = (uint32_t)len;
	err = put_all(fd, a, sizeof(*a));
	return err ? err : put_all(fd, symbol, len);
}

static int put_answer(int fd, struct answer *a, const char *symbol, const char *refused,
		      const char *arguments)
{
	int err;

	a->refused_len = refused ? (uint32_t)strnlen(refused, TEXT_MAX) : 0;
	a->arguments_len = arguments ? (uint32_t)strnlen(arguments, TEXT_MAX) : 0;
	err = put_bytes(fd, a, symbol, strnlen(symbol, TEXT_MAX));
	if (!err)
		err = put_all(fd, refused, a->refused_len);
	return err ? err : put_all(fd, arguments, a->arguments_len);
}

static int on_match(void *ctx, const struct uprobe_match *m)
{
	const struct writer *w = ctx;
	struct answer a = { .file = w->file, .offset = m->offset, .address = m->address,
			    .size = m->size, .semaphore = m->semaphore, .frame = m->frame };

	return put_answer(w->fd, &a, m->symbol, m->refused, m->arguments);
}

/* Tells how a file without names of its own functions names its debug file. */
static int tell_debug_name(const struct writer *w, int fd)
{
	struct answer a = { .file = w->file, .kind = ANSWER_DEBUG_NAME };
	struct elf_image *img;
	struct elf_section sec;
	struct debug_name name;
	int err = 0;

	if (elf_image_open(fd, &img))
		return 0;
	if (elf_image_section(img, ".symtab", &sec) && !debug_name_read(img, &name))
		err = put_bytes(w->fd, &a, &name, sizeof(name));
	elf_image_close(img);
	return err;
}

static int debug_fd_of(const struct uprobe_file *f)
{
	struct elf_image *img;
	int fd;

	if (!f->nr_debug_fds || elf_image_open(f->fd, &img))
		return -1;
	fd = debug_name_choose(img, f->debug_fds, f->nr_debug_fds);
	elf_image_close(img);
	return fd;
}

/* Looks through one file; in the second round only if it has a debug file, and through that. */
static int search_file(struct uprobe_search *s, const struct probe_spec *spec,
		       const struct uprobe_file *f, bool second, struct writer *w)
{
	int debug_fd = second ? debug_fd_of(f) : -1, err;

	if (f->fd < 0 || (second && debug_fd < 0))
		return 0;
	if (spec->kind == PROBE_USDT)
		return usdt_search_file(spec, f->fd, on_match, w);
	err = uprobe_search_file(s, f->fd, debug_fd, on_match, w);
	return err || second ? err : tell_debug_name(w, f->fd);
}

static int search(struct uprobe_files *files, const struct probe_spec *spec, bool second, int out)
{
	static const struct sandbox_rules rules = { .kind = SANDBOX_WORKER,
						    .memory_bytes = SEARCH_BYTES,
						    .cpu_seconds = SEARCH_NS / NSEC_PER_SEC };
	struct writer w = { .fd = out };
	struct uprobe_search *s = NULL;
	struct answer a = { .kind = ANSWER_ERROR };
	char why[256];
	int err;

	uprobe_files_open(files);
	if (second && !uprobe_files_open_debug(files))
		return 0;
	err = sandbox_enter(&rules) < 0 ? -EPERM : uprobe_search_begin(spec, &s, why, sizeof(why));
	if (err == -EINVAL)
		put_answer(out, &a, why, NULL, NULL);
	for (size_t i = 0; i < files->nr && !err; i++) {
		w.file = (uint32_t)i;
		err = search_file(s, spec, &files->v[i], second, &w);
	}
	uprobe_search_end(s);
	return err;
}

static pid_t start_search(struct uprobe_files *files, const struct probe_spec *spec, bool second,
			  int *in)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -errno;
	pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return -errno;
	}
	if (!pid) {
		close(ends[0]);
		_exit(search(files, spec, second, ends[1]) ? 1 : 0);
	}
	close(ends[1]);
	*in = ends[0];
	return pid;
}

/* ---- its answers ---- */

/* Reads until the end, for a limited time. 0, -ETIMEDOUT, -E2BIG or -ENOMEM. */
static int read_all(int fd, struct byte_buf *out)
{
	uint64_t until = now_ns() + SEARCH_NS;
	uint8_t block[65536];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = now_ns();
		ssize_t n;

		if (now >= until || poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) == 0)
			return -ETIMEDOUT;
		n = read(fd, block, sizeof(block));
		if (n <= 0)
			return 0;
		bb_bytes(out, block, (size_t)n);
		if (out->bad)
			return -ENOMEM;
		if (out->nr > ANSWER_BYTES_MAX)
			return -E2BIG;
	}
}

static char *text_of(const uint8_t *p, size_t len)
{
	char *s = malloc(len + 1);

	if (!s)
		return NULL;
	for (size_t i = 0; i < len; i++)
		s[i] = p[i] < ' ' || p[i] == 127 ? '?' : (char)p[i];
	s[len] = 0;
	return s;
}

static void uprobe_point_free(struct uprobe_point *p, struct uprobe_points *of)
{
	assert(!p->refused || of->nr_refused);
	of->nr_refused -= p->refused != NULL;
	free(p->path);
	free(p->attach_path);
	free(p->symbol);
	free(p->arguments);
	free(p->refused);
}

static int keep_point(const struct uprobe_file *file, const struct answer *a, const uint8_t *text,
		      struct uprobe_points *out)
{
	struct uprobe_point *p = array_push(&out->v, &out->nr, &out->cap);

	if (!p)
		return -ENOMEM;
	p->path = strdup(file->path);
	p->attach_path = strdup(file->attach_path);
	p->symbol = text_of(text, a->symbol_len);
	p->offset = a->offset;
	p->address = a->address;
	p->size = a->size;
	p->semaphore = a->semaphore;
	p->frame = a->frame;
	p->arguments = text_of(text + a->symbol_len + a->refused_len, a->arguments_len);
	if (a->refused_len) {
		p->refused = text_of(text + a->symbol_len, a->refused_len);
		out->nr_refused++;
	}
	return p->path && p->attach_path && p->symbol && p->arguments &&
			       (p->refused || !a->refused_len)
		       ? 0
		       : -ENOMEM;
}

/* The bytes come from a process that has read foreign ones. */
static void keep_debug_name(struct uprobe_file *file, const uint8_t *data, size_t len)
{
	if (len != sizeof(file->debug))
		return;
	memcpy(&file->debug, data, len);
	file->debug.link[sizeof(file->debug.link) - 1] = 0;
	file->has_debug_name = file->debug.build_id_len <= sizeof(file->debug.build_id) &&
			       debug_name_is_plain(file->debug.link);
}

static int keep_answer(const struct uprobe_files *files, const struct probe_spec *spec,
		       const struct answer *a, const uint8_t *text, struct uprobe_points *out)
{
	if (a->kind == ANSWER_ERROR)
		return fail_why(-EINVAL, "%s: %.*s. Try: a regular expression of Perl", spec->name,
				(int)a->symbol_len, text);
	if (a->file >= files->nr)
		return 0;
	if (a->kind == ANSWER_MATCH)
		return keep_point(&files->v[a->file], a, text, out);
	keep_debug_name(&files->v[a->file], text, a->symbol_len);
	return 0;
}

static int keep_answers(const struct uprobe_files *files, const struct probe_spec *spec,
			const struct byte_buf *in, struct uprobe_points *out)
{
	struct byte_reader r = br_make(in->v, in->nr);
	int err = 0;

	while (br_left(&r) && !err) {
		const uint8_t *head = br_bytes(&r, sizeof(struct answer)), *text;
		struct answer a;

		if (!head)
			break;
		memcpy(&a, head, sizeof(a));
		if (a.symbol_len > TEXT_MAX || a.refused_len > TEXT_MAX ||
		    a.arguments_len > TEXT_MAX)
			break;
		text = br_bytes(&r, (uint64_t)a.symbol_len + a.refused_len + a.arguments_len);
		if (!text)
			break;
		err = keep_answer(files, spec, &a, text, out);
	}
	return err == -ENOMEM ? fail(err, "look for %s", spec->name) : err;
}

static int explain(int err, const struct probe_spec *spec)
{
	if (err == -ETIMEDOUT)
		return fail_why(err, "%s: looking through files takes too long. "
				"Try: with the file's name, /path/to/file:function", spec->name);
	if (err == -E2BIG)
		return fail_why(err, "%s: too many functions match. Try: a narrower pattern",
				spec->name);
	return fail(err, "look for %s", spec->name);
}

/* One round: in the files themselves, or (second) in their debug files. Errors are explained. */
static int search_round(struct uprobe_files *files, const struct probe_spec *spec, bool second,
			struct uprobe_points *out)
{
	struct byte_buf answers = { 0 };
	int in = -1, err;
	pid_t pid = start_search(files, spec, second, &in);

	err = pid < 0 ? pid : read_all(in, &answers);
	if (err)
		explain(err, spec);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(in);
	}
	if (!err)
		err = keep_answers(files, spec, &answers, out);
	bb_release(&answers);
	return err;
}

/*
 * Debug files are asked where the files themselves do not know all functions. That takes as long
 * again, so for a name in any file at all only if none has it.
 */
static bool wants_second(const struct uprobe_files *files, const struct probe_spec *spec,
			 const struct uprobe_scope *scope, const struct uprobe_points *p)
{
	bool few = *spec->file || (scope->pids && scope->pids->nr);

	if (!few && p->nr > p->nr_refused)
		return false;
	for (size_t i = 0; i < files->nr; i++)
		if (files->v[i].has_debug_name)
			return true;
	return false;
}

/* By file and place; what the file itself has told comes first. */
static void drop_known(struct uprobe_points *p, size_t nr_first)
{
	size_t nr = nr_first;

	for (size_t i = nr_first; i < p->nr; i++) {
		bool known = false;

		for (size_t k = 0; k < nr_first && !known; k++)
			known = p->v[k].address == p->v[i].address &&
				!strcmp(p->v[k].path, p->v[i].path);
		if (known)
			uprobe_point_free(&p->v[i], p);
		else
			p->v[nr++] = p->v[i];
	}
	p->nr = nr;
}

int uprobe_points_find(const struct uprobe_scope *scope, const struct probe_spec *spec,
		       struct uprobe_points *out)
{
	struct uprobe_files files = { 0 };
	int err = uprobe_files_find(scope, spec, &files);
	size_t nr;

	memset(out, 0, sizeof(*out));
	if (!err) {
		out->nr_files = files.nr;
		file_limit_raise((1 + DEBUG_FILES_MAX) * files.nr + 64);
		err = search_round(&files, spec, false, out);
	} else if (err == -ENOENT) {
		err = -ESRCH;		/* explained */
	}
	if (!err && wants_second(&files, spec, scope, out)) {
		nr = out->nr;
		err = search_round(&files, spec, true, out);
		drop_known(out, nr);
	}
	if (!err && !out->nr)
		err = -ENOENT;
	uprobe_files_free(&files);
	return err;
}

int uprobe_points_none(const struct probe_spec *spec, size_t nr_files)
{
	const char *files = plural(nr_files, "file", "files");

	if (spec->kind == PROBE_USDT)
		return fail_why(-ENOENT, "%s: no such USDT probe in %zu %s. Try: with the file, "
				"probee probes 'usdt:/path/to/file:*:*'", spec->name, nr_files,
				files);
	if (spec->match == MATCH_LINE)
		return fail_why(-ENOENT, "%s: no such line in the debug information of %zu %s. "
				"Try: a program that was compiled with -g, "
				"u:/path/to/program:%s:%u", spec->name, nr_files, files,
				spec->function, spec->line);
	return fail_why(-ENOENT, "%s: no such function in %zu %s. Try: probee probes '*%s*', or "
			"with the file, u:/path/to/file:%s", spec->name, nr_files, files,
			spec->function, spec->function);
}

void uprobe_points_free(struct uprobe_points *p)
{
	for (size_t i = 0; i < p->nr; i++)
		uprobe_point_free(&p->v[i], p);
	free(p->v);
	memset(p, 0, sizeof(*p));
}
