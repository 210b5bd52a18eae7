/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined functions and source lines for the answers of a batch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/debug_info/debug_lines.h"
#include "src/model/record.h"
#include "src/symbolize/demangle.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/symbol_batch.h"
#include "src/symbolize/symbolizer.h"

#define MAX_LINES (1u << 20)		/* in one batch */
#define MAX_TEXT (48u << 20)
#define MAX_JOINED (1u << 30)		/* of text, of all parts of a batch */

/* A string that is in the text already. */
struct known_text {
	uint32_t at, len;
	uint32_t readable;		/* the demangled name, or SYMBOL_NO_NAME: not asked for */
	uint32_t lambda;		/* likewise the name of the lambda that it is */
};

struct lines_batch {
	struct symbol_batch *b;
	const struct elf_symbols *table;	/* NULL: there is none */
	struct known_text *known;
	size_t nr_known, cap_known;
	struct hash_index index;
	struct symbol_answer **order;
	bool is_full;
};

struct text_key {
	const struct lines_batch *l;
	const char *s;
	size_t len;
};

static bool same_text(const void *ctx, uint32_t id)
{
	const struct text_key *k = ctx;
	const struct known_text *t = &k->l->known[id];

	return t->len == k->len && !memcmp(k->l->b->text.v + t->at, k->s, k->len);
}

/* The text s, which is added at its first use. NULL: there is none, or no room for it. */
static struct known_text *text_of(struct lines_batch *l, const char *s)
{
	struct text_key k = { l, s, s ? strlen(s) : 0 };
	struct byte_buf *text = &l->b->text;
	uint64_t hash = hash_bytes(0, s ? s : "", k.len);
	struct known_text *t;
	uint32_t id;

	if (!k.len || l->is_full)
		return NULL;
	id = ix_find(&l->index, hash, same_text, &k);
	if (id != IX_NONE)
		return &l->known[id];
	t = text->nr > MAX_TEXT ? NULL : array_push(&l->known, &l->nr_known, &l->cap_known);
	l->is_full = !t || ix_add(&l->index, hash, (uint32_t)l->nr_known - 1);
	if (l->is_full)
		return NULL;
	*t = (struct known_text){ (uint32_t)text->nr, (uint32_t)k.len, SYMBOL_NO_NAME,
				  SYMBOL_NO_NAME };
	bb_bytes(text, s, k.len + 1);
	l->is_full = text->bad;
	return l->is_full ? NULL : t;
}

static uint32_t path_of(struct lines_batch *l, const char *path)
{
	const struct known_text *t = text_of(l, path);

	return t ? t->at : SYMBOL_NO_NAME;
}

static void put_name(struct lines_batch *l, struct symbol_place *p, const char *sysname,
		     uint8_t lang)
{
	struct known_text *t = text_of(l, sysname);

	p->name = p->sysname = t ? t->at : SYMBOL_NO_NAME;
	if (!t || l->b->no_demangle)
		return;
	if (t->readable == SYMBOL_NO_NAME) {
		t->readable = (uint32_t)l->b->text.nr;
		if ((lang == LANG_ADA ? demangle_ada : demangle)(sysname, &l->b->text) <= 0)
			t->readable = t->at;
	}
	p->name = t->readable;
}

/*
 * What a lambda is in, by its demangled name; NULL: nothing. A variable that it is assigned to is
 * no scope in debug information, and clang leaves out the names of some functions.
 */
static const char *scope_of_lambda(char *demangled)
{
	static const char *const marks[] = { "::{lambda(", "::$_", "::{unnamed" };
	char *at = NULL;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		for (char *s = strstr(demangled, marks[i]); s; s = strstr(s + 2, marks[i]))
			at = s > at ? s : at;
	if (at)
		*at = 0;
	return at ? demangled : NULL;
}

/* "fn::{lambda a.cc:3}" of "{lambda a.cc:3}" and the name for the linker. */
static uint32_t whole_lambda(struct lines_batch *l, const char *scoped, const char *sysname)
{
	struct byte_buf buf = { 0 };
	const char *scope = NULL;
	uint32_t at;

	if (scoped[0] == '{' && demangle_bare(sysname, &buf) > 0)
		scope = scope_of_lambda((char *)buf.v);
	if (scope) {
		buf.nr = strlen(scope);
		bb_bytes(&buf, "::", 2);
		bb_bytes(&buf, scoped, strlen(scoped) + 1);
	}
	at = path_of(l, scope && !buf.bad ? (const char *)buf.v : scoped);
	bb_release(&buf);
	return at;
}

/* Names are looked at once, whatever their number of addresses. */
static void put_lambda(struct lines_batch *l, const struct unit_place *u, struct symbol_place *p)
{
	char sysname[DEMANGLE_MAX_IN];
	struct known_text *t;
	uint32_t name;
	int len;

	if (l->b->no_demangle || p->sysname == SYMBOL_NO_NAME)
		return;
	len = snprintf(sysname, sizeof(sysname), "%s", (const char *)l->b->text.v + p->sysname);
	t = len < (int)sizeof(sysname) ? text_of(l, sysname) : NULL;
	if (t && t->lambda != SYMBOL_NO_NAME) {
		p->name = t->lambda;
		return;
	}
	name = whole_lambda(l, u->scoped, sysname);
	t = t ? text_of(l, sysname) : NULL;	/* which may have moved */
	if (t)
		t->lambda = name;
	p->name = name;
}

