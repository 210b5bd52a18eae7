/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One snapshot of a page's waits: see "waits" in page_message.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct wait_edges;

/*
 * The beginning of an object of "scans", all but its threads and the bracket after them. number:
 * in the trace; at_ns: since the page's beginning. 0 or -ENOMEM
 */
int page_scan_put(const struct wait_edges *e, uint32_t number, uint64_t at_ns, FILE *out);

/*
 * By row of the graph: whether its thread is told, since it is an end of what is known, or among
 * the longest of the waits of which nothing is. The caller frees it; NULL: out of memory.
 */
bool *page_scan_rows(const struct wait_edges *e);
