/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in one walk over all tasks: each thread waits for one other at most (the owner
 * of its lock, the process on the other end of its pipe or socket, its child), so the graph is
 * chains that end in a thread that waits for nobody, and rings: deadlocks.
 *
 * Of pipes, sockets, file locks and children a process is known, not a thread: it is followed when
 * one process alone can end the wait and has one thread in the walk. A ring with such a link is a
 * possible deadlock: timeouts and signals can end it, and two ends of a connection that has nothing
 * to say look just so.
 *
 *	wait_graph_read(rep, walk, &g)		the rows of a walk; 0: the last one of the trace
 *	wait_graph_link(&g)			owners, rings, counts; tests fill .rows themselves
 *	wait_graph_release(&g)
 *
 * Everything is linear in the number of threads, whatever a trace says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/model/record.h"

#define WAIT_NONE UINT32_MAX

struct report;
struct definition_store;

struct wait_row {
	struct rec_sample rec;
	uint32_t tid, tgid;		/* 0 unknown */
	uint64_t real_ns;
	bool absent;			/* somebody waits for it, but the walk has no row of it */
	/* By wait_graph_link(): */
	uint32_t owner;			/* row; WAIT_NONE: waits for nobody */
	uint32_t peer;			/* row of the process that it waits for, one of its threads;
					   WAIT_NONE: of none */
	uint32_t nr_threads;		/* of its process, in the first of its rows; else 0 */
	uint32_t ring;			/* WAIT_NONE: not in one */
	uint32_t head;			/* row at the end of its chain, or one of the ring it ends
					   in; itself when it is that */
	uint32_t nr_direct;		/* threads that wait for it */
	uint32_t nr_behind;		/* and those that wait for these, and so on; without the
					   ring's own */
	uint32_t first_waiter, next_waiter;	/* rows, longest wait first; WAIT_NONE: no more */
};

struct wait_ring {
	uint32_t first, nr;		/* a row of it, threads in it */
	bool stood_still;		/* none of them ran between the first look at one and the
					   last */
	bool by_locks;			/* all links are locks of one process's memory */
};

struct wait_graph {
	struct wait_row *rows;
	size_t nr, cap;
	struct wait_ring *rings;
	size_t nr_rings, cap_rings;
	struct hash_index by_tid, by_tgid;
	const struct definition_store *tables;	/* of the walk's segment */
	uint32_t segment, scan;		/* which one it became; walk 0: there is none */
};

/* 0 or an error, silently */
int wait_graph_read(struct report *rep, uint32_t scan, struct wait_graph *g);
int wait_graph_link(struct wait_graph *g);
void wait_graph_release(struct wait_graph *g);

/* How long the thread has not run at its row's time; UINT64_MAX: not known. */
uint64_t wait_row_ns(const struct wait_row *row);

/*
 * Threads that others wait for and that wait for nobody, most waiters first. *rows is the caller's.
 * 0 or -ENOMEM.
 */
int wait_heads(const struct wait_graph *g, uint32_t **rows, size_t *nr);

/* Rows by how long they have waited, longest first. */
void wait_sort(const struct wait_graph *g, uint32_t *rows, size_t nr);

/* It is certain: nothing but a signal can end it. */
bool wait_ring_is_sure(const struct wait_ring *ring);
