/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of each room in the kernel's tables each owner has: who must give some up when a room is
 * full.
 *
 * The problem. All users' tables are in the same rooms. If the table went first that no stack has
 * needed for longest, a user with thousands of files in use would drive out the tables of all
 * others. They would be built again and again.
 *
 * The idea. When a room is full, the owner who has most of it gives up something. What is asked
 * for counts as the asking owner's. So an owner with less than his share loses nothing, and one who
 * asks for more than any other has gives up his own. Root's files are those of the distribution,
 * which all users run, so root has three shares.
 *
 * Example, a room for 1,000 rows, of which 400 are root's and 600 are user 1000's:
 *
 *	user 1000 wants 100 more	he would have most, so tables of his go
 *	user 1001 wants 100		tables of user 1000 go
 *	root wants 100			tables of user 1000 go: 500 of root's count as 167
 *
 * Limits. 64 owners are told apart at a time; further ones have one share together.
 *
 *	place = room_owners_place(o, owner)		valid as long as the owner has something
 *	room_owners_change(o, place, ROOM_ROWS, 40)	he has 40 more
 *	place = room_owners_heaviest(o, ROOM_ROWS, asking, 40)
 */
#pragma once

#include <stdint.h>

enum room { ROOM_ROWS, ROOM_PAGES, ROOM_RULES, ROOM_NUMBERS, ROOM_MAPPINGS, ROOMS };

#define ROOM_OWNERS 64

struct room_owners {
	unsigned nr;
	struct room_owner {
		uint32_t owner;		/* a uid; 0: root */
		uint64_t has[ROOMS];
	} v[ROOM_OWNERS];
};

/* The place of an owner, below ROOM_OWNERS. */
unsigned room_owners_place(struct room_owners *o, uint32_t owner);
void room_owners_change(struct room_owners *o, unsigned place, enum room room, int64_t by);
/* Who has most of a room, if he who asks is given so much. The one who asks, if it is as much. */
unsigned room_owners_heaviest(const struct room_owners *o, enum room room, unsigned asks,
			      uint64_t much);
/* What an owner has, in shares: of root a third counts. */
uint64_t room_owners_weight(const struct room_owners *o, enum room room, unsigned place);
