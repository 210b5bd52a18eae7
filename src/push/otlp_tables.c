/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/otlp_tables.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "src/base/array.h"
#include "src/base/hex.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/frame_style.h"
#include "src/profile/stack_note.h"
#include "src/push/push_rows.h"

/* Bytes of an element in a request, about, without what its strings take. */
enum { STRING_BYTES = 3, FUNCTION_BYTES = 12, LOCATION_BYTES = 14, LINE_BYTES = 8, INDEX_BYTES = 3,
       ATTRIBUTE_BYTES = 12, MAPPING_BYTES = 12, STACK_BYTES = 4 };
/* And of a sample and its parts in a profile that stands alone (pprof). */
enum { ALONE_SAMPLE = 48, ALONE_INDEX = 4, ALONE_MAPPING = 44, ALONE_LOCATION = 20, ALONE_LINE = 12,
       ALONE_FUNCTION = 24 };

/* ---- all tables ---- */

enum { TABLES = 7 };

static void tables_of(struct otlp_tables *t, struct intern **v[TABLES])
{
	v[0] = &t->strings;
	v[1] = &t->functions;
	v[2] = &t->mappings;
	v[3] = &t->locations;
	v[4] = &t->attributes;
	v[5] = &t->stacks;
	v[6] = &t->sets;
}

static void free_tables(struct otlp_tables *t)
{
	struct intern **v[TABLES];

	tables_of(t, v);
	for (size_t i = 0; i < TABLES; i++) {
		intern_free(*v[i]);
		*v[i] = NULL;
	}
	t->bytes = 0;
}

static void forget_segment(struct otlp_tables *t)
{
	free(t->string_ids);
	free(t->frame_ids);
	free(t->seen);
	ix_release(&t->seen_index);
	t->string_ids = t->frame_ids = NULL;
	t->seen = NULL;
	t->cap_string_ids = t->cap_frame_ids = t->nr_seen = t->cap_seen = 0;
	t->definitions = NULL;
}

int otlp_tables_clear(struct otlp_tables *t)
{
	struct intern **v[TABLES];

	free_tables(t);
	forget_segment(t);
	free(t->sizes);
	free(t->location_marks);
	free(t->function_marks);
	t->sizes = NULL;
	t->location_marks = t->function_marks = NULL;
	t->cap_sizes = t->cap_location_marks = t->cap_function_marks = 0;
	tables_of(t, v);
	for (size_t i = 0; i < TABLES; i++) {
		*v[i] = intern_new();
		if (!*v[i])
			return -ENOMEM;
	}
	return 0;
}

int otlp_tables_init(struct otlp_tables *t)
{
	memset(t, 0, sizeof(*t));
	t->escaped = open_memstream(&t->text, &t->text_len);
	return t->escaped ? otlp_tables_clear(t) : -ENOMEM;
}

void otlp_tables_release(struct otlp_tables *t)
{
	free_tables(t);
	forget_segment(t);
	free(t->sizes);
	free(t->location_marks);
	free(t->function_marks);
	bb_release(&t->part);
	bb_release(&t->path);
	if (t->escaped)
		fclose(t->escaped);
	free(t->text);
	memset(t, 0, sizeof(*t));
}

void otlp_tables_segment(struct otlp_tables *t, const struct definition_store *definitions)
{
	if (t->definitions == definitions)
		return;
	forget_segment(t);
	t->definitions = definitions;
}

/* The index of an element; bytes: what it takes if it is new. */
static uint32_t element(struct otlp_tables *t, struct intern *table, const void *data, size_t len,
			size_t bytes)
{
	uint32_t before = intern_count(table), id = intern_bytes(table, data, len);

	if (id == IX_NONE || id > INT32_MAX) {
		t->failed = true;
		return 0;
	}
	if (id >= before)
		t->bytes += bytes;
	return id;
}

/* ---- strings and attributes ---- */

static size_t escaped(struct otlp_tables *t, const char *s, size_t len)
{
	rewind(t->escaped);
	escape_text(t->escaped, s, len);
	len = (size_t)ftello(t->escaped);
	t->failed |= fflush(t->escaped) != 0;
	return t->failed ? 0 : len;
}

static uint32_t string_of(struct otlp_tables *t, const char *s, size_t len)
{
	size_t n = escaped(t, s, len);

	return element(t, t->strings, n ? t->text : "", n, n + STRING_BYTES);
}

uint32_t otlp_string(struct otlp_tables *t, const char *s)
{
	return string_of(t, s, strlen(s));
}

