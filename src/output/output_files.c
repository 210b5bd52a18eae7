/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/output/output_files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/file_limit.h"
#include "src/base/process_limits.h"
#include "src/output/output_guard.h"

struct output_files {
	struct output_file *v;
	int *fds;			/* the caller's descriptors; -1: closed */
	size_t nr, cap, cap_fds;
	bool force;
	struct output_user user;
	struct output_guard guard;
};

struct output_files *output_files_new(bool force)
{
	struct output_files *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->force = force;
	fs->guard.socket = -1;
	output_user_now(&fs->user);
	return fs;
}

int output_files_add(struct output_files *fs, const char *path, const struct output_kind *kind,
		     const char *input)
{
	size_t nr_fds = fs->nr;
	int *fd = array_push(&fs->fds, &nr_fds, &fs->cap_fds);
	struct output_file *f = fd ? array_push(&fs->v, &fs->nr, &fs->cap) : NULL;

	if (!f)
		return fail(-ENOMEM, "write %s", path);
	*fd = -1;
	*f = (struct output_file){ .path = strdup(path),
				   .input = input ? strdup(input) : NULL,
				   .kind = kind,
				   .force = fs->force,
				   .fd = -1,
				   .place.dir = -1 };
	return f->path && (!input || f->input) ? (int)fs->nr - 1 : fail(-ENOMEM, "write %s", path);
}

int output_files_add_input(struct output_files *fs, const char *input)
{
	for (size_t i = 0; i < fs->nr; i++) {
		fs->v[i].other_input = strdup(input);
		if (!fs->v[i].other_input)
			return fail(-ENOMEM, "write %s", fs->v[i].path);
	}
	return 0;
}

int output_files_guard(struct output_files *fs)
{
	bool wanted = false;
	int err;

	for (size_t i = 0; i < fs->nr; i++)
		wanted |= output_descriptor(fs->v[i].path) < 0;
	err = wanted ? output_guard_start(&fs->guard, fs->v, fs->nr, &fs->user) : 0;
	return err ? fail(err, "start the process that puts files in their places") : 0;
}

void output_files_may_signal(struct output_files *fs)
{
	fs->guard.may_signal = true;
}

static void order(struct output_files *fs, enum output_order order, size_t i,
		  struct output_reply *reply)
{
	assert(i < fs->nr);
	if (fs->guard.pid)
		output_guard_ask(&fs->guard, order, i, reply);
	else
		output_order(fs->v, fs->nr, &fs->user, order, i, reply);
}

/* ---- What is refused, in words ---- */

#define TEXT(e, why, hint) [e] = { why, hint }

static const struct {
	const char *text, *hint;
} refusals[OUTPUT_WHY_NR] = {
	TEXT(OUTPUT_LINK_ABOVE, "its path leads through a symbolic link of another user",
	     "the path that the link leads to"),
	TEXT(OUTPUT_IS_LINK, "is a symbolic link, and none is followed",
	     "the name of the file itself"),
	TEXT(OUTPUT_IS_DIR, "is a directory", "the name of a file in it"),
	TEXT(OUTPUT_IS_SOCKET, "is a socket", "the name of a file"),
	TEXT(OUTPUT_IS_DEVICE, "is a device, and of those only /dev/null and terminals are opened",
	     "the name of a file"),
	TEXT(OUTPUT_IS_TERMINAL, "is a terminal, and a trace is not for one", "-o FILE"),
	TEXT(OUTPUT_FIFO_UNREAD, "is a FIFO that nobody reads", "start its reader first"),
	TEXT(OUTPUT_OWNER, "belongs to another user", "another name"),
	TEXT(OUTPUT_HARD_LINKS, "has several names (hard links)", "another name, or remove it"),
	TEXT(OUTPUT_FIXED, "is immutable or append-only", "another name, or chattr -ia"),
	TEXT(OUTPUT_FIXED_DIR, "is in a directory that is immutable or append-only",
	     "another directory, or chattr -ia"),
	TEXT(OUTPUT_OTHER, "has other contents", "another name, or --force to replace it"),
	TEXT(OUTPUT_OLD_OTHER, "would become a file that stands there already and is no trace",
	     "another name, or --force to replace it"),
	TEXT(OUTPUT_BUSY, "is just being written by another recording", "another name"),
	TEXT(OUTPUT_ITSELF, "is the trace itself", "another name"),
	TEXT(OUTPUT_TWICE, "is the name of two outputs", "another name for one of them"),
	TEXT(OUTPUT_MOVED, "was taken by something else in the meantime", "another name"),
};

