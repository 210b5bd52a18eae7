#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "unwind/walk_limits.h"

#define PAGE_BYTES (1ull << UNWIND_PAGE_SHIFT)
#define MAX_NR UINT16_MAX

struct builder {
	struct unwind_table *t;
	size_t cap_rules;
	struct hash_index index;
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

/* Number of the rule in this table; negative: -ENOMEM or -E2BIG. */
static int32_t intern_rule(struct builder *b, const struct unwind_rule *rule)
{
	struct rule_key k = { b->t, rule };
	uint64_t hash = hash_bytes(11, rule, sizeof(*rule));
	uint32_t id = ix_find(&b->index, hash, same_rule, &k);
	struct unwind_rule *place;

	if (id != IX_NONE)
		return (int32_t)id;
	if (b->t->nr_rules >= MAX_NR)
		return -E2BIG;
	place = array_push(&b->t->rules, &b->t->nr_rules, &b->cap_rules);
	if (!place)
		return -ENOMEM;
	*place = *rule;
	id = (uint32_t)b->t->nr_rules - 1;
	return ix_add(&b->index, hash, id) ? -ENOMEM : (int32_t)id;
}

static int add_row(struct builder *b, uint32_t *page, const struct cfi_row *row, uint16_t *carry)
{
	struct unwind_table *t = b->t;
	uint64_t rel = row->vaddr - t->vaddr_lo;
	int32_t rule = intern_rule(b, &row->rule);
	struct unwind_page *p;

	if (rule < 0)
		return rule;
	while (*page < rel >> UNWIND_PAGE_SHIFT) {
		p = &t->pages[++*page];
		p->first = (uint32_t)t->nr_rows;
		p->carry = *carry;
	}
	p = &t->pages[*page];
	if (p->nr == MAX_NR)
		return -E2BIG;
	p->nr++;
	t->rows[t->nr_rows++] = (struct unwind_row){ (uint16_t)rel, (uint16_t)rule };
	*carry = (uint16_t)rule;
	return 0;
}

static int fill(struct builder *b, const struct cfi_rows *rows, uint64_t vaddr_hi)
{
	static const struct unwind_rule none;
	struct unwind_table *t = b->t;
	uint32_t page = 0;
	uint16_t carry = 0;
	int err = intern_rule(b, &none);

	for (size_t i = 0; i < rows->nr && err >= 0; i++) {
		/* Rows outside the mapped file are damage. */
		if (rows->v[i].vaddr >= t->vaddr_lo && rows->v[i].vaddr < vaddr_hi)
			err = add_row(b, &page, &rows->v[i], &carry);
	}
	while (page + 1 < t->nr_pages) {
		t->pages[++page].first = (uint32_t)t->nr_rows;
		t->pages[page].carry = carry;
	}
	return err < 0 ? err : 0;
}

int unwind_table_build(const struct cfi_rows *rows, uint64_t vaddr_lo, uint64_t vaddr_hi, struct unwind_table **tp)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	struct builder b = { .t = t };
	int err = -ENOMEM;

	if (!t)
		return -ENOMEM;
	if (vaddr_hi <= vaddr_lo || (vaddr_hi - vaddr_lo) >> UNWIND_PAGE_SHIFT >= WALK_MAX_PAGES) {
		free(t);
		return -E2BIG;
	}
	t->vaddr_lo = vaddr_lo;
	t->nr_pages = (uint32_t)((vaddr_hi - vaddr_lo + PAGE_BYTES - 1) >> UNWIND_PAGE_SHIFT);
	t->stats = rows->stats;
	t->pages = calloc(t->nr_pages, sizeof(*t->pages));
	t->rows = calloc(rows->nr + 1, sizeof(*t->rows));
	if (t->pages && t->rows)
		err = fill(&b, rows, vaddr_hi);
	ix_release(&b.index);
	if (err)
		unwind_table_free(t);
	else
		*tp = t;
	return err;
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

struct unwind_rule unwind_table_find(const struct unwind_table *t, uint64_t vaddr)
{
	uint64_t rel = vaddr - t->vaddr_lo, index = rel >> UNWIND_PAGE_SHIFT;
	const struct unwind_page *p;
	uint32_t b, nr, key = rel & 0xffff;

	if (vaddr < t->vaddr_lo || index >= t->nr_pages)
		return (struct unwind_rule){ 0 };
	p = &t->pages[index];
	nr = p->nr;
	b = p->first;
	if (!nr || t->rows[b].pc_lo > key)
		return t->rules[p->carry];
	while (nr > 1) {
		uint32_t half = nr >> 1;
		int64_t before = (int64_t)t->rows[b + half].pc_lo - (int64_t)key - 1;

		b += half & (uint32_t)(before >> 63);
		nr -= half;
	}
	return t->rules[t->rows[b].rule];
}
