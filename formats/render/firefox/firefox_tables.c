/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/firefox/firefox_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/thread_tracks.h"
#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/hex.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/trace_summary.h"

/* The first category that is grey stands for all that has none. */
enum { OTHER, USER, KERNEL, GENERATED, BPF, INTERPRETED, FIRST_STATE };
enum { SUB_OTHER, SUB_INLINED };

static const struct {
	const char *name, *color;
} categories[] = {
	[OTHER] = { "Other", "grey" },
	[USER] = { "User", "yellow" },
	[KERNEL] = { "Kernel", "orange" },
	[GENERATED] = { "Generated code", "green" },
	[BPF] = { "BPF", "purple" },
	[INTERPRETED] = { "Interpreted", "lightblue" },
};

static const char *const state_colors[ACTIVITIES] = {
	[ACTIVITY_RUNNING] = "yellow",
	[ACTIVITY_RUN_QUEUE] = "blue",
	[ACTIVITY_DISK] = "red",
	[ACTIVITY_LOCK] = "magenta",
	[ACTIVITY_SLEEPING] = "transparent",
	[ACTIVITY_IDLE_KERNEL] = "transparent",
	[ACTIVITY_STOPPED] = "darkgrey",
	[ACTIVITY_ENDED] = "darkgrey",
	[ACTIVITY_UNKNOWN] = "grey",
};

struct function {
	uint32_t name, file, binary, line;
	uint8_t kind;
};

struct frame {
	uint32_t func, inline_depth;
	uint8_t category, subcategory;
};

struct library {
	uint32_t name;			/* of the profile: its path */
	const struct rec_binary *binary;	/* NULL: it was not found again */
};

struct firefox_tables {
	const struct profile *p;
	struct function *funcs;
	size_t nr_funcs, cap_funcs;
	struct frame *frames;
	size_t nr_frames, cap_frames;
	uint32_t *frame_of;		/* by node */
	uint8_t *state_of;		/* by node: enum activity plus 1; 0: none */
	struct library *libs;
	size_t nr_libs, cap_libs;
	uint32_t *sources;		/* names of files */
	size_t nr_sources, cap_sources;
	uint32_t *lib_of, *source_of, *string_of;	/* by name, plus 1 */
	uint32_t *strings;		/* names, behind those of states */
	size_t nr_strings, cap_strings;
	size_t nr_names;
	const char *arch;
};

uint32_t firefox_state_category(unsigned activity)
{
	return FIRST_STATE + (activity < ACTIVITIES ? activity : ACTIVITY_UNKNOWN);
}

/* The row of a name in one of the tables of names, plus 1. 0: out of memory. */
static uint32_t row_of(uint32_t *by_name, uint32_t name, uint32_t **v, size_t *nr, size_t *cap)
{
	uint32_t *row;

	if (!by_name[name]) {
		row = array_push(v, nr, cap);
		if (!row)
			return 0;
		*row = name;
		by_name[name] = (uint32_t)*nr;
	}
	return by_name[name];
}

static int add_string(struct firefox_tables *t, uint32_t name)
{
	return row_of(t->string_of, name, &t->strings, &t->nr_strings, &t->cap_strings) ? 0
											 : -ENOMEM;
}

/* The names of the states come first. */
static uint32_t string_row(const struct firefox_tables *t, uint32_t name)
{
	return ACTIVITIES - 1 + t->string_of[name];
}

static int add_library(struct firefox_tables *t, uint32_t name)
{
	struct library *lib;

	if (!name || t->lib_of[name])
		return 0;
	lib = array_push(&t->libs, &t->nr_libs, &t->cap_libs);
	if (!lib)
		return -ENOMEM;
	lib->name = name;
	t->lib_of[name] = (uint32_t)t->nr_libs;
	return 0;
}

struct search {
	const struct firefox_tables *t;
	const void *key;
};

static bool is_same_func(const void *ctx, uint32_t id)
{
	const struct search *s = ctx;
	const struct function *a = &s->t->funcs[id], *b = s->key;

	return a->name == b->name && a->file == b->file && a->binary == b->binary &&
	       a->kind == b->kind;
}

static bool is_same_frame(const void *ctx, uint32_t id)
{
	const struct search *s = ctx;
	const struct frame *a = &s->t->frames[id], *b = s->key;

	return a->func == b->func && a->inline_depth == b->inline_depth &&
	       a->category == b->category && a->subcategory == b->subcategory;
}

