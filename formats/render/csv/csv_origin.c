/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells that say where a sample is from: its recording, its container, and the function that was
 * running. Tables of many machines are joined and grouped by them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/render/csv/csv_parts.h"
#include "src/base/clock.h"
#include "src/model/definition_store.h"
#include "src/base/cgroup_container.h"
#include "src/report/report.h"

/* ---- the recording ---- */

enum origin { ORIGIN_TRACE, ORIGIN_HOST, ORIGIN_KERNEL, ORIGIN_ARCH, ORIGIN_ID, ORIGIN_START };

/* The text is the same for all samples of a recording, and is made once. */
static int put_origin(struct csv *c, enum origin which, const char *text)
{
	const struct cached_text *t = text_cache_find(&c->origins, which);

	if (!t) {
		csv_escape_cell(c, c->origins.out, text, strlen(text));
		t = text_cache_keep(&c->origins, which);
	}
	return csv_put_cached(c, t);
}

#define ORIGIN_COLUMN(name, which, field) \
	int csv_put_##name(struct csv *c, const struct report_sample *s) \
	{ \
		return s->facts ? put_origin(c, which, s->facts->field) : 0; \
	}
ORIGIN_COLUMN(trace, ORIGIN_TRACE, trace)
ORIGIN_COLUMN(host, ORIGIN_HOST, host)
ORIGIN_COLUMN(kernel, ORIGIN_KERNEL, kernel)
ORIGIN_COLUMN(arch, ORIGIN_ARCH, arch)
ORIGIN_COLUMN(recording_id, ORIGIN_ID, id)

int csv_put_recording_start(struct csv *c, const struct report_sample *s)
{
	uint64_t ns = s->facts ? s->facts->begin_real_ns : 0;
	char date[CSV_DATE_MAX], text[CSV_DATE_MAX + 16] = "";

	if (!ns)
		return 0;
	if (text_cache_find(&c->origins, ORIGIN_START))	/* making a date is slow */
		return put_origin(c, ORIGIN_START, "");
	csv_make_date(c, ns / NSEC_PER_SEC, date);
	if (c->dialect == CSV_XSTACK)
		snprintf(text, sizeof(text), "%s.%06u", date, (unsigned)(ns % NSEC_PER_SEC / 1000));
	else
		snprintf(text, sizeof(text), "%s.%09uZ", date, (unsigned)(ns % NSEC_PER_SEC));
	return put_origin(c, ORIGIN_START, text);
}

/* A small trace can have a long name for many rows, so each is searched once. */
int csv_put_container(struct csv *c, const struct report_sample *s)
{
	uint32_t cgroup = s->process ? s->process->cgroup : 0;
	const struct cached_text *t = text_cache_find(&c->containers, cgroup);
	size_t len, nr;
	const char *name, *id;

	if (!cgroup)
		return 0;
	if (!t) {
		name = definition_store_string(c->tables, cgroup, &len);
		id = cgroup_container(name, len, &nr);
		if (id)			/* digits, and nothing that needs an escape */
			fwrite(id, 1, nr, c->containers.out);
		t = text_cache_keep(&c->containers, cgroup);
	}
	return csv_put_cached(c, t);
}

/* ---- the function ---- */

/* The innermost frame of a stack; 0: it has none. */
static uint32_t innermost(const struct csv *c, uint32_t stack)
{
	const struct table_node *n = definition_store_find_node(c->tables, stack);

	return n ? n->frame : 0;
}

static uint32_t frame_of(const struct csv *c, const struct rec_sample *rec)
{
	uint32_t kernel = innermost(c, rec->kstack);

	return kernel ? kernel : innermost(c, rec->ustack);
}

static void view_of(const struct csv *c, uint32_t frame, char buf[FRAME_TEXT_MAX],
		    struct frame_view *v)
{
	uint32_t all = definition_store_frame_depth(c->tables, frame);

	definition_store_frame_view(c->tables, frame, frame_style_nth(&c->style, all, 0), buf, v);
}

static int put_function_of(struct csv *c, uint32_t frame)
{
	const struct cached_text *t = text_cache_find(&c->leaves, frame);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!frame)
		return 0;
	if (!t) {
		view_of(c, frame, buf, &v);
		if (csv_is_formula(c, v.name, v.len))
			putc('\'', c->leaves.out);
		csv_escape_frame(c, c->leaves.out, v.name, v.len);
		t = text_cache_keep(&c->leaves, frame);
	}
	return csv_put_cached(c, t);
}

int csv_put_function(struct csv *c, const struct report_sample *s)
{
	return put_function_of(c, frame_of(c, s->rec));
}

int csv_put_user_function(struct csv *c, const struct report_sample *s)
{
	return put_function_of(c, innermost(c, s->rec->ustack));
}

int csv_put_kind(struct csv *c, const struct report_sample *s)
{
	uint32_t id = frame_of(c, s->rec);
	const struct rec_frame *f = definition_store_find_frame(c->tables, id);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!f || f->kind >= FRAME_KINDS)
		return 0;
	view_of(c, id, buf, &v);
	csv_put_text(c, v.inlined ? "inlined" : frame_kind_name(f->kind, v.tier));
	return 0;
}

/* The file of the line, which may be another one than that of the function. */
int csv_put_file(struct csv *c, const struct report_sample *s)
{
	uint32_t id = frame_of(c, s->rec);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!id)
		return 0;
	view_of(c, id, buf, &v);
	return csv_put_string(c, v.line ? v.line_file : v.file);
}

int csv_put_line(struct csv *c, const struct report_sample *s)
{
	uint32_t id = frame_of(c, s->rec);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!id)
		return 0;
	view_of(c, id, buf, &v);
	if (v.line)
		csv_put_decimal(c, v.line);
	return 0;
}

static const struct rec_binary *binary_of(const struct csv *c, uint32_t frame)
{
	const struct rec_frame *f = definition_store_find_frame(c->tables, frame);

	return f ? definition_store_find_binary(c->tables, f->binary) : NULL;
}

int csv_put_binary(struct csv *c, const struct report_sample *s)
{
	const struct rec_binary *b = binary_of(c, frame_of(c, s->rec));

	return b ? csv_put_string(c, b->path) : 0;
}

int csv_put_user_binary(struct csv *c, const struct report_sample *s)
{
	const struct rec_binary *b = binary_of(c, innermost(c, s->rec->ustack));

	return b ? csv_put_string(c, b->path) : 0;
}

int csv_put_build_id(struct csv *c, const struct report_sample *s)
{
	csv_put_digits_of(c, binary_of(c, innermost(c, s->rec->ustack)));
	return 0;
}
