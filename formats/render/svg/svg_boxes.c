/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/svg/svg_parts.h"
#include "formats/render/svg/svg_text.h"
#include "src/base/decimal.h"
#include "src/base/hash_index.h"
#include "src/profile/stack_note.h"
#include "src/report/weight_text.h"

#define TEXT_ROOM_PX 6			/* margins of a label, left and right together */
#define TEXT_MIN_PX 16			/* no label in less room */
#define GAP_MIN_PX 3			/* a gap would take too much of a narrower box */
#define SHADES 8
#define SCALE 1000000			/* positions are written in millionths: 12.3456% */

const struct family_row svg_families[FAMILIES] = {
	[FAMILY_USER] = { 'u', 4, "user", NULL },
	[FAMILY_INLINED] = { 'i', 4, "user, inlined", NULL },
	[FAMILY_KERNEL] = { 'k', 4, "kernel", "kernel" },
	[FAMILY_JIT] = { 'j', 4, "JIT", "JIT code" },
	[FAMILY_BPF] = { 'b', 4, "BPF", "BPF program" },
	[FAMILY_NO_CODE] = { 's', 4, "process, thread, CPU", NULL },
	[FAMILY_MORE] = { 'r', 3, "more than before", NULL },
	[FAMILY_LESS] = { 'l', 3, "less than before", NULL },
	[FAMILY_SAME] = { 'q', 4, "no difference beyond chance", NULL },
	[FAMILY_FEW] = { 'e', 4, "too few samples to tell", NULL },
	[FAMILY_INTERPRETED] = { 'n', 4, "interpreted", NULL },	/* its tier says what it is */
};

enum family svg_family(const struct picture *pic, uint32_t node)
{
	const struct node *nd = &pic->prof->nodes[node];

	if ((nd->flags & NODE_SYNTHETIC) || nd->kind == FRAME_SYNTHETIC || nd->parent == NODE_NONE)
		return FAMILY_NO_CODE;
	if (nd->kind == FRAME_KERNEL)
		return FAMILY_KERNEL;
	if (nd->kind == FRAME_JIT)
		return node_is_interpreted(nd) ? FAMILY_INTERPRETED : FAMILY_JIT;
	if (nd->kind == FRAME_BPF)
		return FAMILY_BPF;
	return nd->flags & NODE_INLINED ? FAMILY_INLINED : FAMILY_USER;
}

enum family svg_colour(const struct picture *pic, uint32_t node)
{
	return pic->prof->deltas ? svg_delta_family(pic, node) : svg_family(pic, node);
}

/*
 * A picture has thousands of boxes, so their parts are written without printf() and locks: these
 * would take two thirds of the time.
 */
static void put(FILE *out, const char *s)
{
	fputs_unlocked(s, out);
}

static void put_number(FILE *out, uint64_t v)
{
	char digits[DECIMAL_MAX], *end = digits + DECIMAL_MAX, *begin = decimal_before(end, v);

	fwrite_unlocked(begin, 1, (size_t)(end - begin), out);
}

/* Writes ' name="12"' */
static void put_attribute(FILE *out, const char *name, uint64_t v)
{
	putc_unlocked(' ', out);
	put(out, name);
	put(out, "=\"");
	put_number(out, v);
	putc_unlocked('"', out);
}

/* Writes ' y="12"', which is negative above the picture. */
static void put_y(FILE *out, int y)
{
	put(out, y < 0 ? " y=\"-" : " y=\"");
	put_number(out, (uint64_t)(y < 0 ? -y : y));
	putc_unlocked('"', out);
}

static void put_xml(FILE *out, const char *s)
{
	escape_xml(out, s, strlen(s));
}

/* "31.2 ms, 3 samples"; only "3 samples" if each weighs 1. */
static void put_weight(const struct picture *pic, uint64_t weight, uint64_t samples)
{
	const struct profile_facts *f = pic->facts;
	bool counted = !strcmp(f->unit, "samples");
	char buf[WEIGHT_TEXT_MAX];

	put_xml(pic->out, weight_text_of(weight, f->unit, f->thing, buf));
	if (!counted)
		put(pic->out, ", ");
	if (!counted)
		put_xml(pic->out, weight_text_of(samples, "samples", f->noun, buf));
}

