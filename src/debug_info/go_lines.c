/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/go_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "src/base/array.h"
#include "src/debug_info/debug_index.h"
#include "src/debug_info/go_pcs.h"
#include "src/debug_info/unit_source.h"
#include "src/debug_info/unit_lines.h"
#include "src/debug_info/unit_writer.h"
#include "src/elf/elf_image.h"
#include "src/elf/go_image.h"
#include "src/model/record.h"

#define UNIT_FUNCTIONS 16
#define MAX_FUNCTIONS (8u << 20)
#define MAX_SEGMENTS (4u << 20)		/* of one unit */
#define MAX_TREE (1u << 20)		/* inlined calls in one function: Go's own bound */
#define MAX_DEPTH 128
#define MAX_STRING 4096
#define LOOK_EVERY 4096			/* segments between two looks at the clock */
#define ROOM_BYTES (16u << 20)		/* of tables that were made, before pages are given back */

#define PCDATA_INLINED 2
#define FUNCDATA_INLINED 3
#define NO_FUNCDATA UINT32_MAX

/* The layouts differ in where fields are, in bytes. */
struct layout {
	uint32_t magic;
	unsigned word;			/* of an entry in the list of functions */
	unsigned header;		/* the first of five offsets in the header */
	unsigned name;			/* in the record of a function */
	unsigned start_line;		/* 0: it has none */
	unsigned nr_funcdata, pcdata;
	unsigned entry_len;		/* of a tree of inlined calls */
	unsigned entry_name, entry_call, entry_line;
};

static const struct layout layouts[] = {
	{ 0xfffffffa, 8, 24, 8, 0, 43, 44, 20, 12, 16, 0 },	/* Go 1.16 */
	{ 0xfffffff0, 4, 32, 4, 0, 39, 40, 20, 12, 16, 0 },	/* Go 1.18 */
	{ 0xfffffff1, 4, 32, 4, 36, 43, 44, 16, 4, 8, 12 },	/* Go 1.20 */
};

/* From the name on, in the records of all layouts. */
enum { AFTER_NAME_FILES = 16, AFTER_NAME_LINES = 20, AFTER_NAME_PCDATA = 24, AFTER_NAME_UNIT = 28 };

/* A part of the file. */
struct bytes {
	const uint8_t *v;
	size_t len;
};

struct go_lines {
	void *map;			/* NULL: the bytes are borrowed */
	struct bytes file, table;
	struct bytes names, units, files, pcs, functions;
	struct elf_image *img;
	const struct layout *layout;
	unsigned quantum;
	uint64_t nr, text;
	uint64_t gofunc;		/* 0: unknown */
	size_t made_bytes;		/* of tables, since pages were given back */
};

/* ---- bytes ---- */

/* 0, if the field is not all there. */
static uint64_t field_at(struct bytes b, uint64_t at, unsigned len)
{
	struct byte_reader r = br_make(b.v, b.len);

	br_bytes(&r, at);
	return br_fixed(&r, len);
}

static struct bytes from(struct bytes b, uint64_t at)
{
	size_t skip = at < b.len ? (size_t)at : b.len;

	return (struct bytes){ b.v + skip, b.len - skip };
}

/* NULL: it is empty, or does not end within the bytes. */
static const char *string_at(struct bytes b, uint64_t at)
{
	struct bytes s = from(b, at);
	size_t len = s.len < MAX_STRING ? s.len : MAX_STRING;

	return len && s.v[0] && memchr(s.v, 0, len) ? (const char *)s.v : NULL;
}

/* ---- the file ---- */

/* The five parts of the table follow each other. */
static int find_parts(struct go_lines *g)
{
	struct bytes *const parts[] = { &g->names, &g->units, &g->files, &g->pcs, &g->functions };
	uint64_t at[6];

	for (size_t i = 0; i < 5; i++)
		at[i] = field_at(g->table, g->layout->header + 8 * i, 8);
	at[5] = g->table.len;
	for (size_t i = 0; i < 5; i++) {
		if (at[i] > at[i + 1] || at[i + 1] > at[5])
			return -ENOENT;
		*parts[i] = (struct bytes){ g->table.v + at[i], (size_t)(at[i + 1] - at[i]) };
	}
	return g->nr < g->functions.len / (2 * g->layout->word) && g->nr <= MAX_FUNCTIONS
		       ? 0
		       : -ENOENT;
}

