/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/columns.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool ends_in(const char *s, size_t len, const char *what)
{
	size_t n = strlen(what);

	return len >= n && !memcmp(s + len - n, what, n);
}

/* Index after the bracket that closes the one at s[0]; 0: it is not closed. */
static size_t closed_at(const char *s, size_t len, char open, char close)
{
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == open)
			depth++;
		else if (s[i] == close && !(i && s[i - 1] == '-') && !--depth)
			return i + 1;
	}
	return 0;
}

/*
 * Length of the template arguments "<...>" at s[at]; 0: there are none. They stand directly after a
 * word, so that neither operator< nor Rust's <T as U>::f has any.
 */
static size_t template_at(const char *s, size_t at, size_t len)
{
	if (s[at] != '<' || !at || !is_word(s[at - 1]) || ends_in(s, at, "operator"))
		return 0;
	return closed_at(s + at, len - at, '<', '>');
}

/*
 * Length of the parameters "(...)" at s[at]; 0: there are none. They stand after a name, so that
 * "(anonymous namespace)" is none.
 */
static size_t parameters_at(const char *s, size_t at, size_t len)
{
	size_t n;

	if (s[at] != '(' || !at || s[at - 1] == ':' || ends_in(s, at, "operator"))
		return 0;
	n = closed_at(s + at, len - at, '(', ')');
	if (n && len - at - n >= 6 && !memcmp(s + at + n, " const", 6))
		n += 6;
	return n;
}

typedef size_t (*part_fn)(const char *s, size_t at, size_t len);

/*
 * Copies s to dst without the parts that part() finds, but "{lambda(int)#1}" stays whole. Returns
 * the length.
 */
static size_t leave_out(char *dst, const char *s, size_t len, part_fn part)
{
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		size_t skip = part(s, i, len);
		size_t braces = s[i] == '{' ? closed_at(s + i, len - i, '{', '}') : 0;

		if (skip) {
			i += skip;
			continue;
		}
		braces = braces ? braces : 1;
		memmove(dst + n, s + i, braces);
		n += braces;
		i += braces;
	}
	return n;
}

size_t columns_put_name(FILE *out, const char *s, size_t len, size_t room)
{
	static const part_fn parts[] = { template_at, parameters_at };
	size_t columns = columns_of(s, len);
	char *shorter;

	if (columns <= room || !(shorter = malloc(len)))
		return columns_put_cut(out, s, len, room);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && columns > room; i++) {
		len = leave_out(shorter, i ? shorter : s, len, parts[i]);
		columns = columns_of(shorter, len);
	}
	columns = columns_put_cut(out, shorter, len, room);
	free(shorter);
	return columns;
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
