/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of the threads that hold others up: all threads of a deadlock; of a thread that others
 * wait for its own and that of the one that has waited longest for it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct wait_edges;

/* all: of all of them, not of the first ones alone. */
void wait_stacks_put(const struct wait_edges *e, const char *kernel_suffix, bool all, FILE *out);