static int read_table(struct go_lines *g)
{
	struct go_image go;
	uint64_t magic;

	if (go_image_find(g->img, &go) || go.offset >= g->file.len)
		return -ENOENT;
	g->table = from(g->file, go.offset);
	if (g->table.len > go.size)
		g->table.len = (size_t)go.size;
	magic = field_at(g->table, 0, 4);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].magic == magic)
			g->layout = &layouts[i];
	g->quantum = (unsigned)field_at(g->table, 6, 1);
	g->nr = field_at(g->table, 8, 8);
	if (!g->layout || !g->quantum)
		return -ENOENT;
	if (g->layout->word == 4)
		g->text = go.text_vaddr;
	if (go_image_gofunc(g->img, &go, &g->gofunc))
		g->gofunc = 0;
	return find_parts(g);
}

static uint64_t entry_of(const struct go_lines *g, uint64_t i)
{
	return g->text + field_at(g->functions, 2 * i * g->layout->word, g->layout->word);
}

/* ---- one function ---- */

struct function {
	uint64_t lo;
	uint32_t size;
	uint32_t unit;			/* where the numbers of files count from */
	uint32_t root;			/* its node */
	struct bytes record;
	struct bytes tree;		/* of inlined calls, up to the end of the file's part */
};

struct go_builder {
	const struct go_lines *g;
	uint64_t until_ns;
	struct unit_text text;
	struct unit_segments segments;
	struct unit_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct unit_func *funcs;
	size_t nr_funcs, cap_funcs;
	uint64_t nr_looked_at;
	uint64_t end;			/* of the functions so far */
	/* of the function that is being read */
	struct function f;
	struct go_pcs files, lines, inlined;
	uint32_t *tree_nodes;		/* by index in the tree: node + 1; 0: not made */
	size_t nr_tree, cap_tree;
	int32_t last_file;		/* number of the file that was looked up last, */
	uint32_t last_path;		/* and its place in the text */
	int err;
};

static uint32_t record_field(const struct function *f, unsigned at)
{
	return (uint32_t)field_at(f->record, at, 4);
}

/* The addresses of what belongs to a function are offsets since Go 1.18, and words before. */
static struct bytes tree_of(const struct go_lines *g, const struct function *f)
{
	const struct layout *l = g->layout;
	uint64_t nr_pcdata = record_field(f, l->name + AFTER_NAME_PCDATA);
	uint64_t at = l->pcdata + 4 * nr_pcdata, value, vaddr, offset, left;

	if (field_at(f->record, l->nr_funcdata, 1) <= FUNCDATA_INLINED)
		return (struct bytes){ 0 };
	if (l->word == 8)
		at += ((uint64_t)(f->record.v - g->functions.v) + at) & 4;	/* aligned */
	value = field_at(f->record, at + (uint64_t)FUNCDATA_INLINED * l->word, l->word);
	vaddr = l->word == 8 ? value : value == NO_FUNCDATA || !g->gofunc ? 0 : g->gofunc + value;
	if (!vaddr || elf_image_offset_of(g->img, vaddr, &offset, &left))
		return (struct bytes){ 0 };
	return from(g->file, offset);
}

static uint32_t add_func(struct go_builder *b, uint32_t name, uint32_t line)
{
	const char *s = string_at(b->g->names, name);
	struct unit_func *f = array_push(&b->funcs, &b->nr_funcs, &b->cap_funcs);

	if (!f) {
		b->err = -ENOMEM;
		return UNIT_NONE;
	}
	*f = (struct unit_func){ .name = unit_text_add(&b->text, s), .file = UNIT_NONE,
				 .line = line & INT32_MAX, .scoped = UNIT_NONE,
				 .entry = UNIT_NONE };
	return (uint32_t)b->nr_funcs - 1;
}

