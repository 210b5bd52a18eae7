/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a thread keeps its PyThreadState. CPython keeps it under a pthread key, whose value libc
 * puts into the thread's own memory, at a place that depends on the libc, the architecture and the
 * number of the key. The place is found by value: each state in the list of threads tells the
 * thread's pointer (thread_id is pthread_self()), and the state's address is looked for near it.
 * The offset that is common to all threads is the place. A thread that has run in several
 * interpreters has a state in each, of which any may be there.
 *
 * Since 3.12 there is a second place, a thread-local variable. It is empty while the thread waits
 * for the GIL, so the key is taken: of several common places the highest, because thread-local
 * variables are below the pointer.
 *
 * Limits: only where pthread_self() is the thread's pointer (ARCH_SELF_IS_THREAD_POINTER: x86-64;
 * elsewhere programs search the list of threads), and only keys whose values are within the
 * thread's own block (the first 32 in glibc; musl keeps a pointer there).
 */
#pragma once

#include <stdint.h>

#include "src/runtimes/python/python_layout.h"
#include "src/runtimes/target_memory.h"

/*
 * head: address of the pointer to the first interpreter. 0: *slot is an offset from the thread's
 * pointer; -EAGAIN: there are no threads yet; -ENOENT: there is no common place; or an -errno of
 * reading.
 */
int python_slot_find(const struct python_layout *l, const struct target_memory *m, uint64_t head,
		     int32_t *slot);
