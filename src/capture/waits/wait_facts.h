/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread waits for and which thread or process it waits for: the fields of a trace, made of
 * what a scan saw of the wait.
 *
 * The kernel side hands out raw material only (struct wire_wait, struct wire_object): the number
 * and the first argument of the system call, a tid that stands in the memory of a lock, the kind of
 * a descriptor. Some of these tids and pids are numbers of the thread's own PID namespace, and a
 * tid in memory does not prove that such a thread exists. They are translated and checked here:
 *
 *	wait in		.wait			.owner
 *	futex()		address of the futex	tid that the lock's memory names
 *						(bpf/futex_owner.h), if such a thread exists
 *	read(), write(), poll(), ...
 *			descriptor + 1		set later: holder of the other end (wait_peers.h)
 *	fcntl(), flock()
 *			descriptor + 1		process that has locked the file (file_locks.h)
 *	wait4(), waitid()
 *			pid of the child, or 0	the child, in our PID namespace
 *	vfork()		0			the child
 *
 * Example: thread 12 of a process in a container sleeps in futex() on a glibc mutex, and the mutex
 * says that thread 3 holds it. 3 is a number of the container's namespace. The files
 * /proc/TID/status of the threads of that process show that thread 4711 has this number there, so
 * .owner is 4711.
 *
 * Memory of the process is read by the scan alone, in a process that can be left behind; here only
 * /proc is asked. If the scan may not read a lock's memory, its owner is unknown.
 *
 * Answers are kept for one scan: the owner of a lock that a thousand threads wait for is looked up
 * once.
 *
 * Limits: all this is read a moment after the row was taken, so an owner may have released the lock
 * meanwhile. Locks of other libraries have other layouts and get no owner, nor do condition
 * variables and semaphores, which have none. A process that took a file lock may have passed the
 * open file on.
 *
 *	wait_facts_new(&f)
 *	wait_facts_fill(f, stack, scan, &sample)	sets .ran_ns, .syscall, .args, .wait,
 *							.owner, .wait_kind, .object, .holders
 *	wait_facts_free(f)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rec_sample;
struct wait_facts;
struct wire_stack;

int wait_facts_new(struct wait_facts **fp);
void wait_facts_free(struct wait_facts *f);		/* NULL is fine */
/* Whether a row that was filled waits for a futex: .wait is its address. */
bool wait_facts_is_futex(const struct rec_sample *sample);
/* The thread of a process whose number in its own PID namespace is tid; 0: there is none. */
uint32_t wait_facts_thread(struct wait_facts *f, uint32_t tgid, uint32_t tid);
/* scan: its number; answers of another scan are forgotten. */
void wait_facts_fill(struct wait_facts *f, const struct wire_stack *stack, uint32_t scan,
		     struct rec_sample *out);