static uint32_t add_node(struct go_builder *b, const struct unit_node *node)
{
	struct unit_node *n = array_push(&b->nodes, &b->nr_nodes, &b->cap_nodes);

	if (!n) {
		b->err = -ENOMEM;
		return UNIT_NONE;
	}
	*n = *node;
	return (uint32_t)b->nr_nodes - 1;
}

static uint32_t path_of(struct go_builder *b, int32_t file)
{
	uint64_t at = 4 * ((uint64_t)b->f.unit + (uint32_t)file);
	const char *path;

	if (file < 0 || at + 4 > b->g->units.len)
		return UNIT_NONE;
	if (file == b->last_file)
		return b->last_path;
	path = string_at(b->g->files, field_at(b->g->units, at, 4));
	b->last_file = file;
	b->last_path = unit_text_path(&b->text, path);
	return b->last_path;
}

static uint32_t line_of(int32_t line)
{
	return line > 0 ? unit_line((uint32_t)line, 0) : 0;
}

/* ---- inlined functions ---- */

/* The table does not say where a function is declared: in the file of its own code, or calls. */
static void note_file(struct go_builder *b, uint32_t node, uint32_t file)
{
	struct unit_func *f = &b->funcs[b->nodes[node].func];

	if (f->file == UNIT_NONE)
		f->file = file;
}

static bool read_call(const struct go_builder *b, int32_t index, uint32_t *call)
{
	const struct layout *l = b->g->layout;
	uint64_t at = (uint64_t)index * l->entry_len;

	if ((uint32_t)index >= MAX_TREE || at + l->entry_len > b->f.tree.len)
		return false;
	*call = (uint32_t)field_at(b->f.tree, at + l->entry_call, 4);
	return *call < b->f.size &&
	       string_at(b->g->names, field_at(b->f.tree, at + l->entry_name, 4));
}

static uint32_t add_inlined(struct go_builder *b, int32_t index, uint32_t parent)
{
	const struct layout *l = b->g->layout;
	uint64_t at = (uint64_t)index * l->entry_len;
	uint32_t call = (uint32_t)field_at(b->f.tree, at + l->entry_call, 4), id;
	struct unit_node n = { .parent = parent, .entry = UNIT_NONE };

	n.call_line = line_of(go_pcs_find(&b->lines, call));
	n.call_file = path_of(b, go_pcs_find(&b->files, call));
	n.func = add_func(b, (uint32_t)field_at(b->f.tree, at + l->entry_name, 4),
			  l->entry_line ? (uint32_t)field_at(b->f.tree, at + l->entry_line, 4) : 0);
	id = b->err ? UNIT_NONE : add_node(b, &n);
	if (id == UNIT_NONE || array_reserve(&b->tree_nodes, &b->cap_tree, (size_t)index + 1)) {
		b->err = -ENOMEM;
		return UNIT_NONE;
	}
	if (b->nr_tree <= (size_t)index)
		b->nr_tree = (size_t)index + 1;
	b->tree_nodes[index] = id + 1;
	note_file(b, parent, n.call_file);
	return id;
}

static uint32_t known_node(const struct go_builder *b, int32_t index)
{
	if (index < 0)
		return b->f.root;
	return (size_t)index < b->nr_tree && b->tree_nodes[index] ? b->tree_nodes[index] - 1
								 : UNIT_NONE;
}

/*
 * The node of an entry in the tree; a negative index is the function itself. The callers that have
 * no node yet get theirs first. UNIT_NONE: an entry cannot be read, or is inlined in itself.
 */
static uint32_t node_of(struct go_builder *b, int32_t index)
{
	int32_t path[MAX_DEPTH];
	uint32_t call, node;
	size_t nr = 0;

	while ((node = known_node(b, index)) == UNIT_NONE) {
		if (nr == MAX_DEPTH || !read_call(b, index, &call))
			return UNIT_NONE;
		path[nr++] = index;
		index = go_pcs_find(&b->inlined, call);
	}
	while (nr && !b->err)
		node = add_inlined(b, path[--nr], node);
	return node;
}

/* ---- segments ---- */

/* Goes on in a list to what holds at pc, and lowers *next to where that ends. */
static int32_t value_at(const struct go_pcs *p, size_t *at, uint32_t pc, uint32_t *next)
{
	while (*at < p->nr && p->v[*at].end <= pc)
		++*at;
	if (*at == p->nr)
		return GO_NO_VALUE;
	if (p->v[*at].end < *next)
		*next = p->v[*at].end;
	return p->v[*at].value;
}

