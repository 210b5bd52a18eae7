/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is missing in a trace, and when: LOST records, and the tasks that scans have seen and gave
 * no row of. Losses of one cause in the same second are one, and if there are very many, those of
 * one cause are, so memory is bounded; sums stay exact. Embedded; all zero is empty.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct record;

/* Beside enum loss_cause, whose LOSS_CAUSES is that of a cause that is not known here. */
#define LOSS_ROWS 1000			/* a scan has no row of a task that it saw */

struct loss {
	uint64_t time_ns;		/* CLOCK_MONOTONIC of its segment */
	uint64_t count;
	uint32_t segment;
	uint32_t cause;
};

struct loss_list {
	struct loss *v;			/* in the order of the file */
	size_t nr, cap;
};

/* Looks at a record of any type. 0 or -ENOMEM. */
int loss_list_record(struct loss_list *l, uint32_t segment, const struct record *rec);
void loss_list_release(struct loss_list *l);
