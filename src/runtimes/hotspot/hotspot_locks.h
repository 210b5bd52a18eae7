/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds the lock that a Java thread waits for. A thread that wants a monitor or a lock of
 * java.util.concurrent sleeps on a condition variable of its own. Its memory does not name the
 * lock's owner, but structures of the virtual machine lead there:
 *
 *	synchronized	JavaThread -> ObjectMonitor -> its owner: a JavaThread, the number of one
 *			(24 on), or an address on the owner's stack
 *	park()		Thread object -> the field parkBlocker, an AbstractOwnableSynchronizer ->
 *			the field exclusiveOwnerThread, a Thread object
 *
 * Where fields of the virtual machine's own structs are, it tells itself (hotspot_layout.h). Where
 * those two fields of Java objects are, it does not, so they are found by value: the only field of
 * a Thread object that leads to an object of such a class, and the only one of that object that
 * leads to the Thread object of a living thread. What was found once is looked at first.
 *
 * Limits: threads that wait in Object.wait() or on a Condition have no owner to wait for, nor have
 * locks that are shared (read locks, semaphores). Virtual threads that are parked have no thread of
 * the kernel. Objects move while they are looked at; then no owner is found, because each step is
 * checked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/target_memory.h"

struct hotspot_layout;
struct runtime_wait;
struct runtime_wait_hints;

/* Part of struct hotspot_layout. */
struct hotspot_lock_layout {
	/* Static variables: virtual addresses of libjvm.so; 0: there is none. */
	uint64_t java_threads_vaddr;		/* a ThreadsList; or */
	uint64_t first_thread_vaddr;		/* a JavaThread, which has the next one: 11 */
	uint64_t oop_base_vaddr, oop_shift_vaddr, klass_base_vaddr, klass_shift_vaddr;
	/* Bytes from the start of the struct, or HOTSPOT_ABSENT. */
	uint32_t list_length, list_threads;	/* ThreadsList */
	uint32_t thread_next;
	uint32_t thread_os, os_tid, thread_object, thread_pending;	/* JavaThread, OSThread */
	uint32_t thread_stack_base, thread_stack_size;
	uint32_t thread_owner_id, thread_lock_stack, lock_stack_top, lock_stack_base;
	uint32_t monitor_owner, monitor_object;
	uint32_t object_klass, klass_super;
};

/* Whether this version tells all that is needed. */
bool hotspot_knows_locks(const struct hotspot_layout *l);

/* See runtime_waits(). */
int hotspot_waits(const struct hotspot_layout *l, uint64_t bias, const struct target_memory *m,
		  struct runtime_wait_hints *hints, struct runtime_wait *waits, size_t nr);
