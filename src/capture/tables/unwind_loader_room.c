/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who has to go. The owner who has most of what is full gives up the table that no stack has needed
 * for longest (room_owners.h): each stack touches the tables of the binaries that it goes through
 * (used_ns). If that is the one who asks, and he has no table, what is small enough to fit beside
 * the tables in use may drive out those that rest. The room of retired tables counts as room to
 * come, so no more are evicted than is needed.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/tables/rule_cache.h"
#include "src/capture/tables/unwind_loader_parts.h"

/*
 * One part in so many of the room is kept free by evicting, so that a new table finds room at once.
 */
#define RESERVE 64
#define RESTING_NS (5 * NSEC_PER_SEC)	/* a table not seen for so long may go for that */
#define ANYBODY ROOM_OWNERS

static const char *const names[ROOMS] = {
	[ROOM_ROWS] = "unwind rows",
	[ROOM_PAGES] = "pages of unwind tables",
	[ROOM_RULES] = "unwind rules",
	[ROOM_NUMBERS] = "numbers of unwind tables",
	[ROOM_MAPPINGS] = "mappings",
};

int unwind_loader_refuse(struct unwind_loader *l, int err, const char *what)
{
	if (!l->stats.refused++)
		note_kept("the table of %s is full: some stacks will end early (counted as "
			  "table-full). Try: -p, so that only these processes have tables", what);
	return err;
}

void unwind_loader_charge(struct unwind_loader *l, const struct placed *p, int sign)
{
	struct room_owners *o = &l->owners;

	room_owners_change(o, p->owner, ROOM_ROWS, sign * (int64_t)p->nr_rows);
	room_owners_change(o, p->owner, ROOM_PAGES, sign * (int64_t)p->nr_pages);
	room_owners_change(o, p->owner, ROOM_RULES, sign * (int64_t)p->nr_new_rules);
	room_owners_change(o, p->owner, ROOM_NUMBERS, sign);
}

static bool has_own_number(const struct placed *t)
{
	return t->number && t->number < UNWIND_NUMBERS;
}

void unwind_loader_reclaim(struct unwind_loader *l, struct placed *t)
{
	rule_cache_clear(l->rule_cache, t->page0, t->nr_pages);
	for (uint32_t i = 0; i < t->nr_pages; i++)
		if (l->pages[t->page0 + i].first != UNWIND_PAGE_ABSENT)
			unwind_slabs_give(&l->slabs, l->pages[t->page0 + i].first,
					  l->pages[t->page0 + i].nr);
	extents_give(&l->free_pages, t->page0, t->nr_pages);
	for (size_t i = 0; i < t->nr_rules; i++)
		unwind_rules_put(&l->rules, t->rules[i]);
	free(t->rules);
	if (has_own_number(t))
		table_numbers_give(&l->numbers, t->number);
	assert(l->retired_rows >= t->nr_rows && l->retired_pages >= t->nr_pages);
	assert(l->retired_numbers >= has_own_number(t));
	l->retired_numbers -= has_own_number(t);
	l->retired_rows -= t->nr_rows;
	l->retired_pages -= t->nr_pages;
	memset(t, 0, sizeof(*t));
	if ((size_t)(t - l->tables) < l->first_free)
		l->first_free = (size_t)(t - l->tables);
}

void unwind_loader_reclaim_all(struct unwind_loader *l)
{
	for (size_t i = 0; i < l->nr_tables && l->retired_pages; i++)
		if (l->tables[i].state == PLACE_RETIRED &&
		    epoch_is_over(&l->epoch, &l->tables[i].retired))
			unwind_loader_reclaim(l, &l->tables[i]);
}

void unwind_loader_retire(struct unwind_loader *l, struct placed *t)
{
	assert(t->state == PLACE_LIVE && !t->nr_refs);
	assert(l->stats.binaries && l->stats.rows >= t->nr_rows && l->stats.pages >= t->nr_pages);
	unwind_loader_charge(l, t, -1);
	t->state = PLACE_RETIRED;
	t->retired = epoch_retire(&l->epoch);
	l->retired_rows += t->nr_rows;
	l->retired_pages += t->nr_pages;
	l->retired_numbers += has_own_number(t);
	l->stats.rows -= t->nr_rows;
	l->stats.pages -= t->nr_pages;
	l->stats.binaries--;
}

static void leave(struct unwind_loader *l, struct placed *t, uint32_t binary, const char *what)
{
	struct table_ref *ref = unwind_loader_ref(l, binary);

	if (!ref || ref->table != (uint32_t)(t - l->tables) + 1)
		return;
	unwind_loader_refer(l, binary, ref, 0, (struct unwind_binary){ 0 });
	l->opts.on_evict(l->opts.ctx, binary, what);
}

