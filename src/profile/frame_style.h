/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the functions of a frame a report shows, and what it adds to their names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Text formats append it to names of functions that are inlined at the address. */
#define INLINED_SUFFIX "_[i]"

struct frame_style {
	bool offsets;			/* names end in "+0x12": a frame per address */
	bool lines;			/* names end in ":12": a frame per source line */
	/* A frame per source line, with the plain name; macros of other files have line 0. */
	bool by_line;
	/* A frame per binary, or script: those of one that call each other are one. */
	bool binaries;
	bool fold_recursion;		/* functions that call each other in turn are there once */
	/* So many functions at most, of which the last is the one that others are inlined in. */
	uint32_t inline_depth;		/* 0: all */
};

/* How many functions are shown of nr. */
static inline uint32_t frame_style_depth(const struct frame_style *s, uint32_t nr)
{
	return s->inline_depth && s->inline_depth < nr ? s->inline_depth : nr;
}

/* Which of nr functions is the i-th that is shown; 0 is the innermost. */
static inline uint32_t frame_style_nth(const struct frame_style *s, uint32_t nr, uint32_t i)
{
	return i + 1 == frame_style_depth(s, nr) ? nr - 1 : i;
}
