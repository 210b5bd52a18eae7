#include "src/capture/losses.h"

#include <string.h>

void losses_init(struct losses *l, uint64_t now)
{
	memset(l, 0, sizeof(*l));
	for (int i = 0; i < LOSS_CAUSES; i++)
		l->since_ns[i] = now;
}

int losses_report(struct losses *l, uint8_t cause, uint64_t total, uint64_t now, record_fn sink, void *ctx)
{
	struct record rec = { .tag = REC_LOST };
	uint64_t added = total - l->reported[cause];

	/* Counters of several CPUs are not read at one moment: a total may seem to go back. */
	if (total <= l->reported[cause]) {
		l->since_ns[cause] = now;
		return 0;
	}
	rec.lost = (struct rec_lost){
		.time_ns = l->since_ns[cause], .duration_ns = now - l->since_ns[cause], .cause = cause,
		.cpu = UINT32_MAX, .count = added,
	};
	l->reported[cause] = total;
	l->since_ns[cause] = now;
	l->total += added;
	return sink(ctx, &rec);
}
