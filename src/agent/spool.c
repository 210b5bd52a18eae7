/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/spool.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/agent/ring_journal.h"
#include "src/agent/spool_folder.h"
#include "src/agent/spool_names.h"
#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/io.h"
#include "src/base/own_file.h"

enum { LOCK_TRIES = 50, LOCK_PAUSE_MS = 100 };	/* an agent that was killed may still be ending */

struct window {
	uint64_t seq, bytes;
	uint64_t real_ns;		/* CLOCK_REALTIME of its end */
	char name[SPOOL_NAME_MAX];
};

struct spool {
	struct spool_options options;
	char *folder;			/* owned */
	int dir;
	struct ring_journal state;
	int state_error;
	struct spool_counts counts;
	struct window *v;		/* complete ones, by number */
	size_t nr, cap;
	uint64_t bytes;			/* of v */
	const struct spool_use *use;	/* as of the last trim; NULL: none yet */
	/* The open window. */
	int fd;				/* -1: none */
	bool is_lost;			/* what comes until its end is ignored */
	bool has_samples;
	uint64_t seq, written;
	char name[SPOOL_NAME_MAX];
};

static void put_counts(struct spool *s)
{
	s->state_error = ring_journal_put(&s->state, &s->counts);
}

/* ---- complete windows ---- */

static int add(struct spool *s, uint64_t seq, const char *name, uint64_t bytes, uint64_t real_ns)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (s->v[i].seq == seq)
			return 0;
	if (!array_push(&s->v, &s->nr, &s->cap))
		return -ENOMEM;
	i = s->nr - 1;
	for (; i > 0 && s->v[i - 1].seq > seq; i--)
		s->v[i] = s->v[i - 1];
	assert(!i || s->v[i - 1].seq < seq);	/* sorted, and each once */
	s->v[i] = (struct window){ .seq = seq, .bytes = bytes, .real_ns = real_ns };
	snprintf(s->v[i].name, sizeof(s->v[i].name), "%s", name);
	s->bytes += bytes;
	return 0;
}

/* It is counted first: if a kill comes before the file is gone, the next agent removes it. */
static void remove_window(struct spool *s, size_t i)
{
	struct window *w = &s->v[i];

	assert(i < s->nr && s->bytes >= w->bytes);
	if (s->use && w->seq < s->use->sent_below)
		s->counts.deleted++;
	else
		s->counts.dropped++;
	s->counts.going_seq = w->seq;
	put_counts(s);
	unlinkat(s->dir, w->name, 0);
	fsync(s->dir);
	s->bytes -= w->bytes;
	s->nr--;
	memmove(w, w + 1, (s->nr - i) * sizeof(*w));
}

static bool is_busy(const struct spool *s, uint64_t seq)
{
	const struct spool_use *use = s->use;

	for (size_t i = 0; use && i < use->nr_busy; i++)
		if (use->busy[i].first <= seq && seq <= use->busy[i].last)
			return true;
	return false;
}

/* What was sent is older than what was not, so the oldest one goes, whichever it is. */
static bool remove_oldest(struct spool *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (!is_busy(s, s->v[i].seq)) {
			remove_window(s, i);
			return true;
		}
	return false;
}

void spool_trim(struct spool *s, const struct spool_use *use, uint64_t real_ns)
{
	const struct spool_options *o = &s->options;

	s->use = use;
	while (s->nr && s->v[0].seq < use->sent_below && !is_busy(s, s->v[0].seq) &&
	       s->v[0].real_ns + o->keep_ns <= real_ns)
		remove_window(s, 0);
	while (spool_bytes(s) > o->limit_bytes && remove_oldest(s))
		;
}

/* ---- the open window ---- */

bool spool_is_open(const struct spool *s)
{
	return s->fd >= 0 || s->is_lost;
}

static int lose(struct spool *s, int err)
{
	if (s->fd >= 0)
		close(s->fd);
	unlinkat(s->dir, s->name, 0);
	s->fd = -1;
	s->is_lost = true;
	s->written = 0;
	s->counts.lost++;
	put_counts(s);
	return err;
}

static bool is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

