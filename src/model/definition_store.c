/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/definition_store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_parts.h"
#include "src/model/same_definition.h"

/*
 * A real trace has gaps between ids only where chunks were damaged, and a chunk holds some 100,000
 * definitions at most. Without a limit one record with a huge id would cost gigabytes.
 */
#define MAX_GAPS (4u << 20)
#define MAX_BYTES ((size_t)512 << 20)
#define BLOCK_BYTES (64 * 1024)

struct definition_store *definition_store_new(void)
{
	return calloc(1, sizeof(struct definition_store));
}

void definition_store_free(struct definition_store *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < RECORD_TAGS; i++)
		free(t->columns[i].v);
	free(t->lines);
	for (size_t i = 0; i < t->nr_blocks; i++)
		free(t->blocks[i]);
	free(t->blocks);
	free(t);
}

/* Finds or makes the row of id. 0, 1: refused and counted, -ENOMEM. */
static int column_row(struct definition_store *t, struct column *c, size_t size, uint32_t id,
		      void **row)
{
	uint64_t gap = id >= c->end ? id - c->end : 0;
	size_t before = c->cap;

	if (!id || id == UINT32_MAX || t->gaps + gap > MAX_GAPS ||
	    (id >= c->cap && t->bytes + (id + 1 - c->cap) * size > MAX_BYTES)) {
		t->refused++;
		return 1;
	}
	if (array_reserve_raw(&c->v, &c->cap, (size_t)id + 1, size))
		return -ENOMEM;
	t->bytes += (c->cap - before) * size;
	t->gaps += gap;
	if (id >= c->end)
		c->end = id + 1;
	assert(c->end <= c->cap);
	*row = (char *)c->v + (size_t)id * size;
	return 0;
}

static const void *column_find(const struct column *c, size_t size, uint32_t id)
{
	return id < c->end ? (const char *)c->v + (size_t)id * size : NULL;
}

/* The first blocks are small: a file may hold thousands of recordings with a few strings each. */
static size_t block_size(size_t nr_blocks, size_t need)
{
	size_t size = nr_blocks < 6 ? (BLOCK_BYTES / 64) << nr_blocks : BLOCK_BYTES;

	return need > size ? need : size;
}

/* A copy of the bytes, with a NUL at its end, that lives as long as the store. */
static char *store(struct definition_store *t, const char *bytes, size_t len)
{
	char **last, *p;

	if (len + 1 > t->room) {
		size_t size = block_size(t->nr_blocks, len + 1);

		p = malloc(size);
		last = p ? array_push(&t->blocks, &t->nr_blocks, &t->cap_blocks) : NULL;
		if (!last) {
			free(p);
			return NULL;
		}
		*last = p;		/* a block is filled from its end */
		t->room = size;
		t->bytes += size;
	}
	assert(t->room >= len + 1);
	t->room -= len + 1;
	p = t->blocks[t->nr_blocks - 1] + t->room;
	memcpy(p, bytes, len);
	p[len] = 0;
	return p;
}

static int add_string(struct definition_store *t, const struct rec_string *r)
{
	struct text *x;
	void *row;
	int err;

	if (r->len >= UINT32_MAX || t->bytes + r->len > MAX_BYTES) {
		t->refused++;
		return 0;
	}
	err = column_row(t, &t->columns[REC_STRING], sizeof(*x), r->id, &row);
	x = row;
	if (err || x->s)
		return err;
	x->s = store(t, r->bytes, r->len);
	x->len = (uint32_t)r->len;
	t->columns[REC_STRING].count++;
	return x->s ? 0 : -ENOMEM;
}

/*
 * Adds a row that is a copy of the record. The first member of the record is its id, so a row that
 * begins with 0 is not defined yet.
 */
static int add_row(struct definition_store *t, struct column *c, size_t size, uint32_t id,
		   const void *rec)
{
	void *row;
	int err = column_row(t, c, size, id, &row);

	if (err)
		return err;
	if (*(const uint32_t *)row)
		return 0;		/* defined twice: the first counts, as it did so far */
	memcpy(row, rec, size);
	c->count++;
	return 0;
}

/* Defined twice, it learns what the first definition lacked: same_definition.h. */
static int add_process(struct definition_store *t, const struct rec_process *r)
{
	struct column *c = &t->columns[REC_PROCESS];
	struct rec_process *rows = c->v;

	if (r->id >= c->end || !rows[r->id].id)
		return add_row(t, c, sizeof(*r), r->id, r);
	process_learn(&rows[r->id], r);
	return 0;
}

static int add_binary(struct definition_store *t, const struct rec_binary *r)
{
	struct rec_binary copy = *r;

	copy.segments = NULL;
	copy.nr_segments = 0;
	if (copy.build_id_len > sizeof(copy.build_id))
		copy.build_id_len = sizeof(copy.build_id);
	return add_row(t, &t->columns[REC_BINARY], sizeof(copy), r->id, &copy);
}

void definition_store_fold(struct definition_store *t, enum frame_folding folding)
{
	t->folding = folding;
}

