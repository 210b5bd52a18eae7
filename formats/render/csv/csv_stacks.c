/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells of stacks, joined by ';'. ustack and kstack: name+0xOFF, innermost first; inlined functions
 * are name_[i]. stack: names alone, outermost first, with the marks of folded stacks; what
 * `report --collapse --by none` says of the same sample.
 */
#include <errno.h>
#include <string.h>

#include "formats/render/csv/csv_parts.h"
#include "formats/render/frame_marks.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/profile/stack_note.h"

/*
 * Only a made-up trace has deeper stacks; without a limit its small file would make an endless
 * output.
 */
#define FRAMES_MAX 4096
#define MAX_CELL_BYTES (1u << 20)	/* of a stack: 4096 frames of 256 bytes */

static void put_function(struct csv *c, const struct frame_view *v)
{
	char line[FRAME_LINE_MAX];

	csv_escape_frame(c, c->frames.out, v->name, v->len);
	if (c->style.lines)
		csv_escape_frame(c, c->frames.out, line,
				 (size_t)definition_store_line_text(c->tables, v, line));
	if (v->inlined)
		fputs(INLINED_SUFFIX, c->frames.out);
	if (v->has_offset)
		fprintf(c->frames.out, "+0x%llx", (unsigned long long)v->offset);
}

/* All functions of a frame, joined in the order of the row. */
static const struct cached_text *frame_text(struct csv *c, uint32_t frame)
{
	const struct cached_text *t = text_cache_find(&c->frames, frame);
	uint32_t all = definition_store_frame_depth(c->tables, frame);
	uint32_t nr = frame_style_depth(&c->style, all);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (t)
		return t;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t nth = frame_style_nth(&c->style, all, c->reverse ? nr - 1 - i : i);

		definition_store_frame_view(c->tables, frame, nth, buf, &v);
		if (i)
			putc(';', c->frames.out);
		put_function(c, &v);
	}
	return text_cache_keep(&c->frames, frame);
}

static int collect_path(struct csv *c, uint32_t stack, bool *missing)
{
	const struct table_node *n;
	uint32_t *frame;

	c->nr_path = 0;
	for (;
	     stack && c->nr_path < FRAMES_MAX && (n = definition_store_find_node(c->tables, stack));
	     stack = n->parent) {
		frame = array_push(&c->path, &c->nr_path, &c->cap_path);
		if (!frame)
			return -ENOMEM;
		*frame = n->frame;
	}
	*missing = stack && !definition_store_hidden(c->tables, stack);
	return 0;
}

/*
 * Adds a frame to the cell that began at begin. No cell may look like a formula to a spreadsheet.
 */
static void put_frame(struct csv *c, size_t begin, const char *s, size_t len)
{
	if (c->row.nr > begin)
		bb_u8(&c->row, ';');
	else if (csv_is_formula(c, s, len))
		bb_u8(&c->row, '\'');
	bb_bytes(&c->row, s, len);
}

/* Adds the frames of a stack; note goes to the side of its outermost frame. */
static int put_stack(struct csv *c, uint32_t stack, const char *note)
{
	size_t begin = c->row.nr;
	bool missing;
	int err = collect_path(c, stack, &missing);

	if (missing)
		note = "[missing]";
	if (!err && note && c->reverse)
		put_frame(c, begin, note, strlen(note));
	for (size_t i = 0; !err && i < c->nr_path; i++) {
		uint32_t frame = c->path[c->reverse ? c->nr_path - 1 - i : i];
		const struct cached_text *t = frame_text(c, frame);

		if (!t)
			return -ENOMEM;
		if (c->row.nr - begin > MAX_CELL_BYTES) {
			put_frame(c, begin, "[too long]", 10);
			break;
		}
		put_frame(c, begin, t->s, t->len);
	}
	if (!err && note && !c->reverse)
		put_frame(c, begin, note, strlen(note));
	return err;
}

static const char *hidden_note(const struct csv *c, const struct rec_sample *rec)
{
	return stack_note_hidden(c->tables, rec->ustack, rec->kstack);
}

int csv_put_user_stack(struct csv *c, const struct rec_sample *rec)
{
	char buf[STACK_NOTE_MAX];
	const char *note = stack_note(rec->end, rec->ustack != 0, buf);

	if (!note && !rec->ustack) {	/* no error, but the row says why it has no frames */
		snprintf(buf, sizeof(buf), "[%s]", stack_end_name(rec->end));
		note = buf;
	}
	return put_stack(c, rec->ustack, note ? note : hidden_note(c, rec));
}

int csv_put_kernel_stack(struct csv *c, const struct rec_sample *rec)
{
	return put_stack(c, rec->kstack,
			 rec->flags & SAMPLE_KERNEL_TRUNCATED ? "[truncated]" : NULL);
}

/* ---- folded ---- */

static void put_folded_name(struct csv *c, const struct rec_frame *rec, const struct frame_view *v)
{
	uint8_t kind = rec ? rec->kind : FRAME_SYNTHETIC;
	uint8_t run = v->tier == TIER_INTERPRETED ? NODE_INTERPRETED : 0;
	const struct node n = { .kind = run ? FRAME_JIT : kind,
				.flags = (v->inlined ? NODE_INLINED : 0) | run };
	enum frame_mark mark = frame_mark(&n, c->marks);
	const char *suffix = mark == MARK_KERNEL && c->kernel_suffix ? c->kernel_suffix
								     : frame_mark_text(mark);

	csv_escape_frame(c, c->folded.out, v->name, v->len);
	csv_escape_frame(c, c->folded.out, suffix, strlen(suffix));
}

/* All functions of a frame, outermost first. */
static const struct cached_text *folded_text(struct csv *c, uint32_t frame)
{
	const struct cached_text *t = text_cache_find(&c->folded, frame);
	uint32_t all = definition_store_frame_depth(c->tables, frame);
	uint32_t nr = frame_style_depth(&c->style, all);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (t)
		return t;
	for (uint32_t i = nr; i-- > 0;) {
		definition_store_frame_view(c->tables, frame, frame_style_nth(&c->style, all, i),
					    buf, &v);
		if (i + 1 < nr)
			putc(';', c->folded.out);
		put_folded_name(c, definition_store_find_frame(c->tables, frame), &v);
	}
	return text_cache_keep(&c->folded, frame);
}

static int put_folded(struct csv *c, size_t begin, uint32_t stack)
{
	bool missing;
	int err = collect_path(c, stack, &missing);

	if (!err && missing)
		put_frame(c, begin, "[missing]", 9);
	for (size_t i = c->nr_path; !err && i-- > 0;) {
		const struct cached_text *t = folded_text(c, c->path[i]);

		if (!t)
			return -ENOMEM;
		if (c->row.nr - begin > MAX_CELL_BYTES) {
			put_frame(c, begin, "[too long]", 10);
			break;
		}
		put_frame(c, begin, t->s, t->len);
	}
	return err;
}

int csv_put_stack(struct csv *c, const struct report_sample *s)
{
	size_t begin = c->row.nr;
	char buf[STACK_NOTE_MAX];
	const char *note = stack_note(s->rec->end, s->rec->ustack != 0, buf);
	const char *hidden = hidden_note(c, s->rec);
	int err;

	if (note)
		put_frame(c, begin, note, strlen(note));
	if (hidden)
		put_frame(c, begin, hidden, strlen(hidden));
	err = put_folded(c, begin, s->rec->ustack);
	return err ? err : put_folded(c, begin, s->rec->kstack);
}
