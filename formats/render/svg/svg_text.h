/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and shortened names for pictures. Numbers are made without printf's floats, which follow
 * the locale. The result lies in buf, not always at its start.
 *
 * Widths are estimates for sans-serif letters of 12 px, and rather too wide: without a script
 * nothing can be measured, and a name must not run into its neighbour.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

const char *text_percent(uint64_t part, uint64_t whole, char buf[32]);	/* 12.34%, rounded */
/* Gives "12.34%" as well, and "< 0.01%" for something that is more than nothing. */
const char *text_small_percent(uint64_t part, uint64_t whole, char buf[32]);
const char *text_seconds(uint64_t ns, char buf[32]);			/* 1.234 ms */

/* Width of s, whose bytes will be escaped by escape_xml(). */
unsigned text_px(const char *s);

/*
 * The number of bytes of s that make a line: whole words if at least one fits, else at least one
 * character.
 */
size_t text_fit_words(const char *s, unsigned room_px);

/*
 * Writes as much of s as fits into room_px, escaped, with an ellipsis for the rest: for its end, or
 * for its middle, as the ends of names tell more than what is before them.
 */
void text_put_cut(FILE *out, const char *s, unsigned room_px);
void text_put_middle_cut(FILE *out, const char *s, unsigned room_px);

/* Writes a function's name likewise, which takes a shorter form first (short_name.h). */
void text_put_name(FILE *out, const char *s, unsigned room_px);

/* The name as it is shown to people (display_name.h), for the caller to free; NULL: no memory. */
char *text_shown_name(const char *s);