static uint32_t find_func(struct firefox_tables *t, struct hash_index *index, const struct node *n)
{
	struct function key = { n->name, n->file, n->binary, n->line, n->kind }, *f;
	struct search search = { t, &key };
	uint64_t hash = hash_u64(hash_u64(n->name, n->file), n->binary * 8ull + n->kind);
	uint32_t id = ix_find(index, hash, is_same_func, &search);

	if (id != IX_NONE) {
		f = &t->funcs[id];
		if (n->line && (!f->line || n->line < f->line))
			f->line = n->line;
		return id;
	}
	id = (uint32_t)t->nr_funcs;
	f = array_push(&t->funcs, &t->nr_funcs, &t->cap_funcs);
	if (!f || ix_add(index, hash, id) || add_string(t, n->name) || add_library(t, n->binary))
		return IX_NONE;
	*f = key;
	if (n->file && (add_string(t, n->file) || !row_of(t->source_of, n->file, &t->sources,
							  &t->nr_sources, &t->cap_sources)))
		return IX_NONE;
	return id;
}

/* A thread that does not run is in no code: all of its stack has the category of its state. */
static uint8_t category_of(const struct firefox_tables *t, uint32_t node)
{
	static const uint8_t of_kind[FRAME_KINDS] = { USER, KERNEL, GENERATED, BPF, OTHER };
	uint8_t state = t->state_of[node], kind = t->p->nodes[node].kind;

	if (state && state - 1 != ACTIVITY_RUNNING)
		return (uint8_t)firefox_state_category(state - 1);
	if (node_is_interpreted(&t->p->nodes[node]))
		return INTERPRETED;
	return kind < FRAME_KINDS ? of_kind[kind] : OTHER;
}

static int find_frame(struct firefox_tables *t, struct hash_index *index, uint32_t node,
		      uint32_t func)
{
	const struct node *n = &t->p->nodes[node];
	struct frame key = { .func = func, .category = category_of(t, node) }, *f;
	struct search search = { t, &key };
	uint64_t hash;
	uint32_t id;

	if (n->flags & NODE_INLINED) {
		key.subcategory = key.category < FIRST_STATE ? SUB_INLINED : SUB_OTHER;
		key.inline_depth =
			n->parent ? t->frames[t->frame_of[n->parent]].inline_depth + 1 : 1;
	}
	hash = hash_u64(hash_u64(func, key.inline_depth), key.category * 2u + key.subcategory);
	id = ix_find(index, hash, is_same_frame, &search);
	if (id == IX_NONE) {
		id = (uint32_t)t->nr_frames;
		f = array_push(&t->frames, &t->nr_frames, &t->cap_frames);
		if (!f || ix_add(index, hash, id))
			return -ENOMEM;
		*f = key;
	}
	t->frame_of[node] = id;
	return 0;
}

/* Below a root that names a state, that state. A parent has a lower number than its children. */
static void find_state(struct firefox_tables *t, uint32_t node)
{
	const struct node *n = &t->p->nodes[node];
	const char *name = profile_name(t->p, n->name);

	t->state_of[node] = t->state_of[n->parent];
	for (unsigned a = 0; n->flags & NODE_SYNTHETIC && a < ACTIVITIES; a++)
		if (!strcmp(name, activity_name(a)))
			t->state_of[node] = (uint8_t)(a + 1);
}

static int find_frames(struct firefox_tables *t, bool is_wall)
{
	struct hash_index funcs = { 0 }, frames = { 0 };
	int err = 0;

	for (uint32_t i = 1; i < t->p->nr_nodes && !err; i++) {
		uint32_t func = find_func(t, &funcs, &t->p->nodes[i]);

		if (is_wall)
			find_state(t, i);
		err = func == IX_NONE ? -ENOMEM : find_frame(t, &frames, i, func);
	}
	ix_release(&funcs);
	ix_release(&frames);
	return err;
}

/* Libraries are known by their paths; the trace has their build ids. */
static void find_build_ids(struct firefox_tables *t, const struct definition_store *store)
{
	uint32_t end = definition_store_id_end(store, REC_BINARY);

	for (uint32_t id = 1; id < end; id++) {
		const struct rec_binary *b = definition_store_find_binary(store, id);
		const char *path = b ? definition_store_string(store, b->path, NULL) : "";
		uint32_t name = b && *path ? intern_str(t->p->names, path) : 0;
		uint32_t lib;

		if (!name || name == IX_NONE || name >= t->nr_names || !t->lib_of[name])
			continue;
		lib = t->lib_of[name] - 1;
		if (!t->libs[lib].binary || !t->libs[lib].binary->build_id_len)
			t->libs[lib].binary = b;
	}
}

int firefox_tables_make(const struct report *rep, const struct thread_tracks *tracks,
			struct firefox_tables **tp)
{
	struct firefox_tables *t = calloc(1, sizeof(*t));
	size_t names = intern_count(tracks->profile->names), nodes = tracks->profile->nr_nodes;
	const struct definition_store *store;
	int err = -ENOMEM;

