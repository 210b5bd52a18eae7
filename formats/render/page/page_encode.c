/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what was read as a message. */
#include <errno.h>
#include <stdlib.h>

#include "formats/render/escape.h"
#include "formats/render/page/page_data.h"
#include "formats/render/page/page_message.h"
#include "formats/render/page/page_pack.h"
#include "formats/render/renderer.h"
#include "src/base/bytes.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/weight_text.h"

static void put_quiet(const struct page_data *d, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	for (size_t i = 0; i < d->t.nr_threads; i++) {
		if (!d->is_quiet[i])
			continue;
		bb_uv(&b, i);
		bb_uv(&b, 1);
	}
	page_message_section(out, "quiet", &b);
}

/* Which threads have entries, and how many each. */
static void put_runs(const struct page_samples *s, struct byte_buf *b)
{
	size_t runs = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		runs += s->rows[i].nr != 0;
	bb_uv(b, s->nr);
	bb_uv(b, runs);
	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i].nr)
			bb_uv(b, i);
	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i].nr)
			bb_uv(b, s->rows[i].nr);
}

enum { TICKS, NODES, CPUS, ACTIVITY, COUNTS, SCANS, WEIGHTS, COLUMNS };

/* The columns by entry, and what they are made with. */
struct columns {
	const struct page_data *d;
	const struct page_event *e;
	const uint32_t *places;		/* by node of the profile */
	struct byte_buf v[COLUMNS];
	uint32_t scan;			/* of the entry before */
};

static uint64_t weight_code(const struct page_event *e, const struct page_entry *entry)
{
	if (entry->weight == weight_times(e->usual, entry->count))
		return 0;
	return weight_sum(entry->weight, 1);
}

/* Most numbers take one byte. */
static inline void put(struct byte_buf *b, uint64_t v)
{
	if (v < 0x80 && b->nr < b->cap)
		b->v[b->nr++] = (uint8_t)v;
	else
		bb_uv(b, v);
}

static void put_row(struct columns *c, struct page_row_reader *r)
{
	uint64_t tick = c->d->begin_ns / c->e->samples.tick_ns;
	struct page_entry e;

	while (page_row_next(r, &e)) {
		put(&c->v[TICKS], e.tick - tick);
		put(&c->v[NODES], c->places[e.node]);
		put(&c->v[CPUS], e.cpu == UINT32_MAX ? 0 : e.cpu + (uint64_t)1);
		put(&c->v[ACTIVITY], e.activity);
		put(&c->v[COUNTS], e.count);
		if (e.scan == c->scan)
			put(&c->v[SCANS], 0);
		else
			bb_sv(&c->v[SCANS], (int64_t)e.scan - c->scan);
		put(&c->v[WEIGHTS], weight_code(c->e, &e));
		tick = e.tick;
		c->scan = e.scan;
	}
}

/* The entries of a thread are freed as they get into columns, and columns as they are packed. */
static void put_samples(struct page_data *d, uint32_t event, const uint32_t *places,
			struct page_pack *out)
{
	struct page_samples *s = &d->events[event].samples;
	struct columns c = { .d = d, .e = &d->events[event], .places = places };
	struct byte_buf b = { 0 }, head = { 0 };
	size_t len = 0;

	bb_uv(&b, event);
	bb_uv(&b, s->tick_ns);
	bb_uv(&b, s->coarser);
	put_runs(s, &b);
	for (size_t i = 0; i < s->nr_rows; i++) {
		struct page_row_reader r = page_samples_take(s, i);

		put_row(&c, &r);
	}
	for (size_t i = 0; i < COLUMNS; i++)
		len += c.v[i].nr;
	page_message_head(&head, "samples", b.nr + len);
	page_pack_part(out, &head);
	page_pack_part(out, &b);
	for (size_t i = 0; i < COLUMNS; i++)
		page_pack_part(out, &c.v[i]);
}

static void put_strip(const struct page_data *d, uint32_t event, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	bb_uv(&b, event);
	for (size_t i = 0; i < (size_t)PAGE_STRIP * ACTIVITIES; i++)
		bb_uv(&b, d->events[event].strip[i]);
	page_message_section(out, "strip", &b);
}

/* A call tree as a section, and the place of each node of the profile in it. */
struct tree {
	struct byte_buf section;
	uint32_t *places;
};

static int put_trees(struct page_data *d, struct tree *trees)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < d->nr_events; i++)
		err = page_tree_put(d, d->events[i].profile, i + 1, &trees[i].section,
				    &trees[i].places);
	return err;
}

/* What is before the events. */
static int put_tables(const struct page_data *d, struct page_pack *out)
{
	static const struct page_rows none;
	struct byte_buf b = { 0 };
	int err;

	page_message_state(&b, PAGE_IS_ALL | PAGE_HAS_ENDED, 1);
	err = page_head_put(d, &b);
	if (!err) {
		page_tables_put(&d->t, &d->functions, &none, &b);
		put_quiet(d, &b);
	}
	page_pack_part(out, &b);
	return err;
}

static void put_event(struct page_data *d, uint32_t event, struct tree *tree,
		      struct page_pack *out)
{
	struct byte_buf strip = { 0 };

	page_pack_part(out, &tree->section);
	put_samples(d, event, tree->places, out);
	put_strip(d, event, &strip);
	page_pack_part(out, &strip);
}

static int put_waits(const struct page_data *d, struct page_pack *out)
{
	struct byte_buf b = { 0 };
	int err = page_waits_put(d, &b);

	page_pack_part(out, &b);
	return err;
}

int page_data_encode(struct page_data *d, struct page_pack *out)
{
	struct tree trees[PAGE_MAX_EVENTS] = { 0 };
	/* The trees are made first, because they add strings and functions. */
	int err = put_trees(d, trees);

	if (!err)
		err = put_tables(d, out);
	for (uint32_t i = 0; !err && i < d->nr_events; i++)
		put_event(d, i, &trees[i], out);
	for (uint32_t i = 0; i < PAGE_MAX_EVENTS; i++) {
		bb_release(&trees[i].section);
		free(trees[i].places);
	}
	return err ? err : put_waits(d, out);
}
