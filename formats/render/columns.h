/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fits names that are too long, and lines of text, into the columns of a terminal.
 *
 * A column is a character of UTF-8; characters of double width and combining ones count as one.
 * Text is passed as it will be seen, which is escaped (escape.h).
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#define COLUMNS_ANY ((size_t)-1)	/* no limit: nothing is cut */

size_t columns_of(const char *s, size_t len);

/*
 * Writes a function's name, as it is shown to people (display_name.h), in at most room columns;
 * returns how many it took. A name that is too long takes a shorter form (short_name.h). If that is
 * too long, too, it loses its middle ("std::_Rb...::_M_erase"), because its beginning says where it
 * belongs and its end says what it does. room is at least 8.
 */
size_t columns_put_name(FILE *out, const char *s, size_t len, size_t room);

/* How many it takes if there is room. */
size_t columns_of_name(const char *s, size_t len);

/* Writes any other text likewise, which loses only its middle. */
size_t columns_put_cut(FILE *out, const char *s, size_t len, size_t room);

/* Writes any other text likewise, which loses its beginning: the end of a path says more. */
size_t columns_put_end(FILE *out, const char *s, size_t len, size_t room);

/* Writes all of a name, even where there is no room for it. */
size_t columns_put_whole(FILE *out, const char *s, size_t len, size_t room);

/*
 * Writes text of several lines. A line that is longer than width is broken at a space and goes on
 * in the next line, below the last thing in it that two or more spaces set off:
 *
 *	        12   57.1 %  root   whole: reached the
 *	                            outermost frame
 *
 * A word that is longer than a line is left as it is. With width COLUMNS_ANY no line is broken.
 */
void columns_wrap(FILE *out, const char *text, size_t len, size_t width);