	*tp = t;
	if (!t)
		return -ENOMEM;
	t->p = tracks->profile;
	t->nr_names = names;
	t->arch = report_meta(rep, "arch", NULL);
	t->frame_of = calloc(nodes, sizeof(*t->frame_of));
	t->state_of = calloc(nodes, sizeof(*t->state_of));
	t->lib_of = calloc(names, sizeof(*t->lib_of));
	t->source_of = calloc(names, sizeof(*t->source_of));
	t->string_of = calloc(names, sizeof(*t->string_of));
	if (t->frame_of && t->state_of && t->lib_of && t->source_of && t->string_of)
		err = find_frames(t, tracks->is_wall);
	/* There are fewer tables than segments where those are parts of one recording. */
	for (uint32_t i = 0; !err && t->nr_libs && (store = report_tables(rep, i)); i++)
		find_build_ids(t, store);
	if (!err)
		return 0;
	firefox_tables_free(t);
	*tp = NULL;
	return err;
}

void firefox_tables_free(struct firefox_tables *t)
{
	if (!t)
		return;
	free(t->funcs);
	free(t->frames);
	free(t->frame_of);
	free(t->state_of);
	free(t->libs);
	free(t->sources);
	free(t->lib_of);
	free(t->source_of);
	free(t->string_of);
	free(t->strings);
	free(t);
}

/* --- writing */

static void put_name(const struct firefox_tables *t, struct json_writer *w, uint32_t name)
{
	size_t len;
	const char *s = intern_get(t->p->names, name, &len);

	json_visible(w, s, len);
}

/* The last part of a path. */
static void put_base_name(const struct firefox_tables *t, struct json_writer *w, uint32_t name)
{
	size_t len;
	const char *s = intern_get(t->p->names, name, &len), *slash = memrchr(s, '/', len);

	if (slash && slash + 1 < s + len) {
		len -= (size_t)(slash + 1 - s);
		s = slash + 1;
	}
	json_visible(w, s, len);
}

/* Breakpad's id: a GUID of the first 16 bytes, its first three numbers little-endian. */
static void breakpad_id(const struct rec_binary *b, char text[34])
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	uint8_t id[16] = { 0 };

	text[0] = 0;
	if (!b || !b->build_id_len || b->build_id_len > sizeof(b->build_id))
		return;
	memcpy(id, b->build_id, b->build_id_len < 16 ? b->build_id_len : 16);
	for (int i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02X", id[order[i]]);
	strcpy(text + 32, "0");
}

static void put_build_id(struct json_writer *w, const struct rec_binary *b)
{
	char text[2 * sizeof(b->build_id) + 1] = "";

	json_key(w, "codeId");
	if (!b || !b->build_id_len || b->build_id_len > sizeof(b->build_id)) {
		json_null(w);
		return;
	}
	hex_put(text, b->build_id, b->build_id_len);
	json_string(w, text, strlen(text));
}

void firefox_tables_put_libs(const struct firefox_tables *t, struct json_writer *w)
{
	char id[34];

	json_key(w, "libs");
	json_begin(w, '[');
	for (size_t i = 0; i < t->nr_libs; i++) {
		const struct library *lib = &t->libs[i];

		putc('\n', w->out);
		breakpad_id(lib->binary, id);
		json_begin(w, '{');
		json_put_text(w, "arch", t->arch ? t->arch : "");
		json_key(w, "name");
		put_base_name(t, w, lib->name);
		json_key(w, "path");
		put_name(t, w, lib->name);
		json_key(w, "debugName");
		put_base_name(t, w, lib->name);
		json_key(w, "debugPath");
		put_name(t, w, lib->name);
		json_put_text(w, "breakpadId", id);
		put_build_id(w, lib->binary);
		json_end(w, '}');
	}
	json_end(w, ']');
}

static void put_category(struct json_writer *w, const char *name, const char *color)
{
	json_begin(w, '{');
	json_put_text(w, "name", name);
	json_put_text(w, "color", color);
	json_key(w, "subcategories");
	json_begin(w, '[');
	json_string(w, "Other", 5);
	json_string(w, "Inlined", 7);
	json_end(w, ']');
	json_end(w, '}');
}

void firefox_tables_put_categories(struct json_writer *w)
{
	json_key(w, "categories");
	json_begin(w, '[');
	for (size_t i = 0; i < FIRST_STATE; i++)
		put_category(w, categories[i].name, categories[i].color);
	for (unsigned a = 0; a < ACTIVITIES; a++)
		put_category(w, activity_name(a), state_colors[a]);
	json_end(w, ']');
}

typedef void (*cell_fn)(const struct firefox_tables *t, struct json_writer *w, size_t i);

struct column {
	const char *key;		/* NULL: there are no more */
	cell_fn put;
};

