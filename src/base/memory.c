/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { KEPT_BYTES = 4 << 20 };

/* Counts for the whole process, as the kernel's memory does. */
static atomic_ulong refusals;

void memory_be_frugal(void)
{
#ifdef __GLIBC__
	/* By default the limit grows with what was freed, and what lies below others is kept. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	mallopt(M_TRIM_THRESHOLD, 256 << 10);
	mallopt(M_ARENA_MAX, 2);
#endif
}

void memory_keep_freed(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

void memory_give_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

unsigned long memory_refusals(void)
{
	return atomic_load(&refusals);
}

void memory_refused(void)
{
	atomic_fetch_add(&refusals, 1);
}
