/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/unwind_loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/tables/unwind_loader_parts.h"

#define EPOCH_NS NSEC_PER_SEC
#define FIRST_REFS 1024			/* binaries, to begin with */

static int map_rule_cache(struct unwind_loader *l)
{
	void *p = mmap(NULL, UNWIND_CACHE_WORDS * sizeof(*l->rule_cache), PROT_READ | PROT_WRITE,
		       MAP_SHARED, l->opts.fds.rule_cache, 0);

	if (p == MAP_FAILED)
		return -errno;
	l->rule_cache = p;
	return 0;
}

static int map_tables(struct unwind_loader *l)
{
	const struct unwind_loader_fds *fds = &l->opts.fds;
	int err = mapped_array_open(&l->page_array, fds->pages, fds->nr_pages * sizeof(*l->pages));

	if (!err)
		err = mapped_array_open(&l->rule_array, fds->rules,
					UNWIND_MAX_RULES * sizeof(*l->rule_table));
	if (!err)
		err = mapped_array_open(&l->mapping_array, fds->mappings,
					fds->nr_mappings * sizeof(*l->mappings));
	if (!err)
		err = mapped_array_open(&l->binary_array, fds->binaries,
					UNWIND_MAX_BINARIES * sizeof(*l->binaries));
	if (!err)
		err = map_rule_cache(l);
	if (err)
		return fail(err, "map the unwind tables");
	l->pages = l->page_array.v;
	l->mappings = l->mapping_array.v;
	l->binaries = l->binary_array.v;
	l->rule_table = l->rule_array.v;
	return mapped_array_need(&l->page_array, 0, UNWIND_VERSIONS * sizeof(*l->pages));
}

static unsigned owner_of_process(void *ctx, uint32_t tgid)
{
	struct unwind_loader *l = ctx;
	const struct unwind_loader_options *o = &l->opts;

	return room_owners_place(&l->owners, o->process_owner ? o->process_owner(o->ctx, tgid) : 0);
}

static unsigned owner_of_table(struct unwind_loader *l, uint32_t binary)
{
	const struct unwind_loader_options *o = &l->opts;

	return room_owners_place(&l->owners, o->table_owner ? o->table_owner(o->ctx, binary) : 0);
}

/* NULL: out of memory, or no such window. */
static struct table_ref *ref_at(struct unwind_loader *l, uint32_t binary)
{
	if (!unwind_loader_is_window(binary) &&
	    array_reserve(&l->refs, &l->cap_refs, (size_t)binary + 1))
		return NULL;
	return unwind_loader_ref(l, binary);
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
	err = array_reserve(&l->refs, &l->cap_refs, FIRST_REFS) ? -ENOMEM : map_tables(l);
	if (!err)
		err = unwind_rules_init(&l->rules, &l->rule_array, UNWIND_MAX_RULES);
	if (err) {
		unwind_loader_free(l);
		return err;
	}
	unwind_slabs_init(&l->slabs, opts->new_slab, opts->ctx, opts->max_rows);
	unwind_slices_init(&l->slices, l->mappings, l->opts.fds.nr_mappings, opts->fds.processes,
			   unwind_loader_versions(l), &l->epoch);
	l->slices.array = &l->mapping_array;
	l->slices.numbers = (struct slice_numbers){ unwind_loader_number, owner_of_process, l,
						    &l->owners };
	l->slices.attached_ns = opts->attached_ns;
	l->slices.runtimes = opts->runtimes;
	/*
	 * Page 0 must not be used, even if there were no versions: its first address has the tag 0
	 * in the rule cache, as an empty word has.
	 */
	extents_give(&l->free_pages, UNWIND_VERSIONS, l->opts.fds.nr_pages - UNWIND_VERSIONS);
	table_numbers_init(&l->numbers, opts->max_numbers);
	l->max_numbers = l->numbers.nr_free;
	unwind_loader_publish(l, UNWIND_NUMBER_NEVER,
			      (struct unwind_binary){ UNWIND_TABLE_NEVER, 0 });
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
	free(l->refs);
	extents_release(&l->free_pages);
	unwind_rules_release(&l->rules);
	unwind_slices_release(&l->slices);
	unwind_slabs_release(&l->slabs);
	mapped_array_close(&l->page_array);
	mapped_array_close(&l->rule_array);
	mapped_array_close(&l->mapping_array);
	mapped_array_close(&l->binary_array);
	/* NULL: nothing happens. */
	munmap(l->rule_cache, UNWIND_CACHE_WORDS * sizeof(*l->rule_cache));
	free(l);
}

