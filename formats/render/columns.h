/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that has to fit the columns of a terminal: names that are too long, and lines.
 *
 * A column is a character of UTF-8; characters of double width and combining ones count as one.
 * Text is given escaped (escape.h), as it will be seen.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#define COLUMNS_ANY ((size_t)-1)	/* room for everything: nothing is cut */

size_t columns_of(const char *s, size_t len);

/*
 * A function's name in at most room columns; returns how many it took. One that is too long loses
 * the arguments of its templates first, and then its parameters:
 *
 *	std::_Rb_tree<int, std::pair<int const, char>, ...>::_M_erase(std::_Rb_tree_node<...>*)
 *	std::_Rb_tree::_M_erase(std::_Rb_tree_node*)
 *	std::_Rb_tree::_M_erase
 *
 * What is still too long loses its middle ("std::_Rb...::_M_erase"), because its beginning says
 * where it belongs and its end says what it does. room is 8 at least.
 */
size_t columns_put_name(FILE *out, const char *s, size_t len, size_t room);

/* Any other text: only the middle goes. */
size_t columns_put_cut(FILE *out, const char *s, size_t len, size_t room);

/*
 * Text of several lines. One that is longer than width goes on in the next one, broken at a space,
 * below the last thing in it that was set off by two spaces or more:
 *
 *	        12   57.1 %  root   whole: reached the
 *	                            outermost frame
 *
 * A word that is longer than a line is left as it is. width COLUMNS_ANY: nothing is broken.
 */
void columns_wrap(FILE *out, const char *text, size_t len, size_t width);
