/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's name as people read it, without what compilers add to what was written:
 *
 *	std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::find(char)
 *		std::string::find(char)
 *	std::__1::map<int, A, std::less<int>, std::allocator<std::pair<int const, A> > >::clear()
 *		std::map<int, A>::clear()
 *	f(std::tuple<std::map<unsigned long, std::vector<unsigned char> >, int>)
 *		f(std::tuple<std::map<...>, int>)		nested, and more than 32 bytes
 *	Bank$$Lambda$4/0x00007fcff8002a40.run
 *		Bank$$Lambda.run
 *
 * Left out are inline namespaces of the C++ libraries, tags of the ABI, arguments of templates that
 * are those that the library takes by itself, numbers and addresses of Java's hidden classes, and
 * the inside of template arguments and parameters that are long.
 *
 * It is only for names that are shown: two functions may be called the same then, and stay two.
 * Files for other programs have whole names. short_name.h makes what is left shorter still, where a
 * box or a line has no room for it.
 */
#pragma once

#include <stddef.h>

#define DISPLAY_NESTED_MAX 32		/* bytes of template arguments inside of brackets */
#define DISPLAY_OUTER_MAX 80		/* and of others */
#define DISPLAY_PARAMETERS_MAX 100

/*
 * Writes the form of s that is shown to dst, which has room for len; returns its length. A name
 * whose brackets do not match, or are nested more than 64 deep, is left as it is.
 */
size_t display_name(char *dst, const char *s, size_t len);
