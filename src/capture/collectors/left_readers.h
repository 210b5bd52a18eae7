/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers of tasks that hang (task_reader.h), and what each still holds: its scratch, and the
 * memory of the process in which it hangs, which no other reader touches meanwhile.
 *
 * The problem. There are few slots of scratch, and a hanging reader keeps its slot. Any user can
 * make readers hang, and so take all slots; and memory that only comes slowly, from a disk that has
 * much to do, must not be left alone for ever.
 *
 * The idea. A hanging reader has been killed already, so it ends as soon as its page comes. Before
 * each scan those that have ended give back their slots, and their processes are read again; the
 * second time that a reader hangs in one process, that one is left alone for good. While half of
 * all slots are held by processes of one user, none of that user's processes is read.
 *
 *	slot 0	reader 812, hangs in 4711 of user 1000	4711 is left alone
 *	slot 1	reader 815 goes on
 *	...	4711's page comes, 812 ends
 *	slot 0	is free, 4711 is read again
 *
 *	left_readers_add(l, slot, &r)		the reader in that slot hangs
 *	left_readers_slot(l)			the lowest slot that no hanging reader holds
 *	left_readers_take_back(l, &r)		one that has ended since; false: none
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/knobs.h"

#define LEFT_PROCESSES 64		/* whose second time is noticed */
#define LEFT_OF_USER (SCAN_SLOTS / 2)	/* then none of the user's processes is read */

struct left_reader {
	pid_t pid;			/* 0: none */
	uint32_t tgid, uid;		/* where it hangs, and whose process that is */
	bool again;			/* not the first time in this process */
};

struct left_readers {
	struct left_reader v[SCAN_SLOTS];	/* by slot */
	uint32_t before[LEFT_PROCESSES], nr_before;	/* processes in which readers hung */
};

/* Sets r->again. */
void left_readers_add(struct left_readers *l, uint32_t slot, struct left_reader *r);
/* SCAN_SLOTS: hanging readers hold them all. */
uint32_t left_readers_slot(const struct left_readers *l);
size_t left_readers_free_slots(const struct left_readers *l);
/* Slots that are held by processes of this user. */
size_t left_readers_of_user(const struct left_readers *l, uint32_t uid);
bool left_readers_take_back(struct left_readers *l, struct left_reader *r);