/*
 * Where the inlined function is not known its line is left out as well, because it would be shown
 * as one of the function around it.
 */
static void add_segment(struct go_builder *b, uint32_t pc, int32_t file, int32_t line,
			int32_t inlined)
{
	struct unit_segment seg = { .line = line_of(line), .file = path_of(b, file) };

	if (++b->nr_looked_at % LOOK_EVERY == 0 && unit_time_is_up(b->until_ns))
		b->err = -ETIMEDOUT;
	if (b->text.bad || b->segments.nr > MAX_SEGMENTS)
		b->err = b->text.bad ? -ENOMEM : -E2BIG;
	seg.node = b->err ? UNIT_NONE : node_of(b, inlined);
	if (b->err)
		return;
	if (seg.node == UNIT_NONE)
		seg = (struct unit_segment){ .file = UNIT_NONE, .node = b->f.root };
	else
		note_file(b, seg.node, seg.file);
	b->err = unit_segments_add(&b->segments, b->f.lo + pc, &seg);
}

static void add_segments(struct go_builder *b)
{
	const struct unit_segment none = { .file = UNIT_NONE, .node = UNIT_NONE };
	uint32_t end = go_pcs_end(&b->lines), pc = 0, next;
	size_t at[3] = { 0 };

	for (; pc < end && !b->err; pc = next) {
		int32_t file, line, inlined;

		next = end;
		file = value_at(&b->files, &at[0], pc, &next);
		line = value_at(&b->lines, &at[1], pc, &next);
		inlined = value_at(&b->inlined, &at[2], pc, &next);
		add_segment(b, pc, file, line, inlined);
	}
	/* What follows up to the next function is only there for alignment. */
	if (!b->err)
		b->err = unit_segments_add(&b->segments, b->f.lo + end, &none);
}

/* 0 is the place of a list that is not there. */
static void read_pcs(struct go_builder *b, struct go_pcs *p, uint32_t at)
{
	struct bytes list = from(b->g->pcs, at);

	if (!b->err)
		b->err = go_pcs_read(p, list.v, at ? list.len : 0, b->g->quantum, b->f.size);
}

static void read_lists(struct go_builder *b)
{
	const struct layout *l = b->g->layout;
	bool has_inlined = record_field(&b->f, l->name + AFTER_NAME_PCDATA) > PCDATA_INLINED;

	read_pcs(b, &b->files, record_field(&b->f, l->name + AFTER_NAME_FILES));
	read_pcs(b, &b->lines, record_field(&b->f, l->name + AFTER_NAME_LINES));
	read_pcs(b, &b->inlined,
		 has_inlined ? record_field(&b->f, l->pcdata + 4 * PCDATA_INLINED) : 0);
	if (b->nr_tree)
		memset(b->tree_nodes, 0, b->nr_tree * sizeof(*b->tree_nodes));
	b->nr_tree = 0;
	b->last_file = GO_NO_VALUE;
}

/* false: the list of functions is damaged there, because it is sorted by address. */
static bool find_function(const struct go_lines *g, uint64_t i, struct function *f)
{
	unsigned word = g->layout->word;
	uint64_t hi = entry_of(g, i + 1), record = field_at(g->functions, (2 * i + 1) * word, word);

	*f = (struct function){ .lo = entry_of(g, i), .record = from(g->functions, record) };
	if (hi <= f->lo || hi - f->lo >= UINT32_MAX || !f->record.len)
		return false;
	f->size = (uint32_t)(hi - f->lo);
	f->unit = record_field(f, g->layout->name + AFTER_NAME_UNIT);
	f->tree = tree_of(g, f);
	return true;
}

