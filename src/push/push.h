/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends traces to a receiver of profiles: an OpenTelemetry collector, Pyroscope.
 *
 * The problem. A trace may have been made to take over the process that reads it, and the process
 * that sends it needs the network and holds secrets. A receiver may be away, be slow, refuse one
 * part and take another; a sender may be killed at any time, and is then not to send all again.
 *
 * The idea. A process without rights, which is forked first, reads the trace and makes requests'
 * bodies of it (push_encode.h). The caller's process only sends them, in their order. The same
 * trace and options give the same bodies, so it is enough to remember how many are settled:
 *
 *	push_target_open(&options, &t)	before threads, and before rights are given up: forks the
 *					reader, then reads secrets and loads libcurl
 *	push_target_leave_root(t)	if the process opens nothing else
 *	push_target_shut_in(t)		if the process does nothing else: gives up its rights
 *	push_trace(t, fd, name, &progress, &result)	as often as wanted, for one trace each
 *	push_target_close(t)
 *
 * Example: a trace of five bodies, where the receiver is away after the second one.
 *
 *	progress = { .settled = 0 }
 *	push_trace()	settled() is called with 1, 2; PUSH_LATER, retry_after_ns 30 s
 *	...		this process may have ended and begun again meanwhile
 *	progress = { .settled = 2, .mark = as it was kept }
 *	push_trace()	settled() is called with 3, 4, 5; PUSH_DONE
 *
 * A body that is too large for the receiver is sent in parts, halved again and again; it is settled
 * when all of its parts are. A body that was delivered but not yet kept as settled when the process
 * was killed is sent a second time. Receivers of OTLP can tell: it has the same profile ids.
 *
 * Limits. A target is used by one thread at a time, and the thread that opens it must live as long
 * as it does: the reader ends with that thread. One trace is sent at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/push/push_options.h"

struct push_target;

/*
 * 0 or -errno, explained: -EINVAL: the options or the environment make no sense; -ENOTSUP: libcurl
 * is not installed; a file with a secret is missing, or others can read it. Nothing is sent yet.
 * Options are borrowed until it returns.
 */
int push_target_open(const struct push_options *o, struct push_target **tp);
void push_target_close(struct push_target *t);		/* NULL is fine */

/*
 * The calling process gives up its rights for good, but those to connect and to read what name
 * resolution and certificates need (src/rights/sandbox.h). 0 or -errno, explained.
 */
int push_target_shut_in(struct push_target *t);

/*
 * Before that, if the process opens nothing else: root becomes the user behind sudo, or nobody, so
 * that root's files are out of reach. It stays root if that user cannot read the files with
 * certificates, or if it may not become another.
 */
void push_target_leave_root(const struct push_target *t);

/* "http://host:4318/v1development/profiles" (or ""), "OTLP profiles v1.10"; borrowed. */
const char *push_target_url(const struct push_target *t);
const char *push_target_layout(const struct push_target *t);

enum push_outcome {
	PUSH_DONE,		/* each body is delivered or refused for good */
	PUSH_LATER,		/* the receiver is away or busy: bodies from .settled on are left */
	/*
	 * It lets nothing in: its certificate is not trusted, 401, 403, 404, a redirection. A
	 * person must change something; bodies from .settled on are left.
	 */
	PUSH_BLOCKED,
	PUSH_STOPPED,		/* progress.stop() was true; bodies from .settled on are left */
};

struct push_amount {
	uint64_t bodies, profiles, samples;
	uint64_t bytes, raw_bytes;	/* of bodies as sent, and before compression */
};

struct push_result {
	enum push_outcome outcome;
	uint64_t retry_after_ns;	/* PUSH_LATER: what the receiver asked for; 0: nothing */
	struct push_amount delivered;	/* taken, whole or in part */
	struct push_amount refused;	/* for good: 400, 413, ... */
	struct push_amount skipped;	/* settled by an earlier call */
	uint64_t lost;			/* by the recording, as what was delivered says */
	uint64_t partial;		/* bodies that were taken in part: never sent again */
	uint64_t rejected_profiles;	/* in those, as the receiver says */
	uint64_t again;			/* of several profiles, sent again: push_pace.h */
	uint64_t requests, failures;	/* attempts, and those that ended in "again" */
	uint64_t cut_values, capped;	/* push_encode.h: what bodies could not hold as it was */
	unsigned status;		/* of the last answer; 0: there was none */
	char why[256];			/* the last thing that went wrong, escaped; "" */
};

/* How far a trace is sent. All zero is the beginning. A caller keeps the three numbers on disk. */
struct push_progress {
	uint64_t settled;		/* bodies that are delivered, or refused for good */
	uint64_t mark;			/* of the last of them, to know it again; 0: do not ask */
	uint64_t rebased_to_ns;		/* with rebase_time: where the trace ends; 0: now */
	/*
	 * Before the first attempt at a body: from now on it may arrive although it is not settled.
	 * Otherwise as keep().
	 */
	int (*begin)(void *ctx, const struct push_progress *p);
	/* After each of them. Not 0 ends the call, which returns it. NULL: it is not called. */
	int (*keep)(void *ctx, const struct push_progress *p);
	/* Asked about once a second: whether to end soon. NULL: never. */
	bool (*stop)(void *ctx);
	void *ctx;
};

/*
 * Sends the bodies from progress->settled on. fd stays the caller's, who passes a trace that nobody
 * writes to any more. 0: result tells; all of it counts from the call on. -errno, explained: the
 * trace cannot be read; -ESTALE: progress is of another trace, or the options were others, so
 * nothing was sent. progress may be NULL.
 */
int push_trace(struct push_target *t, int fd, const char *name, struct push_progress *progress,
	       struct push_result *result);

/*
 * Sends several traces, which become common bodies, as if they were one file. At most PUSH_TRACES
 * of them, and -EINVAL for more.
 */
#define PUSH_TRACES 128
int push_traces(struct push_target *t, const int *fds, size_t nr, const char *name,
		struct push_progress *progress, struct push_result *result);

/* Only makes the bodies, and gives each to show (push_body.h). Nothing is connected. */
struct push_body;
int push_dry_run(struct push_target *t, int fd, const char *name,
		 int (*show)(void *ctx, const struct push_body *b), void *ctx,
		 struct push_result *result);

/* Adds up results of several traces; .outcome becomes the worse one. */
void push_result_add(struct push_result *sum, const struct push_result *r);

/* "delivered 12 bodies with 340 profiles, 51234 samples, 1.2 MB; refused ...": one line. */
void push_result_text(const struct push_result *r, char *buf, size_t size);
