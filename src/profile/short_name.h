/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shorter forms of a function's name, for where there is little room. Each says less than the one
 * before it:
 *
 *	void std::_Rb_tree<int, std::pair<int const, char> >::_M_erase<int>(std::_Node<int>*) const
 *	0	void std::_Rb_tree::_M_erase(std::_Node*) const		no arguments of templates
 *	1	void std::_Rb_tree::_M_erase				no parameters
 *	2	std::_Rb_tree::_M_erase					no return type
 *	3	_Rb_tree::_M_erase					class and method
 *	4	_M_erase						method
 *
 * Forms 0 to 2 still tell namesakes apart. Names of other languages, operators, lambdas and
 * "(anonymous namespace)" stay what they are in these. Forms 3 and 4 know paths of other languages:
 *
 *	java.util.HashMap.put(Object)			HashMap.put		put
 *	Lcom/foo/Bank;::transfer			Bank::transfer		transfer
 *	github.com/acme/metrics.(*Registry).Collect	(*Registry).Collect	Collect
 *	<alloc::Vec<T> as core::Drop>::drop		the same		drop
 *	app::run::{{closure}}				run::{{closure}}	run::{{closure}}
 *	LazyCompile:~handler app.js:14			handler			handler
 *	py::load:/srv/app.py				load			load
 */
#pragma once

#include <stddef.h>

#define SHORT_FORMS 3			/* that tell namesakes apart */
#define SHORT_FORMS_ALL 5

/* Writes form 0 .. SHORT_FORMS_ALL - 1 of s to dst, which has room for len; returns its length. */
size_t short_name(char *dst, const char *s, size_t len, unsigned form);
