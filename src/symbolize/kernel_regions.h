/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which ranges of kernel memory hold code, and which module each belongs to: the part of
 * kernel_symbols.c that deals with modules.
 *
 *	struct kernel_regions r = { 0 };
 *	kernel_regions_add(&r, "vmlinux", start, end)		any order, any number of times
 *	kernel_regions_add_modules(&r, fd)			of /proc/modules; -1: there are none
 *	kernel_regions_finish(&r, "/sys")			sorts, cuts, reads build-ids
 *	kernel_regions_find(&r, addr)				only after finish
 *	kernel_regions_release(&r)
 *
 * All functions return 0 or -ENOMEM.
 */
#pragma once

#include "src/symbolize/kernel_symbols.h"

struct kernel_regions {
	struct kernel_region *v;	/* .name is owned */
	size_t nr, cap;
};

int kernel_regions_add(struct kernel_regions *r, const char *name, uint64_t start, uint64_t end);
int kernel_regions_add_modules(struct kernel_regions *r, int fd);
void kernel_regions_finish(struct kernel_regions *r, const char *sysfs);
void kernel_regions_release(struct kernel_regions *r);
const struct kernel_region *kernel_regions_find(const struct kernel_regions *r, uint64_t addr);
