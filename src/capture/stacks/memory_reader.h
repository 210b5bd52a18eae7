/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a little of another process's memory, as long as that does not block.
 *
 * The problem. A process may exchange a page of its memory at any moment for one of a file whose
 * server never answers (FUSE). No check of the page helps, because it may be exchanged behind the
 * check, and no signal ends the thread that reads such a page.
 *
 * The idea. A child reads (src/base/helper_process.h). A child that does not answer, and has slept
 * for 200 ms instead, is left behind, the memory of that process is not read until the child has
 * ended, and the next call starts another child. One that was killed is replaced, too. A child that
 * wants a CPU and gets none does not hang: it is waited for, for 2 s.
 *
 * Limits. A call may take that long, so the main thread makes none. Eight
 * children are left behind at a time at most; meanwhile no memory is read. A read takes some 10 us.
 * A process in which two children hung within 30 s is not read until these are over, and each user
 * pays for what his processes' memory costs (src/foreign/wait_budget.h).
 *
 *	memory_reader_new(forker, costs)
 *	memory_reader_get(r, pid, addr, buf, bytes, unwanted)	from one thread
 *	memory_reader_free(r)
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_READER_BYTES (68u << 10)	/* the most that one call reads */

struct child_forker;
struct memory_reader;
struct user_costs;

/*
 * Starts no child yet. forker is borrowed; NULL: this process forks. costs is told what the
 * children compute for each user; NULL: they are not measured. Returns NULL without memory.
 */
struct memory_reader *memory_reader_new(struct child_forker *forker, struct user_costs *costs);
/*
 * 0: buf has all of the bytes; -EFAULT: they are not there; -EAGAIN: they could not be read now.
 * When *unwanted becomes true, the call ends soon; NULL: it does not.
 */
int memory_reader_get(struct memory_reader *r, pid_t pid, uint64_t addr, void *buf, size_t bytes,
		      const atomic_bool *unwanted);

/* What to read, for target_memory: { memory_of_process, &of }. No more than a call may. */
struct memory_of_process {
	struct memory_reader *reader;
	pid_t pid;
	const atomic_bool *unwanted;
};
int memory_of_process(void *of, uint64_t addr, void *buf, size_t len);

unsigned memory_reader_hung(const struct memory_reader *r);	/* children left behind so far */
void memory_reader_free(struct memory_reader *r);	/* NULL is fine */
