/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes page_data.h's sections. Columns are kept apart because equal numbers compress well. */
#include <errno.h>
#include <stdlib.h>

#include "formats/render/escape.h"
#include "formats/render/page/page_columns.h"
#include "formats/render/page/page_data.h"
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
	page_put_section(out, &b);
	bb_release(&b);
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

static void put_samples(const struct page_data *d, const struct page_event *e,
			const uint32_t *places, struct byte_buf *out)
{
	const struct page_samples *s = &e->samples;
	const struct page_row *row;
	const struct page_entry *entry;
	struct byte_buf b = { 0 };

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
	page_put_section(out, &b);
	bb_release(&b);
}

static void put_strip(const struct page_event *e, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	for (size_t i = 0; i < (size_t)PAGE_STRIP * ACTIVITIES; i++)
		bb_uv(&b, e->strip[i]);
	page_put_section(out, &b);
	bb_release(&b);
}

static int put_event(struct page_data *d, const struct page_event *e, struct byte_buf *out)
{
	uint32_t *places = NULL;
	int err = page_tree_put(d, e->profile, out, &places);

	if (!err) {
		put_samples(d, e, places, out);
		put_strip(e, out);
	}
	free(places);
	return err;
}

int page_data_encode(struct page_data *d, struct byte_buf *bytes)
{
	struct byte_buf trees = { 0 };
	int err = 0;

	/* The trees are made first, because they add strings. */
	for (size_t i = 0; !err && i < d->nr_events; i++)
		err = put_event(d, &d->events[i], &trees);
	if (!err)
		err = page_head_put(d, bytes);
	if (!err) {
		page_tables_put_strings(&d->t, 0, bytes);
		page_tables_put_processes(&d->t, 0, bytes);
		page_tables_put_threads(&d->t, 0, bytes);
		put_quiet(d, bytes);
		bb_bytes(bytes, trees.v, trees.nr);
		err = page_waits_put(d, bytes);
	}
	if (!err && (bytes->bad || trees.bad))
		err = -ENOMEM;
	bb_release(&trees);
	return err;
}
