/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"

void cfi_rows_release(struct cfi_rows *rows)
{
	free(rows->v);
	memset(rows, 0, sizeof(*rows));
}

int cfi_rows_append(struct cfi_rows *out, uint64_t vaddr, const struct unwind_rule *rule)
{
	struct cfi_row *row;

	if (out->nr && out->v[out->nr - 1].vaddr == vaddr)
		out->nr--;	/* the end of a gap where another begins */
	if (out->nr ? !memcmp(&out->v[out->nr - 1].rule, rule, sizeof(*rule))
		    : rule->cfa == CFA_NONE)
		return 0;
	row = array_push(&out->v, &out->nr, &out->cap);
	if (!row)
		return -ENOMEM;
	*row = (struct cfi_row){ vaddr, *rule };
	return 0;
}

struct unwind_rule cfi_rows_find(const struct cfi_rows *rows, uint64_t vaddr)
{
	size_t after = bisect(rows->nr, i, rows->v[i].vaddr <= vaddr);

	return after ? rows->v[after - 1].rule : (struct unwind_rule){ .cfa = CFA_NONE };
}
