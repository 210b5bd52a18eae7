/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of a definition store: rows by id, and what a frame is called. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "src/model/definition_parts.h"
#include "src/model/definition_store.h"

#define FIND(NAME, field) \
const struct rec_##field *definition_store_find_##field(const struct definition_store *t, \
							uint32_t id) \
{ \
	const struct rec_##field *r = column_find(&t->columns[REC_##NAME], sizeof(*r), id); \
\
	return r && r->id ? r : NULL; \
}
FIND(BINARY, binary)
FIND(PROCESS, process)
FIND(THREAD, thread)
FIND(FRAME, frame)
FIND(FUNC, func)
FIND(EVENT, event)

const struct table_node *definition_store_node_row(const struct definition_store *t, uint32_t id)
{
	const struct table_node *n = column_find(&t->columns[REC_NODE], sizeof(*n), id);

	return n && n->depth ? n : NULL;
}

const struct table_node *definition_store_find_node(const struct definition_store *t, uint32_t id)
{
	const struct table_node *n = definition_store_node_row(t, id);

	while (n && (n->is_folded || n->is_hidden))
		n = definition_store_node_row(t, n->parent);
	return n;
}

const struct table_node *definition_store_whole_node(const struct definition_store *t, uint32_t id)
{
	const struct table_node *n = definition_store_node_row(t, id);

	while (n && n->is_folded)
		n = definition_store_node_row(t, n->parent);
	return n;
}

const struct table_symbol *definition_store_find_symbol(const struct definition_store *t,
							uint32_t frame)
{
	const struct table_symbol *s = column_find(&t->columns[REC_SYMBOL], sizeof(*s), frame);

	return s && s->known ? s : NULL;
}

const struct rec_line *definition_store_line(const struct definition_store *t,
					     const struct table_symbol *s, uint32_t i)
{
	assert(i < s->nr_lines && s->first_line + i < t->nr_lines);
	return &t->lines[s->first_line + i];
}

const char *definition_store_string(const struct definition_store *t, uint32_t id, size_t *len)
{
	static const struct text empty = { "", 0 }, missing = { "[missing]", 9 };
	const struct text *x = id ? column_find(&t->columns[REC_STRING], sizeof(*x), id) : &empty;

	if (!x || !x->s)
		x = &missing;
	if (len)
		*len = x->len;
	return x->s;
}

bool definition_store_has_string(const struct definition_store *t, uint32_t id)
{
	const struct text *x = column_find(&t->columns[REC_STRING], sizeof(*x), id);

	return x && x->s;
}

uint64_t tables_count(const struct definition_store *t, enum record_tag tag)
{
	return t->columns[tag].count;
}

uint32_t definition_store_id_end(const struct definition_store *t, enum record_tag tag)
{
	return t->columns[tag].end;
}

/* A path without its directories. */
static const char *base_name(const struct definition_store *t, uint32_t path, size_t *len)
{
	const char *s = definition_store_string(t, path, len), *slash = memrchr(s, '/', *len);

	if (!slash || slash + 1 == s + *len)
		return s;
	*len -= (size_t)(slash + 1 - s);
	return slash + 1;
}

/*
 * The name of the file that an address without a symbol lies in: "libc.so.6", "vmlinux"; "" when it
 * is in no file, or the file is not known.
 */
static const char *file_of(const struct definition_store *t, const struct rec_binary *b,
			   size_t *len)
{
	const char *s;

	*len = 0;
	if (b && b->kind != BINARY_KERNEL && b->path) {
		s = base_name(t, b->path, len);
		if (*len > 2 && s[0] == '[' && s[*len - 1] == ']') {	/* "[vdso]" */
			s++;
			*len -= 2;
		}
		return s;
	}
	s = b && b->kind == BINARY_KERNEL ? "vmlinux" : "";
	*len = strlen(s);
	return s;
}

/* Addresses in no file get one name for all of a kind, because they differ from run to run. */
static void view_no_file(const struct rec_frame *f, bool has_binary, struct frame_view *v)
{
	v->name = f->kind == FRAME_KERNEL ? "[kernel]"
		  : f->kind == FRAME_BPF  ? "[bpf]"
		  : f->kind == FRAME_JIT  ? "[jit]"
		  : has_binary		  ? "[anon]"
					  : "[unknown]";
	v->len = strlen(v->name);
	v->offset = f->addr;
	v->has_offset = true;
}

