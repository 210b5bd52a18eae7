/*
 * Losses by cause: totals as their sources count them become LOST records of what was added since the last time.
 */
#pragma once

#include <stdint.h>

#include "src/model/record.h"

struct losses {
	uint64_t reported[LOSS_CAUSES];
	uint64_t since_ns[LOSS_CAUSES];
	uint64_t total;
};

void losses_init(struct losses *l, uint64_t now);

/* Writes a LOST record when total is more than was reported. cpu is UINT32_MAX for all. 0 or the sink's error. */
int losses_report(struct losses *l, uint8_t cause, uint64_t total, uint64_t now, record_fn sink, void *ctx);
