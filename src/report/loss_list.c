/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/loss_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/record.h"
#include "src/report/weight_text.h"

#define SECOND_NS 1000000000ull
#define NEAR 32			/* so many of the last losses may be the one to add to */
#define MOST (1u << 16)		/* then only segment and cause count */

/* Looks back at least as far as there may be causes. */
_Static_assert(NEAR > LOSS_CAUSES + 1, "");

static struct loss *find_like(struct loss_list *l, const struct loss *loss)
{
	size_t back = l->nr < NEAR ? l->nr : NEAR;

	for (size_t i = l->nr; i-- > l->nr - back;) {
		struct loss *v = &l->v[i];

		if (v->segment == loss->segment && v->cause == loss->cause &&
		    (l->nr >= MOST || v->time_ns / SECOND_NS == loss->time_ns / SECOND_NS))
			return v;
	}
	return NULL;
}

static int add(struct loss_list *l, const struct loss *loss)
{
	struct loss *v = find_like(l, loss);

	if (v) {
		v->count = weight_sum(v->count, loss->count);
		return 0;
	}
	v = array_push(&l->v, &l->nr, &l->cap);
	if (!v)
		return -ENOMEM;
	*v = *loss;
	return 0;
}

static uint64_t rows_missing(const struct rec_scan *s)
{
	uint64_t named = s->rows + s->skipped_idle_kthreads + s->filtered;

	return named < s->tasks_seen ? s->tasks_seen - named : 0;
}

int loss_list_record(struct loss_list *l, uint32_t segment, const struct record *rec)
{
	struct loss loss = { .segment = segment };

	if (rec->tag == REC_LOST) {
		loss.time_ns = rec->lost.time_ns;
		loss.count = rec->lost.count;
		loss.cause = rec->lost.cause < LOSS_CAUSES ? rec->lost.cause : LOSS_CAUSES;
	} else if (rec->tag == REC_SCAN) {
		loss.time_ns = rec->scan.time_ns;
		loss.count = rows_missing(&rec->scan);
		loss.cause = LOSS_ROWS;
	}
	return loss.count ? add(l, &loss) : 0;
}

void loss_list_release(struct loss_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}
