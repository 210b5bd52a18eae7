/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/trace/crc32c.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/plural.h"
#include "src/push/push_pipe.h"
#include "src/push/push_target.h"

#define OLD_NS (3600 * NSEC_PER_SEC)

enum { HTTP_TOO_MANY = 429, HTTP_ERROR = 500 };
enum { LOOK_MS = 200, SAID_MAX = 3, PART_BYTES_MIN = 2048 };

static const struct push_retry_policy usual = { .first_ns = NSEC_PER_SEC,
						.most_ns = 30 * NSEC_PER_SEC };

/* One call of push_trace(). */
struct run {
	struct push_target *t;
	struct push_progress *progress;
	struct push_result *result;
	struct push_pipe pipe;
	struct push_stop stop;
	struct push_request request;
	uint64_t settled;		/* by earlier calls */
	uint64_t counted, profiles;	/* samples and losses, profiles before the body at hand */
	uint64_t whole_bytes;		/* of the body that this is a part of; 0: of none */
	unsigned said;			/* bodies that a line was printed for */
	bool is_away;			/* the receiver is away, and that was said */
};

static void amount_add(struct push_amount *a, const struct push_body *b)
{
	a->bodies++;
	a->profiles += b->profiles;
	a->samples += b->samples;
	a->bytes += b->len;
	a->raw_bytes += b->raw_len;
}

/* Tells bodies apart well enough to notice that they are others than before. Never 0. */
static uint64_t mark_of(const struct push_body *b)
{
	uint32_t path = crc32c(b->path, strlen(b->path));

	return ((uint64_t)crc32c(b->bytes, b->len) << 32 | (path ^ (uint32_t)b->len)) ?: 1;
}

/* ---- waiting ---- */

static bool is_stopped(const struct run *r)
{
	return r->stop.fn && r->stop.fn(r->stop.ctx);
}

/* False: stop() said so. */
static bool wait_for(const struct run *r, uint64_t ns)
{
	uint64_t until = now_ns() + ns, now;

	while ((now = now_ns()) < until) {
		uint64_t ms = (until - now) / NSEC_PER_MSEC + 1;

		if (is_stopped(r))
			return false;
		poll(NULL, 0, ms < LOOK_MS ? (int)ms : LOOK_MS);
	}
	return true;
}

/* ---- what is said on the way ---- */

/* Pyroscope takes nothing that is older than an hour. */
static const char *hint(const struct run *r, const struct push_body *b, const struct push_answer *a)
{
	uint64_t now = clock_ns(CLOCK_REALTIME);

	if (a->is_too_large)
		return ". Try: --body-size 500K";
	if (a->verdict == PUSH_REFUSED && !r->t->settings.rebase_time &&
	    now > b->to_ns + OLD_NS)
		return ". It is old. Try: --rebase-time";
	return "";
}

static void say(struct run *r, const struct push_body *b, const char *what,
		const struct push_answer *a)
{
	char about[200];

	push_answer_line(about, sizeof(about), b->what, strlen(b->what));
	if (r->said++ < SAID_MAX)
		note("%s: %s %s%s", about, what, r->result->why, hint(r, b, a));
	else if (r->said == SAID_MAX + 1)
		note("there are more; the last line has their number");
}

static void say_away(struct run *r, uint64_t wait_ns)
{
	if (!r->is_away)
		note("%s: %s; trying again for %llu s", r->t->address, r->result->why,
		     r->t->settings.give_up_ns / NSEC_PER_SEC);
	else
		note_verbose("%s; waiting %llu ms", r->result->why,
			     wait_ns / NSEC_PER_MSEC);
	r->is_away = true;
}

/* "429: too many": what the receiver said, or what went wrong on the way to it. */
static void keep_why(struct push_result *result, const struct push_answer *a)
{
	result->status = a->status;
	if (a->status && (a->verdict != PUSH_TAKEN || a->is_partial))
		snprintf(result->why, sizeof(result->why), "it answers %u%s%.230s", a->status,
			 a->why[0] ? ": " : "", a->why);
	else if (a->verdict != PUSH_TAKEN)
		snprintf(result->why, sizeof(result->why), "%s", a->why);
}

