/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits of a thread that has nothing to do: for events, for a connection, for time to pass, for a
 * signal, for the next piece of work of a pool. Reports fold them, because they hide the waits in
 * which a program loses time. The rule looks at stacks alone:
 *
 *	the kernel's stack	epoll, poll, select, accept, nanosleep, pause, io_uring, ...
 *	the user stack		a condition or a semaphore, if the thread has at most IDLE_DEPTH
 *				functions of its program below: the loop of a worker, not work
 *				under way; and what the pools of Go, Java, node and Python call.
 *				Of Python's locks only those of queues count (script_work.h)
 *
 * A thread that waits for a lock or for the answer to what it has asked is not idle, whatever it
 * waits in (wait_is_for_answer()). One that waits for a result as workers wait for work is called
 * idle by mistake; --idle shows all.
 *
 *	idle_of(&c, tables, &rec)	for each sample; samples of one segment come together
 *	idle_of_sleeper(&c, tables, &s)	for the stacks of a thread that is known to sleep
 *	idle_cache_release(&c)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct definition_store;
struct rec_event;
struct rec_sample;

#define IDLE_DEPTH 3

enum idle { IDLE_NOT, IDLE_EVENTS, IDLE_CONNECTION, IDLE_TIME, IDLE_SIGNAL, IDLE_WORK, IDLE_KINDS };

/* "events"; of IDLE_NOT NULL. */
const char *idle_name(enum idle idle);

/* Answers by node. All zero is empty. */
struct idle_cache {
	const struct definition_store *t;
	uint8_t *kernel, *user;		/* enum idle + 1; 0: not looked at */
	size_t cap_kernel, cap_user;
};

struct sleeper {
	uint32_t kstack, ustack;	/* NODE records of the innermost frames */
	uint8_t end;			/* enum stack_end */
};

/* Whether a sample of such an event may be of a thread that sleeps. */
bool event_says_sleep(const struct rec_event *e);

enum idle idle_of_sleeper(struct idle_cache *c, const struct definition_store *t,
			  const struct sleeper *s);

/* IDLE_NOT of samples that do not say that a thread slept, and without memory. */
enum idle idle_of(struct idle_cache *c, const struct definition_store *t,
		  const struct rec_sample *rec);
void idle_cache_release(struct idle_cache *c);
