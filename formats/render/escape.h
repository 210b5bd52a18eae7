/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes foreign names (functions, processes, paths: any bytes) harmless at the edge of a format.
 * Each function writes the len bytes of s to out in the form that its format can carry; nothing is
 * dropped. The caller asks once, at the end, with ferror(out) whether a write failed.
 *
 * "Unsafe" below means characters that no reader may ever see raw; src/base/visible.h says which.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* For terminals and plain text: unsafe bytes become \xNN. */
void escape_text(FILE *out, const char *s, size_t len);

/* For one frame of a folded line: as escape_text(), and ';' becomes ':'. */
void escape_folded(FILE *out, const char *s, size_t len);

/* For part of a cell of probee's CSV: as escape_text(), ';' becomes ':' and '|' becomes '!'. */
void escape_csv(FILE *out, const char *s, size_t len);

/* Whether a spreadsheet would take a cell for a formula: it begins with one of = + - @. */
bool escape_is_formula(const char *s, size_t len);

/*
 * For the inside of a JSON string, whose quotes the caller writes. Characters that are unsafe but
 * valid become \uNNNN, as do < > &, so that the string may stand in a script element; bytes that
 * are no UTF-8 become U+FFFD.
 */
void escape_json(FILE *out, const char *s, size_t len);

/*
 * Escapes as escape_json() does, for what a program will show to people: unsafe bytes become \\xNN,
 * which it shows as \xNN.
 */
void escape_json_text(FILE *out, const char *s, size_t len);

/* For one frame of a folded line in such a string: as escape_json(), and ';' becomes ':'. */
void escape_json_folded(FILE *out, const char *s, size_t len);

/*
 * For XML text and attribute values in either quote: & < > " ' become entities, unsafe bytes \xNN.
 */
void escape_xml(FILE *out, const char *s, size_t len);
