/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which the locations and stacks of a request are numbered, and its samples stand.
 *
 * Tables may have any order, but gzip finds more in one where neighbours are alike: stacks sorted
 * by their frames from the outermost on, locations as these stacks meet them, samples by their
 * attributes and then their stacks. That takes a fifth of the bytes (docs/PUSH.md).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct otlp_request;

struct otlp_order {
	uint32_t *stacks, *locations;	/* by new number: the old one */
	size_t nr_locations;		/* those that some stack has */
	uint32_t *location_numbers;	/* by old number: the new one */
};

/* Numbers the samples' stacks anew, and sorts them. 0 or -ENOMEM. */
int otlp_order_make(struct otlp_order *o, struct otlp_request *r);
void otlp_order_release(struct otlp_order *o);
