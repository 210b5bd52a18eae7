/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helper processes that are asked for something and may die or hang over it.
 *
 * The problem. Opening a file of a profiled process may block for ever, and parsing it means to
 * read bytes that somebody made in order to take over whoever reads them. The recorder can afford
 * neither: it holds rights, and it must go on. A thread would share its memory, and a thread that
 * hangs in the kernel keeps the whole process from ending.
 *
 * The idea. Each such work is a request to a process of its own (struct helper_kind: what it may
 * do, and a function that serves one request). The caller waits for the answer with a time limit. A
 * helper that dies or does not answer in time costs this one answer; it is killed, and the next
 * request starts another one. All helpers are forked by one more process, the keeper. It is forked
 * first of all, while probee has one thread and little memory, so that a helper may use malloc(),
 * is small, and never inherits a lock that another thread held.
 *
 *	probee ----- spawn(kind, slot, socket) ----> keeper
 *	   |                                           | fork
 *	   +------- requests and answers ----------> helper of that slot
 *
 * A time limit must be long for a parser that has much to do, but a helper that waits for a server
 * will hardly get its answer later. So a helper counts as stuck, whatever its limit, when it has
 * used no CPU time for 1.5 s and does not want any: it sleeps, and nobody but it can know for what.
 *
 * On a machine with a hundred programs for each CPU a helper may get no CPU for seconds. That is no
 * fault of the file that it looks at. So what counts against a limit is the time that the helper
 * computes or sleeps; by the clock it gets four times as much and 2 s.
 *
 * A helper that ends unasked is said, with what ended it, and counted (helper_deaths.h). If it has
 * broken over its request (SIGSEGV), that costs the answer. If somebody has killed it, what was
 * asked is not at fault: another helper is asked, up to three more times.
 *
 * Example: an ELF file that makes the parser run for ever.
 *
 *	helper_call(h, IDENTIFY fd 9)	no answer within the time: -ETIMEDOUT
 *					the keeper kills the helper of h
 *	helper_call(h, IDENTIFY fd 10)	the keeper forks another one: 0 after 2 ms
 *
 * Limits. One call at a time for each helper: others wait for it, and their time counts from then
 * on. If the keeper is killed, its helpers end with it (PR_SET_PDEATHSIG); the next call forks
 * another keeper, now from a process with threads, which glibc allows. A keeper ends when its
 * socket does: the thread that has forked it may be gone long before.
 *
 * A helper that hangs in the kernel is killed, but ends only when what it waits for does. Such ones
 * are counted by the keeper until they end. While there are 64 of them none is started, so whoever
 * makes files that hang cannot make processes without end.
 *
 *	helper_keeper_new(&options, &k)		before any thread is started
 *	helper_new(k, kind, &h)			starts no process yet
 *	helper_call(h, &request, &answer, &wait)	from any thread
 *	helper_free(h)				ends the process
 *	helper_keeper_free(k)			after all helpers
 */
#pragma once

#include "src/helpers/helper_message.h"

/* One kind of helper. All of these functions run in the helper. */
struct helper_kind {
	const char *name;		/* of the process, at most 15 bytes */
	bool is_urgent;			/* keeps the keeper's nice value; else it is 0 */
	/* Gives up rights. *state is passed to serve(). 0 or -errno: the helper exits (said). */
	int (*begin)(void **state);
	/*
	 * Serves one request and fills in answer, whose status is 0 beforehand. What answer refers
	 * to is borrowed until done(), or the process's for ever.
	 */
	void (*serve)(void *state, struct helper_message *request, struct helper_message *answer);
	void (*done)(void *state, struct helper_message *answer);	/* NULL: nothing to free */
	/*
	 * Gives up what is hardly worth its memory any more. Called after each answer, and then at
	 * the time that it returned (of now_ns()'s clock), if nothing was asked until then. 0:
	 * nothing is left to give up. NULL: it keeps nothing.
	 */
	uint64_t (*rest)(void *state, uint64_t now_ns);
	size_t max_request;		/* bytes of a request */
	bool may_sleep;			/* waits for others by its nature, so it is never stuck */
	bool gives_fds;			/* its answers may have descriptors, else none may */
	uint64_t fresh_after_ns;	/* of CPU time another one is started; 0: never */
};

struct helper_keeper_options {
	const struct helper_kind *const *kinds;
	size_t nr_kinds;
	int nice;			/* of the keeper, e.g. -15; ignored if not allowed */
	void (*begin)(void);		/* in the keeper: gives up rights; NULL: keeps all */
	/* Who asks may send no signals (sandbox.h): the keeper ends when its socket is closed. */
	bool no_signals;
	struct helper_deaths *deaths;	/* borrowed; NULL: they are said, but not counted */
	size_t max_left;		/* killed helpers that have not ended, at most 64; 0: 64 */
};

struct helper_deaths;
struct helper_keeper;
struct helper;

int helper_keeper_new(const struct helper_keeper_options *opts, struct helper_keeper **kp);
void helper_keeper_free(struct helper_keeper *k);	/* NULL is fine */

int helper_new(struct helper_keeper *k, const struct helper_kind *kind, struct helper **hp);
void helper_free(struct helper *h);			/* NULL is fine */

/*
 * 0: answer holds what the helper said (release it). Otherwise there is no answer: -ETIMEDOUT,
 * -ECANCELED (wait.unwanted), -EPIPE: the helper died of it, -EOWNERDEAD: it and those that were
 * asked in its place were killed, -EBUSY: too many that were killed have not
 * ended yet, -ENOTRECOVERABLE: it could not begin, and is not started again, or another -errno.
 * max: bytes of an answer.
 */
int helper_call(struct helper *h, const struct helper_message *request, size_t max,
		const struct helper_wait *wait, struct helper_message *answer);

/* Ends the process: the next call starts another one, which knows nothing of earlier requests. */
void helper_restart(struct helper *h);

/* How often there was no answer, since the start. */
struct helper_stats {
	uint64_t calls;
	uint64_t died;			/* the helper ended, or answered what is no answer */
	uint64_t stalled;		/* it took too long */
	uint64_t refused;		/* -EBUSY, -ENOTRECOVERABLE */
	uint64_t again;			/* requests made again, because a helper was killed */
};
void helper_keeper_stats(struct helper_keeper *k, struct helper_stats *out);

/* The CPU time of all helpers, living and dead, and of the keeper. 0: the keeper is gone. */
uint64_t helper_keeper_cpu_ns(struct helper_keeper *k);