static int add_node(struct definition_store *t, const struct rec_node *r)
{
	const struct table_node *parent;
	uint32_t depth, outermost;
	struct table_node *n;
	void *row;
	int err;

	parent = definition_store_whole_node(t, r->parent);
	depth = parent ? parent->depth + 1 : 1;
	outermost = parent ? parent->outermost : r->frame;
	/* A parent must be defined before its child, so that there are no cycles. */
	if (r->parent >= r->id || depth > TABLES_MAX_DEPTH) {
		t->refused++;
		return 0;
	}
	err = column_row(t, &t->columns[REC_NODE], sizeof(*n), r->id, &row);
	n = row;
	if (err || n->depth)
		return err;
	*n = (struct table_node){ .parent = r->parent, .frame = r->frame, .outermost = outermost,
				  .depth = depth, .is_folded = definition_store_folds(t, r) };
	n->is_blank = n->is_folded && definition_store_is_blank(t, n->parent);
	t->columns[REC_NODE].count++;
	return 0;
}

/* Whether a SYMBOL says more than the one that came first. */
static bool is_better(const struct definition_store *t, const struct table_symbol *s,
		      const struct rec_symbol *r)
{
	if (!s->nr_lines || !r->nr_lines)
		return r->nr_lines;
	return t->is_joined && s->status == SYMBOL_OK_SYMTAB && r->status == SYMBOL_OK;
}

static int add_symbol(struct definition_store *t, const struct rec_symbol *r)
{
	struct table_symbol *s;
	void *row;
	int err = column_row(t, &t->columns[REC_SYMBOL], sizeof(*s), r->frame, &row);
	size_t need = t->nr_lines + r->nr_lines, before = t->cap_lines;

	s = row;
	if (err || (s->known && !is_better(t, s, r)))
		return err;
	if (need > UINT32_MAX || t->bytes + r->nr_lines * sizeof(*r->lines) > MAX_BYTES) {
		t->refused++;
		return 0;
	}
	if (array_reserve(&t->lines, &t->cap_lines, need))
		return -ENOMEM;
	t->bytes += (t->cap_lines - before) * sizeof(*t->lines);
	t->columns[REC_SYMBOL].count += !s->known;
	*s = (struct table_symbol){ true, r->status, false, (uint32_t)t->nr_lines, r->nr_lines,
				    r->offset };
	if (r->nr_lines)
		memcpy(t->lines + t->nr_lines, r->lines, r->nr_lines * sizeof(*r->lines));
	t->nr_lines = need;
	return 0;
}

/* Keeps the first PLACE of a function, as with SYMBOLs. */
static void set_place(struct definition_store *t, const struct rec_place *r)
{
	const struct table_symbol *s = definition_store_find_symbol(t, r->frame);
	struct rec_line *l = s && r->nth < s->nr_lines ? &t->lines[s->first_line + r->nth] : NULL;

	if (!l || l->line)
		return;
	l->line = r->line;
	l->column = r->column;
	l->file = r->file;
}

static int add_thread(struct definition_store *t, const struct rec_thread *r)
{
	struct rec_thread copy = *r;

	copy.kernel_comm = 0;
	return add_row(t, &t->columns[REC_THREAD], sizeof(copy), r->id, &copy);
}

/* The last name counts: it is the newest. */
static void name_thread(struct definition_store *t, const struct rec_threadname *r)
{
	const struct column *c = &t->columns[REC_THREAD];
	struct rec_thread *rows = c->v;

	if (r->thread >= c->end || !rows[r->thread].id || !r->name)
		return;
	if (!rows[r->thread].kernel_comm)
		rows[r->thread].kernel_comm = rows[r->thread].comm;
	rows[r->thread].comm = r->name;
	t->columns[REC_THREADNAME].count++;
}

#define ADD(NAME, field) \
	add_row(t, &t->columns[REC_##NAME], sizeof(rec->field), rec->field.id, &rec->field)

static int add(struct definition_store *t, const struct record *rec)
{
	switch (rec->tag) {
	case REC_STRING: return add_string(t, &rec->string);
	case REC_BINARY: return add_binary(t, &rec->binary);
	case REC_PROCESS: return add_process(t, &rec->process);
	case REC_THREAD: return add_thread(t, &rec->thread);
	case REC_FRAME: return ADD(FRAME, frame);
	case REC_NODE: return add_node(t, &rec->node);
	case REC_FUNC: return ADD(FUNC, func);
	case REC_SYMBOL: return add_symbol(t, &rec->symbol);
	case REC_PLACE: set_place(t, &rec->place); break;
	case REC_THREADNAME: name_thread(t, &rec->threadname); break;
	case REC_EVENT: return ADD(EVENT, event);
	case REC_META:
	case REC_CLOCK:
	case REC_TASKEV:
	case REC_MAPPING:
	case REC_SCAN:
	case REC_SAMPLE:
	case REC_LOST: case REC_NOTE: case REC_END: case REC_RAWSTACK: case REC_REPEAT:
		break;
	}
	return 0;
}

int definition_store_record(void *tables, const struct record *rec)
{
	int err = add(tables, rec);

	return err < 0 ? err : 0;
}

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

void definition_store_join(struct definition_store *t)
{
	t->is_joined = true;
}

size_t definition_store_memory(const struct definition_store *t)
{
	return t->bytes;
}

uint64_t definition_store_refused(const struct definition_store *t)
{
	return t->refused;
}

size_t definition_store_bytes(const struct definition_store *t)
{
	return t->bytes;
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
