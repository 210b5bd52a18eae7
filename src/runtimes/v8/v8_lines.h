/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of scripts of V8. V8 has a table of them only if something has asked it for a line, so the
 * text is read, as far as it is needed. The text of a script may have megabytes, and thousands of
 * functions that are asked about one by one, so what was read is kept.
 *
 *	cache = v8_scripts_new()
 *	v8_lines_find(&k, script, until, &lines)	k.kept = cache; borrowed until the next call
 *	line = v8_line_of(lines, character)
 *	v8_scripts_free(cache)
 *
 * Limits: V8_MAX_TEXT characters and V8_MAX_LINES lines of a script; the last V8_SCRIPTS scripts
 * are kept. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>


#define V8_MAX_TEXT (16u << 20)
#define V8_MAX_LINES (1u << 20)
#define V8_SCRIPTS 16

struct kept_memory;
struct v8_lines;
struct v8_scripts;

struct v8_scripts *v8_scripts_new(void);		/* NULL: out of memory */
void v8_scripts_free(struct v8_scripts *s);		/* NULL is fine */

/*
 * script: address of the object. 0; -ENOTSUP: the text is in pieces, or too long; -ENOMEM; or an
 * -errno of reading.
 */
int v8_lines_find(const struct kept_memory *k, uint64_t script, uint32_t until,
		  const struct v8_lines **out);

/* From 1; 0: unknown. lines NULL: no line is known. */
uint32_t v8_line_of(const struct v8_lines *lines, int64_t character);
