/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_code.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"

bool cfi_code_read(struct cfi_code *c, const struct cfi_input *in, uint64_t lo, uint64_t hi)
{
	c->vaddr = lo;
	c->len = (size_t)(hi - lo);
	return hi - lo <= sizeof(c->v) && !in->read_code(in->ctx, lo, c->v, c->len);
}

bool cfi_code_next(const struct cfi_code *c, size_t *at, struct x86_insn *insn)
{
	if (!x86_decode(c->v + *at, c->len - *at, insn))
		return false;
	*at += insn->len;
	return true;
}

uint64_t cfi_code_target(const struct cfi_code *c, size_t end, const struct x86_insn *insn)
{
	return c->vaddr + end + (uint64_t)insn->imm;
}

int cfi_patches_add(struct cfi_patches *p, uint64_t lo, uint64_t hi, const struct unwind_rule *rule)
{
	struct cfi_patch *slot;

	assert(lo < hi && (!p->nr || p->v[p->nr - 1].hi <= lo));
	slot = array_push(&p->v, &p->nr, &p->cap);

	if (!slot)
		return -ENOMEM;
	*slot = (struct cfi_patch){ lo, hi, *rule };
	return 0;
}

/* Appends to v, which has room, unless the rule is the last one's. */
static void append(struct cfi_row *v, size_t *nr, uint64_t vaddr, const struct unwind_rule *rule)
{
	if (!*nr || memcmp(&v[*nr - 1].rule, rule, sizeof(*rule)))
		v[(*nr)++] = (struct cfi_row){ vaddr, *rule };
}

/* After a patch the row's own rule continues, unless the next row or another patch begins there. */
int cfi_patch(struct cfi_rows *rows, const struct cfi_patches *p)
{
	size_t cap = rows->nr + 2 * p->nr, nr = 0, k = 0;
	struct cfi_row *v;

	if (!p->nr)
		return 0;
	v = calloc(cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < rows->nr; i++) {
		uint64_t end = i + 1 < rows->nr ? rows->v[i + 1].vaddr : UINT64_MAX,
			 at = rows->v[i].vaddr;

		for (; k < p->nr && p->v[k].lo < end; k++) {
			if (at < p->v[k].lo)
				append(v, &nr, at, &rows->v[i].rule);
			append(v, &nr, p->v[k].lo, &p->v[k].rule);
			at = p->v[k].hi;
		}
		if (at < end)
			append(v, &nr, at, &rows->v[i].rule);
	}
	assert(nr <= cap);
	free(rows->v);
	rows->v = v;
	rows->nr = nr;
	rows->cap = cap;
	return 0;
}

void cfi_patches_release(struct cfi_patches *p)
{
	free(p->v);
}
