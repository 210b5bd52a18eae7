/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one part of the recording keeps about each process: an array with an element for each
 * process, by its slot. This way a process need not know its parts.
 *
 * Slots are reused after a process is forgotten. So each element begins with the serial number of
 * its process, and an element with another serial counts as absent. The owner therefore need not be
 * told when a process is forgotten, unless its elements hold something that must be given back.
 *
 *	struct mine { uint64_t serial; ... };
 *	struct per_process all = { .size = sizeof(struct mine) };
 *	per_process_at(&all, p)		the element of p, zeroed at first; NULL: out of memory
 *	per_process_find(&all, p)	NULL: p has none
 *	per_process_of_slot(&all, slot, serial)	the same of a process that may be gone
 *	per_process_release(&all)
 *
 * Example: process 1234 with slot 5 and serial 70 is forgotten, and process 1300 gets slot 5 and
 * serial 88. The element at 5 still has serial 70, so per_process_find() gives NULL for 1300, and
 * per_process_at() zeroes the element first.
 *
 * per_process_at() may move all elements.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct process;

struct per_process {
	size_t size;			/* of an element */
	void *v;
	size_t cap;
};

void *per_process_at(struct per_process *pp, const struct process *p);
void *per_process_find(const struct per_process *pp, const struct process *p);
void *per_process_of_slot(const struct per_process *pp, uint32_t slot, uint64_t serial);
void per_process_release(struct per_process *pp);
