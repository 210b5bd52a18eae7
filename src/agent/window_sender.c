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
#include <unistd.h>

#include "src/agent/agent_config.h"
#include "src/agent/agent_state.h"
#include "src/agent/ring_journal.h"
#include "src/agent/spool.h"
#include "src/base/clock.h"
#include "src/base/fail.h"

#define LOOK_MS 1000			/* for a new window; for the next sign of life */
#define FIRST_PAUSE_NS NSEC_PER_SEC
#define MOST_PAUSE_NS (300 * NSEC_PER_SEC)

/* On the disk. */
struct sent_state {
	uint64_t seq;			/* the window that is next, or under way; 0: new */
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

/* ---- one window ---- */

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

static void begin_anew(struct sending *s)
{
	s->st.done = s->st.mark = s->st.is_in_doubt = s->st.was_refused = 0;
}

/* On to the next window. */
static int end_window(struct sending *s, enum target_count what, uint64_t how_many)
{
	s->st.counts[what] += how_many;
	s->st.seq++;
	begin_anew(s);
	s->failures = 0;
	atomic_store(&s->w->state->busy_seq, 0);
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

static int skip_to(struct sending *s, uint64_t seq)
{
	if (s->st.seq == seq)
		return 0;
	s->st.counts[TARGET_MISSED] += seq - s->st.seq;
	s->st.seq = seq;
	begin_anew(s);
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

/* A thousand agents must not come back in the same second: the pause is half random. */
static uint64_t jitter(uint64_t ns)
{
	uint32_t r = 0;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != sizeof(r))
		r = (uint32_t)now_ns();
	return ns / 2 + ns / 2 * (r % 1000) / 1000;
}

static int try_later(struct sending *s, const struct send_result *r)
{
	struct target_state *t = s->w->state;
	uint64_t pause = r->later_ns, until;

	s->failures++;
	if (!pause)
		pause = jitter(window_sender_pause_ns(s->failures));
	else
		pause += jitter(NSEC_PER_SEC);
	until = now_ns() + pause;
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
 * The options have changed since a part of the window was sent. All of it is sent as it is now, or,
 * to a target that wants nothing twice, none of the rest.
 */
static int take_stale(struct sending *s)
{
	bool is_once = s->w->target->is_at_most_once;

	s->st.counts[is_once ? TARGET_MAYBE_LOST : TARGET_MAYBE_TWICE] += s->st.done;
	if (is_once)
		return end_window(s, TARGET_REFUSED, 1);
	begin_anew(s);
	return put(s);
}

static int take_outcome(struct sending *s, enum send_outcome o, const struct send_result *r,
			const char *name)
{
	if (o == SEND_DONE && s->failures)
		note("target %s takes windows again", s->w->target->name);
	switch (o) {
	case SEND_DONE:
		return end_window(s, s->st.was_refused ? TARGET_REFUSED : TARGET_SENT, 1);
	case SEND_BAD:
		fail_why(-EIO, "%s: %s; it is left out", name, r->error);
		return end_window(s, TARGET_BAD, 1);
	case SEND_LATER:
		return try_later(s, r);
	case SEND_STALE:
		return take_stale(s);
	case SEND_STOPPED:
		return is_over(s) ? 0 : -EIO;
	}
	return -EIO;
}

static int send_window(struct sending *s, const char *name)
{
	struct window_progress p = { .before = before_body, .after = after_body,
				     .stop = stop_asked, .ctx = s };
	struct send_result r = { .later_ns = 0 };
	int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), err;
	enum send_outcome o;

	if (fd < 0 && errno == ENOENT)		/* dropped this instant: the next look skips it */
		return 0;
	if (fd < 0)
		return fail(-errno, "open %s", name);
	err = settle_doubt(s);
	p.done = s->st.done;
	p.mark = s->st.mark;
	if (!err) {
		o = s->w->send(s->w->ctx, fd, name, &p, &r);
		err = take_outcome(s, o, &r, name);
	}
	close(fd);
	return err;
}

/* 1: a window was there; 0: there is none; -errno. */
static int send_next(struct sending *s)
{
	char name[SPOOL_NAME_MAX];
	uint64_t seq;
	int rc;

	if (atomic_load(&s->w->agent->newest_seq) < s->st.seq)
		return 0;
	rc = spool_find(s->dir, s->st.seq, &seq, name);
	if (rc < 0)
		return fail(rc, "read the spool");
	if (!rc)
		return 0;
	/* From here on it is not dropped; if it was in this moment, it is not there any more. */
	atomic_store(&s->w->state->busy_seq, seq);
	rc = skip_to(s, seq);
	if (!rc)
		rc = send_window(s, name);
	atomic_store(&s->w->state->busy_seq, 0);
	return rc ? rc : 1;
}

/* ---- the process ---- */

static int open_state(struct sending *s)
{
	const char *name = s->w->target->name;
	char file[AGENT_NAME + 32];
	int err;

	snprintf(file, sizeof(file), "target-%s.state", name);
	s->dir = open(s->w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return fail(-errno, "open %s", s->w->folder);
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
