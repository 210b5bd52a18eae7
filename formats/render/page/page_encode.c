/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes page_data.h's sections. Columns are kept apart because equal numbers compress well. */
#include <errno.h>
#include <stdlib.h>

#include "formats/render/escape.h"
#include "formats/render/page/page_data.h"
#include "formats/render/renderer.h"
#include "src/base/bytes.h"
#include "src/base/intern.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/weight_text.h"

static void put_section(struct byte_buf *out, const struct byte_buf *section)
{
	bb_uv(out, section->nr);
	bb_bytes(out, section->v, section->nr);
	out->bad |= section->bad;
}

/* The length of a section that was begun at the end of out comes before it. */
static int close_text(struct byte_buf *out, FILE *text, char **p, size_t *len)
{
	int err = fclose(text) ? -ENOMEM : 0;

	if (!err) {
		bb_uv(out, *len);
		bb_bytes(out, *p, *len);
	}
	free(*p);
	return err;
}

int page_strings_put(const struct page_data *d, struct byte_buf *out)
{
	char *p = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&p, &len);

	if (!text)
		return -ENOMEM;
	for (uint32_t i = 0; i < intern_count(d->strings); i++) {
		size_t n;
		const char *s = intern_get(d->strings, i, &n);

		escape_text(text, s, n);
		putc('\n', text);
	}
	return close_text(out, text, &p, &len);
}

static void put_processes(const struct page_data *d, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	bb_uv(&b, d->nr_processes);
	for (size_t i = 0; i < d->nr_processes; i++)
		bb_uv(&b, d->processes[i].pid);
	for (size_t i = 0; i < d->nr_processes; i++)
		bb_uv(&b, d->processes[i].name);
	for (size_t i = 0; i < d->nr_processes; i++)
		bb_uv(&b, d->processes[i].program);
	for (size_t i = 0; i < d->nr_processes; i++)
		bb_uv(&b, d->processes[i].cgroup);
	for (size_t i = 0; i < d->nr_processes; i++)
		bb_uv(&b, d->processes[i].uid);
	for (size_t i = 0; i < d->nr_processes; i++)
		bb_uv(&b, d->processes[d->processes[i].life.first].life.last);
	put_section(out, &b);
	bb_release(&b);
}

static void put_threads(const struct page_data *d, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	bb_uv(&b, d->nr_threads);
	for (size_t i = 0; i < d->nr_threads; i++)
		bb_uv(&b, d->threads[i].tid);
	for (size_t i = 0; i < d->nr_threads; i++)
		bb_uv(&b, d->threads[i].name);
	for (size_t i = 0; i < d->nr_threads; i++)
		bb_uv(&b, d->threads[i].process);
	for (size_t i = 0; i < d->nr_threads; i++)
		bb_uv(&b, d->threads[i].flags);
	for (size_t i = 0; i < d->nr_threads; i++)
		bb_uv(&b, d->threads[d->threads[i].life.first].life.last);
	put_section(out, &b);
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
	put_section(out, &b);
	bb_release(&b);
}

static void put_strip(const struct page_event *e, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	for (size_t i = 0; i < (size_t)PAGE_STRIP * ACTIVITIES; i++)
		bb_uv(&b, e->strip[i]);
	put_section(out, &b);
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
	if (!err)
		err = page_strings_put(d, bytes);
	if (!err) {
		put_processes(d, bytes);
		put_threads(d, bytes);
		bb_bytes(bytes, trees.v, trees.nr);
		err = page_waits_put(d, bytes);
	}
	if (!err && (bytes->bad || trees.bad))
		err = -ENOMEM;
	bb_release(&trees);
	return err;
}