/*
 * "[php 8.2.36: gone]": a runtime's code has no address that would mean something to people, and
 * each of the objects that were freed before they were read would be a name of its own.
 */
static bool view_no_code(const struct rec_frame *f, const struct table_symbol *sym, size_t len,
			 char *buf, struct frame_view *v)
{
	const bool is_gone = sym && sym->status == SYMBOL_GONE;

	if (!(f->flags & FRAME_RUNTIME))
		return false;
	v->len = 1 + len + (size_t)snprintf(buf + 1 + len, 31, is_gone ? ": gone]" : "]");
	return true;
}

/* "[libc.so.6+0x1234]": the beginning of the function if that is known, else the address. */
static void view_address(const struct definition_store *t, uint32_t frame, char *buf,
			 struct frame_view *v)
{
	const struct rec_frame *f = definition_store_find_frame(t, frame);
	const struct rec_binary *b = f ? definition_store_find_binary(t, f->binary) : NULL;
	const struct table_symbol *sym = definition_store_find_symbol(t, frame);
	size_t len;
	const char *s;

	v->name = "[missing]";
	v->len = 9;
	if (!f)
		return;
	s = file_of(t, b, &len);
	if (!len) {
		view_no_file(f, b, v);
		return;
	}
	if (len > FRAME_TEXT_MAX - 32)
		len = FRAME_TEXT_MAX - 32;
	buf[0] = '[';
	memcpy(buf + 1, s, len);
	v->name = buf;
	if (view_no_code(f, sym, len, buf, v))
		return;
	if (sym && !sym->nr_lines && sym->offset <= f->addr)
		v->offset = sym->offset;
	v->has_offset = v->offset;
	v->len = 1 + len +
		 (size_t)snprintf(buf + 1 + len, 31, "+0x%llx]",
				  (unsigned long long)(f->addr - v->offset));
}

uint32_t definition_store_frame_depth(const struct definition_store *t, uint32_t frame)
{
	const struct table_symbol *s = definition_store_find_symbol(t, frame);

	return s && s->nr_lines ? s->nr_lines : 1;
}

static bool is_runtime(const struct rec_frame *f)
{
	return f && f->flags & FRAME_RUNTIME;
}

/* What a frame of a runtime says itself, for where its function does not. */
static void view_runtime(const struct rec_frame *f, struct frame_view *v)
{
	if (!is_runtime(f))
		return;
	v->tier = f->flags & (FRAME_COMPILED | FRAME_INLINED) ? TIER_COMPILED : TIER_INTERPRETED;
	v->inlined = f->flags & FRAME_INLINED;
}

void definition_store_frame_view(const struct definition_store *t, uint32_t frame, uint32_t i,
				 char buf[FRAME_TEXT_MAX], struct frame_view *v)
{
	const struct table_symbol *s = definition_store_find_symbol(t, frame);
	const struct rec_frame *f = definition_store_find_frame(t, frame);
	const struct rec_func *func;
	const struct rec_line *line;

	memset(v, 0, sizeof(*v));
	view_runtime(f, v);
	if (!s || i >= s->nr_lines) {
		view_address(t, frame, buf, v);
		return;
	}
	line = &t->lines[s->first_line + i];
	func = definition_store_find_func(t, line->func);
	v->name = func ? definition_store_string(t, func->name, &v->len) : "[missing]";
	if (!func)
		v->len = 9;
	if (!v->len) {
		view_address(t, frame, buf, v);
		return;
	}
	v->string = func ? func->name : 0;
	v->func = func ? line->func : 0;
	v->named = func != NULL;
	v->inlined |= i + 1 < s->nr_lines || s->lacks_outer;
	/* Some runtimes give no offset, so 0 says nothing. */
	v->has_offset = !v->inlined && (s->offset || !is_runtime(f));
	v->offset = s->offset;
	v->file = func ? func->file : 0;
	v->start_line = func ? func->start_line : 0;
	if (func && func_flags_tier(func->flags))
		v->tier = func_flags_tier(func->flags);
	v->line = line->line;
	v->line_file = line->file ? line->file : v->file;
}

int definition_store_line_text(const struct definition_store *t, const struct frame_view *v,
			       char buf[FRAME_LINE_MAX])
{
	size_t len;
	const char *file = base_name(t, v->line_file == v->file ? 0 : v->line_file, &len);

	if (!v->line)
		return 0;
	return snprintf(buf, FRAME_LINE_MAX, "%s%.*s:%u", len ? ":" : "",
			len < 128 ? (int)len : 128, file, v->line);
}
