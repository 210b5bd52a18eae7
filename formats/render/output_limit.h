/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream that passes at most so many bytes on to another one. A small trace can make an endless
 * report: each of many boxes may have the same long name. What comes beyond the limit is an error
 * of the stream (EMSGSIZE), at which a renderer stops as at a full disk.
 *
 *	output_limit_open(&l, out, left)	l.stream is for the renderer; left 0: it is out
 *	output_limit_close(&l)			flushes; 0 or -errno
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct output_limit {
	FILE *stream;
	FILE *out;
	uint64_t left;
	int err;			/* the first one; 0: none */
};

int output_limit_open(struct output_limit *l, FILE *out, uint64_t left);	/* 0 or -ENOMEM */
int output_limit_close(struct output_limit *l);
