/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_reader.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>

#include "src/base/bisect.h"
#include "src/debug_info/die_ranges.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/unit_functions.h"
#include "src/debug_info/unit_source.h"

/* ---- lines ---- */

static const char *path_of(void *ctx, size_t file)
{
	struct unit_reading *rd = ctx;

	return line_program_path(rd->lines, file, rd->path);
}

/* No code of the file is before it. */
static uint64_t first_code(const struct unit_source *src)
{
	uint64_t lo = UINT64_MAX;

	for (size_t i = 0; i < src->nr_code; i++)
		lo = src->code[i].lo < lo ? src->code[i].lo : lo;
	return lo;
}

static int put_code(struct unit_reading *rd)
{
	struct die_ranges it = die_ranges_begin(rd->line_u, &rd->line_u->entry);
	uint64_t lo, hi;
	int err = 0;

	if (rd->line_u->sizes.version <= 2)
		return 0;
	for (unsigned i = 0; i < UNIT_MAX_RANGES && !err && die_ranges_next(&it, &lo, &hi); i++)
		err = unit_rows_code(&rd->t.rows, rd->src, lo, hi);
	return err;
}

/* Puts those up to the address hi; the first one behind them, or -errno. */
static ssize_t put_up_to(struct unit_reading *rd, const struct line_rows *rows, size_t at,
			 uint64_t hi)
{
	int err = 0;

	for (; at < rows->nr && rows->v[at].addr < hi && !err; at++)
		err = unit_rows_put(&rd->t.rows, rd->src,
				    &(struct unit_row){ rows->v[at].addr, rows->v[at].line,
							rows->v[at].file, rows->v[at].is_end });
	return err ? err : (ssize_t)at;
}

/* Begins with the row that holds where the region begins. */
static int put_region(struct unit_reading *rd, const struct line_rows *rows,
		      const struct addr_range *region)
{
	size_t after = bisect(rows->nr, i, rows->v[i].addr <= region->lo), first = after;
	ssize_t at;
	int err;

	while (first && rows->v[first - 1].addr == rows->v[after - 1].addr)
		first--;
	unit_rows_go_to(&rd->t.rows);
	at = put_up_to(rd, rows, first, region->lo + 1);
	err = at < 0 ? (int)at : unit_rows_arrive(&rd->t.rows, region->lo);
	if (!err)
		at = put_up_to(rd, rows, (size_t)at, region->hi);
	return err ? err : at < 0 ? (int)at : 0;
}

static int put_regions(struct unit_reading *rd, const struct line_rows *rows)
{
	const struct unit_regions *x = rd->t.regions;
	const struct addr_range all = { 0, UINT64_MAX };
	int err = 0;

	if (!x)
		err = unit_rows_reserve(&rd->t.rows, rows->nr);
	if (!x && !err)
		return put_region(rd, rows, &all);
	for (size_t i = 0; i < x->nr_chosen && !err; i++)
		err = put_region(rd, rows, &x->chosen[i]);
	return err;
}

/* A damaged program has no rows. */
static int put_rows(struct unit_reading *rd)
{
	struct line_rows rows = { 0 };
	int err = line_program_run(rd->lines, first_code(rd->src), rd->t.regions, &rows,
				   &rd->t.limit);

	if (!err)
		err = put_regions(rd, &rows);
	free(rows.v);
	return err == -EBADMSG ? 0 : err;
}

static int open_lines(struct unit_reading *rd)
{
	const struct die *entry = &rd->line_u->entry;

	if (die_has(entry, DIE_COMP_DIR))
		rd->t.text.directory = die_string(rd->line_u, &entry->value[DIE_COMP_DIR]);
	rd->lines = die_units_lines(rd->line_us, rd->line_u, &rd->t.limit);
	if (!rd->lines)
		return 0;
	return unit_rows_files(&rd->t.rows, line_program_nr_files(rd->lines), path_of, rd);
}

static int read_lines(struct unit_reading *rd)
{
	int err = put_code(rd);

	return err || !rd->lines ? err : put_rows(rd);
}

/*
 * DWARF 2 has no word for code in several places, and gcc gives one of them. So it cannot be told
 * what is in which function without reading all of them.
 */
