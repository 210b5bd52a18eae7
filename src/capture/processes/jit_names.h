/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code that processes make at run time, from the file that their language's runtime
 * writes: /tmp/perf-PID.map, in the process's own mount and PID namespaces. A process that was
 * forked may have code of its parent's, too.
 *
 *	jit_names_new(&deps, &j)
 *	jit_names_binary(j, p, addr, time)	what stands for the generated code of p; for its
 *						frames
 *	jit_names_request(j, p, cookie, addr)	cheap: only kept
 *	jit_names_collect(j, fn, ctx, wait)	calls fn for those of processes that have ended;
 *						wait: for all
 *	jit_names_free(j)
 *
 * Each request is answered once, or never when its process is forgotten already. The file grows
 * while the program runs, and code moves: it is read when the process has ended (its /tmp is held
 * open for that) or at the end of the recording. It is the process's: it must be a regular file, of
 * root or of the user the process belongs to, and a thread of its own reads it, which is left
 * behind when it does not come back (anybody may mount a file system there that never answers).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/symbolize/symbolizer.h"

struct jit_names;
struct binaries;
struct binary;
struct process;
struct process_tmp;
struct processes;

struct jit_names_deps {
	struct binaries *binaries;
	const struct processes *processes;
	/* Opens the /tmp of a process, as procfs_tmp(), but also when it has just ended. */
	void (*open_tmp)(void *ctx, const struct process *p, struct process_tmp *out);
	void *ctx;
};

int jit_names_new(const struct jit_names_deps *deps, struct jit_names **jp);
void jit_names_free(struct jit_names *j);		/* NULL is fine */

/*
 * Is what is mapped under this path memory, for code to be made in? Anonymous and shared memory,
 * memfd.
 */
bool jit_names_path(const char *path);
bool jit_names_has(const struct binary *b);		/* ... and no ELF file */

/*
 * Index of the binary, which is made with the first frame of p: at addr, seen at time_ns. 0: out of
 * memory.
 */
uint32_t jit_names_binary(struct jit_names *j, const struct process *p, uint64_t addr,
			  uint64_t time_ns);
int jit_names_request(struct jit_names *j, const struct process *p, uint32_t cookie, uint64_t addr);
int jit_names_collect(struct jit_names *j, symbol_fn fn, void *ctx, bool wait);
