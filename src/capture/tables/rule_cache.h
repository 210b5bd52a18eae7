/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules that the kernel side found last, UNWIND_CACHE_WORDS of them, one word each: page:32 |
 * pc_lo:16 | rule:16 (unwind_rule_of.h). 0: empty, so page 0 must not be used.
 *
 *	rule_cache_clear(words, page0, nr)	before a table gets pages that another one had
 */
#pragma once

#include <stdint.h>

#include "unwind/unwind_limits.h"

static inline void rule_cache_clear(uint64_t *words, uint32_t page0, uint32_t nr_pages)
{
	for (uint32_t i = 0; i < UNWIND_CACHE_WORDS; i++) {
		uint64_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);

		if ((uint32_t)(word >> 32) - page0 < nr_pages)
			__atomic_store_n(&words[i], 0, __ATOMIC_RELEASE);
	}
}
