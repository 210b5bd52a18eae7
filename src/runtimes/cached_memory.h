/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a process, of which pages are kept that were read: for readers that follow many
 * pointers which lead to the same places. What is kept may be old, so one is used for one answer
 * and freed.
 */
#pragma once

#include "src/runtimes/target_memory.h"

struct cached_memory;

/* m is borrowed. NULL: out of memory. */
struct cached_memory *cached_memory_new(const struct target_memory *m);
/*
 * The same for what is scattered over a few MiB: 64 KiB are read at once where all of them can be,
 * because each read is a question to another process.
 */
struct cached_memory *cached_memory_new_wide(const struct target_memory *m);
void cached_memory_free(struct cached_memory *c);	/* NULL is fine */

/* The memory m, read through the kept pages; valid as long as c. */
const struct target_memory *cached_memory_view(const struct cached_memory *c);
