/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that read traces and make bodies of them.
 *
 * The problem. A trace may have been made to take over its reader. The process that sends has the
 * network, and secrets in its memory; the one that reads must have neither.
 *
 * The idea. A process is forked before secrets are read. It does nothing but fork: for each trace a
 * child, which gets the trace and a pipe as descriptors, gives up all rights (sandbox.h) and writes
 * the bodies into the pipe (push_pipe.h). When the sender closes the pipe the child ends at its
 * next body. Several traces are copied into a file in memory, one behind the other, before the
 * child begins: that is a trace (TRACE.md).
 *
 *	push_reader_start(&r, &how)		before threads, secrets and the sender's own sandbox
 *	fd = push_reader_begin(&r, &request)	an earlier child in its slot is ended
 *	...					push_pipe_next(); close(fd)
 *	push_reader_end(&r)
 *
 * What a child has to say, it prints to standard error.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "src/push/push_body.h"
#include "src/push/push_encode_opts.h"

#define PUSH_SLOTS 8
#define PUSH_TRACES_MAX 128		/* the kernel passes 253 descriptors at once */

/* One trace, or several that are read as one; both processes are the same program. */
struct push_request {
	int fds[PUSH_TRACES_MAX];	/* of the traces; stay the caller's */
	uint32_t nr_fds;
	int fd;				/* of the trace, for push_make_fn alone, which closes it */
	uint64_t rebase_to_ns;		/* 0: times stay */
	uint64_t max_body_bytes;	/* 0: that of the options */
	uint64_t max_cost;		/* likewise */
	uint64_t skip, take, first_profile;	/* push_encode.h: a part of the trace */
	unsigned slot;			/* children in different slots live at the same time */
	char name[1024];
};

/* Makes the bodies: push_make() outside of tests. In the child. */
typedef int (*push_make_fn)(const struct push_request *q, const struct push_encode_opts *o,
			    push_body_fn fn, void *ctx, struct push_counts *counts);

struct push_reader_how {
	push_make_fn make;
	struct push_encode_opts opts;	/* borrowed while it is started */
};

struct push_reader {
	pid_t pid;			/* 0: not started */
	int sock;
};

/* Opens the trace and encodes it: push_encode(). */
int push_make(const struct push_request *q, const struct push_encode_opts *o, push_body_fn fn,
	      void *ctx, struct push_counts *counts);

/* 0 or -errno, explained. */
int push_reader_start(struct push_reader *r, const struct push_reader_how *how);
/* The end of a pipe to read from, or -errno, explained. */
int push_reader_begin(struct push_reader *r, const struct push_request *q);
void push_reader_end(struct push_reader *r);
