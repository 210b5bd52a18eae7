/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_table_mark.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/unwind_table.h"

#define PAGE_BYTES (1ull << UNWIND_PAGE_SHIFT)
#define MAX_NUMBER UINT16_MAX

struct marking {
	struct unwind_table *t;
	struct unwind_row *rows;	/* the new ones */
	size_t nr_rows;
	struct unwind_rule *rules;	/* those of t, and their marked copies */
	size_t nr_rules;
	uint16_t *marked;		/* number of the copy of each rule; 0: none yet */
	bool is_owned;			/* rules by which no caller is found are marked, too */
	int err;
};

static bool finds_caller(const struct unwind_rule *r)
{
	return r->cfa != CFA_NONE && r->cfa != CFA_UNSUPPORTED && r->cfa != CFA_ROOT &&
	       r->cfa != CFA_SIGNAL;
}

/* Code with unwind information of its own is not asked about. */
static bool may_be_owned(const struct unwind_rule *r)
{
	return r->cfa == CFA_NONE || r->ra & RULE_GUESSED;
}

/* The number of the rule with the mark. */
static uint16_t mark_rule(struct marking *m, uint16_t rule)
{
	const struct unwind_rule *r = &m->rules[rule];

	if (r->ra & RULE_RUNTIME || !(m->is_owned ? may_be_owned(r) : finds_caller(r)))
		return rule;
	if (!m->marked[rule]) {
		if (m->nr_rules > MAX_NUMBER) {
			m->err = -E2BIG;
			return rule;
		}
		m->marked[rule] = (uint16_t)m->nr_rules;
		m->rules[m->nr_rules] = *r;
		m->rules[m->nr_rules++].ra |= RULE_RUNTIME;
	}
	return m->marked[rule];
}

static void put_row(struct marking *m, uint32_t pc_lo, uint16_t rule)
{
	m->rows[m->nr_rows++] = (struct unwind_row){ (uint16_t)pc_lo, rule };
}

/*
 * One page, of which the bytes from lo to hi - 1 are marked. Where a range begins or ends between
 * two rows, a row comes in between.
 */
static void mark_page(struct marking *m, struct unwind_page *page, uint32_t lo, uint32_t hi)
{
	const struct unwind_row *rows = m->t->rows + page->first;
	size_t first = m->nr_rows, nr = page->nr;
	uint16_t rule = page->carry;
	bool is_in = !lo && hi;

	if (is_in)
		page->carry = mark_rule(m, rule);
	for (size_t i = 0; i <= nr; i++) {
		uint32_t at = i < nr ? rows[i].pc_lo : PAGE_BYTES;

		if (!is_in && lo < hi && lo < at) {
			is_in = true;
			put_row(m, lo, mark_rule(m, rule));
		}
		if (is_in && hi < at) {
			is_in = false;
			lo = hi;
			put_row(m, hi, rule);
		}
		if (i == nr)
			break;
		rule = rows[i].rule;
		if (!is_in && lo < hi && lo == at)
			is_in = true;
		if (is_in && hi == at) {
			is_in = false;
			lo = hi;
		}
		put_row(m, at, is_in ? mark_rule(m, rule) : rule);
	}
	page->first = (uint32_t)first;
	if (m->nr_rows - first > MAX_NUMBER)
		m->err = -E2BIG;
	page->nr = (uint16_t)(m->nr_rows - first);
}

static uint32_t clamp(uint64_t addr, uint64_t base)
{
	return addr < base ? 0 : addr - base > PAGE_BYTES ? PAGE_BYTES : (uint32_t)(addr - base);
}

static void mark_pages(struct marking *m, struct unwind_page *pages, uint64_t lo, uint64_t hi)
{
	for (uint32_t k = 0; k < m->t->nr_pages && !m->err; k++) {
		uint64_t base = m->t->vaddr_lo + k * PAGE_BYTES;

		if (pages[k].first == UNWIND_PAGE_ABSENT)
			continue;
		mark_page(m, &pages[k], clamp(lo, base), clamp(hi, base));
	}
}

static int mark(struct unwind_table *t, uint64_t lo, uint64_t hi, bool is_owned)
{
	size_t pages_bytes = t->nr_pages * sizeof(*t->pages);
	struct unwind_page *pages = malloc(pages_bytes + 1);
	struct marking m = { .t = t, .nr_rules = t->nr_rules, .is_owned = is_owned };

	if (hi <= lo) {
		free(pages);
		return 0;
	}
	m.rows = calloc(t->nr_rows + 2 * (size_t)t->nr_pages + 1, sizeof(*m.rows));
	m.rules = calloc(2 * t->nr_rules + 1, sizeof(*m.rules));
	m.marked = calloc(t->nr_rules + 1, sizeof(*m.marked));
	if (!pages || !m.rows || !m.rules || !m.marked)
		m.err = -ENOMEM;
	if (!m.err) {
		memcpy(pages, t->pages, pages_bytes);
		memcpy(m.rules, t->rules, t->nr_rules * sizeof(*m.rules));
		mark_pages(&m, pages, lo, hi);
	}
	free(m.marked);
	if (m.err) {
		free(pages);
		free(m.rows);
		free(m.rules);
		return m.err;
	}
	free(t->pages);
	free(t->rows);
	free(t->rules);
	t->pages = pages;
	t->rows = m.rows;
	t->nr_rows = m.nr_rows;
	t->rules = m.rules;
	t->nr_rules = m.nr_rules;
	return 0;
}

int unwind_table_mark(struct unwind_table *t, uint64_t lo, uint64_t hi)
{
	return mark(t, lo, hi, false);
}

int unwind_table_own(struct unwind_table *t, uint64_t lo, uint64_t hi)
{
	return mark(t, lo, hi, true);
}