static int explain(const struct output_file *f, const struct output_reply *r)
{
	const char *text = r->no.why < OUTPUT_WHY_NR ? refusals[r->no.why].text : NULL;
	/* Directories of others refuse with EPERM, which is no missing right to record. */
	int err = r->err == -EPERM ? -EACCES : r->err;
	struct limit_cause limit;
	char noun[64] = "";

	if (err == -EPIPE && process_limits_explain(-EMFILE, &limit))
		return fail(-EMFILE, "create %s", f->path);
	if (err == -EPIPE)
		return fail_why(err, "create %s: the process that puts files in their places ended",
				f->path);
	if (err == -ETIMEDOUT)
		return fail_why(err,
				"create %s: the process that puts files in their places does not "
				"answer: it was stopped, or the file system does not answer",
				f->path);
	if (err == -ETOOMANYREFS)
		return fail_why(err,
				"create %s: this user's processes have more descriptors under way "
				"than a process may have open. Try: ulimit -n %lu",
				f->path, file_limit_advice());
	if (!text && err == -EACCES)
		return fail_try(err, "a directory that you may write to", "create %s", f->path);
	if (!text)
		return fail(err, "create %s", f->path);
	if (r->no.why == OUTPUT_OTHER)
		snprintf(noun, sizeof(noun), " and is no %s", f->kind->noun);
	if (r->no.why == OUTPUT_OWNER || r->no.why == OUTPUT_LINK_ABOVE)
		snprintf(noun, sizeof(noun), " (uid %u)", r->no.uid);
	return fail_why(err, "%s %s%s: not written. Try: %s", f->path, text, noun,
			refusals[r->no.why].hint);
}

/* ---- */

static int open_descriptor(const struct output_file *f, int number)
{
	int fd = fcntl(number, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? fail(-errno, "open %s", f->path) : fd;
}

int output_files_open(struct output_files *fs, size_t i)
{
	struct output_reply reply;
	int number;

	assert(i < fs->nr);
	number = output_descriptor(fs->v[i].path);
	if (fs->fds[i] >= 0)
		return fs->fds[i];
	if (number >= 0)
		return fs->fds[i] = open_descriptor(&fs->v[i], number);
	order(fs, OUTPUT_OPEN, i, &reply);
	if (!reply.err && reply.fd < 0)
		reply.err = -EMFILE;	/* the descriptor did not fit into this process */
	if (reply.err)
		return explain(&fs->v[i], &reply);
	return fs->fds[i] = reply.fd;
}

const char *output_files_path(const struct output_files *fs, size_t i)
{
	assert(i < fs->nr);
	return fs->v[i].path;
}

int output_files_publish(struct output_files *fs, size_t i)
{
	struct output_reply reply;

	if (output_descriptor(fs->v[i].path) >= 0)
		return 0;
	order(fs, OUTPUT_PUBLISH, i, &reply);
	return reply.err ? explain(&fs->v[i], &reply) : 0;
}

int output_files_close(struct output_files *fs, size_t i)
{
	struct output_reply reply;
	int err;

	if (fs->fds[i] < 0)
		return 0;
	err = close(fs->fds[i]) ? -errno : 0;
	fs->fds[i] = -1;
	if (output_descriptor(fs->v[i].path) < 0)
		order(fs, OUTPUT_DROP, i, &reply);
	return err;
}

void output_files_free(struct output_files *fs)
{
	if (!fs)
		return;
	for (size_t i = 0; i < fs->nr; i++) {
		output_files_close(fs, i);
		free((char *)fs->v[i].path);
		free((char *)fs->v[i].input);
		free((char *)fs->v[i].other_input);
	}
	if (output_guard_end(&fs->guard))
		note("the process that puts files in their places does not end: it was stopped, or "
		     "the file system does not answer; what is unfinished (.*.tmp) may stay");
	free(fs->v);
	free(fs->fds);
	free(fs);
}
