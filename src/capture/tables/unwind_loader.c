/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of a binary (struct placed) is
 *
 *	PLACE_FREE	an unused entry of tables[]
 *	PLACE_LIVE	published: binaries refer to its pages (unwind_loader_table())
 *	PLACE_RETIRED	evicted: no binary refers to it, but a program may still read it (evict())
 *
 * and then PLACE_FREE again when its epoch is over (reclaim()). The table that was not needed for
 * longest goes first: each stack touches the tables of the binaries that it goes through (used_ns).
 * The room of retired tables counts as room to come, so no more are evicted than is needed.
 */
#include "src/capture/tables/unwind_loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/array.h"
#include "src/base/extents.h"
#include "src/base/fail.h"
#include "src/capture/tables/epoch.h"
#include "src/capture/tables/room_promise.h"
#include "src/capture/tables/rule_cache.h"
#include "src/capture/tables/unwind_rules.h"
#include "src/capture/tables/unwind_slabs.h"
#include "src/capture/tables/unwind_slices.h"

#define EPOCH_NS NSEC_PER_SEC
/*
 * One part in so many of the room for rows is kept free by evicting, so that a new table finds room
 * at once.
 */
#define RESERVE 64
#define RESTING_NS (5 * NSEC_PER_SEC)	/* a table not seen for so long may go for that */

enum placed_state { PLACE_FREE, PLACE_LIVE, PLACE_RETIRED };

/* A table in the slabs. */
struct placed {
	uint8_t state;			/* enum placed_state */
	uint32_t page0, nr_pages;
	uint64_t nr_rows;
	/* Numbers of the rules that it uses, some more than once; owned. */
	uint16_t *rules;
	size_t nr_rules, cap_rules;
	uint64_t used_ns;		/* time of the last stack that needed it */
	struct retired_at retired;
};

struct unwind_loader {
	struct unwind_loader_options opts;
	struct unwind_page *pages;
	struct unwind_rule *rule_table;
	struct unwind_mapping *mappings;
	struct unwind_binary *binaries;
	uint64_t *rule_cache;
	struct epoch epoch;
	struct unwind_slabs slabs;
	struct unwind_rules rules;
	struct unwind_slices slices;
	struct extents free_pages;
	struct placed *tables;
	size_t nr_tables, cap_tables;
	uint64_t retired_rows, retired_pages;	/* of tables that are PLACE_RETIRED */
	uint32_t *table_of;		/* by binary: index of its table + 1; 0: none */
	uint32_t *wants;		/* by binary: stacks that asked for it, since it had one */
	struct room_promise promise;
	struct unwind_loader_stats stats;
};

