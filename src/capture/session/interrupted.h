/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose a stack is that was taken on the stack of interrupts: a thread's that serves soft
 * interrupts in its system call, or an interrupt's, which has nothing to do with the thread that it
 * came upon. The entry of the interrupt among the frames tells.
 */
#pragma once

#include <stdbool.h>

#include "src/capture/stacks/wire_decode.h"

struct kernel_symbols;

/*
 * true: it is an interrupt's; then out, which uses head and what w has borrowed, is the stack
 * without the thread and its frames.
 */
bool interrupted_stack(const struct kernel_symbols *k, const struct wire_stack *w,
		       struct wire_sample *head, struct wire_stack *out);