static void put_position(FILE *out, const char *attribute, uint64_t millionths)
{
	uint64_t part = millionths % (SCALE / 100);
	char digits[4];

	putc_unlocked(' ', out);
	put(out, attribute);
	put(out, "=\"");
	put_number(out, millionths / (SCALE / 100));
	if (part) {
		putc_unlocked('.', out);
		fwrite_unlocked(decimal_padded(digits + 4, part, 4), 1, 4, out);
	}
	put(out, "%\"");
}

static void put_origin_of(const struct picture *pic, const struct node *nd)
{
	FILE *out = pic->out;

	if (nd->binary && nd->binary != nd->file) {
		putc_unlocked('\n', out);
		put_xml(out, profile_name(pic->prof, nd->binary));
	}
	if (nd->file) {
		putc_unlocked('\n', out);
		put_xml(out, profile_name(pic->prof, nd->file));
		if (nd->line) {
			putc_unlocked(':', out);
			put_number(out, nd->line);
		}
	}
}

static void put_marks(const struct picture *pic, uint32_t node)
{
	const struct node *nd = &pic->prof->nodes[node];
	const char *what = svg_families[svg_family(pic, node)].what;
	const char *marks[3 + NODE_MAX_TIERS];
	size_t nr = 0;

	if (what)
		marks[nr++] = what;
	nr += node_tiers(nd, marks + nr);
	if (nd->flags & NODE_INLINED)
		marks[nr++] = "inlined";
	if (nd->flags & NODE_GUESSED)
		marks[nr++] = "guessed caller (no unwind table here)";
	for (size_t i = 0; i < nr; i++) {
		put(pic->out, i ? ", " : "\n");
		put(pic->out, marks[i]);
	}
}

/* How often a function is in one stack at most, where recursion was folded; 0 or 1: once. */
static uint32_t levels_of(const struct picture *pic, uint32_t node)
{
	return pic->prof->levels ? pic->prof->levels[node] : 0;
}

static void put_weights(const struct picture *pic, const struct node *nd)
{
	FILE *out = pic->out;
	char buf[32];

	put_weight(pic, nd->total, nd->total_samples);
	put(out, ", ");
	put(out, text_percent(nd->total, pic->layout.total, buf));
	if (nd->self) {
		put(out, "; self ");
		put_weight(pic, nd->self, nd->self_samples);
		put(out, ", ");
		put(out, text_percent(nd->self, pic->layout.total, buf));
	}
}

static void put_title(const struct picture *pic, uint32_t node, const char *name)
{
	const struct node *nd = &pic->prof->nodes[node];
	FILE *out = pic->out;

	put(out, "<title>");
	put_xml(out, name);
	putc_unlocked('\n', out);
	if (pic->prof->deltas)
		svg_put_delta(pic, node);
	else
		put_weights(pic, nd);
	if (levels_of(pic, node) > 1)
		fprintf(out, "\nrecursion is folded: up to %u levels", levels_of(pic, node));
	put_origin_of(pic, nd);
	put_marks(pic, node);
	put(out, "</title>");
}

/*
 * The class of a box: its family and a shade, which says how large a difference is, or only tells a
 * box from its neighbours.
 */
static void put_class(const struct picture *pic, uint32_t node, const char *name, unsigned px)
{
	enum family family = svg_colour(pic, node);
	unsigned shade = (unsigned)(hash_bytes(0, name, strlen(name)) >> 8) % SHADES;

	if (family == FAMILY_MORE || family == FAMILY_LESS)
		shade = svg_delta_shade(pic, node);
	put(pic->out, "<g class=\"f ");
	putc_unlocked(svg_families[family].letter, pic->out);
	put_number(pic->out, shade);
	put(pic->out, px >= GAP_MIN_PX ? " w" : "");
	put(pic->out, pic->prof->nodes[node].flags & NODE_GUESSED ? " g\"" : "\"");
}

