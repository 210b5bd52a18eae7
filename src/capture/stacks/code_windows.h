/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables for code made at run time, read in windows around the frames that are met.
 *
 * The problem. Such code has no file and no unwind information, it is too much to be read as a
 * whole (qemu's buffer has 1 GiB), and it changes.
 *
 * The idea. A stack that meets code of which nothing is known comes with its registers and memory
 * (WIRE_WANTS_CODE), and waits. Meanwhile the 64 KiB around that code are read and a parser makes
 * rows of them (code_request.h, code_window.h), which become the table of a stretch of the mapping.
 * The stack is then unwound again, and the kernel side unwinds all later ones itself. If the code
 * leaves to places outside of the window (the common end of all of qemu's blocks), up to four
 * rounds read these, or take their rules from tables.
 *
 * Changes. A rule counts only if it leads to a return address (unwind_guess.h). Windows are read
 * again, those that have changed lately 20 times a second, others every 2 s; those that have
 * changed get new rows. Code that was written since is met as code of which nothing is known.
 *
 * Who pays. Each process may have 256 windows parsed at once and 64 in a second from then on, all
 * together twice as many; of those that wait the process comes first that was served least lately.
 * So one that makes code without end has its own stacks guessed, which is said once and counted
 * (META unwind.windows), and takes a part of the one thread and the one parser that read windows.
 * It has 768 windows at most, all together have UNWIND_MAX_WINDOWS.
 *
 *	code_windows_new(&deps, &cw)
 *	code_windows_want(cw, p, pc, &wait)	true: its window is being read, try again later
 *	code_windows_update(cw)			now and then: reads again, forgets what has ended
 *	code_windows_evicted(cw, table)		the table was thrown out
 *	code_windows_free(cw)			after the pool
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/stacks/code_pages.h"
#include "src/model/process.h"
#include "unwind/row.h"

struct child_forker;
struct user_costs;
struct binaries;
struct code_windows;
struct parsers;
struct unwind_loader;
struct worker_pool;

/* What is known of an address in a process. */
enum code_place { PLACE_NO_CODE, PLACE_FILE, PLACE_GENERATED };

struct code_windows_deps {
	const struct processes *processes;
	struct binaries *binaries;
	struct unwind_loader *loader;
	struct worker_pool *pool;	/* of one thread */
	struct parsers *parsers;
	struct child_forker *forker;	/* of who reads memory */
	struct user_costs *costs;	/* of memory_reader_new() */
	/* Takes the mappings that p has now. 0 or -ENOMEM. */
	void (*look_at)(void *ctx, const struct process *p);
	/* *rule: the one in force there, in the process looked at; CFA_NONE: there is none. */
	enum code_place (*look_up)(void *ctx, uint64_t addr, struct unwind_rule *rule);
	void *ctx;
};

struct code_windows_stats {
	uint64_t parsed;		/* rounds */
	uint64_t same;			/* read again, and not changed */
	uint64_t absent;		/* memory that was not there */
	uint64_t busy;			/* could not be read in time */
	uint64_t failed;		/* the parser died or took too long */
	uint64_t refused;		/* not read, because their process had spent what it may */
	uint64_t no_room;		/* not read, because there were too many */
};

int code_windows_new(const struct code_windows_deps *deps, struct code_windows **cwp);
void code_windows_free(struct code_windows *cw);	/* NULL is fine */

struct code_pages *code_windows_pages(struct code_windows *cw);	/* borrowed */

bool code_windows_want(struct code_windows *cw, struct process *p, uint64_t pc,
		       struct code_wait *wait);
void code_windows_update(struct code_windows *cw);
void code_windows_evicted(struct code_windows *cw, uint32_t table);
void code_windows_stats(const struct code_windows *cw, struct code_windows_stats *out);
