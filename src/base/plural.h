/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The singular or the plural of a word: printf("%u %s", n, plural(n, "process", "processes")).
 * Every message with a count uses it, so that none says "1 threads".
 */
#pragma once

#include <stdint.h>

static inline const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}
