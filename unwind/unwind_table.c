/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_table.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "unwind/unwind_limits.h"

#define MAX_RULES UINT16_MAX	/* numbers of rules have 16 bits */
#define MAX_PAGE_ROWS UINT16_MAX	/* and so have counts of rows in a page */

static const struct unwind_rule no_rule = { .cfa = CFA_NONE };

#define RECENT 256			/* a power of two */

struct builder {
	struct unwind_table *t;
	size_t cap_rules;
	struct hash_index index;
	uint16_t recent[RECENT];	/* rules by some bits of their hash; a cache of the index */
};

struct rule_key {
	const struct unwind_table *t;
	const struct unwind_rule *rule;
};

static bool same_rule(const void *ctx, uint32_t id)
{
	const struct rule_key *k = ctx;

	return !memcmp(&k->t->rules[id], k->rule, sizeof(*k->rule));
}

static uint64_t rule_hash(const struct unwind_rule *rule)
{
	uint64_t words[2];

	_Static_assert(sizeof(words) == sizeof(*rule), "two words");
	memcpy(words, rule, sizeof(words));
	return hash_u64(hash_u64(0, words[0]), words[1]);
}

/* Finds the number of the rule in this table; a new rule is added. 0 or -errno. */
static int intern_rule(struct builder *b, const struct unwind_rule *rule, uint16_t *number)
{
	struct unwind_table *t = b->t;
	struct rule_key k = { t, rule };
	uint64_t hash = rule_hash(rule);
	uint16_t *recent = &b->recent[hash & (RECENT - 1)];
	struct unwind_rule *slot;
	uint32_t id;

	if (*recent < t->nr_rules && same_rule(&k, *recent)) {
		*number = *recent;
		return 0;
	}
	id = ix_find(&b->index, hash, same_rule, &k);
	if (id == IX_NONE) {
		id = (uint32_t)t->nr_rules;
		if (id >= MAX_RULES)
			return -E2BIG;
		slot = array_push(&t->rules, &t->nr_rules, &b->cap_rules);
		if (!slot || ix_add(&b->index, hash, id))
			return -ENOMEM;
		*slot = *rule;
	}
	*number = *recent = (uint16_t)id;
	return 0;
}

/* Begins a page after the rows so far; its carry is the rule of the last row. */
static void begin_page(struct unwind_table *t, uint32_t page)
{
	t->pages[page].first = (uint32_t)t->nr_rows;
	t->pages[page].carry = t->nr_rows ? t->rows[t->nr_rows - 1].rule : 0;
}

static int add_row(struct builder *b, const struct cfi_row *row, uint32_t *page)
{
	struct unwind_table *t = b->t;
	uint64_t rel = row->vaddr - t->vaddr_lo;
	uint16_t rule;
	int err = intern_rule(b, &row->rule, &rule);

	if (err)
		return err;
	while (*page < rel >> UNWIND_PAGE_SHIFT)
		begin_page(t, ++*page);
	assert(*page < t->nr_pages);
	if (t->pages[*page].nr == MAX_PAGE_ROWS)
		return -E2BIG;
	t->pages[*page].nr++;
	t->rows[t->nr_rows++] = (struct unwind_row){ (uint16_t)rel, rule };
	return 0;
}

static int add_rows(struct builder *b, const struct cfi_row *rows, size_t nr)
{
	uint32_t page = 0;
	uint16_t none;
	int err = intern_rule(b, &no_rule, &none);

	for (size_t i = 0; i < nr && !err; i++) {
		assert(!i || rows[i].vaddr > rows[i - 1].vaddr);
		err = add_row(b, &rows[i], &page);
	}
	while (!err && ++page < b->t->nr_pages)
		begin_page(b->t, page);
	return err;
}

/* The number of pages up to vaddr_hi, without those after the last row, which would be empty. */
static int count_pages(const struct cfi_row *rows, size_t nr, uint64_t vaddr_lo, uint64_t vaddr_hi,
		       uint32_t *out)
{
	uint64_t last = vaddr_hi - 1;

	if (!nr || vaddr_hi <= vaddr_lo) {
		*out = 0;
		return 0;
	}
	if (rows[nr - 1].rule.cfa == CFA_NONE)
		last = rows[nr - 1].vaddr;
	if ((last - vaddr_lo) >> UNWIND_PAGE_SHIFT >= UNWIND_MAX_PAGES)
		return -E2BIG;
	*out = (uint32_t)((last - vaddr_lo) >> UNWIND_PAGE_SHIFT) + 1;
	return 0;
}

