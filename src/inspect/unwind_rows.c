/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/inspect/unwind_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"

const char *row_source_name(unsigned source)
{
	static const char *const names[ROW_SOURCES] = { "", ".eh_frame", "Go's function table",
							"by reading code" };

	return source < ROW_SOURCES ? names[source] : "?";
}

static enum row_source source_of(const struct cfi_rows *cfi, uint64_t vaddr,
				 const struct unwind_rule *rule)
{
	if (rule->cfa == CFA_NONE)
		return ROW_NOTHING;
	if (rule->ra & RULE_GUESSED)
		return ROW_CODE;
	return cfi_rows_find(cfi, vaddr).cfa == CFA_NONE ? ROW_GO : ROW_CFI;
}

int unwind_rows_fill(struct unwind_rows *out, const struct unwind_table *t,
		     const struct cfi_rows *cfi, uint64_t end)
{
	out->end = end;
	if (array_reserve(&out->v, &out->cap, t->nr_rows + 1))
		return -ENOMEM;
	for (uint32_t page = 0; page < t->nr_pages; page++) {
		const struct unwind_page *p = &t->pages[page];

		for (uint32_t i = 0; i < p->nr; i++) {
			const struct unwind_row *row = &t->rows[p->first + i];
			struct source_row *r = array_push(&out->v, &out->nr, &out->cap);

			if (!r)
				return -ENOMEM;
			r->vaddr = t->vaddr_lo + ((uint64_t)page << UNWIND_PAGE_SHIFT) + row->pc_lo;
			r->rule = t->rules[row->rule];
			r->source = (uint8_t)source_of(cfi, r->vaddr, &r->rule);
		}
	}
	return 0;
}

void unwind_rows_release(struct unwind_rows *r)
{
	free(r->v);
	memset(r, 0, sizeof(*r));
}

const struct source_row *unwind_rows_find(const struct unwind_rows *r, uint64_t vaddr,
					  uint64_t *end)
{
	size_t after = bisect(r->nr, i, r->v[i].vaddr <= vaddr);

	if (end)
		*end = after < r->nr ? r->v[after].vaddr : r->end;
	return after ? &r->v[after - 1] : NULL;
}