static void cut_clone(char *mangled)
{
	char *dot = strncmp(mangled, "_Z", 2) ? NULL : strchr(mangled, '.');

	if (dot)
		*dot = 0;
}

/*
 * A function without a name for the linker has that of its code that is not inlined, so that both
 * are one function; without such code there is only what the source says.
 */
static void put_scoped(struct lines_batch *l, const struct unit_place *u, uint8_t lang,
		       struct symbol_place *p)
{
	struct elf_symbol sym;

	if (u->name && !strncmp(u->name, "_Z", 2)) {
		put_name(l, p, u->name, lang);
	} else if (u->func_entry && l->table && !elf_symbols_find(l->table, u->func_entry, &sym) &&
		   sym.addr == u->func_entry) {
		cut_clone(sym.name);
		put_name(l, p, sym.name, lang);
	} else {
		put_name(l, p, u->scoped, lang);
	}
	if (u->is_lambda)
		put_lambda(l, u, p);
}

static void put_place(struct lines_batch *l, const struct unit_place *u, uint8_t lang,
		      struct symbol_place *p)
{
	if (u->scoped)
		put_scoped(l, u, lang, p);
	else
		put_name(l, p, u->name, lang);
	p->file = path_of(l, u->file);
	p->line = u->line;
	p->column = u->column;
	p->decl_file = path_of(l, u->decl_file);
	p->decl_line = u->decl_line;
	p->lang = lang ? lang : u->name ? demangle_lang(u->name) : LANG_UNKNOWN;
}

/* The symbol of a lambda may be that of a part of it: "[clone .cold]". */
static void join_lambda(struct lines_batch *l, const struct symbol_answer *r,
			struct symbol_place *p, const struct unit_place *u)
{
	const char *texts = (const char *)l->b->text.v;
	const char *clone = strstr(texts + r->name, " [clone ");
	char whole[DEMANGLE_MAX_IN];
	int len;

	snprintf(whole, sizeof(whole), "%s", texts + r->sysname);
	cut_clone(whole);
	put_name(l, p, whole, r->lang);
	put_lambda(l, u, p);
	texts = (const char *)l->b->text.v;
	if (!clone || p->name == SYMBOL_NO_NAME)
		return;
	clone = strstr(texts + r->name, " [clone ");
	len = snprintf(whole, sizeof(whole), "%s%s", texts + p->name, clone);
	if (len < (int)sizeof(whole))
		p->name = path_of(l, whole);
}

/*
 * The outermost function has the name of the symbol table, as far as that has one: it tells the
 * parts of a function from each other (foo, foo.cold).
 */
static void join_outermost(struct lines_batch *l, struct symbol_answer *r, struct symbol_place *p,
			   const struct unit_place *u)
{
	if (r->sysname != SYMBOL_NO_NAME) {
		p->name = r->name;
		if (u->is_lambda && !l->b->no_demangle)
			join_lambda(l, r, p, u);
		p->sysname = r->sysname;
		p->lang = r->lang ? r->lang : p->lang;
	} else if (u->entry) {
		r->func_addr = u->entry;
		r->has_func_addr = 1;
	}
}

static void put_answer(struct lines_batch *l, struct symbol_answer *r, const struct unit_place *v,
		       size_t nr, uint8_t lang)
{
	struct symbol_batch *b = l->b;
	size_t first = b->nr_lines;

	l->is_full |= first + nr > MAX_LINES ||
		      array_reserve(&b->lines, &b->cap_lines, first + nr);
	if (l->is_full)
		return;
	for (size_t i = 0; i < nr; i++) {
		b->lines[first + i] = (struct symbol_place){ 0 };
		put_place(l, &v[i], lang, &b->lines[first + i]);
	}
	join_outermost(l, r, &b->lines[first + nr - 1], &v[nr - 1]);
	/* Without a name for each function the chain says nothing. */
	for (size_t i = 0; i < nr; i++)
		if (b->lines[first + i].name == SYMBOL_NO_NAME)
			return;
	b->nr_lines += nr;
	r->first_line = (uint32_t)first;
	r->nr_lines = (uint32_t)nr;
	r->status = SYMBOL_OK;
}