int spool_begin(struct spool *s, uint64_t real_ns)
{
	int err = spool_finish(s);

	if (err)
		return err;
	s->is_lost = s->has_samples = false;
	s->written = 0;
	s->seq = s->counts.next_seq++;
	spool_name(s->name, s->seq, real_ns, false);
	do {
		s->fd = openat(s->dir, s->name,
			       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		err = s->fd < 0 ? -errno : 0;
	} while (is_full(err) && remove_oldest(s));
	return err ? lose(s, err) : 0;
}

/* What was written of a piece that did not fit is taken back before it is tried again. */
int spool_append(struct spool *s, const void *bytes, size_t len, bool has_samples)
{
	int err;

	if (s->fd < 0)
		return 0;
	do {
		err = io_write(s->fd, bytes, len, NULL);
		if (err && (ftruncate(s->fd, (off_t)s->written) ||
			    lseek(s->fd, (off_t)s->written, SEEK_SET) < 0))
			return lose(s, -errno);
	} while (is_full(err) && remove_oldest(s));
	if (err)
		return lose(s, err);
	s->written += len;
	s->has_samples |= has_samples;
	return 0;
}

static int put_in_place(struct spool *s)
{
	char whole[SPOOL_NAME_MAX];

	spool_name_complete(s->name, whole);
	if (fsync(s->fd) || renameat(s->dir, s->name, s->dir, whole) || fsync(s->dir))
		return lose(s, -errno);
	close(s->fd);
	s->fd = -1;
	s->counts.recorded++;
	s->counts.recorded_seq = s->seq;
	s->counts.bytes += s->written;
	put_counts(s);
	return add(s, s->seq, whole, s->written, clock_ns(CLOCK_REALTIME));
}

static void remove_empty(struct spool *s)
{
	close(s->fd);
	s->fd = -1;
	unlinkat(s->dir, s->name, 0);
	s->counts.empty++;
	put_counts(s);
}

int spool_finish(struct spool *s)
{
	int err = 0;

	if (s->fd >= 0 && s->has_samples)
		err = put_in_place(s);
	else if (s->fd >= 0)
		remove_empty(s);
	s->is_lost = false;
	s->written = 0;
	return err;
}

/* ---- what an earlier agent has left ---- */

/* The chunks of an open window that are whole. */
static int take_open(struct spool *s, const char *name, uint64_t seq)
{
	int fd = openat(s->dir, name, O_RDWR | OWN_FILE_FLAGS);
	int64_t left = fd < 0 ? -errno : spool_cut_to_whole(fd);
	char whole[SPOOL_NAME_MAX];
	int err = 0;

	if (fd >= 0)
		close(fd);
	if (left <= 0) {
		unlinkat(s->dir, name, 0);
		s->counts.empty += !left;
		s->counts.lost += left < 0;
		return 0;
	}
	spool_name_complete(name, whole);
	if (renameat(s->dir, name, s->dir, whole))
		return -errno;
	err = add(s, seq, whole, (uint64_t)left, clock_ns(CLOCK_REALTIME));
	s->counts.recovered++;
	return err;
}

static int take_whole(struct spool *s, const char *name, uint64_t seq)
{
	struct stat st;

	if (seq == s->counts.going_seq) {
		unlinkat(s->dir, name, 0);
		return 0;
	}
	if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	return add(s, seq, name, (uint64_t)st.st_size,
		   (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC);
}

static int take_one(struct spool *s, const char *name)
{
	uint64_t seq;
	enum spool_name_kind kind = spool_name_parse(name, &seq);

	if (kind == SPOOL_NAME_OTHER)
		return 0;
	if (seq >= s->counts.next_seq)
		s->counts.next_seq = seq + 1;
	return kind == SPOOL_NAME_OPEN ? take_open(s, name, seq) : take_whole(s, name, seq);
}

/* Windows that got their name, and were not counted any more. */
static void count_new(struct spool *s)
{
	struct spool_counts *c = &s->counts;

	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].seq > c->recorded_seq) {
			c->recorded++;
			c->bytes += s->v[i].bytes;
			c->recorded_seq = s->v[i].seq;
		}
}

static int take_up(struct spool *s)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	/* A file that gets its other name meanwhile may be met twice; add() ignores the second. */
	while (!err && (e = readdir(d)))
		err = take_one(s, e->d_name);
	closedir(d);
	if (!err && fsync(s->dir))
		err = -errno;
	count_new(s);
	put_counts(s);
	return err;
}

/* ---- the folder ---- */

static int lock(int dir)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(dir, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		usleep(LOCK_PAUSE_MS * 1000);
	}
	return -EBUSY;
}

static int open_folder(struct spool *s)
{
	int err;

	s->dir = spool_folder_open(s->folder, true);
	if (s->dir < 0)
		return s->dir;
	err = lock(s->dir);
	if (err == -EBUSY)
		return fail_why(err, "another probee agent uses %s", s->folder);
	if (!err)
		err = ring_journal_open(s->dir, SPOOL_STATE_NAME, &s->counts, sizeof(s->counts),
					&s->state);
	if (!s->counts.next_seq)
		s->counts.next_seq = 1;
	if (!err)
		err = take_up(s);
	return err ? fail(err, "use %s", s->folder) : 0;
}

int spool_open(const struct spool_options *options, struct spool **sp)
{
	struct spool *s = calloc(1, sizeof(*s));
	int err;

	*sp = NULL;
	if (!s || !(s->folder = strdup(options->folder))) {
		free(s);
		return fail(-ENOMEM, "open %s", options->folder);
	}
	s->options = *options;
	s->dir = s->fd = s->state.fd = -1;
	err = open_folder(s);
	if (err)
		spool_close(s);
	else
		*sp = s;
	return err;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	ring_journal_close(&s->state);
	if (s->dir >= 0)
		close(s->dir);
	free(s->folder);
	free(s->v);
	free(s);
}

/* The folder stays. */
void spool_set_options(struct spool *s, const struct spool_options *options)
{
	s->options.limit_bytes = options->limit_bytes;
	s->options.keep_ns = options->keep_ns;
}

const struct spool_counts *spool_counts(const struct spool *s)
{
	return &s->counts;
}

uint64_t spool_bytes(const struct spool *s)
{
	return s->bytes + s->written;
}

size_t spool_windows(const struct spool *s, uint64_t from_seq, uint64_t *oldest_ns)
{
	size_t i = 0;

	while (i < s->nr && s->v[i].seq < from_seq)
		i++;
	if (oldest_ns)
		*oldest_ns = i < s->nr ? s->v[i].real_ns : 0;
	return s->nr - i;
}

int spool_dir(const struct spool *s)
{
	return s->dir;
}

int spool_error(const struct spool *s)
{
	return s->state_error;
}