/* ---- one body ---- */

static void settle(struct run *r, const struct push_body *b, const struct push_answer *a)
{
	struct push_result *result = r->result;
	struct push_retry_policy policy = usual;

	if (a->verdict == PUSH_TAKEN) {
		amount_add(&result->delivered, b);
		result->lost += b->lost;
		result->partial += a->is_partial && a->rejected;
		result->rejected_profiles += a->rejected;
		note_verbose("body %" PRIu64 ": %u, %zu bytes", r->result->delivered.bodies,
			     a->status, b->len);
		if (a->is_partial)
			say(r, b, a->rejected ? "taken in part," : "taken,", a);
	} else {
		amount_add(&result->refused, b);
		say(r, b, "refused,", a);
	}
	policy.give_up_ns = r->t->settings.give_up_ns;
	push_retry_begin(&r->t->retry, &policy, now_ns());
	if (r->is_away)
		note("%s is there again", r->t->address);
	r->is_away = false;
}

/* After an answer that says to come again. True: do so; false: the call ends. */
static bool come_again(struct run *r, const struct push_answer *a)
{
	uint64_t wait = push_retry_wait(&r->t->retry, now_ns(), a->wish_ns);

	r->result->failures++;
	r->result->retry_after_ns = a->wish_ns;
	if (wait == PUSH_RETRY_NEVER) {
		r->result->outcome = PUSH_LATER;
		return false;
	}
	say_away(r, wait);
	if (wait_for(r, wait))
		return true;
	r->result->outcome = PUSH_STOPPED;
	return false;
}

static int send_all(struct run *r);
static int begin(struct run *r);
static void end(struct run *r);

/* Whether the receiver may have taken some of its profiles, and then refused the next one. */
static bool may_be_stored_in_part(const struct push_body *b, const struct push_answer *a)
{
	return b->profiles > 1 && (a->status == HTTP_TOO_MANY || a->status == HTTP_ERROR);
}

/* Small ones are not: it may mean something else, or what they hold is of one piece. */
static bool can_split(const struct run *r, const struct push_body *b)
{
	return r->request.slot + 1 < PUSH_SLOTS && b->raw_len >= 2 * PART_BYTES_MIN &&
	       b->samples + b->lost > 1 && (!r->whole_bytes || b->raw_len < r->whole_bytes);
}

/* It was made before it was known that the receiver takes less. */
static bool is_too_costly(const struct run *r, const struct push_body *b)
{
	return !r->request.max_cost && r->t->pace.max_cost && b->profiles > 1 &&
	       b->cost > 2 * r->t->pace.max_cost;
}

/*
 * Has the samples of one body encoded again, into bodies of half its size or of what the receiver
 * takes at once. Returns what deliver() does.
 */
static int send_parts(struct run *r, const struct push_body *b)
{
	struct push_progress progress = { .stop = r->progress->stop, .ctx = r->progress->ctx };
	struct run part = {
		.t = r->t, .progress = &progress, .result = r->result, .stop = r->stop,
		.pipe = { .fd = -1, .stop = r->pipe.stop, .ctx = r->pipe.ctx },
		.request = r->request, .counted = r->counted, .profiles = r->profiles,
		.whole_bytes = b->raw_len, .said = r->said,
	};
	int err;

	note_verbose("%zu bytes are too much for the receiver; they are sent in parts", b->len);
	part.request.slot++;
	if (is_too_costly(r, b))
		part.request.max_cost = r->t->pace.max_cost;
	else
		part.request.max_body_bytes = b->raw_len / 2;
	part.request.skip = r->counted;
	part.request.take = b->samples + b->lost;
	part.request.first_profile = (uint64_t)part.request.slot << 32 | r->profiles;
	err = begin(&part);
	if (!err)
		err = send_all(&part);
	end(&part);
	r->said = part.said;
	return err ? err : r->result->outcome == PUSH_DONE;
}

