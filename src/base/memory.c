/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/memory.h"

#include <stdatomic.h>

/* Of the whole process, like what the kernel gives it. */
static atomic_ulong refusals;

unsigned long memory_refusals(void)
{
	return atomic_load(&refusals);
}

void memory_refused(void)
{
	atomic_fetch_add(&refusals, 1);
}
