/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The graphs of all scans of a trace, one after the other, in one pass over the rows.
 *
 * Rows of a scan stand together in a trace. Where one says otherwise, the rows that come late are
 * left out.
 */
#pragma once

#include <stdint.h>

#include "src/waits/wait_graph.h"

/*
 * Takes the graph of a scan of which at least one row passes the filters. It is not linked yet, and
 * is released afterwards. nr: 1 for the first scan of the trace. 0 or -errno, which ends the pass.
 */
typedef int (*wait_graph_fn)(void *ctx, struct wait_graph *g, uint32_t nr);

/* 0 or an error, silently. */
int wait_graphs_each(struct report *rep, wait_graph_fn fn, void *ctx);

/* How many scans the trace has. 0 or -errno */
int wait_graphs_count(struct report *rep, uint32_t *nr);