static void *map_table(int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int map_tables(struct unwind_loader *l)
{
	const struct unwind_loader_fds *fds = &l->opts.fds;

	l->pages = map_table(fds->pages, fds->nr_pages * sizeof(*l->pages));
	l->rule_table = map_table(fds->rules, UNWIND_MAX_RULES * sizeof(*l->rule_table));
	l->mappings = map_table(fds->mappings, fds->nr_mappings * sizeof(*l->mappings));
	l->binaries = map_table(fds->binaries, UNWIND_MAX_BINARIES * sizeof(*l->binaries));
	l->rule_cache = map_table(fds->rule_cache, UNWIND_CACHE_WORDS * sizeof(*l->rule_cache));
	if (!l->pages || !l->rule_table || !l->mappings || !l->binaries || !l->rule_cache)
		return fail(-errno, "map the unwind tables");
	return 0;
}

static uint64_t *versions(struct unwind_loader *l)
{
	return (uint64_t *)(void *)l->pages;
}

int unwind_loader_new(const struct unwind_loader_options *opts, struct unwind_loader **lp)
{
	struct unwind_loader *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->opts = *opts;
	l->opts.fds.nr_mappings = opts->fds.nr_mappings ?: UNWIND_MAX_MAPPINGS;
	l->opts.fds.nr_pages = opts->fds.nr_pages ?: UNWIND_MAX_PAGES;
	l->epoch.ns = opts->epoch_ns ? opts->epoch_ns : EPOCH_NS;
	l->table_of = calloc(UNWIND_MAX_BINARIES, sizeof(*l->table_of));
	l->wants = calloc(UNWIND_MAX_BINARIES, sizeof(*l->wants));
	err = l->table_of && l->wants ? map_tables(l) : -ENOMEM;
	if (!err)
		err = unwind_rules_init(&l->rules, l->rule_table, UNWIND_MAX_RULES);
	if (err) {
		unwind_loader_free(l);
		return err;
	}
	unwind_slabs_init(&l->slabs, opts->new_slab, opts->ctx, opts->max_rows);
	unwind_slices_init(&l->slices, l->mappings, l->opts.fds.nr_mappings, opts->fds.processes,
			   versions(l), &l->epoch);
	l->slices.attached_ns = opts->attached_ns;
	l->slices.runtimes = opts->runtimes;
	/*
	 * Page 0 must not be used, even if there were no versions: its first address has the tag 0
	 * in the rule cache, as an empty word has.
	 */
	extents_give(&l->free_pages, UNWIND_VERSIONS, l->opts.fds.nr_pages - UNWIND_VERSIONS);
	*lp = l;
	return 0;
}

void unwind_loader_free(struct unwind_loader *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nr_tables; i++)
		free(l->tables[i].rules);
	free(l->tables);
	free(l->table_of);
	free(l->wants);
	extents_release(&l->free_pages);
	unwind_rules_release(&l->rules);
	unwind_slices_release(&l->slices);
	unwind_slabs_release(&l->slabs);
	munmap(l->pages, l->opts.fds.nr_pages * sizeof(*l->pages));	/* NULL: nothing happens */
	munmap(l->rule_table, UNWIND_MAX_RULES * sizeof(*l->rule_table));
	munmap(l->mappings, l->opts.fds.nr_mappings * sizeof(*l->mappings));
	munmap(l->binaries, UNWIND_MAX_BINARIES * sizeof(*l->binaries));
	munmap(l->rule_cache, UNWIND_CACHE_WORDS * sizeof(*l->rule_cache));
	free(l);
}

static int refuse(struct unwind_loader *l, int err, const char *what)
{
	if (!l->stats.refused++)
		note("the table of %s is full: some stacks will end early (counted as table-full). "
		     "Try: -p, so that "
		     "only these processes have tables",
		     what);
	return err;
}

/* Gives no advice: the limit is that of one process, so recording fewer processes does not help. */
static void refuse_process(struct unwind_loader *l, const struct process *p)
{
	if (!l->stats.refused++)
		note("process %u (%.15s) has %zu executable mappings, more than the kernel's table "
		     "of one process holds: its stacks are unwound outside of the kernel, and deep "
		     "ones may be cut (counted as table-full)",
		     p->tgid, p->comm[0] ? p->comm : "?", p->nr_live);
}

/* Called after each change: what memos keep of the tables before does not hold any more. */
static void change_version(struct unwind_loader *l)
{
	__atomic_fetch_add(&versions(l)[UNWIND_TABLES_VERSION], 1, __ATOMIC_RELEASE);
}

static void publish_binary(struct unwind_loader *l, uint32_t binary, struct unwind_binary entry)
{
	uint64_t word;

	memcpy(&word, &entry, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)&l->binaries[binary], word, __ATOMIC_RELEASE);
	change_version(l);
}

/* ---- evicting ---- */

/* Makes everything that a table holds free again. No program reads it. */
static void reclaim(struct unwind_loader *l, struct placed *t)
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
	l->retired_rows -= t->nr_rows;
	l->retired_pages -= t->nr_pages;
	memset(t, 0, sizeof(*t));
}

static void reclaim_all(struct unwind_loader *l)
{
	for (size_t i = 0; i < l->nr_tables; i++)
		if (l->tables[i].state == PLACE_RETIRED &&
		    epoch_is_over(&l->epoch, &l->tables[i].retired))
			reclaim(l, &l->tables[i]);
}

/* No binary refers to it any more. */
static void retire(struct unwind_loader *l, struct placed *t)
{
	t->state = PLACE_RETIRED;
	t->retired = epoch_retire(&l->epoch);
	l->retired_rows += t->nr_rows;
	l->retired_pages += t->nr_pages;
	l->stats.rows -= t->nr_rows;
	l->stats.pages -= t->nr_pages;
	l->stats.binaries--;
}