/* A table is an object of columns, which have length cells each. */
static void put_table(const struct firefox_tables *t, struct json_writer *w, const char *key,
		      size_t length, const struct column *columns)
{
	putc('\n', w->out);
	json_key(w, key);
	json_begin(w, '{');
	json_put_u64(w, "length", length);
	for (const struct column *c = columns; c->key; c++) {
		json_key(w, c->key);
		json_begin(w, '[');
		for (size_t i = 0; i < length; i++)
			c->put(t, w, i);
		json_end(w, ']');
	}
	json_end(w, '}');
}

#define COLUMN(name, value) \
	static void name(const struct firefox_tables *t, struct json_writer *w, size_t i) \
	{ \
		(void)t; \
		(void)i; \
		value; \
	}

static void put_or_null(struct json_writer *w, uint64_t plus_1)
{
	if (plus_1)
		json_u64(w, plus_1 - 1);
	else
		json_null(w);
}

COLUMN(stack_frame, json_u64(w, t->frame_of[i + 1]))
COLUMN(stack_prefix, put_or_null(w, t->p->nodes[i + 1].parent))
COLUMN(null_cell, json_null(w))
COLUMN(zero_cell, json_u64(w, 0))
COLUMN(one_cell, json_u64(w, 1))
COLUMN(false_cell, json_bool(w, false))
COLUMN(minus_cell, json_i64(w, -1))
COLUMN(frame_depth, json_u64(w, t->frames[i].inline_depth))
COLUMN(frame_category, json_u64(w, t->frames[i].category))
COLUMN(frame_subcategory, json_u64(w, t->frames[i].subcategory))
COLUMN(frame_func, json_u64(w, t->frames[i].func))
COLUMN(func_name, json_u64(w, string_row(t, t->funcs[i].name)))
COLUMN(func_source, put_or_null(w, t->source_of[t->funcs[i].file]))
COLUMN(func_line, put_or_null(w, t->funcs[i].line ? t->funcs[i].line + 1ull : 0))
COLUMN(index_cell, json_u64(w, i))
COLUMN(lib_name, json_u64(w, ACTIVITIES + t->nr_strings + i))
COLUMN(source_name, json_u64(w, string_row(t, t->sources[i])))

static void func_resource(const struct firefox_tables *t, struct json_writer *w, size_t i)
{
	uint32_t lib = t->lib_of[t->funcs[i].binary];

	if (lib)
		json_u64(w, lib - 1);
	else
		minus_cell(t, w, i);
}

static const struct column stack_table[] = {
	{ "frame", stack_frame },
	{ "prefix", stack_prefix },
	{ NULL, NULL },
};

static const struct column frame_table[] = {
	{ "address", minus_cell },
	{ "inlineDepth", frame_depth },
	{ "category", frame_category },
	{ "subcategory", frame_subcategory },
	{ "func", frame_func },
	{ "nativeSymbol", null_cell },
	{ "innerWindowID", zero_cell },
	{ "line", null_cell },
	{ "column", null_cell },
	{ NULL, NULL },
};

static const struct column func_table[] = {
	{ "name", func_name },
	{ "isJS", false_cell },
	{ "relevantForJS", false_cell },
	{ "resource", func_resource },
	{ "source", func_source },
	{ "lineNumber", func_line },
	{ "columnNumber", null_cell },
	{ NULL, NULL },
};

static const struct column resource_table[] = {
	{ "type", one_cell },		/* a library */
	{ "lib", index_cell },
	{ "name", lib_name },
	{ "host", null_cell },
	{ NULL, NULL },
};

static const struct column native_symbols[] = {
	{ "libIndex", null_cell },
	{ "address", null_cell },
	{ "name", null_cell },
	{ "functionSize", null_cell },
	{ NULL, NULL },
};

static const struct column sources[] = {
	{ "uuid", null_cell },
	{ "filename", source_name },
	{ NULL, NULL },
};

void firefox_tables_put(const struct firefox_tables *t, struct json_writer *w)
{
	json_key(w, "shared");
	json_begin(w, '{');
	put_table(t, w, "stackTable", t->p->nr_nodes - 1, stack_table);
	put_table(t, w, "frameTable", t->nr_frames, frame_table);
	put_table(t, w, "funcTable", t->nr_funcs, func_table);
	put_table(t, w, "resourceTable", t->nr_libs, resource_table);
	put_table(t, w, "nativeSymbols", 0, native_symbols);
	put_table(t, w, "sources", t->nr_sources, sources);
	putc('\n', w->out);
	json_key(w, "stringArray");
	json_begin(w, '[');
	for (unsigned a = 0; a < ACTIVITIES; a++)
		json_string(w, activity_name(a), strlen(activity_name(a)));
	for (size_t i = 0; i < t->nr_strings; i++) {
		putc('\n', w->out);
		put_name(t, w, t->strings[i]);
	}
	for (size_t i = 0; i < t->nr_libs; i++)
		put_base_name(t, w, t->libs[i].name);
	json_end(w, ']');
	json_end(w, '}');
}