static int by_addr(const void *a, const void *b)
{
	const struct symbol_answer *x = *(struct symbol_answer *const *)a;
	const struct symbol_answer *y = *(struct symbol_answer *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* A return address without a call before it was looked up itself. */
static uint64_t addr_of(const struct symbol_answer *r)
{
	return r->addr + (r->has_func_addr && r->func_addr == r->addr + 1);
}

/* Says which addresses come; without memory for them each is a surprise. */
static void expect(const struct lines_batch *l, struct debug_lines *d)
{
	uint64_t *addrs = malloc((l->b->nr + 1) * sizeof(*addrs));
	size_t nr = 0;

	for (size_t i = 0; addrs && i < l->b->nr; i++)
		if (!l->order[i]->is_variable)
			addrs[nr++] = addr_of(l->order[i]);
	debug_lines_expect(d, addrs, nr);
	free(addrs);
}

static void answer(struct lines_batch *l, struct debug_lines *d, struct symbol_answer *r,
		   uint64_t until_ns)
{
	unsigned wanted = l->b->max_depth ? l->b->max_depth : SYMBOL_MAX_DEPTH;
	unsigned max = wanted < SYMBOL_MAX_DEPTH ? wanted : SYMBOL_MAX_DEPTH;
	struct unit_place v[SYMBOL_MAX_DEPTH];
	uint8_t lang = LANG_UNKNOWN;
	int nr = debug_lines_find(d, addr_of(r), until_ns, v, max, &lang);

	r->is_late = nr == -ETIMEDOUT || nr == -EAGAIN;
	if (nr > 0)
		put_answer(l, r, v, (size_t)nr, lang);
}

void symbol_batch_lines(struct symbol_batch *b, struct debug_lines *d,
			const struct elf_symbols *table, uint64_t until_ns)
{
	struct lines_batch l = { .b = b, .table = table };

	l.order = malloc((b->nr + 1) * sizeof(*l.order));
	for (size_t i = 0; l.order && i < b->nr; i++)
		l.order[i] = &b->v[i];
	if (l.order)
		qsort(l.order, b->nr, sizeof(*l.order), by_addr);
	if (l.order)
		expect(&l, d);
	for (size_t i = 0; l.order && i < b->nr; i++) {
		if (l.order[i]->is_variable)
			continue;
		if (!l.is_full)
			answer(&l, d, l.order[i], until_ns);
		if (l.is_full && !l.order[i]->nr_lines)
			l.order[i]->is_late = 1;
	}
	b->text.bad = false;
	free(l.order);
	free(l.known);
	ix_release(&l.index);
}

int symbol_batch_take_late(const struct symbol_batch *b, struct symbol_batch *late)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->nr; i++)
		nr += b->v[i].is_late;
	late->v = calloc(nr + 1, sizeof(*late->v));
	if (!late->v)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr; i++)
		if (b->v[i].is_late)
			late->v[late->nr++] = (struct symbol_answer){
				.addr = b->v[i].addr, .is_return = b->v[i].is_return,
				.name = SYMBOL_NO_NAME, .sysname = SYMBOL_NO_NAME,
			};
	return 0;
}

static uint32_t moved(uint32_t at, size_t by)
{
	return at == SYMBOL_NO_NAME ? at : at + (uint32_t)by;
}

static void join_place(struct symbol_place *p, size_t text)
{
	p->name = moved(p->name, text);
	p->sysname = moved(p->sysname, text);
	p->file = moved(p->file, text);
	p->decl_file = moved(p->decl_file, text);
}

static void join_answer(struct symbol_answer *r, const struct symbol_answer *late, size_t text,
			size_t lines)
{
	uint32_t cookie = r->cookie;

	*r = *late;
	r->cookie = cookie;
	r->name = moved(r->name, text);
	r->sysname = moved(r->sysname, text);
	r->first_line += (uint32_t)lines;
}

int symbol_batch_join(struct symbol_batch *b, const struct symbol_batch *late)
{
	size_t text = b->text.nr, lines = b->nr_lines, at = 0;

	if (text + late->text.nr > MAX_JOINED)
		return -E2BIG;
	bb_bytes(&b->text, late->text.v, late->text.nr);
	if (b->text.bad || array_reserve(&b->lines, &b->cap_lines, lines + late->nr_lines))
		return -ENOMEM;
	for (size_t i = 0; i < late->nr_lines; i++) {
		b->lines[lines + i] = late->lines[i];
		join_place(&b->lines[lines + i], text);
	}
	b->nr_lines += late->nr_lines;
	for (size_t i = 0; i < b->nr && at < late->nr; i++)
		if (b->v[i].is_late)
			join_answer(&b->v[i], &late->v[at++], text, lines);
	return 0;
}

static const char *text_at(const struct symbol_batch *b, uint32_t at)
{
	return at == SYMBOL_NO_NAME ? NULL : (const char *)b->text.v + at;
}

void symbol_batch_line(const struct symbol_batch *b, const struct symbol_place *p,
		       struct symbol_line *out)
{
	*out = (struct symbol_line){
		.name = text_at(b, p->name),
		.sysname = text_at(b, p->sysname),
		.file = text_at(b, p->file),
		.line = p->line,
		.column = p->column,
		.decl_file = text_at(b, p->decl_file),
		.decl_line = p->decl_line,
		.lang = p->lang,
	};
}

void symbol_batch_release(struct symbol_batch *b)
{
	bb_release(&b->text);
	free(b->lines);
	b->text = (struct byte_buf){ 0 };
	b->lines = NULL;
	b->nr_lines = b->cap_lines = 0;
}
