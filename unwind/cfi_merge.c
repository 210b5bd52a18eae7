/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_merge.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct unwind_rule no_rule = { .cfa = CFA_NONE };

/* A reader of rows: the rule in force, and where the next one begins. */
struct cursor {
	const struct cfi_row *v;
	size_t nr, next;
};

static const struct unwind_rule *current(const struct cursor *c)
{
	return c->next ? &c->v[c->next - 1].rule : &no_rule;
}

static bool begins_at(const struct cursor *c, uint64_t vaddr)
{
	return c->next < c->nr && c->v[c->next].vaddr == vaddr;
}

/* The lower start of both next rows; false: both are at their ends. */
static bool next_vaddr(const struct cursor *a, const struct cursor *b, uint64_t *vaddr)
{
	bool in_a = a->next < a->nr, in_b = b->next < b->nr;

	if (in_a && (!in_b || a->v[a->next].vaddr <= b->v[b->next].vaddr))
		*vaddr = a->v[a->next].vaddr;
	else if (in_b)
		*vaddr = b->v[b->next].vaddr;
	return in_a || in_b;
}

/* Writes to out, which has room for the rows of both. Returns the number of rows written. */
static size_t merge(struct cursor base, struct cursor extra, struct cfi_row *out)
{
	uint64_t vaddr;
	size_t nr = 0;

	while (next_vaddr(&base, &extra, &vaddr)) {
		const struct unwind_rule *rule;

		base.next += begins_at(&base, vaddr);
		extra.next += begins_at(&extra, vaddr);
		rule = current(&base)->cfa == CFA_NONE ? current(&extra) : current(&base);
		if (!nr || memcmp(rule, &out[nr - 1].rule, sizeof(*rule)))
			out[nr++] = (struct cfi_row){ vaddr, *rule };
	}
	return nr;
}

int cfi_rows_fill(struct cfi_rows *base, const struct cfi_rows *extra)
{
	size_t cap = base->nr + extra->nr;
	struct cfi_row *v;

	if (!extra->nr)
		return 0;
	v = calloc(cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	base->nr = merge((struct cursor){ base->v, base->nr, 0 },
			 (struct cursor){ extra->v, extra->nr, 0 }, v);
	assert(base->nr <= cap);
	base->cap = cap;
	free(base->v);
	base->v = v;
	return 0;
}
