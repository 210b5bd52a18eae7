/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_row.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/report/weight_text.h"

#define FIRST_BYTES 32			/* of a block with its head */
#define MAX_BYTES 4096
#define MAX_ENTRY 41

/* The first byte of an entry: its activity, and what follows. */
enum {
	ACTIVITY = 15,
	HAS_TICKS = 16,
	HAS_SCAN = 32,
	HAS_COUNT = 64,			/* none: 1 */
	HAS_WEIGHT = 128,		/* none: the usual one, as often as count says */
};

struct page_block {
	struct page_block *next;
	uint32_t cap;
	uint32_t nr;			/* bytes; not yet known of the last block */
	uint8_t v[];
};

/* ---- numbers ---- */

static inline uint8_t *put(uint8_t *p, uint64_t v)
{
	for (; __builtin_expect(v >= 0x80, 0); v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static inline const uint8_t *get(const uint8_t *p, uint64_t *v)
{
	uint64_t n = *p & 0x7f;

	for (unsigned shift = 7; __builtin_expect(*p++ & 0x80, 0); shift += 7)
		n |= (uint64_t)(*p & 0x7f) << shift;
	*v = n;
	return p;
}

static inline const uint8_t *get_u32(const uint8_t *p, uint32_t *v)
{
	uint64_t wide;

	p = get(p, &wide);
	*v = (uint32_t)wide;
	return p;
}

/* ---- entries ---- */

/* What nr samples weigh, if they weigh the usual. */
static inline uint64_t usual_weight(uint64_t usual, uint32_t nr)
{
	return nr == 1 ? usual : weight_times(usual, nr);
}

static inline uint8_t *put_entry(uint8_t *p, const struct page_entry *e, uint64_t ticks,
				 uint64_t usual)
{
	uint8_t *at = p++, head = e->activity;

	assert(e->activity <= ACTIVITY);
	if (ticks) {
		head |= HAS_TICKS;
		p = put(p, ticks);
	}
	p = put(p, e->node);
	p = put(p, e->cpu + 1);		/* none becomes 0 */
	if (e->scan) {
		head |= HAS_SCAN;
		p = put(p, e->scan);
	}
	if (e->count != 1) {
		head |= HAS_COUNT;
		p = put(p, e->count);
	}
	if (e->weight != usual_weight(usual, e->count)) {
		head |= HAS_WEIGHT;
		p = put(p, e->weight);
	}
	*at = head;
	return p;
}

/* tick: of the entry before. */
static inline const uint8_t *get_entry(const uint8_t *p, struct page_entry *e, uint64_t tick,
				       uint64_t usual)
{
	uint8_t head = *p++;
	uint64_t ticks = 0;

	if (head & HAS_TICKS)
		p = get(p, &ticks);
	e->tick = tick + ticks;
	e->activity = head & ACTIVITY;
	p = get_u32(p, &e->node);
	p = get_u32(p, &e->cpu);
	e->cpu--;
	e->scan = 0;
	if (head & HAS_SCAN)
		p = get_u32(p, &e->scan);
	e->count = 1;
	if (head & HAS_COUNT)
		p = get_u32(p, &e->count);
	if (head & HAS_WEIGHT)
		return get(p, &e->weight);
	e->weight = usual_weight(usual, e->count);
	return p;
}

/* ---- adding ---- */

static size_t room_in(const struct page_row *row)
{
	return row->last ? (size_t)(row->last->v + row->last->cap - row->end) : 0;
}

static void close_block(struct page_row *row)
{
	row->last->nr = (uint32_t)(row->end - row->last->v);
}

/* Each block is twice as large as the one before. */
static int add_block(struct page_row *row, size_t need)
{
	size_t size = row->last ? 2 * (sizeof(*row->last) + row->last->cap) : FIRST_BYTES;
	struct page_block *b;

	while (size < sizeof(*b) + need)
		size *= 2;
	size = size < MAX_BYTES ? size : MAX_BYTES;
	b = malloc(size);
	if (!b)
		return -ENOMEM;
	*b = (struct page_block){ .cap = (uint32_t)(size - sizeof(*b)) };
	if (row->last) {
		close_block(row);
		row->last->next = b;
	} else {
		row->first = b;
	}
	row->last = b;
	row->end = b->v;
	return 0;
}

static void begin_tick(struct page_row *row, uint64_t tick)
{
	row->open = row->last;
	row->open_at = row->end;
	row->nr_open = 0;
	row->tick_before = row->tick;
	row->tick = tick;
}

/* What does not fit into the last block begins the next one. */
static int add_bytes(struct page_row *row, const struct page_entry *e, uint64_t ticks,
		     uint64_t usual)
{
	uint8_t bytes[MAX_ENTRY];
	size_t nr;

	if (room_in(row) >= MAX_ENTRY) {
		row->end = put_entry(row->end, e, ticks, usual);
		return 0;
	}
	nr = (size_t)(put_entry(bytes, e, ticks, usual) - bytes);
	if (room_in(row) < nr && add_block(row, nr))
		return -ENOMEM;
	memcpy(row->end, bytes, nr);
	row->end += nr;
	return 0;
}

int page_row_add(struct page_row *row, const struct page_entry *e, uint64_t usual)
{
	uint64_t ticks = e->tick - row->tick;

	if (row->nr == UINT32_MAX)
		return -ENOMEM;
	if (ticks || !row->nr)
		begin_tick(row, e->tick);
	if (add_bytes(row, e, ticks, usual))
		return -ENOMEM;
	row->nr++;
	row->nr_open++;
	return 0;
}

static void free_blocks(struct page_block *b)
{
	while (b) {
		struct page_block *next = b->next;

		free(b);
		b = next;
	}
}

void page_row_release(struct page_row *row)
{
	free_blocks(row->first);
	memset(row, 0, sizeof(*row));
}

/* ---- reading ---- */

static void enter_block(struct page_row_reader *r, struct page_block *b)
{
	r->block = b;
	if (!b)
		return;
	r->at = b->v;
	r->end = b == r->last ? r->last_end : b->v + b->nr;
}

struct page_row_reader page_row_read(const struct page_row *row, uint32_t thread, uint64_t usual)
{
	struct page_row_reader r = { .last = row->last,
				     .last_end = row->end,
				     .usual = usual,
				     .thread = thread };

	enter_block(&r, row->first);
	return r;
}

struct page_row_reader page_row_take(struct page_row *row, uint32_t thread, uint64_t usual)
{
	struct page_row_reader r = page_row_read(row, thread, usual);

	r.is_taken = true;
	memset(row, 0, sizeof(*row));
	return r;
}

/* To the first byte that is not read yet; false: there is none. */
static bool find_byte(struct page_row_reader *r)
{
	while (r->block && r->at == r->end) {
		struct page_block *next = r->block->next;

		if (r->is_taken)
			free(r->block);
		enter_block(r, next);
	}
	return r->block;
}

bool page_row_next(struct page_row_reader *r, struct page_entry *e)
{
	if (r->at == r->end && !find_byte(r))
		return false;
	e->thread = r->thread;
	r->at = get_entry(r->at, e, r->tick, r->usual);
	r->tick = e->tick;
	return true;
}

void page_row_drop(struct page_row_reader *r)
{
	if (r->is_taken)
		free_blocks(r->block);
	r->block = NULL;
	r->at = r->end;
}

/* ---- the newest tick ---- */

/* Where it begins. The block before it may have been the last one, and full. */
static struct page_row_reader read_open(const struct page_row *row, uint32_t thread,
					uint64_t usual)
{
	struct page_row_reader r = page_row_read(row, thread, usual);

	if (row->open) {
		enter_block(&r, row->open);
		r.at = row->open_at;
		r.tick = row->tick_before;
	}
	return r;
}

/* Takes the entries of the newest tick off. */
static void cut(struct page_row *row)
{
	struct page_block *keep = row->open ? row->open : row->first;

	free_blocks(keep->next);
	keep->next = NULL;
	row->last = keep;
	row->end = row->open ? row->open_at : keep->v;
	row->nr -= row->nr_open;
	row->nr_open = 0;
	row->tick = row->tick_before;
}

int page_row_open(struct page_row *row, uint32_t thread, uint64_t usual, struct page_entries *l)
{
	struct page_row_reader r = read_open(row, thread, usual);

	if (page_entries_reserve(l, row->nr_open))
		return -ENOMEM;
	while (page_row_next(&r, &l->v[l->nr]))
		l->nr++;
	if (row->nr_open)
		cut(row);
	return 0;
}

bool page_row_last(const struct page_row *row, uint32_t thread, uint64_t usual,
		   struct page_entry *e)
{
	struct page_row_reader r = read_open(row, thread, usual);
	bool has = false;

	while (page_row_next(&r, e))
		has = true;
	return has;
}