static uint32_t string_of_id(struct otlp_tables *t, uint32_t string)
{
	uint32_t end = definition_store_id_end(t->definitions, REC_STRING), id;
	size_t len;
	const char *s;

	if (string < end && array_reserve(&t->string_ids, &t->cap_string_ids, end))
		t->failed = true;
	if (string < t->cap_string_ids && t->string_ids[string])
		return t->string_ids[string] - 1;
	s = definition_store_string(t->definitions, string, &len);
	id = string_of(t, s, len);
	if (string < t->cap_string_ids)
		t->string_ids[string] = id + 1;
	return id;
}

static uint32_t attribute(struct otlp_tables *t, const struct otlp_attribute *a, const char *text,
			  size_t len)
{
	t->part.nr = 0;
	bb_bytes(&t->part, a, sizeof(*a));
	bb_bytes(&t->part, text, len);
	t->failed |= t->part.bad;
	return t->failed ? 0
			 : element(t, t->attributes, t->part.v, t->part.nr, len + ATTRIBUTE_BYTES);
}

uint32_t otlp_text_attribute(struct otlp_tables *t, const char *key, const char *text, size_t len)
{
	const struct otlp_attribute a = { .key = otlp_string(t, key) };

	return attribute(t, &a, text, len);
}

uint32_t otlp_number_attribute(struct otlp_tables *t, const char *key, int64_t number)
{
	const struct otlp_attribute a = { otlp_string(t, key), true, number };

	return attribute(t, &a, "", 0);
}

uint32_t otlp_named_attribute(struct otlp_tables *t, const char *key, uint32_t string)
{
	const struct otlp_attribute a = { .key = otlp_string(t, key) };
	size_t len;
	const char *s = definition_store_string(t->definitions, string, &len);

	len = escaped(t, s, len);
	return len ? attribute(t, &a, t->text, len) : 0;
}

uint32_t otlp_set(struct otlp_tables *t, const uint32_t *attributes, size_t nr)
{
	return element(t, t->sets, attributes, nr * sizeof(*attributes), 0);
}

/* ---- frames ---- */

/* The conventions' names of what runs code: "native" for all that compilers made beforehand. */
static const char *frame_type(const struct rec_frame *f, const struct rec_func *func)
{
	static const char *const names[LANGS] = {
		[LANG_JAVASCRIPT] = "v8js", [LANG_PYTHON] = "cpython", [LANG_JAVA] = "jvm",
		[LANG_PHP] = "php",	    [LANG_RUBY] = "ruby",      [LANG_ERLANG] = "beam",
		[LANG_DOTNET] = "dotnet",   [LANG_PERL] = "perl",
	};

	if (func && func->lang < LANGS && names[func->lang])
		return names[func->lang];
	switch (f->kind < FRAME_KINDS ? (enum frame_kind)f->kind : FRAME_SYNTHETIC) {
	case FRAME_USER: case FRAME_JIT: return "native";
	case FRAME_KERNEL: case FRAME_BPF: return "kernel";
	case FRAME_SYNTHETIC: case FRAME_KINDS: break;
	}
	return NULL;
}

static uint32_t mapping_of(struct otlp_tables *t, uint32_t binary)
{
	const struct rec_binary *b = definition_store_find_binary(t->definitions, binary);
	struct otlp_mapping m = { 0 };
	char hex[2 * sizeof(b->build_id) + 1] = "";

	if (!b)
		return 0;
	if (b->build_id_len <= sizeof(b->build_id))
		hex_put(hex, b->build_id, b->build_id_len);
	m.file = string_of_id(t, b->path);
	if (*hex)
		m.build_id = otlp_text_attribute(t, "process.executable.build_id.gnu", hex,
						 strlen(hex));
	return m.file || m.build_id ? element(t, t->mappings, &m, sizeof(m), MAPPING_BYTES) : 0;
}

static uint32_t function_of(struct otlp_tables *t, const struct frame_view *v)
{
	const struct rec_func *f = definition_store_find_func(t->definitions, v->func);
	struct otlp_function fn = { .start_line = v->start_line };

	fn.name = v->string ? string_of_id(t, v->string) : string_of(t, v->name, v->len);
	if (f) {
		fn.system_name = string_of_id(t, f->sysname);
		fn.file = string_of_id(t, f->file);
	}
	return element(t, t->functions, &fn, sizeof(fn), FUNCTION_BYTES);
}

/* Lines in other files than the function's (of macros) cannot be told, so they are left out. */
static struct otlp_line line_of(struct otlp_tables *t, uint32_t frame, uint32_t i)
{
	const struct table_symbol *s = definition_store_find_symbol(t->definitions, frame);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;
	struct otlp_line line;

	definition_store_frame_view(t->definitions, frame, i, buf, &v);
	line = (struct otlp_line){ .function = function_of(t, &v) };
	if (!v.line || v.line_file != v.file)
		return line;
	line.line = v.line;
	if (s && i < s->nr_lines)
		line.column = definition_store_line(t->definitions, s, i)->column;
	return line;
}