/* Drops rows outside of what the file maps: they come from functions that the linker dropped. */
static void clip(const struct cfi_row **rows, size_t *nr, uint64_t vaddr_lo, uint64_t vaddr_hi)
{
	for (; *nr && (*rows)->vaddr < vaddr_lo; (*nr)--)
		(*rows)++;
	while (*nr && (*rows)[*nr - 1].vaddr >= vaddr_hi)
		(*nr)--;
}

static int build(struct unwind_table *t, const struct cfi_row *rows, size_t nr, uint64_t vaddr_hi)
{
	struct builder b = { .t = t };
	int err = count_pages(rows, nr, t->vaddr_lo, vaddr_hi, &t->nr_pages);

	if (err)
		return err;
	t->pages = calloc(t->nr_pages + 1, sizeof(*t->pages));
	t->rows = malloc((nr + 1) * sizeof(*t->rows));
	err = t->pages && t->rows ? add_rows(&b, rows, nr) : -ENOMEM;
	ix_release(&b.index);
	return err;
}

int unwind_table_build(const struct cfi_rows *rows, uint64_t vaddr_lo, uint64_t vaddr_hi,
		       struct unwind_table **tp)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	const struct cfi_row *v = rows->v;
	size_t nr = rows->nr;
	int err;

	if (!t)
		return -ENOMEM;
	t->vaddr_lo = vaddr_lo;
	t->stats = rows->stats;
	clip(&v, &nr, vaddr_lo, vaddr_hi);
	err = build(t, v, nr, vaddr_hi);
	if (err)
		unwind_table_free(t);
	else
		*tp = t;
	return err;
}

/* ---- parts ---- */

struct unwind_part {
	struct builder b;
	struct unwind_table *t;
	size_t cap_rows;
	bool failed;
};

int unwind_part_begin(uint64_t vaddr_lo, uint32_t nr_pages, struct unwind_part **bp)
{
	struct unwind_part *p = nr_pages > UNWIND_MAX_PAGES ? NULL : calloc(1, sizeof(*p));
	uint16_t none;

	*bp = p;
	if (!p)
		return nr_pages > UNWIND_MAX_PAGES ? -E2BIG : -ENOMEM;
	p->b.t = p->t = calloc(1, sizeof(*p->t));
	p->failed = !p->t;
	if (p->failed)
		return -ENOMEM;
	p->t->vaddr_lo = vaddr_lo;
	p->t->nr_pages = nr_pages;
	p->t->pages = calloc(nr_pages + 1, sizeof(*p->t->pages));
	p->failed = !p->t->pages || intern_rule(&p->b, &no_rule, &none);
	for (uint32_t i = 0; i < nr_pages && !p->failed; i++)
		p->t->pages[i].first = UNWIND_PAGE_ABSENT;
	return p->failed ? -ENOMEM : 0;
}

static int add_part_row(struct unwind_part *p, struct unwind_page *page, const struct cfi_row *row)
{
	struct unwind_row *slot;
	uint16_t rule;
	int err = intern_rule(&p->b, &row->rule, &rule);

	if (err)
		return err;
	if (page->nr == MAX_PAGE_ROWS)
		return -E2BIG;
	slot = array_push(&p->t->rows, &p->t->nr_rows, &p->cap_rows);
	if (!slot)
		return -ENOMEM;
	*slot = (struct unwind_row){ (uint16_t)(row->vaddr - p->t->vaddr_lo), rule };
	page->nr++;
	return 0;
}

/* Adds one page. rows->v[*next] is the first row that may be in it, and moves behind it. */
static int add_part_page(struct unwind_part *p, const struct cfi_rows *rows, uint32_t index,
			 size_t *next)
{
	uint64_t begin = p->t->vaddr_lo + ((uint64_t)index << UNWIND_PAGE_SHIFT);
	struct unwind_page page = { .first = (uint32_t)p->t->nr_rows };
	struct unwind_rule carry = begin ? cfi_rows_find(rows, begin - 1) : no_rule;
	int err = intern_rule(&p->b, &carry, &page.carry);

	while (*next < rows->nr && rows->v[*next].vaddr < begin)
		++*next;
	for (; !err && *next < rows->nr &&
	       rows->v[*next].vaddr - begin < 1u << UNWIND_PAGE_SHIFT; ++*next)
		err = add_part_row(p, &page, &rows->v[*next]);
	p->t->pages[index] = page;
	return err;
}

