/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread waits for which other one in one scan of all tasks. Each thread waits for one other
 * at most: the owner of its lock, the process on the other end of its pipe or socket, or its child.
 * So the graph consists of chains, each of which ends in a thread that waits for no other one or in
 * a ring, and a ring is a deadlock.
 *
 * For pipes, sockets, file locks and children a process is known, not a thread. Such a link is
 * followed if only one process can end the wait and it has one thread in the scan. A ring with such
 * a link is only a possible deadlock: timeouts and signals can end it, and two ends of a connection
 * that have nothing to say look the same.
 *
 *	wait_graph_read(rep, scan, &g)		the rows of a scan; 0: the last scan of the trace
 *	wait_graph_link(&g)			owners, rings, counts; tests fill .rows themselves
 *	wait_graph_release(&g)
 *
 * Every step takes time linear in the number of threads (sorting: n log n), whatever a trace says.
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
	bool absent;			/* it is waited for, but the scan has no row of it */
	bool passes;			/* the filters */
	/* Set by wait_graph_link(): it passes, or is an end of an edge whose other end passes. */
	bool shown;
	/* Set by wait_graph_link(): */
	uint32_t owner;			/* row that it waits for; WAIT_NONE: it does not wait */
	/* Row of a thread of the process that it waits for; WAIT_NONE: it waits for no process. */
	uint32_t peer;
	uint32_t nr_threads;		/* of its process, in the first row of it; else 0 */
	uint32_t ring;			/* index; WAIT_NONE: it is not in a ring */
	/* Row at the end of its chain, or first row of the ring that it leads to; maybe its own. */
	uint32_t head;
	uint32_t nr_direct;		/* number of threads that wait for it */
	/* These, the threads that wait for them, and so on; without those of the ring itself. */
	uint32_t nr_behind;
	uint32_t first_waiter, next_waiter;	/* rows, longest wait first; WAIT_NONE: no more */
};

struct wait_ring {
	uint32_t first, nr;		/* one of its rows, number of threads */
	/* None of them ran between the first and the last row that was taken of them. */
	bool stood_still;
	bool by_locks;			/* all links are locks in the memory of one process */
};

struct wait_graph {
	struct wait_row *rows;
	size_t nr, cap;
	struct wait_ring *rings;
	size_t nr_rings, cap_rings;
	struct hash_index by_tid, by_tgid;
	const struct definition_store *tables;	/* definitions of the scan's segment */
	uint32_t segment, scan;		/* of the rows; scan 0: the trace has none */
};

/*
 * 0 or an error, silently. All rows of the scan are read, because a thread that passes the filters
 * may wait for one that does not.
 */
int wait_graph_read(struct report *rep, uint32_t scan, struct wait_graph *g);
int wait_graph_link(struct wait_graph *g);
void wait_graph_release(struct wait_graph *g);

/* The time from when the thread last ran to the time of its row; UINT64_MAX: unknown. */
uint64_t wait_row_ns(const struct wait_row *row);

/*
 * The heads of chains: threads that others wait for and that wait for no other one, the one with
 * most waiters behind it first. *rows is the caller's. 0 or -ENOMEM.
 */
int wait_heads(const struct wait_graph *g, uint32_t **rows, size_t *nr);

/* Sorts rows by how long they have waited, the longest first. */
void wait_sort(const struct wait_graph *g, uint32_t *rows, size_t nr);

/* True if the deadlock is certain: nothing but a signal can end it. */
bool wait_ring_is_sure(const struct wait_ring *ring);