static void put_lines(struct otlp_tables *t, uint32_t frame, const struct frame_style *style,
		      struct byte_buf *out)
{
	uint32_t all = definition_store_frame_depth(t->definitions, frame);
	uint32_t nr = frame_style_depth(style, all);

	for (uint32_t i = 0; i < nr && !t->failed; i++) {
		struct otlp_line line = line_of(t, frame, frame_style_nth(style, all, i));

		bb_bytes(out, &line, sizeof(line));
	}
}

/* The function that the innermost line of a frame is of; NULL: none. */
static const struct rec_func *innermost(const struct otlp_tables *t, uint32_t frame)
{
	const struct definition_store *d = t->definitions;
	const struct table_symbol *s = definition_store_find_symbol(d, frame);

	return s && s->nr_lines
		       ? definition_store_find_func(d, definition_store_line(d, s, 0)->func)
		       : NULL;
}

static uint32_t put_location(struct otlp_tables *t, const struct otlp_location *head,
			     const struct byte_buf *lines)
{
	uint32_t id;

	t->part.nr = 0;
	bb_bytes(&t->part, head, sizeof(*head));
	bb_bytes(&t->part, lines->v, lines->nr);
	t->failed |= t->part.bad || lines->bad;
	if (t->failed)
		return 0;
	id = element(t, t->locations, t->part.v, t->part.nr,
		     LOCATION_BYTES + lines->nr / sizeof(struct otlp_line) * LINE_BYTES);
	return id;
}

static uint32_t new_location(struct otlp_tables *t, uint32_t frame,
			     const struct frame_style *style)
{
	const struct rec_frame *f = definition_store_find_frame(t->definitions, frame);
	struct otlp_location head = { 0 };
	struct byte_buf lines = { 0 };
	const struct rec_func *func = innermost(t, frame);
	const char *type = f ? frame_type(f, func) : NULL;
	uint32_t id;

	if (f) {
		head.address = t->addresses || !func ? f->addr : 0;
		head.mapping = mapping_of(t, f->binary);
	}
	if (type)
		head.frame_type = otlp_text_attribute(t, "profile.frame.type", type, strlen(type));
	put_lines(t, frame, style, &lines);
	id = put_location(t, &head, &lines);
	bb_release(&lines);
	return id;
}

static uint32_t location_of(struct otlp_tables *t, uint32_t frame, const struct frame_style *style)
{
	uint32_t id;

	if (array_reserve(&t->frame_ids, &t->cap_frame_ids,
			  definition_store_id_end(t->definitions, REC_FRAME))) {
		t->failed = true;
		return 0;
	}
	assert(frame < t->cap_frame_ids);
	if (t->frame_ids[frame])
		return t->frame_ids[frame] - 1;
	id = new_location(t, frame, style);
	t->frame_ids[frame] = id + 1;
	return id;
}

static uint32_t named_location(struct otlp_tables *t, const char *name)
{
	const struct otlp_function fn = { .name = otlp_string(t, name) };
	struct otlp_line line = { .function = element(t, t->functions, &fn, sizeof(fn),
						      FUNCTION_BYTES) };
	const struct byte_buf lines = { .v = (uint8_t *)&line, .nr = sizeof(line) };

	return put_location(t, &(struct otlp_location){ 0 }, &lines);
}

/* ---- stacks ---- */

static void push_index(struct otlp_tables *t, uint32_t location)
{
	bb_bytes(&t->path, &location, sizeof(location));
}

static void push_frames(struct otlp_tables *t, uint32_t stack, const struct frame_style *style)
{
	uint32_t end = definition_store_id_end(t->definitions, REC_FRAME);
	const struct table_node *n;

	for (; stack && !t->failed; stack = n->parent) {
		n = definition_store_find_node(t->definitions, stack);
		if (!n || n->frame >= end) {
			push_index(t, named_location(t, "[missing]"));
			return;
		}
		push_index(t, location_of(t, n->frame, style));
	}
}

static uint32_t mapping_at(const struct otlp_tables *t, size_t i, uint32_t *location)
{
	struct otlp_location head = { 0 };
	size_t len;
	const char *s;

	memcpy(location, t->path.v + i * sizeof(*location), sizeof(*location));
	s = intern_get(t->locations, *location, &len);
	if (len >= sizeof(head))
		memcpy(&head, s, sizeof(head));
	return head.mapping;
}

/* Neighbouring frames mostly are of one file, so changes are counted, and at most 64 of them. */
static void measure(struct otlp_tables *t, uint32_t stack, size_t nr)
{
	uint32_t last = 0, location, changes = 0;

	if (array_reserve(&t->sizes, &t->cap_sizes, (size_t)stack + 1)) {
		t->failed = true;
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		uint32_t mapping = mapping_at(t, i, &location);

		changes += !i || mapping != last;
		last = mapping;
	}
	t->sizes[stack] = (struct otlp_stack_size){ (uint32_t)nr, changes < 64 ? changes : 64 };
}

