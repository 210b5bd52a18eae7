/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Losses by cause. The sources of losses count totals; a LOST record says what a total has grown by
 * since the record before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct losses {
	uint64_t reported[LOSS_CAUSES];
	uint64_t since_ns[LOSS_CAUSES];
};

uint64_t losses_samples(const struct losses *l);
uint64_t losses_all(const struct losses *l);

/* Writes the losses that are no samples: "34 task-events, 2 table-full". false: there are none. */
bool losses_others(const struct losses *l, char *buf, size_t size);

void losses_init(struct losses *l, uint64_t now);

/*
 * Writes a LOST record if total is more than was reported before. Its cpu is UINT32_MAX: all CPUs.
 * 0 or the sink's error.
 */
int losses_report(struct losses *l, uint8_t cause, uint64_t total, uint64_t now, record_fn sink,
		  void *ctx);
