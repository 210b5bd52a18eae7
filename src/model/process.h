/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes and their executable mappings over time.
 *
 * A sample is resolved some time after it was taken, and must be resolved with the mappings of its
 * own time. So each mapping and each process has a time of birth and of death, and stays for a
 * while after its end (processes_prune()).
 *
 * A process here is one life of a thread group between two execs. For example, a shell with pid 7
 * that becomes /bin/ls by exec is two processes with tgid 7: the first one dies at the time of the
 * exec, and the second one is born then. Processes with the same tgid are chained from the newest
 * to the oldest (process.older).
 *
 * Any user can map 65,530 files in each of his processes. So the number of mappings that are
 * followed is limited (PROCESS_MAPPINGS, and less where all processes together have very many). A
 * process that has more is *crowded*: the mappings that are known by then stay, later ones become
 * known when a stack meets them (process_meet()).
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
	uint32_t binary;		/* index; 0: anonymous, or is_unread */
	uint8_t prot;
	bool written;			/* a MAPPING record was written */
	bool is_unread;			/* it has a file, which was not opened yet */
	bool is_met;			/* it became known by process_meet() */
	bool is_fleeting;		/* files take turns at its place: process_has_settled() */
	uint64_t born_ns, died_ns;	/* died_ns TIME_NEVER: mapped now */
	uint32_t generation;		/* of the process, when the mapping came */
	uint64_t dev, ino;		/* of its file, as in struct proc_map; ino 0: none */
};

/* A file that was mapped for less than this before another one came there: they take turns. */
#define PROCESS_TURN_NS (1000ull * 1000 * 1000)

#define PROCESS_MAPPINGS 4096		/* living ones that are followed */
#define PROCESS_MET 1024		/* of a crowded process, besides */
#define PROCESS_ENDED 4096		/* dead ones that are kept */

/*
 * Code made at run time that was read (src/capture/stacks/code_windows.h), at most 64 KiB between
 * two multiples of that, and the number of the table that the BPF programs have for it; 0: nothing
 * is known of it.
 */
struct window_of_code {
	uint64_t begin, end;
	uint64_t read_ns;		/* a mapping that is younger has other code */
	uint32_t table;
	uint32_t place;			/* for the owner of the table */
	bool is_settled;		/* no more will be known of it */
};

/* When the BPF programs got mappings of a process anew, and which ones they know since then. */
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
	uint64_t exec_ns;		/* of the exec it began with; 0: it began in another way */
	uint32_t parent_tgid;
	char comm[16];			/* of the leader */
	char *cmdline;			/* --cmdline; NULL: not known; owned */
	uint32_t exe;			/* binary index; 0 unknown */
	struct mapping *maps;		/* those mapped now, sorted by start */
	size_t nr_live, cap_maps;
	struct mapping *ended;		/* the dead ones, sorted by died_ns */
	size_t nr_ended, cap_ended;
	size_t *nr_of_all;		/* mappings of all processes; NULL: it is in no list */
	bool is_crowded;		/* it has mappings that are not followed */
	bool has_fleeting;		/* some mappings are */
	uint32_t generation;		/* changes with the mappings */
	/* The newest first; since_ns 0: none. */
	struct publication published[PROCESS_PUBLICATIONS];
	/* born_ns is the time of a fork or an exec event; else it may have begun earlier. */
	bool birth_was_told;
	bool scanned;			/* /proc was read */
	bool is_kthread;		/* according to /proc */
	bool awaited;			/* a deferred stack needs it: processes_await() */
	bool dirty;			/* its mappings have changed since they were published */
	bool is_listed;			/* process_tracker.c: it has changed lately */
	bool no_more_windows;		/* no others are read */
	bool windows_dirty;		/* they have changed since they were published */
	struct window_of_code *windows;	/* sorted; they do not overlap; owned */
	size_t nr_windows, cap_windows;
	struct process *older;		/* same tgid, earlier */
	struct process *next;		/* list of all processes */
};

struct processes {
	struct process *all;
	size_t nr;
	uint64_t serials;
	size_t nr_mappings;		/* of all, those that ended included */
	struct hash_index by_tgid;	/* -> index in newest[] */
	struct process **newest;
	size_t nr_newest, cap_newest;
	size_t *free_newest;		/* unused places of newest[] */
	size_t nr_free, cap_free;
	uint32_t nr_slots;
	uint32_t *free_slots;
	size_t nr_free_slots, cap_free_slots;
};

