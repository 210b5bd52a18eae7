/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_reader.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/profile/live_profile.h"

enum { LOOK_EACH = 256 };		/* records between two looks at the clock */

struct feed {
	int fd;				/* -1: the reader has it */
	const char *name;		/* borrowed */
	bool is_live;
	int hole_fd;			/* of the same file, for giving memory back */
	uint64_t freed;			/* octets from the beginning */
	struct trace_reader *reader;	/* NULL: the file has no whole IDENT yet */
	struct live_profile *profile;
	uint32_t segment;
	bool has_ended, is_behind, is_drained;
};

int feed_open(int fd, const char *name, const struct feed_how *how, struct feed **fp)
{
	struct feed *f = calloc(1, sizeof(*f));

	*fp = NULL;
	if (!f) {
		close(fd);
		return fail(-ENOMEM, "read %s", name);
	}
	*f = (struct feed){ .fd = fd, .name = name, .is_live = how->is_live,
			     .hole_fd = -1 };
	if (how->frees)
		f->hole_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	*fp = f;
	return 0;
}

void feed_close(struct feed *f)
{
	if (!f)
		return;
	trace_reader_close(f->reader);
	live_profile_free(f->profile);
	if (f->fd >= 0)
		close(f->fd);
	if (f->hole_fd >= 0)
		close(f->hole_fd);
	free(f);
}

/* 1: the reader is open; 0: the file is too short yet; -errno. */
static int open_reader(struct feed *f)
{
	struct stat st;
	int fd = f->fd, err;

	if (fstat(fd, &st))
		return fail(-errno, "read %s", f->name);
	if (!S_ISREG(st.st_mode))
		return fail_why(-EINVAL, "%s is no regular file", f->name);
	if (f->is_live && st.st_size < IDENT_SIZE)
		return 0;
	f->fd = -1;
	err = trace_reader_open_fd(fd, f->name, NULL, &f->reader);
	if (err)
		return err;
	trace_reader_follow(f->reader);
	return 1;
}

/* A recording begins: what is known is of another one. */
static int begin_profile(struct feed *f, uint32_t segment)
{
	live_profile_free(f->profile);
	f->segment = segment;
	f->has_ended = false;
	return live_profile_new(&f->profile) ? fail(-ENOMEM, "read %s", f->name) : 0;
}

static int take_record(struct feed *f, const struct record *rec)
{
	uint32_t segment = trace_reader_status(f->reader)->segment;
	int err = 0;

	if (!f->profile || segment != f->segment)
		err = begin_profile(f, segment);
	if (!err && live_profile_record(f->profile, rec))
		err = fail(-ENOMEM, "read %s", f->name);
	f->has_ended |= rec->tag == REC_END;
	return err;
}

/* Gives back the memory of whole pages that were read. */
static void free_read(struct feed *f)
{
	uint64_t end = trace_reader_offset(f->reader), page = (uint64_t)sysconf(_SC_PAGESIZE);

	end -= end % page;
	if (f->hole_fd < 0 || end <= f->freed)
		return;
	if (!fallocate(f->hole_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)f->freed,
		       (off_t)(end - f->freed)))
		f->freed = end;
}

static int take_some(struct feed *f, uint64_t until_ns)
{
	struct record rec;
	int rc, nr = 0, err = 0;

	f->is_behind = false;
	while ((rc = trace_reader_next(f->reader, &rec)) > 0) {
		err = take_record(f, &rec);
		if (err)
			return err;
		if (++nr % LOOK_EACH == 0 && now_ns() >= until_ns) {
			f->is_behind = true;
			break;
		}
	}
	f->is_drained = !rc;
	free_read(f);
	return rc < 0 ? rc : nr > 0;
}

int feed_take(struct feed *f, uint64_t budget_ns)
{
	int rc = f->reader ? 1 : open_reader(f);

	if (rc <= 0)
		return rc;
	if (f->is_drained && !trace_reader_more(f->reader))
		return 0;
	f->is_drained = false;
	return take_some(f, now_ns() + budget_ns);
}

const struct live_profile *feed_profile(const struct feed *f)
{
	return f->profile;
}

bool feed_has_ended(const struct feed *f)
{
	return f->has_ended;
}

bool feed_is_behind(const struct feed *f)
{
	return f->is_behind;
}

const struct trace_status *feed_status(const struct feed *f)
{
	return f->reader ? trace_reader_status(f->reader) : NULL;
}
