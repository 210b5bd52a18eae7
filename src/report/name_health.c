/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/name_health.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"

static const struct {
	const char *name, *text, *remedy;
} causes[NAME_CAUSES] = {
	[NAME_STRIPPED] = { "stripped", "the file has no symbol table",
			    "install its debug package (-dbgsym, -debuginfo), then probee "
			    "symbolize --binary-dir /" },
	[NAME_NO_SYMBOL] = { "no-symbol", "no symbol of the file is there", "" },
	[NAME_UNREADABLE] = { "unreadable", "the file could not be read",
			      "probee symbolize --binary-dir / as a user who may read it" },
	[NAME_GONE] = { "gone", "the file was not there any more",
			"probee symbolize --binary-dir DIR with a copy of it" },
	[NAME_LIMITED] = { "limited", "given up, because it took too long",
			   "probee symbolize --binary-dir /" },
	[NAME_NOT_ASKED] = { "not-asked", "not looked up", "probee symbolize --binary-dir /" },
	[NAME_GENERATED] = { "generated", "made at run time, and there was no map of names",
			     "have the runtime write /tmp/perf-PID.map while it is recorded" },
	[NAME_HIDDEN] = { "hidden", "the kernel did not show its addresses",
			  "record as root, or probee symbolize --kallsyms FILE" },
	[NAME_NO_FILE] = { "no-file", "nothing was known to be mapped there", "" },
	[NAME_LATE] = { "late", "made at run time, and not read before the recording ended",
			"a longer recording, or a machine that is less busy" },
	[NAME_UNANSWERED] = { "unanswered",
			      "not read in time: the helper process that reads files ended, or had "
			      "too few descriptors",
			      "probee symbolize --binary-dir /" },
	[NAME_ENDED] = { "process-ended", "the process ended before the file was read",
			 "probee symbolize --binary-dir /" },
};

const char *name_cause_name(unsigned cause)
{
	return cause < NAME_CAUSES ? causes[cause].name : "?";
}

const char *name_cause_text(unsigned cause)
{
	return cause < NAME_CAUSES ? causes[cause].text : "?";
}

const char *name_cause_remedy(unsigned cause)
{
	return cause < NAME_CAUSES ? causes[cause].remedy : "";
}

/* The segment that is being summed. */
struct naming {
	struct name_health *h;
	const struct definition_store *tables;
	uint64_t *times;		/* by frame */
	size_t cap_times;
	uint32_t *paths;		/* by binary id: its path plus 1; 0: not known yet */
	size_t cap_paths;
	uint64_t *all;			/* by path: frames */
	size_t cap_all;
	struct hash_index rows;
};

/*
 * Adds up how often each frame was met. stacks, by node: how often it was passed; or, of_leaves,
 * how many samples end there, which becomes the former: children have higher ids than their
 * parents.
 */
static void add_times(struct naming *s, uint64_t *stacks, size_t nr, bool of_leaves)
{
	uint32_t end = definition_store_id_end(s->tables, REC_NODE);

	for (uint32_t id = end < nr ? end : (uint32_t)nr; id-- > 1;) {
		const struct table_node *n = definition_store_find_node(s->tables, id);

		if (!n || !stacks[id])
			continue;
		if (of_leaves)
			stacks[n->parent] += stacks[id];
		if (n->frame < s->cap_times)
			s->times[n->frame] += stacks[id];
	}
}

/* ---- Why there is no name ---- */

static enum name_cause cause_of_status(uint8_t status)
{
	switch ((enum symbol_status)status) {
	case SYMBOL_STRIPPED: return NAME_STRIPPED;
	case SYMBOL_UNREADABLE: return NAME_UNREADABLE;
	case SYMBOL_GONE: return NAME_GONE;
	case SYMBOL_LIMITED: return NAME_LIMITED;
	case SYMBOL_UNANSWERED: return NAME_UNANSWERED;
	case SYMBOL_ENDED: return NAME_ENDED;
	case SYMBOL_OK:
	case SYMBOL_OK_SYMTAB:
	case SYMBOL_NONE:
	case SYMBOL_STATUSES: break;
	}
	return NAME_NO_SYMBOL;
}

static enum name_cause cause_of(const struct rec_frame *f, const struct table_symbol *sym)
{
	if (f->kind == FRAME_JIT)
		return sym && sym->status == SYMBOL_LIMITED ? NAME_LATE : NAME_GENERATED;
	if (f->kind == FRAME_KERNEL && !f->binary)
		return NAME_HIDDEN;
	if (!f->binary)
		return NAME_NO_FILE;
	return sym ? cause_of_status(sym->status) : NAME_NOT_ASKED;
}

/* ---- Rows ---- */

/* A path may be long, so it is looked at only once. IX_NONE: no memory. */
static uint32_t path_of(struct naming *s, const struct rec_frame *f)
{
	const struct rec_binary *b = definition_store_find_binary(s->tables, f->binary);
	struct intern *paths = s->h->paths;
	const char *text;
	size_t len;

	if (f->kind == FRAME_JIT)
		return intern_str(paths, "(generated code)");
	if (!b || !b->path)
		return intern_str(paths, b ? binary_kind_name(b->kind) : "(no binary)");
	if (array_reserve(&s->paths, &s->cap_paths,
			  definition_store_id_end(s->tables, REC_BINARY)))
		return IX_NONE;
	if (!s->paths[f->binary]) {
		text = definition_store_string(s->tables, b->path, &len);
		s->paths[f->binary] = intern_bytes(paths, text, len) + 1;
	}
	return s->paths[f->binary] - 1;
}

