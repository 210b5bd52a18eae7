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
#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/live/segment_head.h"
#include "src/live/live_profile.h"

enum { LOOK_EACH = 256 };		/* records between two looks at the clock */

/* The limit for a segment of a file that may grow for ever. A profile needs far less. */
#define LIVE_TABLE_BYTES (256ull << 20)

/*
 * A file that is whole is shown as a report shows it, without anything folded, unless it is huge.
 */
static const struct live_limits file_limits = {
	.counts = 1 << 20, .growths = 4 << 20, .bytes = 192 << 20,
};

struct feed {
	int fd;				/* -1: the reader has it */
	const char *name;		/* borrowed */
	bool is_live;
	int hole_fd;			/* of the same file, for giving memory back */
	uint64_t kept_bytes;
	const struct live_limits *limits;
	uint64_t freed;			/* bytes from the beginning */
	uint64_t *begins;		/* of the segments that are kept, the oldest first */
	size_t nr_begins, cap_begins;
	struct trace_reader *reader;	/* NULL: the file has no whole IDENT yet */
	struct live_profile *profile;
	struct segment_head head;	/* what the current segment says at its beginning */
	uint32_t segment, recordings;
	uint32_t past_epochs;		/* of the profiles before */
	bool has_segment, has_ended, is_behind, is_drained;
};

int feed_open(int fd, const char *name, const struct feed_how *how, struct feed **fp)
{
	struct feed *f = calloc(1, sizeof(*f));

	*fp = NULL;
	if (!f) {
		close(fd);
		return fail(-ENOMEM, "read %s", name);
	}
	*f = (struct feed){ .fd = fd, .name = name, .is_live = how->is_live, .hole_fd = -1,
			     .kept_bytes = how->kept_bytes, .limits = how->limits };
	if (!f->limits && !f->is_live)
		f->limits = &file_limits;
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
	segment_head_release(&f->head);
	free(f->begins);
	if (f->fd >= 0)
		close(f->fd);
	if (f->hole_fd >= 0)
		close(f->hole_fd);
	free(f);
}

/* 1: the reader is open; 0: the file is too short yet; -errno. */
static int open_reader(struct feed *f)
{
	const struct trace_reader_options opts = {
		.max_table_bytes = f->is_live ? LIVE_TABLE_BYTES : 0,
		.max_work = f->is_live ? UINT64_MAX : 0,
		.forgets = true,
	};
	struct stat st;
	int fd = f->fd, err;

	if (fstat(fd, &st))
		return fail(-errno, "read %s", f->name);
	if (!S_ISREG(st.st_mode))
		return fail_why(-EINVAL, "%s is no regular file", f->name);
	if (f->is_live && st.st_size < IDENT_SIZE)
		return 0;
	f->fd = -1;
	err = trace_reader_open_fd(fd, f->name, &opts, &f->reader);
	if (err)
		return err;
	trace_reader_follow(f->reader);
	return 1;
}

/* ---- segments ---- */

static int no_memory(const struct feed *f)
{
	return fail(-ENOMEM, "read %s", f->name);
}

/* A recording begins: what is known is of another one. */
static int begin_profile(struct feed *f)
{
	if (f->profile)
		f->past_epochs += live_profile_epoch(f->profile) + 1;
	live_profile_free(f->profile);
	f->recordings++;
	if (live_profile_new(&f->profile))
		return no_memory(f);
	if (f->limits)
		live_profile_limit(f->profile, f->limits);
	return 0;
}

static int take_meta(void *feed, const struct record *rec)
{
	struct feed *f = feed;

	return live_profile_record(f->profile, rec) ? no_memory(f) : 0;
}

/* What the segment said first decides whether the recording goes on. */
static int begin_recording(struct feed *f)
{
	bool goes_on = f->profile && segment_head_follows(&f->head, f->profile);
	int err;

	if (goes_on)
		err = live_profile_begin_part(f->profile) ? no_memory(f) : 0;
	else
		err = begin_profile(f);
	if (!err)
		err = segment_head_give(&f->head, take_meta, f);
	segment_head_release(&f->head);
	return err;
}

static int begin_segment(struct feed *f, uint32_t segment)
{
	uint64_t *begin = array_push(&f->begins, &f->nr_begins, &f->cap_begins);

	if (!begin)
		return no_memory(f);
	*begin = trace_reader_segment_offset(f->reader);
	f->segment = segment;
	f->has_segment = true;
	f->has_ended = false;
	segment_head_begin(&f->head);
	return 0;
}

static int take_record(struct feed *f, const struct record *rec)
{
	uint32_t segment = trace_reader_status(f->reader)->segment;
	int rc = 0;

	if (!f->has_segment || segment != f->segment)
		rc = begin_segment(f, segment);
	if (!rc && f->head.is_open) {
		rc = segment_head_take(&f->head, rec);
		if (rc > 0)
			return 0;
		rc = rc < 0 ? no_memory(f) : begin_recording(f);
	}
	if (!rc && live_profile_record(f->profile, rec))
		rc = no_memory(f);
	f->has_ended |= rec->tag == REC_END && rec->end.reason != ENDED_CONTINUED;
	return rc;
}

/* ---- what was read ---- */

/* How far the file may be given back. */
static uint64_t kept_from(struct feed *f)
{
	uint64_t end = trace_reader_offset(f->reader);
	size_t first = 0;

	if (!f->kept_bytes || !f->nr_begins)
		return end;
	while (first + 1 < f->nr_begins && end - f->begins[first] > f->kept_bytes)
		first++;
	f->nr_begins -= first;
	memmove(f->begins, f->begins + first, f->nr_begins * sizeof(*f->begins));
	return f->begins[0];
}

/* Gives back the memory of whole pages that are not kept. */
static void free_read(struct feed *f)
{
	uint64_t end, page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (f->hole_fd < 0)
		return;
	end = kept_from(f);
	end -= end % page;
	if (end > f->freed &&
	    !fallocate(f->hole_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)f->freed,
		       (off_t)(end - f->freed)))
		f->freed = end;
	if (!f->kept_bytes)
		f->nr_begins = 0;
}

void feed_kept(const struct feed *f, uint64_t *begin, uint64_t *end)
{
	bool has = f->reader && f->nr_begins && f->begins[0] >= f->freed;

	*begin = has ? f->begins[0] : 0;
	*end = has ? trace_reader_offset(f->reader) : 0;
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

uint32_t feed_epoch(const struct feed *f)
{
	return f->past_epochs + (f->profile ? live_profile_epoch(f->profile) : 0);
}

uint32_t feed_recordings(const struct feed *f)
{
	return f->recordings;
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
