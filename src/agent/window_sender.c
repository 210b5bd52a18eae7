/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/window_sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/agent/agent_config.h"
#include "src/agent/agent_state.h"
#include "src/agent/ring_journal.h"
#include "src/agent/spool.h"
#include "src/agent/spool_folder.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/own_file.h"

#define LOOK_MS 1000			/* for a new window; for the next sign of life */
#define FIRST_PAUSE_NS NSEC_PER_SEC
#define MOST_PAUSE_NS (300 * NSEC_PER_SEC)

/* On the disk. */
struct sent_state {
	uint64_t seq;			/* the window that is next, or the batch's first; 0: new */
	uint64_t last;			/* of the batch, once a body of it was begun */
	uint64_t done;			/* bodies of it that were answered */
	uint64_t mark;			/* of the last of them */
	uint64_t is_in_doubt;		/* body number done may have arrived */
	uint64_t was_refused;		/* a body of it was refused */
	uint64_t counts[TARGET_COUNTS];
};

struct sending {
	struct window_sender *w;
	int dir;
	struct ring_journal journal;
	struct sent_state st;
	struct window_batch batch;
	uint64_t alone_to;		/* windows up to this one are sent one by one */
	unsigned failures;		/* in a row */
};

static bool is_over(const struct sending *s)
{
	struct pollfd p = { .fd = s->w->lifeline, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void beat(const struct sending *s)
{
	atomic_store(&s->w->state->beat_ns, now_ns());
}

static void show(const struct sending *s)
{
	struct target_state *t = s->w->state;

	for (size_t i = 0; i < TARGET_COUNTS; i++)
		atomic_store(&t->counts[i], s->st.counts[i]);
	atomic_store(&t->next_seq, s->st.seq);
	beat(s);
}

static int put(struct sending *s)
{
	int err = ring_journal_put(&s->journal, &s->st);

	show(s);
	return err ? fail(err, "keep the state of target %s", s->w->target->name) : 0;
}

/* ---- one batch ---- */

static int before_body(void *ctx)
{
	struct sending *s = ctx;

	if (is_over(s))
		return -EINTR;
	if (s->st.is_in_doubt)
		s->st.counts[TARGET_MAYBE_TWICE]++;
	s->st.is_in_doubt = 1;
	return put(s);
}

static int after_body(void *ctx, const struct body_answer *a)
{
	struct sending *s = ctx;
	uint64_t *n = s->st.counts;

	s->st.is_in_doubt = 0;
	s->st.done++;
	s->st.mark = a->mark;
	if (a->is_refused) {
		n[TARGET_BODIES_REFUSED]++;
		s->st.was_refused = 1;
	} else {
		n[TARGET_BODIES]++;
		n[TARGET_BYTES] += a->bytes;
		n[TARGET_SAMPLES] += a->samples;
	}
	return put(s);
}

static bool stop_asked(void *ctx)
{
	struct sending *s = ctx;

	beat(s);
	return is_over(s);
}

/* The batch is fixed: a body of it may have arrived. */
static bool is_begun(const struct sending *s)
{
	return s->st.done || s->st.is_in_doubt;
}

static void begin_anew(struct sending *s)
{
	s->st.last = s->st.done = s->st.mark = s->st.is_in_doubt = s->st.was_refused = 0;
}

/* On to the next windows. Numbers without a file had nothing in them, or were dropped. */
static int end_batch(struct sending *s, enum target_count what)
{
	s->st.counts[what] += s->batch.nr;
	s->st.counts[TARGET_MISSED] += s->st.last - s->st.seq + 1 - s->batch.nr;
	s->st.seq = s->st.last + 1;
	begin_anew(s);
	s->failures = 0;
	return put(s);
}

/* What was in doubt when another sender was killed, or when no answer came. */
static int settle_doubt(struct sending *s)
{
	if (!s->st.is_in_doubt || !s->w->target->is_at_most_once)
		return 0;
	s->st.counts[TARGET_MAYBE_LOST]++;
	s->st.is_in_doubt = 0;
	s->st.done++;
	s->st.mark = 0;			/* which body that was is not known any more */
	return put(s);
}

/* A batch that was begun stays the same one, without its first windows. */
static int skip_to(struct sending *s, uint64_t seq)
{
	if (s->st.seq == seq)
		return 0;
	s->st.counts[TARGET_MISSED] += seq - s->st.seq;
	s->st.seq = seq;
	return put(s);
}

uint64_t window_sender_pause_ns(unsigned failures)
{
	uint64_t ns = failures < 20 ? FIRST_PAUSE_NS << (failures ? failures - 1 : 0)
				    : MOST_PAUSE_NS;

	return ns < MOST_PAUSE_NS ? ns : MOST_PAUSE_NS;
}

/* Waits, with signs of life; true: the end has come. */
static bool wait_until(struct sending *s, uint64_t until_ns)
{
	struct pollfd p = { .fd = s->w->lifeline, .events = POLLIN };
	uint64_t now;

	while ((now = now_ns()) < until_ns) {
		uint64_t ms = (until_ns - now) / NSEC_PER_MSEC + 1;

		beat(s);
		if (poll(&p, 1, ms < LOOK_MS ? (int)ms : LOOK_MS) > 0)
			return true;
	}
	return false;
}

uint64_t window_sender_wait_ns(unsigned failures, uint64_t wish_ns, uint32_t random)
{
	uint64_t pause = window_sender_pause_ns(failures), least = wish_ns ? wish_ns : pause / 2;

	return least + (wish_ns ? wish_ns : pause) / 2 / 1000 * (random % 1001);
}

static uint32_t random_number(void)
{
	uint32_t r = 0;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != sizeof(r))
		r = (uint32_t)now_ns();
	return r;
}

static int try_later(struct sending *s, const struct send_result *r)
{
	struct target_state *t = s->w->state;
	uint64_t until;

	s->failures++;
	until = now_ns() + window_sender_wait_ns(s->failures, r->later_ns, random_number());
	s->st.counts[TARGET_FAILURES]++;
	if (!r->is_in_doubt)
		s->st.is_in_doubt = 0;
	if (s->failures == 1)
		note("target %s: %s; windows wait in the spool, and it is tried again",
		     s->w->target->name, r->error);
	snprintf(t->error, sizeof(t->error), "%s", r->error);
	atomic_store(&t->retry_ns, until);
	if (put(s))
		return -EIO;
	wait_until(s, until);
	atomic_store(&t->retry_ns, 0);
	return 0;
}

/*
 * The options have changed since a part of the batch was sent, or a window of it was dropped. All
 * of it is sent as it is now, or, to a target that wants nothing twice, none of the rest.
 */
static int take_stale(struct sending *s)
{
	bool is_once = s->w->target->is_at_most_once;

	s->st.counts[is_once ? TARGET_MAYBE_LOST : TARGET_MAYBE_TWICE] += s->st.done;
	if (is_once)
		return end_batch(s, TARGET_REFUSED);
	begin_anew(s);
	return put(s);
}

/* Which window of it is bad shows when each is sent by itself. */
static int take_bad(struct sending *s, const struct send_result *r)
{
	bool is_once = s->w->target->is_at_most_once && s->st.done;

	if (s->batch.nr == 1 || is_once) {
		fail_why(-EIO, "%s: %s; left out", s->batch.name, r->error);
		return end_batch(s, TARGET_BAD);
	}
	s->alone_to = s->st.last;
	s->st.counts[TARGET_MAYBE_TWICE] += s->st.done;
	begin_anew(s);
	return put(s);
}

static int take_outcome(struct sending *s, enum send_outcome o, const struct send_result *r)
{
	if (o == SEND_DONE && s->failures)
		note("target %s takes windows again", s->w->target->name);
	switch (o) {
	case SEND_DONE:
		return end_batch(s, s->st.was_refused ? TARGET_REFUSED : TARGET_SENT);
	case SEND_BAD:
		return take_bad(s, r);
	case SEND_LATER:
		return try_later(s, r);
	case SEND_STALE:
		return take_stale(s);
	case SEND_STOPPED:
		return is_over(s) ? 0 : -EIO;
	}
	return -EIO;
}

static int send_batch(struct sending *s)
{
	struct batch_progress p = { .before = before_body, .after = after_body,
				    .stop = stop_asked, .ctx = s };
	struct send_result r = { .later_ns = 0 };
	int err = settle_doubt(s);

	p.done = s->st.done;
	p.mark = s->st.mark;
	return err ? err : take_outcome(s, s->w->send(s->w->ctx, &s->batch, &p, &r), &r);
}

/* ---- which windows ---- */

static void close_batch(struct sending *s)
{
	for (size_t i = 0; i < s->batch.nr; i++)
		close(s->batch.fds[i]);
	s->batch.nr = 0;
}

/* 0; or -errno, explained. A window that was dropped this instant is left out. */
static int add_window(struct sending *s, const char *name, uint64_t *bytes)
{
	struct window_batch *b = &s->batch;
	int fd = openat(s->dir, name, O_RDONLY | OWN_FILE_FLAGS);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : fail(-errno, "open %s", name);
	if (!fstat(fd, &st))
		*bytes += (uint64_t)st.st_size;
	if (!b->nr)
		snprintf(b->name, sizeof(b->name), "%s", name);
	b->fds[b->nr++] = fd;
	return 0;
}

static void name_batch(struct window_batch *b)
{
	size_t len = strlen(b->name);

	if (b->nr > 1)
		snprintf(b->name + len, sizeof(b->name) - len, " and %zu more", b->nr - 1);
}

/* Opens windows from number seq on, which has this name, below end. 0 or -errno, explained. */
static int open_batch(struct sending *s, uint64_t seq, uint64_t end, char name[SPOOL_NAME_MAX])
{
	bool is_fixed = is_begun(s);
	size_t most = !is_fixed && seq <= s->alone_to ? 1 : BATCH_WINDOWS;
	uint64_t bytes = 0;
	int rc = 1;

	while (rc > 0 && seq < end && s->batch.nr < most && (is_fixed || bytes < BATCH_BYTES)) {
		rc = add_window(s, name, &bytes);
		if (rc < 0)
			return rc;
		if (!is_fixed)
			s->st.last = seq;
		rc = spool_find(s->dir, seq + 1, &seq, name);
	}
	name_batch(&s->batch);
	return rc < 0 ? fail(rc, "read the spool") : 0;
}

/* From here on they are not dropped; what was in this moment is not there any more. */
static void show_busy(struct sending *s, uint64_t first, uint64_t last)
{
	atomic_store(&s->w->state->busy_last, last);
	atomic_store(&s->w->state->busy_seq, first);
}

static int send_from(struct sending *s, uint64_t seq, uint64_t end, char name[SPOOL_NAME_MAX])
{
	int rc;

	show_busy(s, seq, end - 1);
	rc = skip_to(s, seq);
	if (!rc)
		rc = open_batch(s, seq, end, name);
	if (!rc && s->batch.nr)
		rc = send_batch(s);
	close_batch(s);
	show_busy(s, 0, 0);
	return rc ? rc : 1;
}

/* 1: windows were there; 0: there are none that are due; -errno. */
static int send_next(struct sending *s)
{
	bool is_fixed = is_begun(s);
	uint64_t end = is_fixed ? s->st.last + 1 : atomic_load(&s->w->state->due_seq), seq;
	char name[SPOOL_NAME_MAX];
	int rc;

	if (end <= s->st.seq)
		return 0;
	rc = spool_find(s->dir, s->st.seq, &seq, name);
	if (rc < 0)
		return fail(rc, "read the spool");
	if (rc && seq < end)
		return send_from(s, seq, end, name);
	if (!is_fixed)
		return 0;
	begin_anew(s);		/* all of the batch was dropped */
	rc = skip_to(s, end);
	return rc ? rc : 1;
}

/* ---- the process ---- */

static int open_state(struct sending *s)
{
	const char *name = s->w->target->name;
	char file[AGENT_NAME + 32];
	int err;

	snprintf(file, sizeof(file), "target-%s.state", name);
	s->dir = spool_folder_open(s->w->folder, false);
	if (s->dir < 0)
		return s->dir;
	err = ring_journal_open(s->dir, file, &s->st, sizeof(s->st), &s->journal);
	if (err)
		return fail(err, "open %s/%s", s->w->folder, file);
	/* A sender before this one may still be ending. */
	if (flock(s->journal.fd, LOCK_EX))
		return fail(-errno, "lock %s/%s", s->w->folder, file);
	/* It may have written meanwhile. */
	ring_journal_close(&s->journal);
	err = ring_journal_open(s->dir, file, &s->st, sizeof(s->st), &s->journal);
	if (!err && flock(s->journal.fd, LOCK_EX))
		err = -errno;
	if (err)
		return fail(err, "open %s/%s", s->w->folder, file);
	if (!s->st.seq)
		s->st.seq = s->w->first_seq;
	return put(s);
}

int window_sender_run(struct window_sender *w)
{
	struct sending s = { .w = w, .dir = -1, .journal.fd = -1 };
	int rc = open_state(&s);

	if (!rc && w->shut_in)
		rc = w->shut_in(w->ctx);
	while (rc >= 0 && !is_over(&s)) {
		rc = send_next(&s);
		if (!rc && wait_until(&s, now_ns() + LOOK_MS * NSEC_PER_MSEC))
			break;
	}
	ring_journal_close(&s.journal);
	if (s.dir >= 0)
		close(s.dir);
	return rc < 0;
}