static void evict(struct unwind_loader *l, struct placed *t, const char *what)
{
	uint32_t number = (uint32_t)(t - l->tables) + 1;

	for (uint32_t b = 0; b < UNWIND_MAX_BINARIES; b++) {
		if (l->table_of[b] != number)
			continue;
		publish_binary(l, b, (struct unwind_binary){ 0 });
		l->table_of[b] = 0;
		l->opts.on_evict(l->opts.ctx, b, what);
	}
	retire(l, t);
	l->stats.evicted++;
}

static struct placed *least_used(struct unwind_loader *l)
{
	struct placed *found = NULL;

	for (size_t i = 0; i < l->nr_tables; i++) {
		struct placed *t = &l->tables[i];

		if (t->state == PLACE_LIVE && (!found || t->used_ns < found->used_ns))
			found = t;
	}
	return found;
}

/* Whether there is so much room, or will be when epochs are over. */
static bool has_room(const struct unwind_loader *l, uint64_t rows, uint64_t nr_pages)
{
	return unwind_slabs_room(&l->slabs) + l->retired_rows >= rows &&
	       l->free_pages.nr_free + l->retired_pages >= nr_pages;
}

/* Evicts until there will be room; false: no table is left to evict. */
static bool make_room(struct unwind_loader *l, uint64_t rows, uint64_t nr_pages, const char *what)
{
	while (!has_room(l, rows, nr_pages)) {
		struct placed *t = least_used(l);

		if (!t)
			return false;
		evict(l, t, what);
	}
	return true;
}

/* Keeps some rows free as long as there are tables that were not seen of late. */
static void keep_reserve(struct unwind_loader *l)
{
	struct placed *t;

	while (!has_room(l, l->slabs.max_rows / RESERVE, 0)) {
		t = least_used(l);
		if (!t || t->used_ns + RESTING_NS > now_ns())
			return;
		evict(l, t, "unwind rows");
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

/* Called when there was no place for t. -EAGAIN: there will be. */
static int no_place(struct unwind_loader *l, const struct unwind_table *t, const char *what)
{
	bool waits = l->retired_pages > 0;

	if (!can_ever_fit(l, t))
		return refuse(l, -E2BIG, what);
	if (!make_room(l, t->nr_rows, t->nr_pages, what))
		return refuse(l, -ENOSPC, what);
	/*
	 * There are enough free rows and pages, so rules are short or holes too small: one more
	 * table goes, each time.
	 */
	if (!waits && !l->retired_pages) {
		struct placed *least = least_used(l);

		if (!least)
			return refuse(l, -ENOSPC, what);
		evict(l, least, what);
	}
	return -EAGAIN;
}

/* ---- placing ---- */

static struct placed *new_place(struct unwind_loader *l)
{
	for (size_t i = 0; i < l->nr_tables; i++)
		if (l->tables[i].state == PLACE_FREE)
			return &l->tables[i];
	return array_push(&l->tables, &l->nr_tables, &l->cap_tables);
}

/*
 * Adds numbers for the rules of t to p->rules, in the order of t. They stay taken as long as the
 * table does, even if a page finds no room.
 */
static int take_rules(struct unwind_loader *l, const struct unwind_table *t, struct placed *p)
{
	int err = 0;

	if (array_reserve(&p->rules, &p->cap_rules, p->nr_rules + t->nr_rules))
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_rules && !err; i++) {
		err = unwind_rules_get(&l->rules, &t->rules[i], &p->rules[p->nr_rules]);
		p->nr_rules += !err;
	}
	return err;
}

/* A program may read the entry at any time, so it is written as a whole, behind its rows. */
static void publish_page(struct unwind_loader *l, uint32_t page, struct unwind_page entry)
{
	uint64_t word;

	memcpy(&word, &entry, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)&l->pages[page], word, __ATOMIC_RELEASE);
	change_version(l);
}

