/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a foreign text (names, paths, units, answers of servers: any bytes) a terminal may see.
 *
 * The problem. A terminal acts upon some characters, and others hide or turn what stands beside
 * them. Whoever names a process, a file or an event would so write on root's screen.
 *
 * The rule, which stands here alone. Unsafe characters are control characters (C0, DEL, C1),
 * bidirectional controls, line and paragraph separators, noncharacters, bytes that are no UTF-8,
 * and all that Unicode wants shown as nothing (Default_Ignorable_Code_Point: zero-width ones, tags,
 * fillers, variation selectors), because two names that look alike would differ. A text shows each
 * byte of them as \xNN: U+009B is "\xc2\x9b". Formats that have another way to write such a
 * character (formats/render/escape.h) ask the same function which these are.
 *
 * A text that was made visible is printable UTF-8, and stays as it is when this is done again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A character of a foreign text: a valid UTF-8 sequence, or one byte that is not part of any. */
struct visible_char {
	uint32_t code;			/* code point; the byte itself when !valid */
	unsigned len;			/* bytes */
	bool valid;
};

/* The character that begins at s; left, which is not 0: bytes from there to the end. */
struct visible_char visible_decode(const void *s, size_t left);
bool visible_is_unsafe(struct visible_char c);

/*
 * Copies src into dst, as a terminal may see it, and ends it with NUL. What does not fit into size
 * bytes, which is at least 1, is cut at the end of a character. Returns the bytes before the NUL.
 */
size_t visible_copy(char *dst, size_t size, const char *src, size_t len);

/* Writes a text that ends with NUL likewise. */
void visible_put(FILE *out, const char *s);
/* Writes a text of several lines, whose ends stay. */
void visible_put_lines(FILE *out, const char *s, size_t len);