/* The stack that is in .path. */
static uint32_t put_stack(struct otlp_tables *t)
{
	size_t nr = t->path.nr / sizeof(uint32_t);
	uint32_t id;

	t->failed |= t->path.bad;
	if (t->failed)
		return 0;
	id = element(t, t->stacks, t->path.v, t->path.nr, STACK_BYTES + nr * INDEX_BYTES);
	measure(t, id, nr);
	return id;
}

static uint32_t new_stack(struct otlp_tables *t, const struct push_row *row,
			  const struct frame_style *style)
{
	char buf[STACK_NOTE_MAX];
	const char *note = stack_note(row->end, row->ustack != 0, buf);

	t->path.nr = 0;
	push_frames(t, row->kstack, style);
	push_frames(t, row->ustack, style);
	if (note)
		push_index(t, named_location(t, note));
	if (!t->path.nr)
		push_index(t, named_location(t, "[no stack]"));
	return put_stack(t);
}

struct seen_search {
	const struct otlp_stack_seen *v;
	const struct push_row *row;
};

static bool same_stack(const void *ctx, uint32_t id)
{
	const struct seen_search *s = ctx;
	const struct otlp_stack_seen *a = &s->v[id];

	return a->kstack == s->row->kstack && a->ustack == s->row->ustack &&
	       a->end == s->row->end;
}

uint32_t otlp_stack(struct otlp_tables *t, const struct push_row *row,
		    const struct frame_style *style)
{
	const struct seen_search s = { t->seen, row };
	uint64_t hash = hash_u64(row->end, (uint64_t)row->kstack << 32 | row->ustack);
	uint32_t id = ix_find(&t->seen_index, hash, same_stack, &s), stack;
	struct otlp_stack_seen *seen;

	if (id != IX_NONE)
		return t->seen[id].stack;
	stack = new_stack(t, row, style);
	seen = array_push(&t->seen, &t->nr_seen, &t->cap_seen);
	if (!seen || ix_add(&t->seen_index, hash, (uint32_t)t->nr_seen - 1))
		t->failed = true;
	else
		*seen = (struct otlp_stack_seen){ row->kstack, row->ustack, row->end, stack };
	return stack;
}

uint32_t otlp_named_stack(struct otlp_tables *t, const char *name)
{
	t->path.nr = 0;
	push_index(t, named_location(t, name));
	return put_stack(t);
}

/* ---- what a profile takes by itself ---- */

void otlp_tables_mark(struct otlp_tables *t)
{
	t->mark++;
}

static size_t text_bytes(const struct otlp_tables *t, uint32_t string)
{
	size_t len;

	intern_get(t->strings, string, &len);
	return len;
}

/* True if it was not marked. */
static bool mark(struct otlp_tables *t, uint32_t **marks, size_t *cap, uint32_t id)
{
	if (array_reserve(marks, cap, (size_t)id + 1)) {
		t->failed = true;
		return false;
	}
	if ((*marks)[id] == t->mark)
		return false;
	(*marks)[id] = t->mark;
	return true;
}

static size_t function_cost(struct otlp_tables *t, uint32_t function)
{
	struct otlp_function f = { 0 };
	size_t len;
	const char *s = intern_get(t->functions, function, &len);

	if (!mark(t, &t->function_marks, &t->cap_function_marks, function) || len != sizeof(f))
		return 0;
	memcpy(&f, s, sizeof(f));
	return ALONE_FUNCTION + text_bytes(t, f.name) + text_bytes(t, f.system_name) +
	       text_bytes(t, f.file);
}

static size_t location_cost(struct otlp_tables *t, uint32_t location)
{
	size_t len, cost = ALONE_LOCATION;
	const char *s = intern_get(t->locations, location, &len);

	if (!mark(t, &t->location_marks, &t->cap_location_marks, location))
		return 0;
	for (size_t at = sizeof(struct otlp_location); at < len; at += sizeof(struct otlp_line)) {
		struct otlp_line line;

		memcpy(&line, s + at, sizeof(line));
		cost += ALONE_LINE + function_cost(t, line.function);
	}
	return cost;
}

size_t otlp_stack_cost(struct otlp_tables *t, uint32_t stack)
{
	const struct otlp_stack_size *size = &t->sizes[stack];
	size_t len, cost = ALONE_SAMPLE + (size_t)size->mappings * ALONE_MAPPING +
			   (size_t)size->depth * ALONE_INDEX;
	const char *s = intern_get(t->stacks, stack, &len);

	for (size_t at = 0; at < len && !t->failed; at += sizeof(uint32_t)) {
		uint32_t location;

		memcpy(&location, s + at, sizeof(location));
		cost += location_cost(t, location);
	}
	return cost;
}