static int add_page(struct unwind_loader *l, const struct unwind_table *t, struct placed *p,
		    uint32_t i, const uint16_t *rules)
{
	const struct unwind_page *from = &t->pages[i];
	struct unwind_page to = { .nr = from->nr, .carry = rules[from->carry] };
	struct unwind_row *rows = NULL;
	int err = to.nr ? unwind_slabs_take(&l->slabs, to.nr, &to.first) : 0;

	if (err)
		return err;
	if (to.nr)
		rows = unwind_slabs_write(&l->slabs, to.first);
	if (to.nr && !rows) {
		unwind_slabs_give(&l->slabs, to.first, to.nr);
		return -ENOMEM;
	}
	for (uint32_t r = 0; r < to.nr; r++) {
		rows[r].pc_lo = t->rows[from->first + r].pc_lo;
		rows[r].rule = rules[t->rows[from->first + r].rule];
	}
	publish_page(l, p->page0 + i, to);
	p->nr_rows += to.nr;
	return 0;
}

/*
 * Adds the pages of t that are absent from p; *what names what is short. After an error some of
 * them may be there.
 */
static int add_pages(struct unwind_loader *l, const struct unwind_table *t, struct placed *p,
		     const char **what)
{
	size_t first_rule = p->nr_rules;
	int err = take_rules(l, t, p);

	*what = err ? "unwind rules" : "unwind rows";
	for (uint32_t i = 0; i < p->nr_pages && i < t->nr_pages && !err; i++)
		if (t->pages[i].first != UNWIND_PAGE_ABSENT &&
		    l->pages[p->page0 + i].first == UNWIND_PAGE_ABSENT)
			err = add_page(l, t, p, i, p->rules + first_rule);
	return err;
}

/* Takes the pages of a new table; they are absent, and no binary refers to them. */
static int take_pages(struct unwind_loader *l, const struct unwind_table *t, struct placed *p)
{
	int err = extents_take(&l->free_pages, t->nr_pages, &p->page0);

	if (err)
		return err;
	p->nr_pages = t->nr_pages;
	for (uint32_t i = 0; i < p->nr_pages; i++)
		publish_page(l, p->page0 + i,
			     (struct unwind_page){ .first = UNWIND_PAGE_ABSENT });
	return 0;
}

static int place(struct unwind_loader *l, const struct unwind_table *t, struct placed *p)
{
	const char *what = "pages of unwind tables";
	int err = take_pages(l, t, p);

	if (!err)
		err = add_pages(l, t, p, &what);
	if (!err)
		return 0;
	l->retired_rows += p->nr_rows;
	l->retired_pages += p->nr_pages;
	reclaim(l, p);
	return err == -ENOSPC ? no_place(l, t, what) : err;
}

/* The table of binary, if t is more of the same; NULL: it has none, or another one. */
static struct placed *table_with(struct unwind_loader *l, uint32_t binary,
				 const struct unwind_table *t)
{
	uint32_t number = l->table_of[binary];

	return number && l->tables[number - 1].nr_pages == t->nr_pages ? &l->tables[number - 1]
									: NULL;
}

/* Adds pages to a table that is published. What was added before an error stays. */
static int extend(struct unwind_loader *l, const struct unwind_table *t, struct placed *p)
{
	uint64_t before = p->nr_rows;
	const char *what;
	int err = add_pages(l, t, p, &what);

	l->stats.rows += p->nr_rows - before;
	p->used_ns = now_ns();
	return err == -ENOSPC ? no_place(l, t, what) : err;
}

/* Gives binary a new table. */
static int publish_new(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t)
{
	struct placed *p;
	int err;

	if (!t->nr_pages) {	/* there is no row for any of its code, so it takes no place */
		l->table_of[binary] = 0;
		unwind_loader_no_table(l, binary);
		return 0;
	}
	p = new_place(l);
	err = p ? place(l, t, p) : -ENOMEM;
	if (err)
		return err;
	p->state = PLACE_LIVE;
	p->used_ns = now_ns();
	l->table_of[binary] = (uint32_t)(p - l->tables) + 1;
	l->stats.rows += p->nr_rows;
	l->stats.pages += t->nr_pages;
	l->stats.binaries++;
	publish_binary(l, binary, (struct unwind_binary){ p->page0, p->nr_pages });
	return 0;
}

