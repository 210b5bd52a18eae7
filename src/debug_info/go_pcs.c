/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/go_pcs.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/bytes.h"

#define MAX_PCS (1u << 20)

static int add_pc(struct go_pcs *p, uint32_t end, int32_t value)
{
	struct go_pc *x;

	if (p->nr >= MAX_PCS)
		return -E2BIG;
	x = array_push(&p->v, &p->nr, &p->cap);
	if (!x)
		return -ENOMEM;
	*x = (struct go_pc){ end, value };
	return 0;
}

int go_pcs_read(struct go_pcs *p, const void *data, size_t len, unsigned quantum, uint32_t size)
{
	struct byte_reader r = br_make(data, len);
	uint32_t value = (uint32_t)GO_NO_VALUE;
	uint64_t end = 0;
	int err = 0;

	p->nr = 0;
	while (!err && end < size) {
		int64_t change = br_sv(&r);
		uint64_t units = change || !p->nr ? br_uv(&r) : 0;

		if (r.bad || !units || units > UINT32_MAX)
			break;
		value += (uint32_t)change;
		end += units * quantum;
		err = add_pc(p, end < size ? (uint32_t)end : size, (int32_t)value);
	}
	return err;
}

void go_pcs_release(struct go_pcs *p)
{
	free(p->v);
}

int32_t go_pcs_find(const struct go_pcs *p, uint32_t at)
{
	size_t first = bisect(p->nr, i, p->v[i].end <= at);

	return first < p->nr ? p->v[first].value : GO_NO_VALUE;
}