static void add_function(struct go_builder *b, uint64_t i)
{
	const struct layout *l = b->g->layout;
	struct unit_node n = { .parent = UNIT_NONE, .call_file = UNIT_NONE };

	if (!find_function(b->g, i, &b->f) || b->f.lo < b->end ||
	    b->f.lo - b->segments.base >= UNIT_NONE)
		return;
	b->end = b->f.lo + b->f.size;
	read_lists(b);
	if (b->err)
		return;
	n.entry = (uint32_t)(b->f.lo - b->segments.base);
	n.func = add_func(b, record_field(&b->f, l->name),
			  l->start_line ? record_field(&b->f, l->start_line) : 0);
	if (!b->err)
		b->f.root = add_node(b, &n);
	if (!b->err)
		add_segments(b);
}

/* ---- the whole ---- */

static int build(struct go_builder *b, uint64_t unit, struct byte_buf *out)
{
	uint64_t first = unit & ~UNITS_OF_GO;
	struct unit_parts parts = { .unit = unit, .lang = LANG_GO, .segments = &b->segments,
				    .text = &b->text.buf };

	if (first >= b->g->nr)
		return -EBADMSG;
	b->segments.base = b->end = entry_of(b->g, first);
	unit_text_add(&b->text, "");	/* a text has at least its end */
	for (uint64_t i = first; i < b->g->nr && i < first + UNIT_FUNCTIONS && !b->err; i++)
		add_function(b, i);
	if (!b->err && !b->segments.nr)
		b->err = -ENODATA;
	if (!b->err && b->text.bad)
		b->err = -ENOMEM;
	parts.nodes = b->nodes;
	parts.nr_nodes = b->nr_nodes;
	parts.funcs = b->funcs;
	parts.nr_funcs = b->nr_funcs;
	return b->err ? b->err : unit_write(&parts, out);
}

/* Pages of the file that were read count as memory of this process. */
static void forget_pages(struct go_lines *g, size_t made)
{
	g->made_bytes += made;
	if (g->map && g->made_bytes >= ROOM_BYTES) {
		g->made_bytes = 0;
		madvise(g->map, g->file.len, MADV_DONTNEED);
	}
}

int go_lines_unit(struct go_lines *g, uint64_t unit, uint64_t until_ns, struct byte_buf *out)
{
	struct go_builder b = { .g = g, .until_ns = until_ns };
	size_t before = out->nr;
	int err = build(&b, unit, out);

	forget_pages(g, out->nr - before);
	unit_text_release(&b.text);
	free(b.segments.v);
	free(b.nodes);
	free(b.funcs);
	go_pcs_release(&b.files);
	go_pcs_release(&b.lines);
	go_pcs_release(&b.inlined);
	free(b.tree_nodes);
	return err;
}

int go_lines_index(struct go_lines *g, uint64_t until_ns, struct byte_buf *out)
{
	size_t nr = 0;
	struct index_range *v = calloc(g->nr / UNIT_FUNCTIONS + 1, sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < g->nr && !err; i += UNIT_FUNCTIONS) {
		uint64_t end = i + UNIT_FUNCTIONS < g->nr ? i + UNIT_FUNCTIONS : g->nr;

		v[nr] = (struct index_range){ entry_of(g, i), entry_of(g, end), UNITS_OF_GO | i };
		nr += v[nr].hi > v[nr].lo;
		if (i % LOOK_EVERY == 0 && unit_time_is_up(until_ns))
			err = -ETIMEDOUT;
	}
	if (!err)
		err = debug_index_make(v, nr, out);
	free(v);
	return err;
}

void go_lines_close(struct go_lines *g)
{
	if (!g)
		return;
	elf_image_close(g->img);
	if (g->map)
		munmap(g->map, g->file.len);
	free(g);
}

int go_lines_open_memory(const void *data, size_t len, struct go_lines **gp)
{
	struct go_lines *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	g->file = (struct bytes){ data, len };
	err = elf_image_open_memory(data, len, &g->img);
	if (!err)
		err = read_table(g);
	if (err)
		go_lines_close(g);
	else
		*gp = g;
	return err;
}

int go_lines_open(int fd, struct go_lines **gp)
{
	struct stat st;
	void *map;
	int err;

	if (fstat(fd, &st) || st.st_size <= 0)
		return -ENOENT;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	err = go_lines_open_memory(map, (size_t)st.st_size, gp);
	if (err)
		munmap(map, (size_t)st.st_size);
	else
		(*gp)->map = map;
	return err;
}