struct row_key {
	const struct name_row *rows;
	uint32_t path;
	uint8_t cause;
};

static bool same_row(const void *ctx, uint32_t id)
{
	const struct row_key *k = ctx;

	return k->rows[id].path == k->path && k->rows[id].cause == k->cause;
}

static struct name_row *row_of(struct naming *s, uint32_t path, enum name_cause cause)
{
	struct name_health *h = s->h;
	struct row_key k = { h->rows, path, (uint8_t)cause };
	uint64_t hash = hash_u64(path, cause);
	uint32_t id = ix_find(&s->rows, hash, same_row, &k);
	struct name_row *row;

	if (id != IX_NONE)
		return &h->rows[id];
	row = array_push(&h->rows, &h->nr_rows, &h->cap_rows);
	if (!row || ix_add(&s->rows, hash, (uint32_t)h->nr_rows - 1))
		return NULL;
	row->path = path;
	row->cause = (uint8_t)cause;
	return row;
}

/* ---- Frames ---- */

static void add(struct name_count *n, uint64_t times)
{
	n->frames++;
	n->times += times;
}

static void count_named(struct naming *s, uint32_t frame, uint64_t times)
{
	uint32_t depth = definition_store_frame_depth(s->tables, frame);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	definition_store_frame_view(s->tables, frame, depth - 1, buf, &v);
	add(&s->h->named, times);
	if (v.line)
		add(&s->h->with_lines, times);
}

static int count_nameless(struct naming *s, const struct rec_frame *f,
			  const struct table_symbol *sym, uint32_t path, uint64_t times)
{
	enum name_cause cause = cause_of(f, sym);
	struct name_row *row = row_of(s, path, cause);

	if (!row)
		return -ENOMEM;
	add(&row->n, times);
	add(&s->h->causes[cause], times);
	add(f->binary && f->kind != FRAME_JIT ? &s->h->in_file : &s->h->unknown, times);
	return 0;
}

static int count_frame(struct naming *s, uint32_t frame)
{
	const struct rec_frame *f = definition_store_find_frame(s->tables, frame);
	const struct table_symbol *sym = definition_store_find_symbol(s->tables, frame);
	uint64_t times = s->times[frame];
	uint32_t path;

	if (!f)
		return 0;
	path = path_of(s, f);
	if (path == IX_NONE || array_reserve(&s->all, &s->cap_all, (size_t)path + 1))
		return -ENOMEM;
	s->all[path]++;
	add(&s->h->all, times);
	if (!sym || !sym->nr_lines)
		return count_nameless(s, f, sym, path, times);
	count_named(s, frame, times);
	return 0;
}

static int sum_segment(struct naming *s, struct tally_segment *seg)
{
	uint32_t end = definition_store_id_end(s->tables, REC_FRAME);
	int err = 0;

	if (s->cap_paths)
		memset(s->paths, 0, s->cap_paths * sizeof(*s->paths));
	if (s->cap_times)
		memset(s->times, 0, s->cap_times * sizeof(*s->times));
	if (array_reserve(&s->times, &s->cap_times, end))
		return -ENOMEM;
	if (seg) {
		add_times(s, seg->stacks, seg->cap_stacks, false);
		add_times(s, seg->kernel_stacks, seg->cap_kernel_stacks, true);
	}
	for (uint32_t frame = 1; frame < end && !err; frame++)
		err = count_frame(s, frame);
	return err;
}

static int by_times(const void *x, const void *y, void *health)
{
	const struct name_row *a = x, *b = y;
	int order = COMPARE(b->n.times, a->n.times);

	if (!order)
		order = COMPARE(b->n.frames, a->n.frames);
	if (!order)
		order = strcmp(name_health_path(health, a, NULL),
			       name_health_path(health, b, NULL));
	return order ? order : (int)a->cause - (int)b->cause;
}

static void finish(struct naming *s)
{
	struct name_health *h = s->h;

	for (size_t i = 0; i < h->nr_rows; i++)
		h->rows[i].all = s->all[h->rows[i].path];
	if (h->nr_rows)
		qsort_r(h->rows, h->nr_rows, sizeof(*h->rows), by_times, h);
}

int name_health_init(struct name_health *h, struct stack_tally *t, health_tables_fn tables_of,
		     const void *ctx)
{
	struct naming s = { .h = h };
	int err;

	memset(h, 0, sizeof(*h));
	h->paths = intern_new();
	err = h->paths ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && (s.tables = tables_of(ctx, i)); i++)
		err = sum_segment(&s, i < t->nr_segments ? &t->segments[i] : NULL);
	if (!err)
		finish(&s);
	else
		name_health_release(h);
	free(s.times);
	free(s.paths);
	free(s.all);
	ix_release(&s.rows);
	return err;
}

void name_health_release(struct name_health *h)
{
	free(h->rows);
	intern_free(h->paths);
	memset(h, 0, sizeof(*h));
}

const char *name_health_path(const struct name_health *h, const struct name_row *row, size_t *len)
{
	return intern_get(h->paths, row->path, len);
}
