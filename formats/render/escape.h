/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Foreign names (functions, processes, paths: any bytes) made harmless at the edge of a format.
 * Each function writes the len bytes of s to out in the form that its format can carry; nothing is
 * dropped. Whether a write failed is asked once, at the end, with ferror(out).
 *
 * "Unsafe" below is what no reader may ever see raw: control characters (C0, DEL, C1), bytes that
 * are no UTF-8, zero-width and bidirectional controls, line and paragraph separators,
 * noncharacters.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Terminals and plain text: unsafe bytes become \xNN. */
void escape_text(FILE *out, const char *s, size_t len);

/* One frame of a folded line: as text, and ';' becomes ':'. */
void escape_folded(FILE *out, const char *s, size_t len);

/* Part of a cell of probee's CSV: as text, ';' becomes ':' and '|' becomes '!'. */
void escape_csv(FILE *out, const char *s, size_t len);

/*
 * What opens a CSV cell: as escape_csv(), and ' goes before = + - @, so a spreadsheet runs no
 * formula.
 */
void escape_csv_cell(FILE *out, const char *s, size_t len);

/*
 * The inside of a JSON string (the quotes are the caller's): what is unsafe and valid becomes
 * \uNNNN, as do < > & (so it may stand in a script element); bytes that are no UTF-8 become U+FFFD.
 */
void escape_json(FILE *out, const char *s, size_t len);

/* XML text or attribute value (either quote): & < > " ' become entities, unsafe bytes \xNN. */
void escape_xml(FILE *out, const char *s, size_t len);
