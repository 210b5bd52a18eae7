/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the SVG flame graph, which svg.c puts together:
 *
 *	svg_heading.c	title, facts, warnings and legend above the boxes, more facts below them
 *	svg_boxes.c	the boxes, their titles and labels, and what colours mean
 *	svg_delta.c	the same for the difference of two recordings
 *
 * The parts write to picture.out, and leave it to svg.c to look for write errors.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/render/layout.h"
#include "src/profile/profile.h"

#define ROW_PX 18
#define MARGIN_PX 10
#define CHART_PX (LAYOUT_WIDTH_PX - 2 * MARGIN_PX)

/* So many rows are always shown; those above only if they hold so much of the weight. */
#define ROWS_MIN 40
#define TIP_PERMILLE 10

struct render_opts;

struct picture {
	FILE *out;
	const struct profile *prof;
	const struct profile_facts *facts;
	struct layout layout;
	uint32_t rows;			/* shown; those above are narrow (layout_rows()) */
	bool full_names;		/* labels are made of them, not of display_name() */
	unsigned y;			/* place of the next line of text */
};

static inline unsigned chart_height(const struct picture *pic)
{
	return pic->layout.nr ? pic->rows * ROW_PX + 2 : 0;
}

/* The title of the picture, which is never empty. */
void svg_title(const struct picture *pic, const struct render_opts *opts, char *buf, size_t size);

/* Moves pic->y to the last line before the chart. */
void svg_put_heading(struct picture *pic, const char *title);

/* From pic->y on, which lies below the chart. */
void svg_put_facts(struct picture *pic);

/* What a box is coloured for; the index of svg_families[]. Four are of differences. */
enum family {
	FAMILY_USER, FAMILY_INLINED, FAMILY_KERNEL, FAMILY_JIT, FAMILY_BPF, FAMILY_NO_CODE,
	FAMILY_MORE, FAMILY_LESS, FAMILY_SAME, FAMILY_FEW, FAMILY_INTERPRETED,
	FAMILIES
};

struct family_row {
	char letter;			/* the class in flame.css, before the digit of the shade */
	uint8_t swatch;			/* the shade in the legend */
	const char *legend;		/* text of the legend */
	const char *what;		/* text in the title of a box; NULL: it needs none */
};

extern const struct family_row svg_families[FAMILIES];

/* The family of a node of the picture's profile, by its code. */
enum family svg_family(const struct picture *pic, uint32_t node);
/* The family that colours its box: of its difference, if the picture is one of differences. */
enum family svg_colour(const struct picture *pic, uint32_t node);

/* Only of a picture of differences (profile.deltas is set). */
enum family svg_delta_family(const struct picture *pic, uint32_t node);
unsigned svg_delta_shade(const struct picture *pic, uint32_t node);
/* "before 1.2 s, after 1.5 s: +0.3 s +- 0.1 s, +25 %", a line or two of the title of a box. */
void svg_put_delta(const struct picture *pic, uint32_t node);
/* How much differs, in a line. */
void svg_delta_result(const struct picture *pic, char *buf, size_t size);

void svg_put_boxes(const struct picture *pic);
