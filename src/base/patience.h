/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long several waits may take together: for tables, then for names, then for maps.
 *
 * The problem. At its end a recording waits for what is still being read. Each part could have a
 * limit of its own, but a user waits for the sum of them.
 *
 * The idea. One struct is passed from wait to wait. It says whether to wait on, and once it has
 * said no it says no for ever.
 *
 *	struct patience p = { .until_ns = now_ns() + 10 * NSEC_PER_SEC, .hurry = ..., .ctx = ... };
 *
 *	while (something is missing && patience_lasts(&p))
 *		poll(..., 50 ms);
 *
 * All zero is patience without an end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct patience {
	uint64_t until_ns;		/* 0: no limit */
	/* true: the user does not want to wait any longer. NULL: the user is not asked. */
	bool (*hurry)(void *ctx);
	void *ctx;
	bool is_over;			/* internal */
};

bool patience_lasts(struct patience *p);
