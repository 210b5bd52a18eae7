/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables for code made at run time, read in windows around the frames that are met.
 *
 * The problem. Such code has no file and no unwind information, it is too much to be read as a
 * whole (qemu's buffer has 1 GiB), and it changes.
 *
 * The idea. A stack that meets code of which nothing is known comes with its registers and memory
 * (WIRE_WANTS_CODE), and waits. Meanwhile the 64 KiB around that code are read (memory_reader.h),
 * and a parser makes rows of them (code_window.h), which become the table of a stretch of the
 * mapping. The stack is then unwound again, and the kernel side unwinds all later ones itself. If
 * the code leaves to places outside of the window (the common end of all of qemu's blocks), up to
 * four rounds read these, or take their rules from tables.
 *
 * Changes. A rule counts only if it leads to a return address (unwind_guess.h). Windows are read
 * again, a few at a time, each at least every some seconds; those that have changed get new rows.
 * Code that was written since is met as code of which nothing is known.
 *
 * Limits: 256 windows of a process, UNWIND_MAX_WINDOWS in all; 32 and 128 of them are parsed in a
 * second. A process with more code has the rest guessed, as before. The memory is foreign: only
 * parsers look at it.
 *
 *	code_windows_new(&deps, &cw)
 *	code_windows_want(cw, p, pc)	true: its window is being read, try again later
 *	code_windows_news(cw)		grows with each window that is ready
 *	code_windows_update(cw)		now and then: reads again, forgets what has ended
 *	code_windows_evicted(cw, table)	the table was thrown out
 *	code_windows_free(cw)		after the pool
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/process.h"
#include "unwind/row.h"

struct binaries;
struct code_windows;
struct memory_reader;
struct parsers;
struct unwind_loader;
struct worker_pool;

/* What is known of an address in a process. */
enum code_place { PLACE_NO_CODE, PLACE_FILE, PLACE_GENERATED };

struct code_windows_deps {
	const struct processes *processes;
	struct binaries *binaries;
	struct unwind_loader *loader;
	struct worker_pool *pool;
	struct parsers *parsers;
	struct memory_reader *memory;
	/* *rule: the one in force at addr now, CFA_NONE if there is none. */
	enum code_place (*look_up)(void *ctx, const struct process *p, uint64_t addr,
				   struct unwind_rule *rule);
	void *ctx;
};

int code_windows_new(const struct code_windows_deps *deps, struct code_windows **cwp);
void code_windows_free(struct code_windows *cw);	/* NULL is fine */

bool code_windows_want(struct code_windows *cw, struct process *p, uint64_t pc);
uint64_t code_windows_news(const struct code_windows *cw);
void code_windows_update(struct code_windows *cw);
void code_windows_evicted(struct code_windows *cw, uint32_t table);