static int read_functions(struct unit_reading *rd)
{
	int err = 0;

	unit_names_begin(&rd->names, rd->us, rd->u);
	rd->t.says_ranges = rd->u->sizes.version > 2;
	if (rd->t.says_ranges && rd->src->wanted.nr)
		err = unit_functions_find(rd);
	if (err)
		return err;
	unit_functions_read(rd);
	return unit_tree_settle(&rd->t);
}

/* ---- the whole ---- */

static int open_unit(struct unit_reading *rd)
{
	unsigned tag;
	int err;

	rd->u = die_units_open(rd->us, rd->src->number, &rd->t.limit, &err);
	if (!rd->u)
		return err;
	die_units_keep(rd->us, rd->u);
	rd->line_us = rd->us;
	rd->line_u = rd->u;
	tag = rd->u->entry.abbrev->tag;
	return tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit ? 0 : -EBADMSG;
}

/* Without the other half the unit is what its skeleton has. */
static int open_split(struct unit_reading *rd, const struct split_parts *parts)
{
	int err = split_unit_find(rd->u, parts, &rd->t.limit, &rd->split);

	if (!err) {
		rd->us = rd->split.units;
		rd->u = rd->split.u;
	}
	return err == -ENOMEM || err == -ETIMEDOUT ? err : 0;
}

static int read_unit(struct unit_reading *rd, const struct split_parts *split, struct byte_buf *out)
{
	uint64_t lang = 0;
	int err = open_unit(rd);

	if (!err && split)
		err = open_split(rd, split);
	if (!err)
		err = open_lines(rd);
	if (!err)
		err = read_functions(rd);
	if (!err)
		err = read_lines(rd);
	if (err)
		return err;
	die_number(&rd->u->entry, DIE_LANGUAGE, &lang);
	return unit_tree_write(&rd->t, unit_lang(lang), out);
}

int unit_read(const struct unit_source *src, struct die_units *us, const struct split_parts *split,
	      struct byte_buf *out)
{
	struct unit_reading *rd = calloc(1, sizeof(*rd));
	int err;

	if (!rd)
		return -ENOMEM;
	rd->src = src;
	rd->us = us;
	unit_tree_init(&rd->t, src);
	err = read_unit(rd, split, out);
	unit_tree_release(&rd->t);
	unit_regions_release(&rd->regions);
	unit_names_release(&rd->names);
	split_unit_release(&rd->split);
	free(rd);
	return err;
}

/* ---- the code of a unit ---- */

static int put_sequences(struct unit_reading *rd, int (*put)(void *ctx, uint64_t lo, uint64_t hi),
			 void *ctx)
{
	struct line_rows rows = { 0 };
	bool is_open = false;
	uint64_t lo = 0;
	int err = 0;

	rd->lines = die_units_lines(rd->us, rd->u, &rd->t.limit);
	if (rd->lines &&
	    !line_program_run(rd->lines, first_code(rd->src), NULL, &rows, &rd->t.limit))
		for (size_t i = 0; i < rows.nr && !err; i++) {
			const struct line_row *row = &rows.v[i];

			if (row->is_end && is_open)
				err = put(ctx, lo, row->addr);
			if (!row->is_end && !is_open)
				lo = row->addr;
			is_open = !row->is_end;
		}
	free(rows.v);
	return err;
}

int unit_read_code(const struct unit_source *src, struct die_units *us,
		   int (*put)(void *ctx, uint64_t lo, uint64_t hi), void *ctx)
{
	struct unit_reading rd = { .src = src, .us = us, .t.limit.until_ns = src->until_ns };
	struct die_ranges it;
	uint64_t lo, hi;
	int err = open_unit(&rd);

	if (err)
		return err == -EBADMSG ? 0 : err;
	it = die_ranges_begin(rd.u, &rd.u->entry);
	for (unsigned n = 0; n < UNIT_MAX_RANGES && !err; n++) {
		if (!die_ranges_next(&it, &lo, &hi))
			return n && rd.u->sizes.version > 2 ? 0 : put_sequences(&rd, put, ctx);
		err = put(ctx, lo, hi);
	}
	return err;
}
