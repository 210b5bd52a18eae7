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

static void put_ticks(const struct page_data *d, const struct page_samples *s, struct byte_buf *b)
{
	uint64_t begin = d->begin_ns / s->tick_ns;
	const struct page_row *row;
	const struct page_entry *e;

	page_samples_each(s, row, e)
		bb_uv(b, e->tick - (e == row->v ? begin : e[-1].tick));
}

static void put_scans(const struct page_samples *s, struct byte_buf *b)
{
	const struct page_row *row;
	const struct page_entry *e;
	uint32_t before = 0;

	page_samples_each(s, row, e) {
		bb_sv(b, (int64_t)e->scan - before);
		before = e->scan;
	}
}

static uint64_t weight_code(const struct page_event *e, const struct page_entry *entry)
{
	if (entry->weight == weight_times(e->usual, entry->count))
		return 0;
	return weight_sum(entry->weight, 1);
}

static void put_samples(const struct page_data *d, uint32_t event, const uint32_t *places,
			struct byte_buf *out)
{
	const struct page_event *e = &d->events[event];
	const struct page_samples *s = &e->samples;
	const struct page_row *row;
	const struct page_entry *entry;
	struct byte_buf b = { 0 };

	bb_uv(&b, event);
	bb_uv(&b, s->tick_ns);
	bb_uv(&b, s->coarser);
	put_runs(s, &b);
	put_ticks(d, s, &b);
	page_samples_each(s, row, entry)
		bb_uv(&b, places[entry->node]);
	page_samples_each(s, row, entry)
		bb_uv(&b, entry->cpu == UINT32_MAX ? 0 : entry->cpu + (uint64_t)1);
	page_samples_each(s, row, entry)
		bb_uv(&b, entry->activity);
	page_samples_each(s, row, entry)
		bb_uv(&b, entry->count);
	put_scans(s, &b);
	page_samples_each(s, row, entry)
		bb_uv(&b, weight_code(e, entry));
	page_message_section(out, "samples", &b);
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
	struct byte_buf b = { 0 };

	page_pack_part(out, &tree->section);
	put_samples(d, event, tree->places, &b);
	put_strip(d, event, &b);
	page_pack_part(out, &b);
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
