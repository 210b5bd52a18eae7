/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that processes make at run time (JIT code).
 *
 * Such code is in anonymous memory, so no symbol table names it. Language runtimes write a file
 * instead: /tmp/perf-PID.map has a line for each piece of code (perf_map.h). Or they write a
 * jitdump (jitdump.h) and map it, so that its file was opened as any mapped one. Three things make
 * these hard to use:
 *
 * - The file grows while the program runs, and code moves, so the file is only complete when the
 *   process has ended. What was asked for is looked up in it once a second as it grows, in what was
 *   added since; what has a name keeps it. At the end of the process, or of the recording, the
 *   rest is answered. /tmp of the process is held open for that, because its mount namespace may
 *   go with it.
 * - Code is replaced by other code at the same address. A frame has one name for ever, so frames
 *   that are met after that belong to another binary of the process (jit_code.h). A dump says when
 *   that was, so samples of a process that has one wait until the dump was read up to their time.
 * - Path and PID are those of the process's own mount and PID namespaces. Example: java in a
 *   container is pid 1 there and 4711 here. Its map is perf-1.map in its own /tmp.
 * - A foreign process writes the file, so it cannot be trusted. It is used only if it is a regular
 *   file of root or of the user of the process, with one name only (file_opener.h). Helper
 *   processes open and parse it, because any user may mount a file system there that never answers.
 *   If they take longer than 2 s, these names stay unknown.
 *
 * All generated code of a process is one binary (BINARY_ANON) as long as none is replaced. A forked
 * process may run code that its parent made before the fork and has in its own map, so both maps
 * are read.
 *
 * Limits: a map does not say when code was there: where it was replaced, samples of the second
 * before may have the name of either. A dump that is written later than WRITTEN_NS after the code
 * ran comes too late for samples that have been written. Both are counted. All maps together are
 * read again at 4 MiB a second at most, so large ones are read less often. A request is answered
 * once, or never if its process is forgotten already (lifetimes.h). A runtime that was not told to
 * write a map (java: an agent; node: --perf-basic-prof) has none.
 *
 *	jit_names_new(&deps, &j)
 *	jit_names_binary(j, p, addr, time)	the binary that stands for the generated code of p
 *	jit_names_request(j, p, cookie, ...)	cheap: the request is only kept
 *	jit_names_collect(j, fn, ctx, wait)	calls fn for what has a name by now, and for all
 *						of processes that have ended, or (wait) for all
 *	jit_names_settle(j, fn, ctx, wait)	the same for all, and forgets what has no answer
 *						in time
 *	jit_names_free(j)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/symbolize/symbolizer.h"

struct jit_names;
struct binaries;
struct binary;
struct file_opener;
struct jvm_maps;
struct parsers;
struct patience;
struct process;
struct process_tmp;
struct processes;

struct jit_names_deps {
	struct binaries *binaries;
	const struct processes *processes;
	/* Opens the /tmp of a process, as procfs_tmp(), but also when it has just ended. */
	void (*open_tmp)(void *ctx, const struct process *p, struct process_tmp *out);
	void *ctx;
	struct file_opener *opener;	/* these two read the map */
	struct parsers *parsers;
	const struct symbolizer *symbolizer;	/* has the files that are mapped; NULL: no dumps */
	struct jvm_maps *jvms;		/* told of processes; NULL: JVMs are not asked for maps */
};

int jit_names_new(const struct jit_names_deps *deps, struct jit_names **jp);
void jit_names_free(struct jit_names *j);		/* NULL is fine */

/*
 * true: a mapping with this path is memory in which code can be made: anonymous or shared memory,
 * or a memfd.
 */
bool jit_names_path(const char *path);
bool jit_names_has(const struct binary *b);		/* such a path, and no ELF file */

/*
 * Returns the index of the binary that stands for the generated code of p at addr, where it was
 * sampled at time_ns. The first one is made at the first call for p. 0: out of memory.
 */
uint32_t jit_names_binary(struct jit_names *j, const struct process *p, uint64_t addr,
			  uint64_t time_ns);
/* Differs where jit_names_binary() of some address of p differs at two times. */
uint32_t jit_names_changes(const struct jit_names *j, const struct process *p, uint64_t time_ns);
bool jit_names_has_code(const struct jit_names *j, const struct process *p);	/* has a binary */
/*
 * A stack of p with generated code was sampled at that time. true: its dump is still to be read, so
 * the stack may wait.
 */
bool jit_names_must_wait(const struct jit_names *j, const struct process *p, uint64_t time_ns);
/* time_ns: of the sample. */
int jit_names_request(struct jit_names *j, const struct process *p, uint32_t cookie, uint64_t addr,
		      uint64_t time_ns);

/*
 * Returns 0 or the first error of fn. wait NULL: reads the maps of processes that have ended, and
 * those that are due again, as far as that takes no time. Otherwise reads all; when the patience is
 * over, the requests that are left are answered with SYMBOL_LIMITED.
 */
int jit_names_collect(struct jit_names *j, symbol_fn fn, void *ctx, struct patience *wait);
/*
 * Answers all requests as well, but goes on to work afterwards: when the patience is over, the
 * others are forgotten. No cookie of an earlier request comes after this call.
 */
int jit_names_settle(struct jit_names *j, symbol_fn fn, void *ctx, struct patience *wait);
/* Stacks wait for dumps, and nothing else is to be done: those are read again at once. */
void jit_names_hurry(struct jit_names *j);
uint64_t jit_names_lost(const struct jit_names *j);	/* requests that were given up */
/* Pieces of code that took the place of others; samples before that may have either name. */
uint64_t jit_names_late(const struct jit_names *j);
