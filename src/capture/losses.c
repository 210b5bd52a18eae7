/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/losses.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/model/loss_words.h"

void losses_init(struct losses *l, uint64_t now)
{
	memset(l, 0, sizeof(*l));
	for (int i = 0; i < LOSS_CAUSES; i++)
		l->since_ns[i] = now;
}

int losses_report(struct losses *l, uint8_t cause, uint64_t total, uint64_t now, record_fn sink,
		  void *ctx)
{
	struct record rec = { .tag = REC_LOST };
	uint64_t added;

	assert(cause < LOSS_CAUSES);
	added = total - l->reported[cause];
	/* Counters of several CPUs are not read at one moment, so a total may seem to go back. */
	if (total <= l->reported[cause]) {
		l->since_ns[cause] = now;
		return 0;
	}
	rec.lost = (struct rec_lost){
		.time_ns = l->since_ns[cause],
		.duration_ns = now - l->since_ns[cause],
		.cause = cause,
		.cpu = UINT32_MAX,
		.count = added,
	};
	l->reported[cause] = total;
	l->since_ns[cause] = now;
	return sink(ctx, &rec);
}

uint64_t losses_samples(const struct losses *l)
{
	uint64_t n = 0;

	for (int i = 0; i < LOSS_CAUSES; i++)
		n += loss_is_samples(i) ? l->reported[i] : 0;
	return n;
}

uint64_t losses_all(const struct losses *l)
{
	uint64_t n = 0;

	for (int i = 0; i < LOSS_CAUSES; i++)
		n += l->reported[i];
	return n;
}

bool losses_others(const struct losses *l, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	for (unsigned i = 0; i < LOSS_CAUSES && n < size; i++) {
		char number[24], words[128];

		if (loss_is_samples(i) || !l->reported[i])
			continue;
		snprintf(number, sizeof(number), "%" PRIu64, l->reported[i]);
		loss_words(i, l->reported[i], number, words, sizeof(words));
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? "; " : "", words);
	}
	return n > 0;
}