/* "main", or "walk \xc3\x9712" for twelve levels that were folded. */
static void put_label(const struct picture *pic, uint32_t node, const char *shown, uint64_t left,
		      int y, unsigned room_px)
{
	bool is_function = svg_family(pic, node) != FAMILY_NO_CODE;
	char levels[32] = "";
	unsigned px;

	if (levels_of(pic, node) > 1)
		snprintf(levels, sizeof(levels), " \xc3\x97%u", levels_of(pic, node));
	px = text_px(levels);
	if (px + TEXT_MIN_PX > room_px)
		levels[px = 0] = 0;
	fputs("<text", pic->out);
	put_position(pic->out, "x", left);
	fprintf(pic->out, " y=\"%d\" dx=\"3\">", y);
	(is_function ? text_put_name : text_put_middle_cut)(pic->out, shown, room_px - px);
	fprintf(pic->out, "%s</text>", levels);
}

/* The name of a box as people read it; NULL: whole. For the caller to free. */
static char *shown_name(const struct picture *pic, uint32_t node, const char *name)
{
	if (pic->full_names || svg_family(pic, node) == FAMILY_NO_CODE)
		return NULL;
	return text_shown_name(name);
}

/* What flame.js knows of a box besides its title. shown: NULL if that is in the title. */
static void put_data(const struct picture *pic, const struct box *b, const char *shown)
{
	const struct node *nd = &pic->prof->nodes[b->node];
	FILE *out = pic->out;

	put_attribute(out, "data-x", b->x);
	put_attribute(out, "data-w", nd->total);
	put_attribute(out, "data-d", nd->depth);
	if (svg_family(pic, b->node) == FAMILY_NO_CODE)
		put(out, " data-k=\"s\"");
	if (levels_of(pic, b->node) > 1)
		put_attribute(out, "data-l", levels_of(pic, b->node));
	if (shown) {
		put(out, " data-n=\"");
		put_xml(out, shown);
		putc_unlocked('"', out);
	}
	putc_unlocked('>', out);
}

/* A note of why a stack is not whole is words in all places. */
static const char *box_name(const struct picture *pic, const struct node *nd,
			    char note[STACK_NOTE_MAX])
{
	const char *name = profile_name(pic->prof, nd->name);

	return !pic->full_names && stack_note_shown(name, strlen(name), note) ? note : name;
}

static void put_box(const struct picture *pic, const struct box *b)
{
	const struct node *nd = &pic->prof->nodes[b->node];
	char note[STACK_NOTE_MAX];
	const char *name = box_name(pic, nd, note);
	uint64_t left = layout_share(b->x, pic->layout.total, SCALE);
	uint64_t right = layout_share(b->x + nd->total, pic->layout.total, SCALE);
	int y = 1 + ROW_PX * ((int)pic->rows - 1 - (int)nd->depth);
	unsigned px = (unsigned)((right - left) * CHART_PX / SCALE);
	char *shown = shown_name(pic, b->node, name);
	FILE *out = pic->out;

	put_class(pic, b->node, name, px);
	put_data(pic, b, shown && strcmp(shown, name) != 0 ? shown : NULL);
	put_title(pic, b->node, name);
	put(out, "<rect");
	put_position(out, "x", left);
	put_position(out, "width", right - left);
	put_y(out, y);
	put_attribute(out, "height", ROW_PX - 1);
	put(out, "/>");
	if (px >= TEXT_MIN_PX + TEXT_ROOM_PX)
		put_label(pic, b->node, shown ? shown : name, left, y + 13,
			  px - TEXT_ROOM_PX);
	free(shown);
	put(out, "</g>\n");
}

void svg_put_boxes(const struct picture *pic)
{
	for (size_t i = 0; i < pic->layout.nr && !ferror(pic->out); i++)
		put_box(pic, &pic->layout.v[i]);
}