/* Gives no advice: the limit is that of one process, so recording fewer processes does not help. */
static void refuse_process(struct unwind_loader *l, const struct process *p)
{
	if (!l->stats.refused++)
		note_kept("process %u (%.15s) has %zu executable mappings, more than the kernel's "
			  "table of one process holds: its stacks are unwound outside of the "
			  "kernel, and deep ones may be cut (counted as table-full)",
			  p->tgid, p->comm[0] ? p->comm : "?", p->nr_live);
}

/* ---- placing ---- */

static struct placed *new_place(struct unwind_loader *l)
{
	for (; l->first_free < l->nr_tables; l->first_free++)
		if (l->tables[l->first_free].state == PLACE_FREE)
			return &l->tables[l->first_free];
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
		size_t before = unwind_rules_used(&l->rules);

		err = unwind_rules_get(&l->rules, &t->rules[i], &p->rules[p->nr_rules]);
		p->nr_rules += !err;
		p->nr_new_rules += unwind_rules_used(&l->rules) > before;
	}
	return err;
}

/* A program may read the entry at any time, so it is written as a whole, behind its rows. */
static void publish_page(struct unwind_loader *l, uint32_t page, struct unwind_page entry)
{
	uint64_t word;

	memcpy(&word, &entry, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)&l->pages[page], word, __ATOMIC_RELEASE);
	unwind_loader_changed(l);
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
		rows = unwind_slabs_write(&l->slabs, to.first, to.nr);
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
 * Adds the pages of t that are absent from p; *what is what is short. After an error some of
 * them may be there.
 */
static int add_pages(struct unwind_loader *l, const struct unwind_table *t, struct placed *p,
		     enum room *what)
{
	size_t first_rule = p->nr_rules;
	int err = take_rules(l, t, p);

	*what = err ? ROOM_RULES : ROOM_ROWS;
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
	err = mapped_array_need(&l->page_array, p->page0 * sizeof(*l->pages),
				t->nr_pages * sizeof(*l->pages));
	if (err) {
		extents_give(&l->free_pages, p->page0, t->nr_pages);
		return err;
	}
	p->nr_pages = t->nr_pages;
	for (uint32_t i = 0; i < p->nr_pages; i++)
		publish_page(l, p->page0 + i,
			     (struct unwind_page){ .first = UNWIND_PAGE_ABSENT });
	return 0;
}

/* The number of a new table; that of a window is its own. */
static int take_number(struct unwind_loader *l, struct placed *p)
{
	p->number = unwind_loader_is_window(p->binary) ? unwind_loader_number(l, p->binary)
						       : table_numbers_take(&l->numbers);
	return p->number ? unwind_loader_need_number(l, p->number) : -ENOSPC;
}

static int place(struct unwind_loader *l, const struct unwind_table *t, struct placed *p,
		 const struct table_need *need)
{
	enum room what = ROOM_NUMBERS;
	int err = take_number(l, p);

	if (!err) {
		what = ROOM_PAGES;
		err = take_pages(l, t, p);
	}
	if (!err)
		err = add_pages(l, t, p, &what);
	if (!err)
		return 0;
	l->retired_rows += p->nr_rows;
	l->retired_pages += p->nr_pages;
	l->retired_numbers += need->numbers && p->number;
	unwind_loader_reclaim(l, p);
	return err == -ENOSPC ? unwind_loader_no_place(l, t, need, what) : err;
}

/* The table of a binary, if t is more of the same; NULL: it has none, or another one. */
static struct placed *table_with(struct unwind_loader *l, const struct table_ref *ref,
				 const struct unwind_table *t)
{
	return ref->table && l->tables[ref->table - 1].nr_pages == t->nr_pages
		       ? &l->tables[ref->table - 1]
		       : NULL;
}

/* Adds pages to a table that is published. What was added before an error stays. */
static int extend(struct unwind_loader *l, const struct unwind_table *t, struct placed *p,
		  const struct table_need *need)
{
	uint64_t before = p->nr_rows;
	enum room what;
	int err;

	unwind_loader_charge(l, p, -1);
	err = add_pages(l, t, p, &what);
	unwind_loader_charge(l, p, 1);
	l->stats.rows += p->nr_rows - before;
	p->used_ns = now_ns();
	return err == -ENOSPC ? unwind_loader_no_place(l, t, need, what) : err;
}

/* Gives binary a new table. */
static int publish_new(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t,
		       const struct table_need *need)
{
	struct unwind_binary at;
	struct placed *p;
	int err;

	if (!t->nr_pages) {	/* there is no row for any of its code, so it takes no place */
		unwind_loader_no_table(l, binary);
		return 0;
	}
	p = new_place(l);
	if (!p)
		return -ENOMEM;
	p->binary = binary;
	err = place(l, t, p, need);
	if (err)
		return err;
	p->state = PLACE_LIVE;
	p->owner = (uint8_t)need->owner;
	p->used_ns = now_ns();
	l->stats.rows += p->nr_rows;
	l->stats.pages += t->nr_pages;
	l->stats.binaries++;
	unwind_loader_charge(l, p, 1);
	at = (struct unwind_binary){ p->page0, p->nr_pages };
	unwind_loader_publish(l, p->number, at);
	unwind_loader_refer(l, binary, unwind_loader_ref(l, binary),
			    (uint32_t)(p - l->tables) + 1, at);
	return 0;
}

