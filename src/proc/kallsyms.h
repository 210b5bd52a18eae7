/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/kallsyms, a line at a time, for those who need no table of it. The symbolizer has a reader
 * of its own (src/symbolize/kernel_symbols.h), in a process without rights.
 */
#pragma once

#include <stdbool.h>

/* 0, or an error that ends the walk and is returned. name is borrowed for the call. */
typedef int (*kallsyms_fn)(void *ctx, const char *name);

/* Gives fn the functions, in the order of their addresses. 0, -errno, or what fn returned. */
int kallsyms_each_function(kallsyms_fn fn, void *ctx);

/* Sets *shows: some address is not 0, so this process may see addresses. 0, or -errno: of open. */
int kallsyms_shows_addresses(bool *shows);
