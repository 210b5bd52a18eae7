/*
 * Folded stacks: "comm;root;...;leaf COUNT", one line per distinct stack, in the order of `LC_ALL=C sort`.
 *
 * Functions of one name in different files have nodes of their own but are one here. So a level of the
 * output stands for a group of nodes with the same path: its items are the lines that end with a child of
 * the group, and the children that have children. Lines below an item all begin with "NAME;", so sorted
 * items make sorted lines and nothing but one path is held in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"

#define KERNEL_SUFFIX "_[k]"

struct item {
	uint32_t text;			/* escaped name, in folder.texts */
	uint32_t key;			/* what it sorts by: "name;" or "name 12", in folder.texts */
	uint32_t node;
	bool is_line;
	uint64_t self;			/* of a line */
};

struct level {
	size_t next, end;		/* in folder.items */
	size_t path_len;
};

struct folder {
	const struct profile *prof;
	const char *kernel_suffix;
	FILE *out;
	struct intern *texts;
	uint32_t *text_of;		/* by 2 * name + is kernel: id in texts + 1; 0: not yet */
	FILE *scratch;			/* writes to scratch_text */
	char *scratch_text;
	size_t scratch_len;
	struct item *items;
	size_t nr_items, cap_items;
	struct level *levels;
	size_t nr_levels, cap_levels;
	char *path;
	size_t path_len, cap_path;
};

static int scratch_begin(struct folder *f)
{
	if (!f->scratch)
		f->scratch = open_memstream(&f->scratch_text, &f->scratch_len);
	if (!f->scratch)
		return -ENOMEM;
	rewind(f->scratch);
	return 0;
}

static int scratch_end(struct folder *f, uint32_t *id)
{
	if (fflush(f->scratch))
		return -ENOMEM;
	*id = intern_bytes(f->texts, f->scratch_text, f->scratch_len);
	return *id == UINT32_MAX ? -ENOMEM : 0;
}

/* How a node reads in a line. */
static int text_of(struct folder *f, const struct node *nd, uint32_t *id)
{
	bool is_kernel = nd->kind == FRAME_KERNEL && !(nd->flags & NODE_SYNTHETIC);
	uint32_t *cached = &f->text_of[2 * (size_t)nd->name + is_kernel];
	const char *name;
	size_t len;
	int err;

	if (!*cached) {
		name = intern_get(f->prof->names, nd->name, &len);
		if (scratch_begin(f))
			return -ENOMEM;
		escape_folded(f->scratch, name, len);
		if (is_kernel)
			fputs(f->kernel_suffix, f->scratch);
		err = scratch_end(f, cached);
		if (err)
			return err;
		++*cached;
	}
	*id = *cached - 1;
	return 0;
}

static int add_item(struct folder *f, uint32_t text, uint32_t node, bool is_line)
{
	struct item *it = array_push(&f->items, &f->nr_items, &f->cap_items);

	if (!it)
		return -ENOMEM;
	*it = (struct item){ .text = text, .node = node, .is_line = is_line,
			     .self = is_line ? f->prof->nodes[node].self : 0 };
	return 0;
}

static int add_children(struct folder *f, uint32_t parent)
{
	const struct node *nodes = f->prof->nodes;
	uint32_t text;
	int err = 0;

	for (uint32_t n = nodes[parent].first_child; n != NODE_NONE && !err; n = nodes[n].next_sibling) {
		err = text_of(f, &nodes[n], &text);
		if (!err && nodes[n].self)
			err = add_item(f, text, n, true);
		if (!err && nodes[n].first_child != NODE_NONE)
			err = add_item(f, text, n, false);
	}
	return err;
}

static int compare_text(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;

	if (a->text != b->text)
		return a->text < b->text ? -1 : 1;
	return a->is_line - b->is_line;
}

/* Makes one of the lines that read the same. */
static void merge_lines(struct folder *f, size_t first)
{
	size_t kept = first;

	qsort(f->items + first, f->nr_items - first, sizeof(*f->items), compare_text);
	for (size_t i = first; i < f->nr_items; i++) {
		if (i > first && f->items[i].is_line && !compare_text(&f->items[i], &f->items[kept - 1]))
			f->items[kept - 1].self += f->items[i].self;
		else
			f->items[kept++] = f->items[i];
	}
	f->nr_items = kept;
}

