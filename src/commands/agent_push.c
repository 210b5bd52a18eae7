/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/agent_push.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/agent/agent_config.h"
#include "src/agent/window_sender.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/push/push.h"

/* A receiver that lets nothing in waits for a person. */
#define BLOCKED_NS (60 * NSEC_PER_SEC)

_Static_assert((int)BATCH_WINDOWS <= (int)PUSH_TRACES, "a batch is sent as one");

struct agent_push {
	struct push_target *target;
	/* The call under way. */
	struct batch_progress *progress;
	const struct push_result *result;
	struct push_amount told;	/* of result.delivered */
	uint64_t told_refused;
	bool is_under_way;		/* a body was begun and is not settled */
	int err;			/* of the agent's own state: the call ends */
};

/* ---- options ---- */

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static struct push_words words(const struct agent_texts *t)
{
	return (struct push_words){ .v = (const char **)t->v, .nr = t->nr, .cap = t->nr };
}

static struct push_options options(const struct agent_target *t)
{
	enum push_threads threads = PUSH_THREADS_NAME;

	push_threads_parse(t->threads, &threads);
	return (struct push_options){
		.to = t->url,
		.protocol = or_null(t->protocol),
		.service = or_null(t->service),
		.tenant = or_null(t->tenant),
		.labels = words(&t->labels),
		.headers = words(&t->headers),
		.header_file = or_null(t->header_file),
		.bearer_file = or_null(t->bearer_file),
		.basic_file = or_null(t->basic_file),
		.ca_file = or_null(t->ca_file),
		.cert_file = or_null(t->cert_file),
		.key_file = or_null(t->key_file),
		.timeout_ns = t->timeout_ns,
		.threads = threads,
		.shares_all = true,
		.no_wait = true,
	};
}

int agent_push_check(const struct agent_target *t)
{
	struct push_options o = options(t);
	struct push_target *target = NULL;
	int err;

	o.dry_run = true;
	err = push_target_open(&o, &target);
	push_target_close(target);
	return err ? fail_why(err, "[target %s] cannot be used", t->name) : 0;
}

/* ---- one batch ---- */

static int on_begin(void *ctx, const struct push_progress *p)
{
	struct agent_push *a = ctx;

	(void)p;
	a->err = a->progress->before(a->progress->ctx);
	a->is_under_way = !a->err;
	return a->err;
}

/* What the result has more than at the last call is this body's. */
static int on_keep(void *ctx, const struct push_progress *p)
{
	struct agent_push *a = ctx;
	const struct push_result *r = a->result;
	struct body_answer answer = {
		.is_refused = r->refused.bodies > a->told_refused,
		.bytes = r->delivered.bytes - a->told.bytes,
		.samples = r->delivered.samples - a->told.samples,
		.mark = p->mark,
	};

	a->told = r->delivered;
	a->told_refused = r->refused.bodies;
	a->is_under_way = false;
	a->err = a->progress->after(a->progress->ctx, &answer);
	return a->err;
}

static bool on_stop(void *ctx)
{
	struct agent_push *a = ctx;

	return a->progress->stop(a->progress->ctx);
}

static enum send_outcome outcome(const struct agent_push *a, const struct push_result *pushed,
				 struct send_result *r)
{
	snprintf(r->error, sizeof(r->error), "%s", pushed->why);
	switch (pushed->outcome) {
	case PUSH_DONE:
		return SEND_DONE;
	case PUSH_LATER:
		r->later_ns = pushed->retry_after_ns;
		/* Without an answer it is not known how far the request came. */
		r->is_in_doubt = a->is_under_way && !pushed->status;
		return SEND_LATER;
	case PUSH_BLOCKED:
		r->later_ns = BLOCKED_NS;
		return SEND_LATER;
	case PUSH_STOPPED:
		return SEND_STOPPED;
	}
	return SEND_STOPPED;
}

static enum send_outcome send_batch(void *ctx, const struct window_batch *b,
				    struct batch_progress *p, struct send_result *r)
{
	struct agent_push *a = ctx;
	struct push_result pushed;
	struct push_progress progress = {
		.settled = p->done, .mark = p->mark, .begin = on_begin, .keep = on_keep,
		.stop = on_stop, .ctx = a,
	};
	int err;

	*a = (struct agent_push){ .target = a->target, .progress = p, .result = &pushed };
	err = push_traces(a->target, b->fds, b->nr, b->name, &progress, &pushed);
	if (a->err)
		return SEND_STOPPED;
	if (!err)
		return outcome(a, &pushed, r);
	if (err == -ESTALE)
		return SEND_STALE;
	snprintf(r->error, sizeof(r->error), "it cannot be read: %s", strerror(-err));
	return SEND_BAD;
}

static int shut_in(void *ctx)
{
	return push_target_shut_in(((struct agent_push *)ctx)->target);
}

int agent_push_open(const struct agent_target *t, struct window_sender *w)
{
	struct agent_push *a = calloc(1, sizeof(*a));
	struct push_options o = options(t);
	int err = a ? push_target_open(&o, &a->target) : fail(-ENOMEM, "target %s", t->name);

	if (err) {
		free(a);
		return err;
	}
	w->send = send_batch;
	w->shut_in = shut_in;
	w->ctx = a;
	return 0;
}
