/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last row of each thread that walks have met, so that the row of a thread that has not run
 * since need not be made again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "src/model/record.h"

struct last_samples;

struct last_row {
	uint32_t tid;
	uint64_t start_boottime_ns;	/* with tid: which thread */
	char comm[WIRE_COMM];
	struct rec_sample sample;	/* as it was written */
	struct peer_key peer;		/* who is asked for it; .end 0: nobody */
};

struct last_samples *last_samples_new(void);		/* NULL: out of memory */
void last_samples_free(struct last_samples *l);	/* NULL is fine */

/* Borrowed until the next put; NULL: not met yet. */
struct last_row *last_samples_find(const struct last_samples *l, const struct wire_sample *head);
int last_samples_put(struct last_samples *l, const struct wire_sample *head,
		     const struct rec_sample *sample, const struct peer_key *peer); /* NULL: none */

/* Forgets threads that were not met since that walk. 0 or -ENOMEM. */
int last_samples_prune(struct last_samples *l, uint32_t scan);
size_t last_samples_nr(const struct last_samples *l);