static int make_key(struct folder *f, struct item *it)
{
	size_t len;
	const char *s = intern_get(f->texts, it->text, &len);

	if (scratch_begin(f))
		return -ENOMEM;
	fwrite(s, 1, len, f->scratch);
	if (it->is_line)
		fprintf(f->scratch, " %" PRIu64, it->self);
	else
		putc(';', f->scratch);
	return scratch_end(f, &it->key);
}

/* Escaped names hold no NUL, so strcmp() sees all of them. */
static int compare_key(const void *va, const void *vb, void *texts)
{
	const struct item *a = va, *b = vb;

	return a->key == b->key ? 0 : strcmp(intern_get(texts, a->key, NULL), intern_get(texts, b->key, NULL));
}

/* Opens the level of the children of the group items[first..end). */
static int push_level(struct folder *f, size_t first, size_t end)
{
	struct level *l = array_push(&f->levels, &f->nr_levels, &f->cap_levels);
	size_t from = f->nr_items;
	int err = l ? 0 : -ENOMEM;

	for (size_t i = first; i < end && !err; i++)
		err = add_children(f, f->items[i].node);
	if (err)
		return err;
	merge_lines(f, from);
	for (size_t i = from; i < f->nr_items && !err; i++)
		err = make_key(f, &f->items[i]);
	qsort_r(f->items + from, f->nr_items - from, sizeof(*f->items), compare_key, f->texts);
	*l = (struct level){ from, f->nr_items, f->path_len };
	return err;
}

static int push_path(struct folder *f, uint32_t key)
{
	size_t len;
	const char *s = intern_get(f->texts, key, &len);

	if (array_reserve(&f->path, &f->cap_path, f->path_len + len))
		return -ENOMEM;
	memcpy(f->path + f->path_len, s, len);
	f->path_len += len;
	return 0;
}

static void put_line(struct folder *f, const struct item *it)
{
	size_t len;
	const char *s = intern_get(f->texts, it->key, &len);

	fwrite(f->path, 1, f->path_len, f->out);
	fwrite(s, 1, len, f->out);
	putc('\n', f->out);
}

static int walk(struct folder *f)
{
	int err = add_item(f, 0, 0, false);

	if (!err)
		err = push_level(f, 0, 1);
	while (!err && f->nr_levels && !ferror(f->out)) {
		struct level *l = &f->levels[f->nr_levels - 1];
		size_t first = l->next, end = first + 1;

		f->path_len = l->path_len;
		if (first == l->end) {
			f->nr_levels--;
			f->nr_items = f->nr_levels ? f->levels[f->nr_levels - 1].end : 0;
			continue;
		}
		if (f->items[first].is_line) {
			put_line(f, &f->items[first]);
			l->next++;
			continue;
		}
		while (end < l->end && f->items[end].key == f->items[first].key)
			end++;
		l->next = end;
		err = push_path(f, f->items[first].key);
		if (!err)
			err = push_level(f, first, end);
	}
	return err;
}

static int collapse_render(const struct profile *prof, const struct render_opts *opts, FILE *out)
{
	struct folder f = { .prof = prof, .out = out, .texts = intern_new() };
	int err = -ENOMEM;

	f.kernel_suffix = opts->kernel_suffix ? opts->kernel_suffix : KERNEL_SUFFIX;
	f.text_of = calloc(2 * (size_t)intern_count(prof->names) + 1, sizeof(*f.text_of));
	if (f.texts && f.text_of)
		err = walk(&f);
	if (f.scratch)
		fclose(f.scratch);
	free(f.scratch_text);
	intern_free(f.texts);
	free(f.text_of);
	free(f.items);
	free(f.levels);
	free(f.path);
	return err ? err : ferror(out) ? -EIO : 0;
}

const struct renderer renderer_collapse = {
	.name = "collapse",
	.suffixes = ".folded .collapse .collapsed .txt",
	.help = "folded stacks, \"comm;root;...;leaf COUNT\", for flame graph tools",
	.render = collapse_render,
};