void processes_init(struct processes *ps);
void processes_release(struct processes *ps);

/* The process that tgid was at that time (TIME_NEVER: the one that lives); NULL: unknown. */
struct process *processes_find(const struct processes *ps, uint32_t tgid, uint64_t time_ns);

/* The earliest life of tgid that is known, or NULL. */
struct process *processes_oldest(const struct processes *ps, uint32_t tgid);

/* Begins a new life of tgid at born_ns; an earlier one dies then. NULL: out of memory. */
struct process *processes_add(struct processes *ps, uint32_t tgid, uint64_t born_ns);

/* Adds a life of a tgid that was over when the oldest known one began. NULL: out of memory. */
struct process *processes_add_before(struct processes *ps, struct process *oldest,
				     uint64_t born_ns);

/*
 * Adds a mapping. Mappings that it overlaps die, or are cut; an equal living one is kept. A crowded
 * process loses what it overlaps, but does not get it. 0 or -ENOMEM.
 */
int process_map(struct process *p, const struct mapping *m);

/*
 * Adds a mapping that a stack has met, as process_map() does, also to a crowded process: if there
 * is no room, it takes the place of those that were met first, or of some that were not met. 0 or
 * -ENOMEM.
 */
int process_meet(struct process *p, const struct mapping *m);

/* The file of a living mapping that was not read is that binary. */
void process_file_read(struct process *p, const struct mapping *of, uint32_t binary,
		       uint64_t to_vaddr);

/*
 * found: the ranges that are mapped now, sorted by start. Living mappings outside of all of them
 * die. true: there were some.
 */
bool process_keep(struct process *p, const struct mapping *found, size_t nr, uint64_t time_ns);

/*
 * Libraries that are opened and closed in turn are mapped at one place, thousands of times in a
 * second. By the time that such a mapping is published, another one is there. So it is left out
 * (unwind_slices.h), and stacks that go through it are unwound by what was mapped when they were
 * taken. To be called now and then. true: a mapping is no longer fleeting.
 */
bool process_has_settled(struct process *p, uint64_t now_ns);

/* Forgets the mappings that ended before that time. */
void process_forget_mappings(struct process *p, uint64_t time_ns);

/* The mapping with number i of those that live and then those that are dead. */
static inline struct mapping *process_mapping(const struct process *p, size_t i)
{
	return i < p->nr_live ? &p->maps[i] : &p->ended[i - p->nr_live];
}

static inline size_t process_nr_mappings(const struct process *p)
{
	return p->nr_live + p->nr_ended;
}

/* Notes that the BPF programs know p's present mappings from now_ns on. */
void process_published(struct process *p, uint64_t now_ns);

/*
 * true: the BPF programs knew m at that time, or no mappings at all. A stack that was unwound
 * between those times may have used an older mapping of the same address.
 */
bool process_knew(const struct process *p, const struct mapping *m, uint64_t time_ns);

/* Gives the child all mappings of parent. 0 or -ENOMEM. */
int process_inherit(struct process *child, const struct process *parent, uint64_t time_ns);

/* The mapping that held addr at that time, or NULL. Borrowed until the process changes. */
const struct mapping *process_find_mapping(const struct process *p, uint64_t addr,
					   uint64_t time_ns);

/* The living mapping that begins last at or before addr, though it may end there; or NULL. */
const struct mapping *process_mapping_before(const struct process *p, uint64_t addr);

void process_exit(struct process *p, uint64_t time_ns);

/* The window that begins at an address; make: a new one if there is none. NULL: none, no memory. */
struct window_of_code *process_window(struct process *p, uint64_t begin, bool make);
void process_window_remove(struct process *p, struct window_of_code *of);

/* A deferred stack of that time needs its process: the next prune keeps that one longer. */
void processes_await(struct processes *ps, uint32_t tgid, uint64_t time_ns);

/*
 * Forgets processes and mappings that died before ended_ns; a process that is awaited, and its
 * mappings, only when they died before awaited_ns. release is called first for each process that is
 * forgotten. Afterwards no process is awaited.
 */
void processes_prune(struct processes *ps, uint64_t ended_ns, uint64_t awaited_ns,
		     void (*release)(void *ctx, struct process *p), void *ctx);
