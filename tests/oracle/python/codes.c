/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codes PID <LIST: what codes.py, running as PID, says of its code objects, against what src/runtimes reads from its memory:
 * name, file, first line, and the line of every instruction. Prints how much was compared; exit 1 if anything differs.
 */
#include <errno.h>
#include <stdbool.h>

#include "src/runtimes/python/python_layout.h"
#include "tests/oracle/python/target.h"
#include "tests/unit/runtime_own.h"

static struct {
	unsigned long objects, lines, wrong;
} count;

/* As Python's unicode_escape. */
static void escape(const char *from, char *to, size_t size)
{
	const uint8_t *p = (const uint8_t *)from;
	size_t at = 0;

	while (*p && at + 12 < size) {
		uint32_t c = *p++;
		int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

		c &= more ? 0x3fu >> more : 0x7fu;
		while (more--)
			c = c << 6 | (*p++ & 0x3f);
		if (c == '\\')
			at += (size_t)sprintf(to + at, "\\\\");
		else if (c >= 32 && c < 127)
			to[at++] = (char)c;
		else
			at += (size_t)sprintf(to + at, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	}
	to[at] = 0;
}

static void differs(const char *what, uint64_t code, const char *want, const char *got)
{
	if (count.wrong++ < 10)
		printf("%s of the code at %#lx: %s, not %s\n", what, (unsigned long)code, got, want);
}

static void text_is(const char *what, uint64_t code, const char *want, const char *got)
{
	char escaped[8192];

	escape(got, escaped, sizeof(escaped));
	if (strcmp(want, escaped))
		differs(what, code, want, escaped);
}

static void number_is(const char *what, uint64_t code, long want, long got)
{
	char a[32], b[32];

	snprintf(a, sizeof(a), "%ld", want);
	snprintf(b, sizeof(b), "%ld", got);
	if (want != got)
		differs(what, code, a, b);
}

/* The instruction as a frame of this version tells it. */
static uint32_t instruction_of(const struct target *t, long offset)
{
	const struct python_layout *l = OWN(python_layout, t->image);

	return (uint32_t)(l->minor >= 11 ? l->code_bytes + offset : l->minor == 10 ? offset / 2 : offset);
}

static void check_lines(const struct target *t, const struct runtime_code *c, uint64_t code, char *words, long bytes)
{
	uint32_t line;

	for (char *w = strtok(words, "\t\n"); w; w = strtok(NULL, "\t\n")) {
		char *end;
		long offset = strtol(w, &end, 10);
		int err = runtime_code_line(c, instruction_of(t, offset), &line);
		/* What begins a module is on line 0 since 3.11: no line of the file. */
		long line_there = atol(end + 1);

		count.lines++;
		number_is("line", code, line_there > 0 ? line_there : -ENODATA, err ? err : (long)line);
	}
	number_is("line before the code", code, c->first_line,
		  runtime_code_line(c, instruction_of(t, -2), &line) ? -1 : (long)line);
	number_is("line behind the code", code, -ESTALE, runtime_code_line(c, instruction_of(t, bytes), &line));
}

static uint32_t cookie_at(struct target *t, uint64_t code)
{
	const struct python_layout *l = OWN(python_layout, t->image);
	uint64_t v = 0;

	target_read_u64(&t->memory, code + (l->code_version ? l->code_version : l->code_lines), &v);
	return (uint32_t)v;
}

static void check_code(struct target *t, char *line)
{
	uint64_t code = strtoull(strsep(&line, "\t"), NULL, 10);
	const char *name = strsep(&line, "\t"), *file = strsep(&line, "\t");
	long first = atol(strsep(&line, "\t")), bytes = atol(strsep(&line, "\t"));
	uint32_t cookie = cookie_at(t, code);
	struct runtime_code *c = NULL;
	int err = runtime_code_read(&t->image, t->bias, &t->memory, RUNTIME_FRAME_INTERPRETED, code, cookie, &c);

	count.objects++;
	number_is("error", code, 0, err);
	if (err)
		return;
	text_is("name", code, name, c->name);
	text_is("file", code, file, c->file);
	number_is("first line", code, first, c->first_line);
	check_lines(t, c, code, line, bytes);
	runtime_code_free(c);
	number_is("error with another cookie", code, -ESTALE,
		  runtime_code_read(&t->image, t->bias, &t->memory, RUNTIME_FRAME_INTERPRETED, code, cookie + 1, &c));
	number_is("error with another object", code, -ESTALE,
		  runtime_code_read(&t->image, t->bias, &t->memory, RUNTIME_FRAME_INTERPRETED, code + 16, cookie_at(t, code + 16), &c));
}

int main(int argc, char **argv)
{
	static struct target t;
	char title[RUNTIME_TITLE_BYTES], *line = NULL;
	size_t cap = 0;

	if (argc != 2 || target_open(&t, atoi(argv[1])) || !t.image.is_known)
		return printf("no runtime that is known\n"), 1;
	while (getline(&line, &cap, stdin) > 0 && strcmp(line, "end\n"))
		check_code(&t, line);
	runtime_title(&t.image, title);
	printf("%s: %lu code objects, %lu lines, %lu differ\n", title, count.objects, count.lines, count.wrong);
	free(line);
	return count.wrong || count.objects < 1000;
}