int unwind_loader_table(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t)
{
	struct placed *p;
	uint64_t left;
	int err;

	if (binary >= UNWIND_MAX_BINARIES)
		return refuse(l, -ENOSPC, "binaries");
	reclaim_all(l);
	left = room_promise_to_leave(&l->promise, binary, l->wants[binary], now_ns());
	if (left && unwind_slabs_room(&l->slabs) < t->nr_rows + left)
		return -EAGAIN;
	p = table_with(l, binary, t);
	err = p ? extend(l, t, p) : publish_new(l, binary, t);
	if (err == -EAGAIN && l->wants[binary])
		room_promise_ask(&l->promise, binary, l->wants[binary], t->nr_rows, now_ns());
	if (err)
		return err;
	room_promise_kept(&l->promise, binary);
	l->wants[binary] = 0;
	keep_reserve(l);
	return 0;
}

void unwind_loader_wanted(struct unwind_loader *l, uint32_t binary)
{
	if (binary < UNWIND_MAX_BINARIES)
		l->wants[binary]++;
}

void unwind_loader_same(struct unwind_loader *l, uint32_t binary, uint32_t other)
{
	if (binary >= UNWIND_MAX_BINARIES || other >= UNWIND_MAX_BINARIES)
		return;
	l->table_of[binary] = l->table_of[other];
	publish_binary(l, binary, l->binaries[other]);
}

void unwind_loader_drop(struct unwind_loader *l, uint32_t window)
{
	uint32_t number = window < UNWIND_MAX_BINARIES ? l->table_of[window] : 0;

	if (window >= UNWIND_MAX_BINARIES || !l->binaries[window].page0)
		return;		/* it has none */
	publish_binary(l, window, (struct unwind_binary){ 0 });
	l->table_of[window] = 0;
	if (number)
		retire(l, &l->tables[number - 1]);
}

void unwind_loader_no_table(struct unwind_loader *l, uint32_t binary)
{
	if (binary < UNWIND_MAX_BINARIES)
		publish_binary(l, binary, (struct unwind_binary){ UNWIND_TABLE_NEVER, 0 });
}

void unwind_loader_touch(struct unwind_loader *l, uint32_t binary, uint64_t time_ns)
{
	uint32_t number = binary < UNWIND_MAX_BINARIES ? l->table_of[binary] : 0;

	if (number && l->tables[number - 1].used_ns < time_ns)
		l->tables[number - 1].used_ns = time_ns;
}

void unwind_loader_iterating(struct unwind_loader *l, bool running)
{
	if ((l->epoch.nr & 1) != running)
		l->epoch.nr++;
}

/* ---- the host's view ---- */

void unwind_loader_view(const struct unwind_loader *l, struct unwind_loader_view *out)
{
	*out = (struct unwind_loader_view){ l->pages, l->opts.fds.nr_pages, l->rule_table,
					    l->binaries };
}

const struct unwind_row *unwind_loader_rows(struct unwind_loader *l, uint32_t first)
{
	return unwind_slabs_read(&l->slabs, first);
}

/* ---- processes ---- */

int unwind_loader_process(struct unwind_loader *l, const struct binaries *bs, struct process *p)
{
	int err = unwind_slices_process(&l->slices, bs, p);

	if (err == -ENOSPC)
		refuse(l, err, "mappings");
	else if (err == -EFBIG)
		refuse_process(l, p);
	else if (err == -E2BIG)
		refuse(l, err, "processes");
	return err;
}

bool unwind_loader_inherit(struct unwind_loader *l, struct process *child,
			   const struct process *parent)
{
	return unwind_slices_inherit(&l->slices, child, parent);
}

void unwind_loader_forget(struct unwind_loader *l, struct process *p)
{
	unwind_slices_forget(&l->slices, p);
}

int unwind_loader_check(struct unwind_loader *l, struct process *p)
{
	return unwind_slices_check(&l->slices, p);
}

void unwind_loader_stats(const struct unwind_loader *l, struct unwind_loader_stats *out)
{
	*out = l->stats;
	out->rules = unwind_rules_used(&l->rules);
	out->slabs = l->slabs.nr;
	out->mappings = unwind_slices_used(&l->slices);
	out->processes = l->slices.nr_published;
}