/* Whether it must leave room that another table waits for, whose owner has less. */
static bool must_leave(struct unwind_loader *l, uint32_t binary, uint32_t wants,
		       const struct table_need *need)
{
	const struct room_promise *p = &l->promise;
	uint64_t left = room_promise_to_leave(p, binary, wants, now_ns());
	unsigned other = left ? owner_of_table(l, p->binary) : need->owner;

	return left && unwind_slabs_room(&l->slabs) < need->rows + left &&
	       (other == need->owner ||
		room_owners_heaviest(&l->owners, ROOM_ROWS, other, left) != other);
}

int unwind_loader_table(struct unwind_loader *l, uint32_t binary, const struct unwind_table *t)
{
	struct table_need need = { t->nr_rows, t->nr_pages, 0, owner_of_table(l, binary) };
	struct table_ref *ref = ref_at(l, binary);
	struct placed *p;
	int err;

	if (!ref)
		return -ENOMEM;
	unwind_loader_reclaim_all(l);
	if (must_leave(l, binary, ref->wants, &need))
		return -EAGAIN;
	p = table_with(l, ref, t);
	need.numbers = !p && !unwind_loader_is_window(binary);
	err = p ? extend(l, t, p, &need) : publish_new(l, binary, t, &need);
	if (err == -EAGAIN && ref->wants)
		room_promise_ask(&l->promise, binary, ref->wants, t->nr_rows, now_ns());
	if (err)
		return err;
	room_promise_kept(&l->promise, binary);
	ref->wants = 0;
	unwind_loader_keep_reserve(l);
	return 0;
}

void unwind_loader_wanted(struct unwind_loader *l, uint32_t binary)
{
	struct table_ref *ref = ref_at(l, binary);

	if (ref)
		ref->wants++;
}

void unwind_loader_same(struct unwind_loader *l, uint32_t binary, uint32_t other)
{
	struct table_ref *ref = ref_at(l, binary);
	const struct table_ref *from = unwind_loader_ref(l, other);

	if (ref && from)
		unwind_loader_refer(l, binary, ref, from->table, from->place);
}

void unwind_loader_drop(struct unwind_loader *l, uint32_t window)
{
	struct table_ref *ref = unwind_loader_ref(l, window);
	uint32_t number = ref ? ref->table : 0;

	if (!ref || !ref->place.page0)
		return;		/* it has none */
	if (number)
		unwind_loader_publish(l, l->tables[number - 1].number,
				      (struct unwind_binary){ 0 });
	unwind_loader_refer(l, window, ref, 0, (struct unwind_binary){ 0 });
	if (number)
		unwind_loader_retire(l, &l->tables[number - 1]);
}

void unwind_loader_no_table(struct unwind_loader *l, uint32_t binary)
{
	struct table_ref *ref = ref_at(l, binary);

	if (ref)
		unwind_loader_refer(l, binary, ref, 0,
				    (struct unwind_binary){ UNWIND_TABLE_NEVER, 0 });
}

void unwind_loader_touch(struct unwind_loader *l, uint32_t binary, uint64_t time_ns)
{
	const struct table_ref *ref = unwind_loader_ref(l, binary);
	uint32_t number = ref ? ref->table : 0;

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
	*out = (struct unwind_loader_view){ l->pages, l->opts.fds.nr_pages, l->rule_table };
}

const struct unwind_binary *unwind_loader_place(struct unwind_loader *l, uint32_t binary)
{
	const struct table_ref *ref = unwind_loader_ref(l, binary);

	return ref ? &ref->place : NULL;
}

const struct unwind_row *unwind_loader_rows(struct unwind_loader *l, uint32_t first, uint32_t nr)
{
	return unwind_slabs_read(&l->slabs, first, nr);
}

/* ---- processes ---- */

int unwind_loader_process(struct unwind_loader *l, const struct binaries *bs, struct process *p)
{
	int err = unwind_slices_process(&l->slices, bs, p);

	for (; l->nr_taken_said < l->slices.nr_taken; l->nr_taken_said++)
		unwind_loader_refuse(l, 0, "mappings");
	if (err == -ENOSPC)
		unwind_loader_refuse(l, err, "mappings");
	else if (err == -EFBIG)
		refuse_process(l, p);
	else if (err == -E2BIG)
		unwind_loader_refuse(l, err, "processes");
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
