/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames with a stricter alignment than their callers' (GCC makes them for aligned locals beside
 * others of variable size, and under -mstackrealign). The CFA is at no known distance from rsp or
 * rbp: at first a register holds it, later a slot of the frame. The caller's rbp is saved where rbp
 * points.
 *
 *	lea 8(%rsp), %r10; and $-32, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp; push %r10;
 *	sub N, %rsp
 *	mov -8(%rbp), %r10; leave; lea -8(%r10), %rsp; ret
 *	lea -16(%rbp), %rsp; pop %rbx; pop %r10; pop %rbp; lea -8(%r10), %rsp; ret
 *
 * Internal to code_state.c.
 */
#pragma once

#include <stdbool.h>

struct code_state;
struct x86_insn;

/*
 * Applies an instruction to such a frame. False: the instruction is not part of setting up or
 * leaving one, and everything else about it is still to be done.
 */
bool code_realign_step(struct code_state *s, const struct x86_insn *in);
