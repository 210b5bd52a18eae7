/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shorter forms of a function's name, for where there is little room. Each says less than the one
 * before it:
 *
 *	void std::_Rb_tree<int, std::pair<int const, char> >::_M_erase<int>(std::_Node<int>*) const
 *	0	void std::_Rb_tree::_M_erase(std::_Node*) const		no arguments of templates
 *	1	void std::_Rb_tree::_M_erase				no parameters
 *	2	std::_Rb_tree::_M_erase					no return type
 *
 * Names of other languages, operators, lambdas and "(anonymous namespace)" stay what they are.
 */
#pragma once

#include <stddef.h>

#define SHORT_FORMS 3

/* Writes form 0 .. SHORT_FORMS - 1 of s to dst, which has room for len; returns its length. */
size_t short_name(char *dst, const char *s, size_t len, unsigned form);
