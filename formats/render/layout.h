/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of the nodes of a call tree in a picture. Each node gets a box with an exact left
 * edge, counted in units of weight, not in pixels: drawing at any zoom divides these integers once,
 * so rounding errors do not add up.
 *
 *	struct layout l;
 *	err = layout_init(&l, prof, opts->min_percent, LAYOUT_MAX_BOXES);	(0 or -ENOMEM)
 *	for (size_t i = 0; i < l.nr; i++) ... l.v[i] ...
 *	layout_release(&l);
 *
 * Boxes come in pre-order (parent, then its children from left to right), the root first. A node
 * gets no box if that would be too narrow to see (0.1 px in a picture of LAYOUT_WIDTH_PX) or
 * narrower than min_percent. If there are more than max_boxes, the narrowest ones are left out, and
 * the deepest ones of equal width. A box is never without that of its parent, and leaving out boxes
 * does not move others. A profile without samples has no boxes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct profile;

#define LAYOUT_WIDTH_PX 1200
#define LAYOUT_NARROWEST (LAYOUT_WIDTH_PX * 10)	/* the narrowest box is this part of the width */
#define LAYOUT_MAX_BOXES 20000

struct box {
	uint32_t node;			/* index into profile.nodes; its total is the width */
	uint64_t x;			/* left edge, 0 .. total of the root */
};

struct layout {
	struct box *v;
	size_t nr, cap;
	uint32_t rows;			/* depth of the deepest box + 1 */
	uint64_t total;			/* width of the whole picture */
	uint64_t *row_weight;		/* of all boxes of a row, by depth */
	size_t hidden;			/* nodes with samples that have no box */
	uint64_t hidden_weight;		/* of them */
};

int layout_init(struct layout *l, const struct profile *p, double min_percent, size_t max_boxes);
void layout_release(struct layout *l);

/*
 * The number of rows from the root on that are worth their room: all, less those at the tips that
 * hold less than permille of the total weight. At least min, if there are as many.
 */
uint32_t layout_rows(const struct layout *l, uint32_t min, unsigned permille);

/* part / whole in units of 1 / scale, rounded down; part <= whole; 0 if whole is 0. */
uint64_t layout_share(uint64_t part, uint64_t whole, uint32_t scale);
