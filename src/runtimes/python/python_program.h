/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frame program of CPython, by the version's offsets. Constants of a process:
 *
 *	0	the place of an interpreter in front of the first: python_before_first()
 *	1	where a thread's state is kept, from the thread's pointer; 0: not known, then
 *		the list of all threads is searched
 */
#pragma once

#include "src/runtimes/python/python_layout.h"
#include "unwind/frame_program.h"

enum { PYTHON_CONST_HEAD, PYTHON_CONST_SLOT };

/* What has the pointer to the first interpreter, at head, where others have that to the next. */
static inline uint64_t python_before_first(const struct python_layout *l, uint64_t head)
{
	return head - l->interpreter_next;
}

/* 0 or -EINVAL. */
int python_program(const struct python_layout *l, struct frame_program *out);
