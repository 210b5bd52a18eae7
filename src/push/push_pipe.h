/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bodies in a pipe, from the process that reads the trace to the one that sends them. Both are the
 * same program, so a head is sent as it is in memory; but the writer reads foreign bytes and may
 * have been taken over by them, so all that it writes is foreign, too. The reader limits every
 * length, and texts must be printable.
 *
 *	head, path, content type, what, bytes		for each body
 *	head						the end, with its result and sums
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/push/push_body.h"
#include "src/push/push_encode_opts.h"

#define PUSH_PIPE_BODY_MAX (80u << 20)	/* 64 MiB, and what gzip and Base64 may add */

struct push_pipe_head {
	uint32_t magic;
	uint32_t is_end;
	int32_t result;			/* at the end: of push_encode() */
	uint32_t is_gzip;
	uint32_t path_len, type_len, what_len, profiles;
	uint64_t len, raw_len, cost, samples, lost, from_ns, to_ns;
};

_Static_assert(sizeof(struct push_pipe_head) == 88, "both ends agree on it");

/* 0, or -errno, silent: -EPIPE when nobody reads any more. */
int push_pipe_put(int fd, const struct push_body *b);
int push_pipe_end(int fd, int result, const struct push_counts *counts);

/* What was read last; its strings and bytes are those of body. */
struct push_pipe {
	int fd;
	bool (*stop)(void *ctx);	/* NULL: never; asked at least every 0.2 s */
	void *ctx;
	struct push_body body;
	struct push_counts counts;	/* after the end */
	int result;			/* likewise */
	uint8_t *buf;
	size_t cap;
};

/*
 * 1: .body is there. 0: the end, and .result says how it was. -EPIPE: the writer died. -EPROTO: it
 * writes nonsense. -ECANCELED: stop() said so. -ENOMEM. Silent.
 */
int push_pipe_next(struct push_pipe *p);
void push_pipe_release(struct push_pipe *p);	/* does not close .fd */