/* At the receiver's pace. 1: it answered, or cannot be reached. 0: the call ends. -errno. */
static int send_paced(struct run *r, const struct push_body *b, struct push_answer *a)
{
	struct push_pace *pace = &r->t->pace;
	int err = wait_for(r, push_pace_wait(pace, now_ns())) ? 0 : -ECANCELED;

	if (!err)
		err = push_sender_send(r->t->sender, b, &r->stop, a);
	push_pace_sent(pace, b->cost, now_ns());
	if (err == -ECANCELED) {
		r->result->outcome = PUSH_STOPPED;
		return 0;
	}
	if (err)
		return fail(err, "send %s", b->path);
	r->result->requests++;
	keep_why(r->result, a);
	return 1;
}

/* The answer says to come again. Returns what come_again() does. */
static bool was_put_off(struct run *r, const struct push_body *b, const struct push_answer *a)
{
	if (a->status == HTTP_TOO_MANY)
		push_pace_refused(&r->t->pace);
	r->result->again += may_be_stored_in_part(b, a);
	return come_again(r, a);
}

/* The answer is the last one to this body. Returns what deliver() does. */
static int end_body(struct run *r, const struct push_body *b, const struct push_answer *a)
{
	if (a->verdict == PUSH_NOT_HERE) {
		r->result->outcome = PUSH_BLOCKED;
		return 0;
	}
	if (a->verdict == PUSH_REFUSED && a->is_too_large && can_split(r, b)) {
		r->t->too_large = b->len;
		return send_parts(r, b);
	}
	settle(r, b, a);
	return 1;
}

/* What was learned from other bodies, or from an earlier attempt at this one. */
static bool is_too_much(const struct run *r, const struct push_body *b)
{
	bool is_large = r->t->too_large && b->len >= r->t->too_large;

	return (is_large || is_too_costly(r, b)) && can_split(r, b);
}

/* 1: it is settled. 0: the call ends, and the result says why. -errno. */
static int deliver(struct run *r, const struct push_body *b)
{
	struct push_answer a;
	int n;

	do {
		if (is_too_much(r, b))
			return send_parts(r, b);
		n = send_paced(r, b, &a);
		if (n <= 0)
			return n;
		if (a.verdict != PUSH_AGAIN)
			return end_body(r, b, &a);
	} while (was_put_off(r, b, &a));
	return 0;
}

/* ---- all bodies ---- */

static int is_other(const struct run *r)
{
	return fail_why(-ESTALE, "%s was sent in part, up to body %" PRIu64 ", but as another "
			"trace or with other options", r->request.name, r->settled);
}

/* A body that an earlier call has settled. */
static int skip(struct run *r, const struct push_body *b)
{
	amount_add(&r->result->skipped, b);
	if (r->result->skipped.bodies < r->settled || !r->progress->mark)
		return 1;
	return r->progress->mark == mark_of(b) ? 1 : is_other(r);
}

static int settle_body(struct run *r, const struct push_body *b)
{
	struct push_progress *p = r->progress;
	int err = p->begin ? p->begin(p->ctx, p) : 0;

	if (err)
		return err;
	err = deliver(r, b);
	if (err <= 0)
		return err;
	p->settled++;
	p->mark = mark_of(b);
	err = p->keep ? p->keep(p->ctx, p) : 0;
	return err ? err : 1;
}

/* 1: go on. 0: the call ends. -errno, or what keep() returned. */
static int send_one(struct run *r)
{
	const struct push_body *b = &r->pipe.body;
	bool is_old = !r->whole_bytes && r->result->skipped.bodies < r->settled;
	int n = is_old ? skip(r, b) : settle_body(r, b);

	r->counted += b->samples + b->lost;
	r->profiles += b->profiles;
	return n;
}

static int pipe_error(int err, const char *name)
{
	if (err == -EPIPE)
		return fail_why(err, "%s: the process that reads it has died", name);
	return fail(err, "%s: from the process that reads it", name);
}

