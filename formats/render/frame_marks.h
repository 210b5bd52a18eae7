/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands behind names in folded stacks: by these marks flamegraph.pl and inferno colour
 * frames (--color java), and they do not show them. speedscope shows them as part of the name.
 *
 *	kernel	_[k]	code of the kernel, and BPF; or what --kernel-suffix says
 *	inline	_[i]	functions that are inlined at the address
 *	jit	_[j]	code made at run time
 *	interpreted	_[0]	functions that an interpreter runs
 *
 *	frame_marks_parse()	for an option row: "kernel,jit", "all", "none"; dst is a uint8_t
 */
#pragma once

#include <stdint.h>

struct node;
struct opt;

enum frame_mark {
	MARK_NONE, MARK_KERNEL, MARK_INLINED, MARK_INTERPRETED, MARK_JIT, FRAME_MARKS
};

#define MARK_BIT(mark) (1u << (mark))
#define MARKS_CHOSEN 0x80u		/* otherwise the usual ones: kernel and inline */

int frame_marks_parse(const struct opt *o, const char *value, void *dst);

/* The mark of a node among those that are wanted. */
enum frame_mark frame_mark(const struct node *n, uint8_t marks);

const char *frame_mark_text(enum frame_mark mark);	/* "_[k]"; "" for MARK_NONE */
