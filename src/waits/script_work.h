/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of Python's standard library in which threads wait for work. The native functions below
 * them are the same for each lock of a program, so they tell nothing.
 */
#pragma once

struct definition_store;
struct frame_view;

enum script_role {
	SCRIPT_NONE,			/* it is no function of a script that is known */
	SCRIPT_OWN,			/* a function of the program */
	SCRIPT_PART,			/* of the library: a step on the way to a wait */
	SCRIPT_WAITS,			/* takes the next piece of work */
	SCRIPT_THREAD,			/* where threads begin, but not the first one */
	SCRIPT_POOL,			/* the loop of a thread or process of a pool */
};

enum script_role script_role_of(const struct definition_store *t, const struct frame_view *v);
