/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dictionary of unwind rules that all tables share, in the kernel's array. A rule keeps its
 * number as long as some table uses it. Number 0 is always CFA_NONE, without flags. Part of the
 * unwind loader.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "unwind/row.h"

struct mapped_array;

struct unwind_rules {
	struct mapped_array *array;	/* the kernel's; borrowed */
	struct unwind_rule *v;		/* what is in it */
	uint32_t *refs;			/* by number: how many tables use it */
	uint32_t nr, max;		/* numbers given out so far, and the limit */
	uint16_t *free;			/* numbers that came back */
	size_t nr_free, cap_free;
	struct hash_index index;
};

/* 0 or -errno; release either way. array has room for max rules. */
int unwind_rules_init(struct unwind_rules *r, struct mapped_array *array, uint32_t max);
void unwind_rules_release(struct unwind_rules *r);

/* Gives a rule its number and counts one use more. 0; -ENOSPC: no number is left; or -errno. */
int unwind_rules_get(struct unwind_rules *r, const struct unwind_rule *rule, uint16_t *number);

/* Counts one use less. After the last one the number may be given to another rule at once. */
void unwind_rules_put(struct unwind_rules *r, uint16_t number);

size_t unwind_rules_used(const struct unwind_rules *r);
