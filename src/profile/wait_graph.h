/*
 * Who waits for whom in one walk over all tasks: each thread waits for one other at most (the owner of its lock), so the
 * graph is chains that end in a thread that waits for nobody, and rings: deadlocks.
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
struct tables;

struct wait_row {
	struct rec_sample rec;
	uint32_t tid, tgid;		/* 0 unknown */
	uint64_t real_ns;
	bool absent;			/* somebody waits for it, but the walk has no row of it */
	/* By wait_graph_link(): */
	uint32_t owner;			/* row; WAIT_NONE: waits for nobody */
	uint32_t ring;			/* WAIT_NONE: not in one */
	uint32_t head;			/* row at the end of its chain, or one of the ring it ends in; itself when it is that */
	uint32_t nr_direct;		/* threads that wait for it */
	uint32_t nr_behind;		/* and those that wait for these, and so on; without the ring's own */
	uint32_t first_waiter, next_waiter;	/* rows, longest wait first; WAIT_NONE: no more */
};

struct wait_ring {
	uint32_t first, nr;		/* a row of it, threads in it */
	bool sure;			/* none of them ran between the first look at one and the last */
};

struct wait_graph {
	struct wait_row *rows;
	size_t nr, cap;
	struct wait_ring *rings;
	size_t nr_rings, cap_rings;
	struct hash_index by_tid;
	const struct tables *tables;	/* of the walk's segment */
	uint32_t segment, walk;		/* which one it became; walk 0: there is none */
};

int wait_graph_read(struct report *rep, uint32_t walk, struct wait_graph *g);	/* 0 or an error, silently */
int wait_graph_link(struct wait_graph *g);
void wait_graph_release(struct wait_graph *g);

/* How long the thread has not run at its row's time; UINT64_MAX: not known. */
uint64_t wait_row_ns(const struct wait_row *row);