int unwind_part_add(struct unwind_part *p, const struct cfi_rows *rows, uint32_t first,
		    uint32_t nr)
{
	size_t next = 0;
	int err = 0;

	assert(first <= p->t->nr_pages && nr <= p->t->nr_pages - first);
	for (uint32_t i = first; i < first + nr && !err; i++)
		err = add_part_page(p, rows, i, &next);
	p->failed |= err != 0;
	return err;
}

struct unwind_table *unwind_part_end(struct unwind_part *p)
{
	struct unwind_table *t = p->t;

	if (p->failed) {
		unwind_table_free(t);
		t = NULL;
	}
	ix_release(&p->b.index);
	free(p);
	return t;
}

bool unwind_table_is_whole(const struct unwind_table *t)
{
	for (uint32_t i = 0; i < t->nr_pages; i++)
		if (t->pages[i].first == UNWIND_PAGE_ABSENT)
			return false;
	return true;
}

static bool rule_is_sound(const struct unwind_rule *r)
{
	return r->cfa <= CFA_GOROUTINE && r->fp <= FP_DEREF_FP && RULE_RA(r) <= RA_REG;
}

static bool page_is_sound(const struct unwind_table *t, const struct unwind_page *page)
{
	if (page->first == UNWIND_PAGE_ABSENT)
		return !page->nr && !page->carry;
	if (page->carry >= t->nr_rules || page->first > t->nr_rows ||
	    page->nr > t->nr_rows - page->first)
		return false;
	for (uint32_t i = 0; i < page->nr; i++) {
		const struct unwind_row *row = &t->rows[page->first + i];

		if (row->rule >= t->nr_rules || (i && row->pc_lo <= row[-1].pc_lo))
			return false;
	}
	return true;
}

/*
 * Pages that are there follow each other in the rows, which also bounds the work that a page table
 * can cause.
 */
bool unwind_table_is_sound(const struct unwind_table *t)
{
	uint64_t next = 0;

	if (t->nr_pages > UNWIND_MAX_PAGES || t->nr_rows > UINT32_MAX || !t->nr_rules ||
	    t->nr_rules > MAX_RULES || t->rules[0].cfa != CFA_NONE)
		return false;
	for (size_t i = 0; i < t->nr_rules; i++)
		if (!rule_is_sound(&t->rules[i]))
			return false;
	for (uint32_t i = 0; i < t->nr_pages; i++) {
		if ((t->pages[i].first != next && t->pages[i].first != UNWIND_PAGE_ABSENT) ||
		    !page_is_sound(t, &t->pages[i]))
			return false;
		next += t->pages[i].nr;
	}
	return next == t->nr_rows;
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->pages);
	free(t->rows);
	free(t->rules);
	free(t);
}

/*
 * The last of nr >= 1 rows that starts at or before key. Like unwind_search() in unwind_step.h, it
 * has no branches.
 */
static const struct unwind_row *search(const struct unwind_row *rows, uint32_t nr, uint32_t key)
{
	while (nr > 1) {
		uint32_t half = nr / 2;
		int64_t before = (int64_t)rows[half].pc_lo - (int64_t)key - 1;

		rows += half & (uint32_t)(before >> 63);
		nr -= half;
	}
	return rows;
}

struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t vaddr)
{
	uint64_t rel = vaddr - t->vaddr_lo, index = rel >> UNWIND_PAGE_SHIFT;
	uint32_t key = rel & ((1u << UNWIND_PAGE_SHIFT) - 1);
	const struct unwind_page *page;
	const struct unwind_row *rows;

	if (vaddr < t->vaddr_lo || index >= t->nr_pages)
		return no_rule;
	page = &t->pages[index];
	if (!page->nr || t->rows[page->first].pc_lo > key)
		return t->rules[page->carry];
	rows = &t->rows[page->first];
	return t->rules[search(rows, page->nr, key)->rule];
}
