/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel stack that was taken by a program called somewhere in it begins with how the program got
 * there: an interrupt from another CPU, or a tracepoint in the scheduler. Those frames are no part
 * of what the thread was doing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;

/*
 * How many of the frames, innermost first, are to be left out. *exact: the first one left is the
 * very instruction that was interrupted, not a return address. All of them where nothing is
 * recognised: better none than wrong ones.
 */
size_t kernel_trim(const struct kernel_symbols *k, const uint64_t *frames, size_t nr, bool *exact);
