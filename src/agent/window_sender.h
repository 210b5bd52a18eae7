/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the windows of a spool to one target, in order, in a process of its own.
 *
 * The problem. A receiver may be down for hours, hang, or refuse; the process may be killed at any
 * instant, also between the answer of the receiver and the note that it came. Nothing may be lost
 * for that, nothing be sent twice without being counted, and no receiver hold up the recording or
 * another one.
 *
 * The idea. Windows that are due go together, as a batch (agent_state.h: due_seq), so that they
 * have tables of stacks and names in common; after an outage as many as BATCH_WINDOWS and
 * BATCH_BYTES allow. A batch is turned into the same bodies each time (send_batch_fn), and a state
 * on the disk says which windows are of it and which body is next. It is written before a body is
 * sent ("in doubt") and after the answer:
 *
 *	state			killed here	the next sender
 *	body 3 is next		<-		sends body 3
 *	body 3 is in doubt	<-		sends body 3 again, counted as maybe twice; or,
 *						for a target that wants it at most once, goes on
 *						with body 4, and 3 counts as maybe lost
 *	body 4 is next		<-		sends body 4
 *
 * A batch of which no body was begun is not fixed: the next attempt takes what is due by then. If
 * one cannot be read, its windows are sent one by one, so that only the bad one is left out.
 *
 * An attempt that failed is repeated after a while: as long as the receiver says, or 1 s, 2 s, 4 s,
 * up to 5 minutes, each with a part that is random.
 *
 *	window_sender_run(&w)		until the supervisor closes its end of lifeline; returns the
 *					exit code of the process
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent_target;
struct target_state;
struct agent_state;

enum {
	BATCH_WINDOWS = 128,
	/* Bytes of traces: 50 MiB in the process that reads them. The first may be larger. */
	BATCH_BYTES = 4 << 20,
};

/* What became of one body. */
struct body_answer {
	bool is_refused;		/* for good */
	uint64_t bytes, samples;	/* of a body that was taken */
	uint64_t mark;			/* tells later whether the bodies are the same */
};

struct batch_progress {
	uint64_t done;			/* bodies that are not to be sent again */
	uint64_t mark;			/* as after() was given it with the last of them */
	/*
	 * before: the next body may be sent from now on; after: it was answered. 0: go on; else the
	 * batch is given up at once (SEND_STOPPED).
	 */
	int (*before)(void *ctx);
	int (*after)(void *ctx, const struct body_answer *a);
	/* To be asked while something is waited for, at least each second: whether to stop. */
	bool (*stop)(void *ctx);
	void *ctx;
};

enum send_outcome {
	SEND_DONE,			/* all of the batch was answered */
	SEND_LATER,			/* to be tried again */
	SEND_BAD,			/* the batch cannot be read */
	SEND_STALE,			/* its bodies are others than those that were sent before */
	SEND_STOPPED
};

struct send_result {
	uint64_t later_ns;		/* SEND_LATER: as the receiver wants; 0: it says nothing */
	/* SEND_LATER: the body that failed may have arrived (it was sent, no answer came). */
	bool is_in_doubt;
	char error[256];		/* why, in words */
};

/* Windows, open for reading, that go together. */
struct window_batch {
	int fds[BATCH_WINDOWS];
	size_t nr;
	char name[128];			/* for people: of the first one, and how many there are */
};

typedef enum send_outcome (*send_batch_fn)(void *ctx, const struct window_batch *b,
					   struct batch_progress *p, struct send_result *r);

struct window_sender {
	const struct agent_target *target;
	const char *folder;		/* of the spool */
	struct agent_state *agent;
	struct target_state *state;	/* the sender's own part */
	send_batch_fn send;
	int (*shut_in)(void *ctx);	/* once the state is open: gives up rights; NULL: nothing */
	void *ctx;
	int lifeline;			/* readable: the end */
	uint64_t first_seq;		/* for a target that never got anything */
};

int window_sender_run(struct window_sender *w);

/* The pause after so many failures in a row, without what is random. */
uint64_t window_sender_pause_ns(unsigned failures);
/*
 * The pause with it: the half of the pause to all of it; or, if the receiver wants to be left alone
 * for wish_ns, that and up to a half more. A thousand agents must not come back in the same second.
 */
uint64_t window_sender_wait_ns(unsigned failures, uint64_t wish_ns, uint32_t random);
