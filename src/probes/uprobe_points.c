/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/uprobe_points.h"

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
#include "src/base/plural.h"
#include "src/probes/uprobe_files.h"
#include "src/probes/uprobe_search.h"
#include "src/rights/sandbox.h"

#define SEARCH_NS (15 * NSEC_PER_SEC)
#define SEARCH_BYTES (1ull << 30)
#define ANSWER_BYTES_MAX (32u << 20)
#define TEXT_MAX 4096

/* What the process that searches writes for each match; texts follow. */
struct answer {
	uint32_t file, symbol_len, refused_len, is_error;
	uint64_t offset, address, size;
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

static int put_answer(int fd, struct answer *a, const char *symbol, const char *refused)
{
	int err;

	a->symbol_len = (uint32_t)strnlen(symbol, TEXT_MAX);
	a->refused_len = refused ? (uint32_t)strnlen(refused, TEXT_MAX) : 0;
	err = put_all(fd, a, sizeof(*a));
	if (!err)
		err = put_all(fd, symbol, a->symbol_len);
	return err ? err : put_all(fd, refused, a->refused_len);
}

static int on_match(void *ctx, const struct uprobe_match *m)
{
	const struct writer *w = ctx;
	struct answer a = { .file = w->file, .offset = m->offset, .address = m->address,
			    .size = m->size };

	return put_answer(w->fd, &a, m->symbol, m->refused);
}

static int search(struct uprobe_files *files, const struct probe_spec *spec, int out)
{
	static const struct sandbox_rules rules = { .kind = SANDBOX_WORKER,
						    .memory_bytes = SEARCH_BYTES,
						    .cpu_seconds = SEARCH_NS / NSEC_PER_SEC };
	struct writer w = { .fd = out };
	struct uprobe_search *s = NULL;
	struct answer a = { .is_error = 1 };
	char why[256];
	int err;

	uprobe_files_open(files);
	err = sandbox_enter(&rules) < 0 ? -EPERM : uprobe_search_begin(spec, &s, why, sizeof(why));
	if (err == -EINVAL)
		put_answer(out, &a, why, NULL);
	for (size_t i = 0; i < files->nr && !err; i++) {
		w.file = (uint32_t)i;
		if (files->v[i].fd >= 0)
			err = uprobe_search_file(s, files->v[i].fd, on_match, &w);
	}
	uprobe_search_end(s);
	return err;
}

static pid_t start_search(struct uprobe_files *files, const struct probe_spec *spec, int *in)
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
		_exit(search(files, spec, ends[1]) ? 1 : 0);
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
	if (a->refused_len) {
		p->refused = text_of(text + a->symbol_len, a->refused_len);
		out->nr_refused++;
	}
	return p->path && p->attach_path && p->symbol && (p->refused || !a->refused_len) ? 0
											 : -ENOMEM;
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
		if (a.symbol_len > TEXT_MAX || a.refused_len > TEXT_MAX)
			break;
		text = br_bytes(&r, (uint64_t)a.symbol_len + a.refused_len);
		if (!text)
			break;
		if (a.is_error)
			return fail_why(-EINVAL, "%s: %.*s. Try: a regular expression of Perl",
					spec->name, (int)a.symbol_len, text);
		if (a.file < files->nr)
			err = keep_point(&files->v[a.file], &a, text, out);
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

int uprobe_points_find(const struct uprobe_scope *scope, const struct probe_spec *spec,
		       struct uprobe_points *out)
{
	struct uprobe_files files = { 0 };
	struct byte_buf answers = { 0 };
	int err = uprobe_files_find(scope, spec, &files), in = -1;
	pid_t pid = -1;

	memset(out, 0, sizeof(*out));
	if (!err) {
		out->nr_files = files.nr;
		file_limit_raise(files.nr + 64);
		pid = start_search(&files, spec, &in);
		err = pid < 0 ? pid : read_all(in, &answers);
		if (err)
			explain(err, spec);
	} else if (err == -ENOENT) {
		err = -ESRCH;		/* explained */
	}
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(in);
	}
	if (!err)
		err = keep_answers(&files, spec, &answers, out);
	if (!err && !out->nr)
		err = -ENOENT;
	bb_release(&answers);
	uprobe_files_free(&files);
	return err;
}

int uprobe_points_none(const struct probe_spec *spec, size_t nr_files)
{
	const char *files = plural(nr_files, "file", "files");

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
	for (size_t i = 0; i < p->nr; i++) {
		free(p->v[i].path);
		free(p->v[i].attach_path);
		free(p->v[i].symbol);
		free(p->v[i].refused);
	}
	free(p->v);
	memset(p, 0, sizeof(*p));
}
