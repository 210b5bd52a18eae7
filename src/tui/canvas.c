/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "formats/render/columns.h"
#include "formats/render/escape.h"

enum { MAX_SIDE = 2000 };

int canvas_resize(struct canvas *c, int rows, int cols)
{
	struct cell *cells;

	rows = rows < 1 ? 1 : rows > MAX_SIDE ? MAX_SIDE : rows;
	cols = cols < 1 ? 1 : cols > MAX_SIDE ? MAX_SIDE : cols;
	cells = calloc((size_t)rows * (size_t)cols, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	free(c->cells);
	c->cells = cells;
	c->rows = rows;
	c->cols = cols;
	canvas_clear(c);
	return 0;
}

void canvas_clear(struct canvas *c)
{
	for (int i = 0; i < c->rows * c->cols; i++)
		c->cells[i] = (struct cell){ ' ', STYLE_NORMAL };
}

void canvas_release(struct canvas *c)
{
	free(c->cells);
	memset(c, 0, sizeof(*c));
}

static void set(struct canvas *c, int row, int col, uint32_t ch, enum style style)
{
	if (row >= 0 && row < c->rows && col >= 0 && col < c->cols)
		c->cells[row * c->cols + col] = (struct cell){ ch, (uint8_t)style };
}

/* The next character of valid UTF-8, which escape_text() makes of anything. */
static uint32_t next_char(const char **s, const char *end)
{
	const uint8_t *p = (const uint8_t *)*s;
	size_t left = (size_t)(end - *s);
	unsigned len = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	uint32_t ch = len == 1 ? *p : *p & (0x7fu >> len);

	if (len > left)
		len = (unsigned)left;
	for (unsigned i = 1; i < len; i++)
		ch = ch << 6 | (p[i] & 0x3f);
	*s += len;
	return ch;
}

/* Puts escaped text. */
static int put_safe(struct canvas *c, int row, int col, int width, enum style style,
		    const char *text, size_t len)
{
	const char *end = text + len;
	int used = 0;

	while (text < end && used < width) {
		uint32_t ch = next_char(&text, end);
		int columns = ch < 0x7f ? 1 : wcwidth((wchar_t)ch);

		if (columns < 1 || (c->ascii && ch > 0x7e)) {
			ch = '?';
			columns = 1;
		}
		if (used + columns > width)
			break;
		set(c, row, col + used, ch, style);
		if (columns == 2)
			set(c, row, col + used + 1, 0, style);
		used += columns;
	}
	return used;
}

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	return true;
}

int canvas_put_len(struct canvas *c, int row, int col, int width, enum style style,
		   const char *text, size_t len)
{
	char *safe = NULL;
	size_t size = 0;
	FILE *out;
	int used = 0;

	if (is_plain(text, len))
		return put_safe(c, row, col, width, style, text, len);
	out = open_memstream(&safe, &size);
	if (!out)
		return 0;
	escape_text(out, text, len);
	if (!fclose(out))
		used = put_safe(c, row, col, width, style, safe, size);
	free(safe);
	return used;
}

int canvas_put(struct canvas *c, int row, int col, int width, enum style style, const char *text)
{
	return canvas_put_len(c, row, col, width, style, text, strlen(text));
}

int canvas_printf(struct canvas *c, int row, int col, int width, enum style style, const char *fmt,
		  ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return n < 0 ? 0 : canvas_put(c, row, col, width, style, text);
}

typedef size_t (*put_cut_fn)(FILE *out, const char *s, size_t len, size_t room);

/* Puts text that is escaped, then cut. */
static int put_cut(struct canvas *c, int row, int col, int width, enum style style,
		   const char *text, put_cut_fn cut)
{
	char *safe = NULL, *fitting = NULL;
	size_t size = 0, cut_size = 0;
	FILE *out = open_memstream(&safe, &size);
	int used = 0;

	if (!out)
		return canvas_put(c, row, col, width, style, text);
	escape_text(out, text, strlen(text));
	if (!fclose(out) && (out = open_memstream(&fitting, &cut_size))) {
		cut(out, safe, size, (size_t)width);
		if (!fclose(out))
			used = put_safe(c, row, col, width, style, fitting, cut_size);
	}
	free(fitting);
	free(safe);
	return used;
}

int canvas_put_name(struct canvas *c, int row, int col, int width, enum style style,
		    const char *name)
{
	bool fits = strlen(name) <= (size_t)width && is_plain(name, strlen(name));

	if (width < 8 || (c->full_names && fits))
		return canvas_put(c, row, col, width, style, name);
	return put_cut(c, row, col, width, style, name,
		       c->full_names ? columns_put_cut : columns_put_name);
}

int canvas_put_end(struct canvas *c, int row, int col, int width, enum style style,
		   const char *text)
{
	return width < 1 ? 0 : put_cut(c, row, col, width, style, text, columns_put_end);
}

void canvas_fill(struct canvas *c, int row, int col, int width, enum style style)
{
	for (int i = 0; i < width; i++)
		set(c, row, col + i, ' ', style);
}

void canvas_restyle(struct canvas *c, int row, int col, int width, enum style style)
{
	if (row < 0 || row >= c->rows)
		return;
	for (int i = col < 0 ? 0 : col; i < col + width && i < c->cols; i++)
		c->cells[row * c->cols + i].style = (uint8_t)style;
}

void canvas_spark(struct canvas *c, int row, int col, enum style style, unsigned eighths)
{
	static const char ascii[] = " ..::||##";

	if (eighths > 8)
		eighths = 8;
	if (c->ascii)
		set(c, row, col, (uint32_t)ascii[eighths], style);
	else
		set(c, row, col, eighths ? 0x2580 + eighths : ' ', style);
}

static void print_char(uint32_t ch, FILE *out)
{
	if (ch < 0x80) {
		putc((int)ch, out);
	} else if (ch < 0x800) {
		fprintf(out, "%c%c", (int)(0xc0 | ch >> 6), (int)(0x80 | (ch & 0x3f)));
	} else if (ch < 0x10000) {
		fprintf(out, "%c%c%c", (int)(0xe0 | ch >> 12), (int)(0x80 | (ch >> 6 & 0x3f)),
			(int)(0x80 | (ch & 0x3f)));
	} else {
		fprintf(out, "%c%c%c%c", (int)(0xf0 | ch >> 18), (int)(0x80 | (ch >> 12 & 0x3f)),
			(int)(0x80 | (ch >> 6 & 0x3f)), (int)(0x80 | (ch & 0x3f)));
	}
}

void canvas_print(const struct canvas *c, FILE *out)
{
	for (int row = 0; row < c->rows; row++) {
		const struct cell *cells = &c->cells[row * c->cols];
		int end = c->cols;

		while (end && cells[end - 1].ch == ' ')
			end--;
		for (int i = 0; i < end; i++)
			if (cells[i].ch)
				print_char(cells[i].ch, out);
		putc('\n', out);
	}
}
