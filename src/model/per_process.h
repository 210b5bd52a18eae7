/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one part of the recording keeps of each process for itself: an array with an element for
 * each process, by its slot. Slots are used again, so an element begins with the serial of its
 * process: one that was left by another process counts as not there. So an owner need not be told
 * when a process is forgotten, unless its elements hold something that must be given back.
 *
 *	struct mine { uint64_t serial; ... };
 *	struct per_process all = { .size = sizeof(struct mine) };
 *	per_process_at(&all, p)		the element of p, zeroed at first; NULL: out of memory
 *	per_process_find(&all, p)	NULL: p has none
 *	per_process_release(&all)
 *
 * Elements move when one of another process is made.
 */
#pragma once

#include <stddef.h>

struct process;

struct per_process {
	size_t size;			/* of an element */
	void *v;
	size_t cap;
};

void *per_process_at(struct per_process *pp, const struct process *p);
void *per_process_find(const struct per_process *pp, const struct process *p);
void per_process_release(struct per_process *pp);
