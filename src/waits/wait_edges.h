/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of a scan in the order in which a person should read them. Threads that wait for the
 * same thing, held by the same thread, in the same function of the same process are one edge with a
 * count. Processes of one thread and one name count as one process there.
 *
 *	EDGES_RING	deadlocks and those who wait behind them; deadlock by deadlock, the
 *			certain ones first, then by how long was waited in sum
 *	EDGES_LOCK	all who wait for a thread that holds a lock, or for one that waits for such
 *			a one; by how long was waited for that thread in sum
 *	EDGES_OTHER	those who wait for the end of a thread or of a child, or for the other end
 *			of a pipe or a socket; likewise
 *	EDGES_MANY	the other end is held by several processes, by one of many threads, or by
 *			none
 *	EDGES_UNKNOWN	nothing is known of who holds it; by the class of the lock
 *			(wait_function.h), then by how long was waited in sum
 *
 *	wait_edges_make(&graph, all, &e)	after wait_graph_link()
 *	wait_edges_release(&e)			before wait_graph_release()
 *
 * Shells and the like that wait for their child are counted only, unless all is set, and so are
 * threads that wait for none of these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/waits/wait_graph.h"

struct intern;
struct lock_kind;

enum edge_section {
	EDGES_RING, EDGES_LOCK, EDGES_OTHER, EDGES_MANY, EDGES_UNKNOWN,
	EDGE_SECTIONS
};

struct wait_edge {
	enum edge_section section;
	uint32_t row;			/* the one that has waited longest */
	uint32_t nr;			/* threads */
	uint64_t sum_ns;		/* of all of them, as far as known */
	uint32_t head;			/* the thread or ring at the end: wait_row.head */
};

/* What is known of a row beside the graph. */
struct wait_known {
	uint32_t function;		/* string: wait_edges_function() */
	const struct lock_kind *lock;	/* NULL: unknown */
	uint64_t pool;			/* equal in threads that do the same work */
	bool is_launcher;		/* a shell that waits for its child */
	uint64_t sum_ns;		/* that all behind it waited for it, and its ring */
};

struct wait_edges {
	const struct wait_graph *g;
	struct intern *names;
	struct wait_known *known;	/* for each row of the graph */
	struct wait_edge *edges;
	size_t nr, cap;
	uint32_t launchers;		/* shells that are left out */
};

/* 0 or -ENOMEM */
int wait_edges_make(const struct wait_graph *g, bool all, struct wait_edges *e);
void wait_edges_release(struct wait_edges *e);

/* The program's own function of a row; ends with NUL; len may be NULL. */
const char *wait_edges_function(const struct wait_edges *e, uint32_t row, size_t *len);
