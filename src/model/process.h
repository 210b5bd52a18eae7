/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes and their executable mappings over time. A sample of time t is resolved with what was
 * mapped at t, so mappings and processes stay for a while after their end (processes_prune()).
 *
 * A process here is one life of a thread group between two execs. Those with the same tgid are
 * chained from the newest to the oldest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

#define TIME_NEVER UINT64_MAX

struct mapping {
	uint64_t start, end, pgoff_bytes;
	uint64_t to_vaddr;		/* address + to_vaddr = virtual address of the binary */
	uint32_t binary;		/* index; 0: anonymous */
	uint8_t prot;
	bool written;			/* a MAPPING record was written */
	uint64_t born_ns, died_ns;	/* died_ns TIME_NEVER: mapped now */
	uint32_t generation;		/* of the process when it came */
};

/* When the kernel's table of a process was replaced, and what it has known since then. */
struct publication {
	uint64_t since_ns;
	uint32_t generation;
};
#define PROCESS_PUBLICATIONS 4

struct process {
	uint32_t tgid;
	uint32_t slot;			/* small; used again once it is forgotten (per_process.h) */
	uint64_t serial;		/* never reused; 1, 2, ... */
	uint64_t born_ns, died_ns;	/* born 0: before the recording */
	uint64_t start_boottime_ns;	/* 0: unknown */
	uint64_t exec_ns;		/* time of the exec it began with; 0: fork or before the
					   recording */
	uint32_t parent_tgid;
	char comm[16];			/* of the leader */
	uint32_t exe;			/* binary index; 0 unknown */
	struct mapping *maps;		/* those mapped now sorted by start, then the dead ones */
	size_t nr_maps, cap_maps;
	size_t nr_live;
	uint32_t generation;		/* changes with the mappings */
	struct publication published[PROCESS_PUBLICATIONS];	/* the newest first; since_ns 0:
								   none */
	bool birth_was_told;		/* born_ns is that of a fork or an exec; else it may have
					   begun before */
	bool scanned;			/* /proc was read */
	bool is_kthread;		/* as /proc said */
	bool awaited;			/* a stack of it waits: see processes_await() */
	bool dirty;			/* mappings changed since the kernel's table was written */
	struct process *older;		/* same tgid, earlier */
	struct process *next;		/* all processes; for walking over them */
};

struct processes {
	struct process *all;
	size_t nr;
	uint64_t serials;
	struct hash_index by_tgid;	/* -> index in newest[] */
	struct process **newest;
	size_t nr_newest, cap_newest;
	size_t *free_newest;		/* places in it */
	size_t nr_free, cap_free;
	uint32_t nr_slots;
	uint32_t *free_slots;
	size_t nr_free_slots, cap_free_slots;
};

void processes_init(struct processes *ps);
void processes_release(struct processes *ps);

/* The process that tgid was at that time (TIME_NEVER: is now); NULL: unknown. */
struct process *processes_find(const struct processes *ps, uint32_t tgid, uint64_t time_ns);

/* The earliest life of tgid that is known, or NULL. */
struct process *processes_oldest(const struct processes *ps, uint32_t tgid);

/* A new life of tgid from born_ns on; an earlier one dies then. NULL: out of memory. */
struct process *processes_add(struct processes *ps, uint32_t tgid, uint64_t born_ns);

/* One that was over when the oldest that is known began. NULL: out of memory. */
struct process *processes_add_before(struct processes *ps, struct process *oldest,
				     uint64_t born_ns);

/* Adds a mapping; what it overlaps dies (or is cut). An equal living one is kept. 0 or -ENOMEM. */
int process_map(struct process *p, const struct mapping *m);

/*
 * What is mapped now is in these ranges, sorted by start: living mappings outside of all of them
 * die. true: there were some.
 */
bool process_keep(struct process *p, const struct mapping *found, size_t nr, uint64_t time_ns);

/* The kernel's table shows p's mappings as they are, from now on. */
void process_published(struct process *p, uint64_t now_ns);

/*
 * Did the kernel's table know m at that time? (A walk of a moment before may have used what was
 * there before.)
 */
bool process_knew(const struct process *p, const struct mapping *m, uint64_t time_ns);

/* All mappings of parent are the child's too. 0 or -ENOMEM. */
int process_inherit(struct process *child, const struct process *parent, uint64_t time_ns);

/* Mapping that held addr at that time, or NULL. Borrowed until the process changes. */
const struct mapping *process_find_mapping(const struct process *p, uint64_t addr,
					   uint64_t time_ns);

void process_exit(struct process *p, uint64_t time_ns);

/* A stack of that time waits to be looked at: the next prune keeps its process longer. */
void processes_await(struct processes *ps, uint32_t tgid, uint64_t time_ns);

/*
 * Forgets processes and mappings that died before ended_ns, or, of processes that are awaited,
 * before awaited_ns; release is called for each process first. From then on none is awaited.
 */
void processes_prune(struct processes *ps, uint64_t ended_ns, uint64_t awaited_ns,
		     void (*release)(void *ctx, struct process *p), void *ctx);
