/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_progress_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/own_file.h"
#include "src/output/output_place.h"

enum { LINE_MAX_LEN = 96 };

static int parse(const char *text, struct push_progress *p)
{
	int end = 0;

	if (sscanf(text, "probee-push 1 %20" SCNu64 " %16" SCNx64 " %20" SCNu64 " %n", &p->settled,
		   &p->mark, &p->rebased_to_ns, &end) != 3 || !end || text[end])
		return -EINVAL;
	return 0;
}

static int read_line(struct push_progress_file *f)
{
	char text[LINE_MAX_LEN + 1];
	ssize_t n = io_pread(f->fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return fail((int)n, "read %s", f->path);
	text[n] = 0;
	if (n && parse(text, &f->kept))
		return fail_why(-EINVAL, "%s is no file of --progress", f->path);
	return 0;
}

/* In a directory that no link of another user leads to. The descriptor, or -errno, explained. */
static int open_beneath(const char *path)
{
	struct output_refusal no;
	struct output_place place;
	struct output_user user;
	int err, fd;

	output_user_now(&user);
	err = output_place_open(path, &user, &place, &no);
	if (err && no.why == OUTPUT_LINK_ABOVE)
		return fail_why(err, "%s: a directory of the path is a link of another user (%u), "
				"which is not followed. Try: the path without links", path,
				(unsigned)no.uid);
	fd = err ? err : openat(place.dir, place.name, O_RDWR | O_CREAT | OWN_FILE_FLAGS, 0600);
	if (!err && fd < 0)
		fd = -errno;
	output_place_close(&place);
	return fd < 0 ? fail(fd, "open %s", path) : fd;
}

int push_progress_file_open(const char *path, struct push_progress_file *f)
{
	enum own_verdict v;
	int err;

	*f = (struct push_progress_file){ .path = path, .fd = open_beneath(path) };
	if (f->fd < 0)
		return f->fd;
	err = own_file_check(f->fd, &v);
	if (err && v == OWN_OTHER_KIND)
		fail_why(err, "%s is no regular file", path);
	else if (err && v != OWN_ALONE)
		fail_why(err, "%s %s, so it cannot keep what was sent. Try: another name", path,
			 own_verdict_text(v));
	else if (err)
		fail(err, "open %s", path);
	else
		err = read_line(f);
	if (err)
		push_progress_file_close(f);
	return err;
}

/* One write of less than a sector: it is there as a whole, or not. */
static int keep(void *file, const struct push_progress *p)
{
	struct push_progress_file *f = file;
	char text[LINE_MAX_LEN];
	int n = snprintf(text, sizeof(text), "probee-push 1 %020" PRIu64 " %016" PRIx64
			 " %020" PRIu64 "\n", p->settled, p->mark, p->rebased_to_ns);

	f->kept.settled = p->settled;
	f->kept.mark = p->mark;
	f->kept.rebased_to_ns = p->rebased_to_ns;
	if (pwrite(f->fd, text, (size_t)n, 0) != n || fdatasync(f->fd))
		return fail(errno ? -errno : -EIO, "write %s", f->path);
	return 0;
}

static bool is_stopped(void *file)
{
	struct push_progress_file *f = file;

	return f->stop && f->stop(f->stop_ctx);
}

void push_progress_file_use(struct push_progress_file *f, struct push_progress *p)
{
	*p = (struct push_progress){
		.settled = f->kept.settled, .mark = f->kept.mark,
		.rebased_to_ns = f->kept.rebased_to_ns,
		.keep = keep, .stop = is_stopped, .ctx = f,
	};
}

void push_progress_file_close(struct push_progress_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
