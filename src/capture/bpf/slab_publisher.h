/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows new slabs of unwind rows to the kernel's side, which has them in a map of maps. Its
 * programs see a slab at once. But the system call that put it there goes on to wait until no
 * program can be using what was in that place before (a grace period of RCU: 10 ms, 100 when the
 * machine is busy). Nothing was there, so a thread waits for that, and the recording goes on.
 *
 *	struct slab_publisher p = { 0 };
 *	slab_publisher_show(&p, slabs, key, fd) ...
 *	slab_publisher_release(&p)		waits for the last threads
 */
#pragma once

#include <stdint.h>

#include "unwind/unwind_limits.h"

struct slab_publisher {
	struct slab_publication *shown[UNWIND_MAX_SLABS];
	uint32_t nr;
};

/*
 * Puts the map slab into the map slabs at the place key, which was empty. 0: programs see it; or
 * -errno, which has been reported.
 */
int slab_publisher_show(struct slab_publisher *p, int slabs, uint32_t key, int slab);
void slab_publisher_release(struct slab_publisher *p);
