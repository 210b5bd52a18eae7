/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/trace_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/hex.h"

struct merging {
	struct trace_merge *m;
	struct trace_reader *reader;
	const char *name;
	struct trace_merge_sum *sum;
	uint32_t segment;
	uint64_t chunks, bad_chunks;	/* of the original, up to the last record */
	bool has_begun;			/* the first record has come */
	/* State of this segment. */
	bool has_host, is_told;		/* what it is from is written */
	bool is_over;			/* so is what its clocks said */
	bool has_clock;
	struct rec_clock first, last;
};

static int put_meta(struct merging *g, const char *key, const char *value, size_t len)
{
	struct record rec = { .tag = REC_META, .meta = { key, value, len } };

	return trace_writer_record(g->m->writer, &rec);
}

/* "web-1" for "web-1.pbz". */
static int put_host(struct merging *g)
{
	size_t len = strlen(g->name);

	if (len > 4 && !strcmp(g->name + len - 4, ".pbz"))
		len -= 4;
	return put_meta(g, "host", g->name, len);
}

/* Before the first record of a segment that is no META: its own META are known then. */
static int tell_origin(struct merging *g)
{
	const uint8_t *uuid = trace_reader_status(g->reader)->uuid;
	char id[33];
	int err;

	g->is_told = true;
	hex_put(id, uuid, 16);
	err = g->has_host ? 0 : put_host(g);
	if (!err)
		err = put_meta(g, "merge.from", g->name, strlen(g->name));
	return err ? err : put_meta(g, "merge.id", id, 32);
}

/* By how much CLOCK_REALTIME was set, seen against CLOCK_MONOTONIC, which cannot be set. */
static int64_t step_of(const struct merging *g)
{
	uint64_t real = g->last.real_ns - g->first.real_ns,
		 mono = g->last.mono_ns - g->first.mono_ns;

	return (int64_t)(real - mono);
}

static void note_clocks(struct merging *g)
{
	struct trace_merge_sum *sum = g->sum;
	int64_t step = step_of(g);

	if (!sum->first_real_ns || g->first.real_ns < sum->first_real_ns)
		sum->first_real_ns = g->first.real_ns;
	if (g->last.real_ns > sum->last_real_ns)
		sum->last_real_ns = g->last.real_ns;
	if ((step < 0 ? -(uint64_t)step : (uint64_t)step) >
	    (sum->step_ns < 0 ? -(uint64_t)sum->step_ns : (uint64_t)sum->step_ns))
		sum->step_ns = step;
}

/* At the END of a segment, or where it stops without one. */
static int tell_clocks(struct merging *g)
{
	uint64_t uncertainty = g->first.uncertainty_ns > g->last.uncertainty_ns
				       ? g->first.uncertainty_ns
				       : g->last.uncertainty_ns;
	char text[160];
	int len;

	if (g->is_over || !g->has_clock)
		return 0;
	g->is_over = true;
	note_clocks(g);
	len = snprintf(text, sizeof(text),
		       "begin=%" PRIu64 " end=%" PRIu64 " step=%" PRId64 " uncertainty=%" PRIu64,
		       g->first.real_ns, g->last.real_ns, step_of(g), uncertainty);
	return put_meta(g, "merge.clock", text, (size_t)len);
}

static int end_segment(struct merging *g)
{
	int err = 0;

	if (!g->has_begun)
		return 0;
	if (!g->is_told)
		err = tell_origin(g);
	return err ? err : tell_clocks(g);
}

static int begin_segment(struct merging *g)
{
	int err = end_segment(g);

	if (!err && g->m->has_segment)
		err = trace_writer_begin_segment(g->m->writer);
	g->m->has_segment = true;
	g->has_host = g->is_told = g->is_over = g->has_clock = false;
	g->sum->recordings++;
	return err;
}

/* Follows the reader into another chunk, or another segment. */
static int begin_chunk(struct merging *g, const struct trace_status *st)
{
	bool is_other = !g->has_begun || st->segment != g->segment;
	int err = is_other ? begin_segment(g) : trace_writer_flush(g->m->writer);

	if (!err && st->bad_chunks != g->bad_chunks)
		err = trace_writer_lose(g->m->writer);
	g->has_begun = true;
	g->segment = st->segment;
	g->chunks = st->chunks;
	g->bad_chunks = st->bad_chunks;
	return err;
}

static int copy_meta(struct merging *g, const struct record *rec)
{
	bool is_first = g->sum->recordings == 1;

	g->has_host |= !strcmp(rec->meta.key, "host") && rec->meta.len;
	if (is_first && !strcmp(rec->meta.key, "recording.part"))
		return 0;
	if (!strcmp(rec->meta.key, "merge.id"))
		g->is_told = true;	/* it was merged before, and says where it is from */
	return trace_writer_record(g->m->writer, rec);
}

static void note_clock(struct merging *g, const struct rec_clock *clock)
{
	if (!g->has_clock)
		g->first = *clock;
	g->last = *clock;
	g->has_clock = true;
}

static int copy_record(struct merging *g, struct record *rec)
{
	const struct trace_status *st = trace_reader_status(g->reader);
	int err = 0;

	if (!g->has_begun || st->chunks != g->chunks || st->segment != g->segment)
		err = begin_chunk(g, st);
	if (err)
		return err;
	if (rec->tag == REC_META)
		return copy_meta(g, rec);
	if (!g->is_told)
		err = tell_origin(g);
	if (rec->tag == REC_CLOCK)
		note_clock(g, &rec->clock);
	if (rec->tag == REC_SAMPLE)
		g->sum->samples++;
	if (rec->tag == REC_REPEAT)
		g->sum->samples += repeat_rows(&rec->repeat);
	if (rec->tag == REC_END)
		rec->end.raw_bytes = 0;		/* not known */
	if (!err && rec->tag == REC_END)
		err = tell_clocks(g);
	return err ? err : trace_writer_record(g->m->writer, rec);
}

void trace_merge_init(struct trace_merge *m, struct trace_writer *writer)
{
	*m = (struct trace_merge){ .writer = writer };
}

int trace_merge_add(struct trace_merge *m, struct trace_reader *reader, const char *name,
		    struct trace_merge_sum *sum)
{
	struct merging g = { .m = m, .reader = reader, .name = name, .sum = sum };
	struct record rec;
	int err, more = 0, end;

	*sum = (struct trace_merge_sum){ 0 };
	trace_reader_give_repeats(reader, true);
	err = trace_reader_rewind(reader);
	while (!err && (more = trace_reader_next(reader, &rec)) > 0)
		err = copy_record(&g, &rec);
	if (!err && g.has_begun && trace_reader_status(reader)->bad_chunks != g.bad_chunks)
		err = trace_writer_lose(m->writer);
	end = err ? err : end_segment(&g);
	return end ? end : more;
}
