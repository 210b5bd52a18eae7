/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/waits/wait_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/columns.h"
#include "src/base/array.h"

#define GAP 2
#define MIN_WIDTH 10			/* of a column that is cut */
#define MAX_WIDTH 36			/* longer cells stick out of their column */
#define NR_NUMBERS 2			/* columns that are never cut */

struct wait_piece {
	size_t end;			/* in the text */
	size_t tail;			/* where a part begins that may be left out; end: none */
	bool is_cell, is_last;
	uint8_t column;
};

int wait_table_open(struct wait_table *t, unsigned nr_cells, unsigned functions)
{
	*t = (struct wait_table){ .nr_cells = nr_cells, .functions = functions };
	t->cell = open_memstream(&t->text, &t->size);
	return t->cell ? 0 : -ENOMEM;
}

void wait_table_close(struct wait_table *t)
{
	if (t->cell)
		fclose(t->cell);
	free(t->text);
	free(t->pieces);
	memset(t, 0, sizeof(*t));
}

static void add(struct wait_table *t, bool is_cell)
{
	struct wait_piece *piece = array_push(&t->pieces, &t->nr, &t->cap);
	long end = ftell(t->cell);

	if (!piece || end < 0) {
		t->failed = true;
		return;
	}
	piece->end = (size_t)end;
	piece->tail = t->tail ? t->tail : piece->end;
	t->tail = 0;
	piece->is_cell = is_cell;
	piece->column = (uint8_t)t->at;
	piece->is_last = !is_cell || t->at == t->nr_cells - 1;
}

void wait_table_text(struct wait_table *t)
{
	add(t, false);
}

void wait_table_tail(struct wait_table *t)
{
	long at = ftell(t->cell);

	t->tail = at < 0 ? 0 : (size_t)at;
}

void wait_table_cell(struct wait_table *t)
{
	add(t, true);
	t->at = (t->at + 1) % t->nr_cells;
}

/* With or without the tails of cells. */
static void measure(const struct wait_table *t, bool tails, size_t *widths)
{
	size_t begin = 0;

	for (size_t i = 0; i < t->nr; begin = t->pieces[i++].end) {
		const struct wait_piece *p = &t->pieces[i];
		size_t end = tails ? p->end : p->tail;
		size_t width = columns_of(t->text + begin, end - begin);

		if (!p->is_cell)
			continue;
		if (width > MAX_WIDTH)
			width = MAX_WIDTH;
		if (width > widths[p->column])
			widths[p->column] = width;
	}
}

/* Leaves out tails from the right to the left, then takes from the widest, until all fit. */
static void narrow(size_t *widths, const size_t *without_tails, unsigned nr, size_t columns)
{
	unsigned tails = nr;

	for (;;) {
		size_t sum = GAP * (nr - 1), widest = NR_NUMBERS;

		for (size_t i = 0; i < nr; i++) {
			sum += widths[i];
			if (i >= NR_NUMBERS && widths[i] > widths[widest])
				widest = i;
		}
		if (sum <= columns || widths[widest] <= MIN_WIDTH)
			return;
		if (tails && tails--)
			widths[tails] = without_tails[tails];
		else
			widths[widest]--;
	}
}

/* What is being put, and the spaces that are owed before anything else in the line. */
struct putting {
	const struct wait_table *t;
	size_t widths[WAIT_CELLS_MAX], owed;
	bool cut;
	FILE *out;
};

static void put_cell(struct putting *p, const struct wait_piece *cell, const char *s, size_t len,
		     size_t tail)
{
	size_t width = p->widths[cell->column], used = columns_of(s, len);
	bool is_number = cell->column < NR_NUMBERS,
	     is_function = p->t->functions >> cell->column & 1;
	size_t room = p->cut && !is_number ? width : COLUMNS_ANY;

	if (room != COLUMNS_ANY && used > room) {
		len = tail;
		used = columns_of(s, len);
	}
	if (is_number && used < width)
		p->owed += width - used;
	if (len) {
		fprintf(p->out, "%*s", (int)p->owed, "");
		used = is_function ? columns_put_name(p->out, s, len, room)
				   : columns_put_cut(p->out, s, len, room);
		p->owed = 0;
	}
	if (!is_number && used < width)
		p->owed += width - used;
	p->owed += GAP;
}

int wait_table_put(struct wait_table *t, uint32_t columns, FILE *out)
{
	struct putting putting = { .t = t, .cut = columns, .out = out };
	size_t short_widths[WAIT_CELLS_MAX] = { 0 }, begin = 0;

	if (fflush(t->cell) || ferror(t->cell) || t->failed)
		return -ENOMEM;
	measure(t, true, putting.widths);
	measure(t, false, short_widths);
	if (columns)
		narrow(putting.widths, short_widths, t->nr_cells, columns);
	for (size_t i = 0; i < t->nr; begin = t->pieces[i++].end) {
		const struct wait_piece *p = &t->pieces[i];
		const char *s = t->text + begin;

		if (p->is_cell)
			put_cell(&putting, p, s, p->end - begin, p->tail - begin);
		else
			columns_wrap(out, s, p->end - begin, columns ? columns : COLUMNS_ANY);
		if (p->is_last) {
			putc('\n', out);
			putting.owed = 0;
		}
	}
	return 0;
}
