/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/columns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/profile/display_name.h"
#include "src/profile/short_name.h"
#include "src/profile/stack_note.h"

#define DOTS 3				/* columns of "..." */

static bool is_start(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

size_t columns_of(const char *s, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++)
		columns += is_start(s[i]);
	return columns;
}

/* The byte at which column nr begins; len if there are fewer columns. */
static size_t byte_of_column(const char *s, size_t len, size_t nr)
{
	for (size_t i = 0; i < len; i++) {
		if (is_start(s[i]) && !nr--)
			return i;
	}
	return len;
}

size_t columns_put_cut(FILE *out, const char *s, size_t len, size_t room)
{
	size_t columns = columns_of(s, len), head, tail;

	if (columns <= room) {
		fwrite(s, 1, len, out);
		return columns;
	}
	head = (room - DOTS) * 2 / 5;
	tail = byte_of_column(s, len, columns - (room - DOTS - head));
	fwrite(s, 1, byte_of_column(s, len, head), out);
	fputs("...", out);
	fwrite(s + tail, 1, len - tail, out);
	return room;
}

size_t columns_put_end(FILE *out, const char *s, size_t len, size_t room)
{
	size_t columns = columns_of(s, len), dots = room < DOTS ? room : DOTS, begin = 0;

	if (columns > room) {
		begin = byte_of_column(s, len, columns - (room - dots));
		fprintf(out, "%.*s", (int)dots, "...");
		columns = room;
	}
	fwrite(s + begin, 1, len - begin, out);
	return columns;
}

size_t columns_put_name(FILE *out, const char *s, size_t len, size_t room)
{
	char note[STACK_NOTE_MAX];
	size_t columns, all, n = stack_note_shown(s, len, note);
	char *shown = n ? NULL : malloc(2 * len), *shorter, *form = shown;

	if (!shown)
		return columns_put_cut(out, n ? note : s, n ? n : len, room);
	shorter = shown + len;
	n = all = display_name(shown, s, len);
	columns = columns_of(shown, n);
	for (unsigned i = 0; i < SHORT_FORMS && columns > room; i++) {
		form = shorter;
		n = short_name(shorter, shown, all, i);
		columns = columns_of(shorter, n);
	}
	columns = columns_put_cut(out, form, n, room);
	free(shown);
	return columns;
}

size_t columns_of_name(const char *s, size_t len)
{
	char note[STACK_NOTE_MAX], *shown;
	size_t n = stack_note_shown(s, len, note);

	if (n)
		return columns_of(note, n);
	shown = malloc(len);
	n = shown ? columns_of(shown, display_name(shown, s, len)) : columns_of(s, len);

	free(shown);
	return n;
}

size_t columns_put_whole(FILE *out, const char *s, size_t len, size_t room)
{
	(void)room;
	fwrite(s, 1, len, out);
	return columns_of(s, len);
}

/*
 * The column below which the rest of a line goes on: that of the text after its last gap, if it
 * leaves some room.
 */
static size_t hanging_indent(const char *line, size_t len, size_t width)
{
	size_t indent = 0;

	for (size_t i = 2; i < len && i <= width / 2; i++) {
		if (line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
			indent = columns_of(line, i);
	}
	return indent;
}

/* The number of bytes of s that fit into room columns: whole words, but at least one. */
static size_t fitting(const char *s, size_t len, size_t room)
{
	size_t end = byte_of_column(s, len, room), space = 0;
	const char *next;

	if (end == len)
		return len;
	for (size_t i = 1; i <= end; i++) {
		if (s[i] == ' ' && s[i - 1] != ' ')
			space = i;
	}
	if (space)
		return space;
	next = memchr(s + end, ' ', len - end);
	return next ? (size_t)(next - s) : len;
}

static void wrap_line(FILE *out, const char *s, size_t len, size_t width)
{
	size_t indent = hanging_indent(s, len, width), begin = 0, used;

	while (begin < len && s[begin] == ' ')
		begin++;
	/* The words before the gap are never broken. */
	used = begin > indent ? begin : byte_of_column(s, len, indent);
	used += fitting(s + used, len - used, width - columns_of(s, used));
	fwrite(s, 1, used, out);
	while (used < len) {
		size_t n;

		while (used < len && s[used] == ' ')
			used++;
		if (used == len)
			break;
		n = fitting(s + used, len - used, width - indent);
		fprintf(out, "\n%*s", (int)indent, "");
		fwrite(s + used, 1, n, out);
		used += n;
	}
}

void columns_wrap(FILE *out, const char *text, size_t len, size_t width)
{
	for (const char *end = text + len, *next; text < end; text = next) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = newline ? (size_t)(newline - text) : (size_t)(end - text);

		if (columns_of(text, n) > width)
			wrap_line(out, text, n, width);
		else
			fwrite(text, 1, n, out);
		if (newline)
			fputc('\n', out);
		next = text + n + (newline != NULL);
	}
}
