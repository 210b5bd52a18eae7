/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cuts the bytes of a trace that come from a recorder into windows, its segments, and these into
 * pieces that are whole: an IDENT, or a SIGNPOST with its chunk. A file to which only whole pieces
 * are appended is a trace at any time.
 *
 *	window_cutter_feed(&c, bytes, len)	as they come; calls begin() and piece()
 *	window_cutter_is_whole(&c)		nothing of a piece is held
 *	window_cutter_release(&c)
 *
 * All zero but for the functions is the beginning of a trace.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/trace_layout.h"

struct window_cutter {
	/* Another segment begins; its IDENT is the next piece. NULL: not told. */
	int (*begin)(void *ctx);
	/* sp: of the chunk; NULL: it is an IDENT. The bytes are valid for the call. */
	int (*piece)(void *ctx, const uint8_t *bytes, size_t len, const struct signpost *sp);
	void *ctx;
	uint8_t *held;			/* of a piece that is not whole yet */
	size_t nr, cap;
	uint64_t whole;			/* bytes in whole pieces so far */
	bool has_segment;
};

/* 0; an error of begin() or piece(); -EBADMSG: this is no trace; -ENOMEM. All silent. */
int window_cutter_feed(struct window_cutter *c, const uint8_t *bytes, size_t len);
bool window_cutter_is_whole(const struct window_cutter *c);
void window_cutter_release(struct window_cutter *c);
