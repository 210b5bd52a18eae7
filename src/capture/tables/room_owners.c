/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/room_owners.h"

#include <assert.h>
#include <stdbool.h>

#define ROOT_SHARES 3

static bool has_something(const struct room_owner *o)
{
	for (unsigned i = 0; i < ROOMS; i++)
		if (o->has[i])
			return true;
	return false;
}

/* An owner who has nothing gives his place to another one, when all are taken. */
unsigned room_owners_place(struct room_owners *o, uint32_t owner)
{
	unsigned unused = ROOM_OWNERS;

	for (unsigned i = 0; i < o->nr; i++) {
		if (o->v[i].owner == owner)
			return i;
		if (!has_something(&o->v[i]))
			unused = i;
	}
	if (o->nr < ROOM_OWNERS)
		unused = o->nr++;
	if (unused == ROOM_OWNERS)
		return ROOM_OWNERS - 1;
	o->v[unused] = (struct room_owner){ .owner = owner };
	return unused;
}

void room_owners_change(struct room_owners *o, unsigned place, enum room room, int64_t by)
{
	assert(place < o->nr && (by >= 0 || o->v[place].has[room] >= (uint64_t)-by));
	o->v[place].has[room] += (uint64_t)by;
}

static uint64_t in_shares(const struct room_owner *o, uint64_t much)
{
	return o->owner ? much : much / ROOT_SHARES;
}

uint64_t room_owners_weight(const struct room_owners *o, enum room room, unsigned place)
{
	assert(place < o->nr);
	return in_shares(&o->v[place], o->v[place].has[room]);
}

unsigned room_owners_heaviest(const struct room_owners *o, enum room room, unsigned asks,
			      uint64_t much)
{
	uint64_t most = in_shares(&o->v[asks], o->v[asks].has[room] + much);
	unsigned heaviest = asks;

	for (unsigned i = 0; i < o->nr; i++) {
		uint64_t weight = room_owners_weight(o, room, i);

		if (weight <= most)
			continue;
		most = weight;
		heaviest = i;
	}
	return heaviest;
}