static void evict(struct unwind_loader *l, struct placed *t, const char *what)
{
	unwind_loader_publish(l, t->number, (struct unwind_binary){ 0 });
	leave(l, t, t->binary, what);
	for (uint32_t b = 0; t->nr_refs && b < l->cap_refs; b++)
		leave(l, t, b, what);
	unwind_loader_retire(l, t);
	l->stats.evicted++;
}

/* The owner's table, or anybody's, that no stack has needed for longest; NULL: he has none. */
static struct placed *least_used(struct unwind_loader *l, unsigned owner)
{
	struct placed *found = NULL;

	for (size_t i = 0; i < l->nr_tables; i++) {
		struct placed *t = &l->tables[i];

		if (t->state == PLACE_LIVE && (owner == ANYBODY || t->owner == owner) &&
		    (!found || t->used_ns < found->used_ns))
			found = t;
	}
	return found;
}

static uint64_t much_of(const struct table_need *need, enum room room)
{
	const uint64_t much[ROOMS] = { [ROOM_ROWS] = need->rows, [ROOM_PAGES] = need->pages,
				       [ROOM_NUMBERS] = need->numbers };

	return much[room];
}

/* The table that goes for what is needed; NULL: none may. */
static struct placed *victim(struct unwind_loader *l, const struct table_need *need,
			     enum room room)
{
	unsigned owner = room_owners_heaviest(&l->owners, room, need->owner, much_of(need, room));
	struct placed *t = least_used(l, owner);

	if (t)
		return t;
	t = least_used(l, ANYBODY);
	return t && t->used_ns + RESTING_NS <= now_ns() ? t : NULL;
}

/* The first room that has less than is needed, even when epochs are over; ROOMS: none. */
static enum room short_of(const struct unwind_loader *l, const struct table_need *need)
{
	if (unwind_slabs_room(&l->slabs) + l->retired_rows < need->rows)
		return ROOM_ROWS;
	if (l->free_pages.nr_free + l->retired_pages < need->pages)
		return ROOM_PAGES;
	if (l->numbers.nr_free + l->retired_numbers < need->numbers)
		return ROOM_NUMBERS;
	return ROOMS;
}

/* Evicts until there will be room; false: no table is left that may be evicted for it. */
static bool make_room(struct unwind_loader *l, const struct table_need *need, const char *what)
{
	enum room room;

	while ((room = short_of(l, need)) != ROOMS) {
		struct placed *t = victim(l, need, room);

		if (!t)
			return false;
		evict(l, t, what);
	}
	return true;
}

void unwind_loader_keep_reserve(struct unwind_loader *l)
{
	const struct table_need need = { .rows = l->slabs.max_rows / RESERVE,
					 .pages = l->opts.fds.nr_pages / RESERVE,
					 .numbers = l->max_numbers / RESERVE };
	enum room room;

	while ((room = short_of(l, &need)) != ROOMS) {
		unsigned owner = room_owners_heaviest(&l->owners, room, 0, 0);
		struct placed *t = least_used(l, owner);

		if (!t || t->used_ns + RESTING_NS > now_ns())
			t = least_used(l, ANYBODY);
		if (!t || t->used_ns + RESTING_NS > now_ns())
			return;
		evict(l, t, names[room]);
	}
}

/*
 * Whether the table would fit if all others were thrown out. If not, none is thrown out for it: any
 * user can make a file with such a table.
 */
static bool can_ever_fit(const struct unwind_loader *l, const struct unwind_table *t)
{
	return t->nr_rows <= l->slabs.max_rows &&
	       t->nr_pages <= l->opts.fds.nr_pages - UNWIND_VERSIONS &&
	       t->nr_rules <= UNWIND_MAX_RULES;
}

int unwind_loader_no_place(struct unwind_loader *l, const struct unwind_table *t,
			   const struct table_need *need, enum room what)
{
	bool waits = l->retired_pages > 0;

	if (!can_ever_fit(l, t))
		return unwind_loader_refuse(l, -E2BIG, names[what]);
	if (!make_room(l, need, names[what]))
		return unwind_loader_refuse(l, -ENOSPC, names[what]);
	/*
	 * There are enough free rows and pages, so rules are short or holes too small: one more
	 * table goes, each time.
	 */
	if (!waits && !l->retired_pages) {
		struct placed *least = victim(l, need, what);

		if (!least)
			return unwind_loader_refuse(l, -ENOSPC, names[what]);
		evict(l, least, names[what]);
	}
	return -EAGAIN;
}