/* Until the end of the trace, or until the call is to end. */
static int send_all(struct run *r)
{
	int n, go_on = 1;

	while (go_on == 1 && (n = push_pipe_next(&r->pipe)) > 0)
		go_on = send_one(r);
	if (go_on <= 0)
		return go_on;
	if (n == -ECANCELED) {
		r->result->outcome = PUSH_STOPPED;
		return 0;
	}
	if (n < 0)
		return pipe_error(n, r->request.name);
	if (!r->whole_bytes) {
		r->result->cut_values += r->pipe.counts.cut_values;
		r->result->capped += r->pipe.counts.capped;
	}
	if (!r->pipe.result && !r->whole_bytes && r->result->skipped.bodies < r->settled)
		return is_other(r);
	return r->pipe.result > 0 ? pipe_error(-EPROTO, r->request.name) : r->pipe.result;
}

static int begin(struct run *r)
{
	r->pipe.fd = push_reader_begin(&r->t->reader, &r->request);
	return r->pipe.fd < 0 ? r->pipe.fd : 0;
}

static void end(struct run *r)
{
	push_pipe_release(&r->pipe);
	if (r->pipe.fd >= 0)
		close(r->pipe.fd);
}

static void ask(struct run *r, const int *fds, size_t nr, const char *name, uint64_t rebase_to_ns)
{
	memcpy(r->request.fds, fds, nr * sizeof(*fds));
	r->request.nr_fds = (uint32_t)nr;
	r->request.rebase_to_ns = rebase_to_ns;
	snprintf(r->request.name, sizeof(r->request.name), "%s", name);
}

int push_trace(struct push_target *t, int fd, const char *name, struct push_progress *progress,
	       struct push_result *result)
{
	return push_traces(t, &fd, 1, name, progress, result);
}

_Static_assert(PUSH_TRACES == PUSH_TRACES_MAX, "one for callers, one for the reader");

int push_traces(struct push_target *t, const int *fds, size_t nr, const char *name,
		struct push_progress *progress, struct push_result *result)
{
	struct push_progress none = { .settled = 0 };
	struct push_progress *p = progress ? progress : &none;
	struct push_retry_policy policy = usual;
	struct run r = {
		.t = t, .progress = p, .result = result, .settled = p->settled,
		.stop = { p->stop, p->ctx },
		.pipe = { .fd = -1, .stop = p->stop, .ctx = p->ctx },
	};
	int err;

	*result = (struct push_result){ .outcome = PUSH_DONE };
	if (nr > PUSH_TRACES)
		return fail(-EINVAL, "send %s", name);
	if (t->settings.rebase_time && !p->rebased_to_ns)
		p->rebased_to_ns = clock_ns(CLOCK_REALTIME);
	ask(&r, fds, nr, name, t->settings.rebase_time ? p->rebased_to_ns : 0);
	policy.give_up_ns = t->settings.give_up_ns;
	push_retry_begin(&t->retry, &policy, now_ns());
	err = begin(&r);
	if (!err)
		err = send_all(&r);
	end(&r);
	return err;
}

int push_dry_run(struct push_target *t, int fd, const char *name,
		 int (*show)(void *ctx, const struct push_body *b), void *ctx,
		 struct push_result *result)
{
	struct push_progress none = { .settled = 0 };
	struct run r = { .t = t, .progress = &none, .result = result, .pipe = { .fd = -1 } };
	bool is_rebased = t->settings.rebase_time;
	int err, n = 0;

	*result = (struct push_result){ .outcome = PUSH_DONE };
	ask(&r, &fd, 1, name, is_rebased ? clock_ns(CLOCK_REALTIME) : 0);
	err = begin(&r);
	while (!err && (n = push_pipe_next(&r.pipe)) > 0) {
		amount_add(&result->delivered, &r.pipe.body);
		result->lost += r.pipe.body.lost;
		err = show(ctx, &r.pipe.body);
	}
	if (!err && n < 0)
		err = pipe_error(n, name);
	else if (!err)
		err = r.pipe.result > 0 ? pipe_error(-EPROTO, name) : r.pipe.result;
	end(&r);
	return err;
}
