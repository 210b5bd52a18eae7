/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/svg/svg_parts.h"
#include "formats/render/svg/svg_text.h"
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
		fputs(", ", pic->out);
	if (!counted)
		put_xml(pic->out, weight_text_of(samples, "samples", f->noun, buf));
}

static void put_position(FILE *out, const char *attribute, uint64_t millionths)
{
	unsigned whole = (unsigned)(millionths / (SCALE / 100));
	unsigned part = (unsigned)(millionths % (SCALE / 100));

	if (part)
		fprintf(out, " %s=\"%u.%04u%%\"", attribute, whole, part);
	else
		fprintf(out, " %s=\"%u%%\"", attribute, whole);
}

static void put_origin_of(const struct picture *pic, const struct node *nd)
{
	FILE *out = pic->out;

	if (nd->binary && nd->binary != nd->file) {
		putc('\n', out);
		put_xml(out, profile_name(pic->prof, nd->binary));
	}
	if (nd->file) {
		putc('\n', out);
		put_xml(out, profile_name(pic->prof, nd->file));
		if (nd->line)
			fprintf(out, ":%u", nd->line);
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
	for (size_t i = 0; i < nr; i++)
		fprintf(pic->out, "%s%s", i ? ", " : "\n", marks[i]);
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
	fprintf(out, ", %s", text_percent(nd->total, pic->layout.total, buf));
	if (nd->self) {
		fputs("; self ", out);
		put_weight(pic, nd->self, nd->self_samples);
		fprintf(out, ", %s", text_percent(nd->self, pic->layout.total, buf));
	}
}

static void put_title(const struct picture *pic, uint32_t node, const char *name)
{
	const struct node *nd = &pic->prof->nodes[node];
	FILE *out = pic->out;

	fputs("<title>", out);
	put_xml(out, name);
	putc('\n', out);
	if (pic->prof->deltas)
		svg_put_delta(pic, node);
	else
		put_weights(pic, nd);
	if (levels_of(pic, node) > 1)
		fprintf(out, "\nrecursion is folded: up to %u levels", levels_of(pic, node));
	put_origin_of(pic, nd);
	put_marks(pic, node);
	fputs("</title>", out);
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
	fprintf(pic->out, "<g class=\"f %c%u%s%s\"", svg_families[family].letter, shade,
		px >= GAP_MIN_PX ? " w" : "",
		pic->prof->nodes[node].flags & NODE_GUESSED ? " g" : "");
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

	fprintf(out, " data-x=\"%llu\" data-w=\"%llu\" data-d=\"%u\"", (unsigned long long)b->x,
		(unsigned long long)nd->total, nd->depth);
	if (svg_family(pic, b->node) == FAMILY_NO_CODE)
		fputs(" data-k=\"s\"", out);
	if (levels_of(pic, b->node) > 1)
		fprintf(out, " data-l=\"%u\"", levels_of(pic, b->node));
	if (shown) {
		fputs(" data-n=\"", out);
		escape_xml(out, shown, strlen(shown));
		putc('"', out);
	}
	putc('>', out);
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
	fputs("<rect", out);
	put_position(out, "x", left);
	put_position(out, "width", right - left);
	fprintf(out, " y=\"%d\" height=\"%d\"/>", y, ROW_PX - 1);
	if (px >= TEXT_MIN_PX + TEXT_ROOM_PX)
		put_label(pic, b->node, shown ? shown : name, left, y + 13,
			  px - TEXT_ROOM_PX);
	free(shown);
	fputs("</g>\n", out);
}

void svg_put_boxes(const struct picture *pic)
{
	for (size_t i = 0; i < pic->layout.nr && !ferror(pic->out); i++)
		put_box(pic, &pic->layout.v[i]);
}
