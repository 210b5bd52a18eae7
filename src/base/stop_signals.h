/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD as a descriptor to poll, and the promise that the first three
 * end the program, whatever hangs.
 *
 * The problem. The first stop signal is to end a recording in good order: that takes a moment, and
 * waits for workers, readers of pipes and file systems. Any of these may never answer, and then the
 * thread that would look at the signals is the one that hangs.
 *
 * The idea. A thread of its own takes the signals and watches the thread that called
 * stop_signals_open():
 *
 *	first signal		.stopped is set and the descriptor readable. All waits end soon:
 *				those that only make the result better ask stop_signals_urgent(),
 *				which is true from 1 s on
 *	2 s later		if the watched thread sleeps and has not computed for 0.5 s, the
 *				process is ended by force
 *	a second signal		the process is ended by force now
 *
 * By force means: last() is called in another thread, which is given 0.1 s to write what can still
 * be written, one line says so, and the process exits with 128 + the signal's number. A thread that
 * computes (a report, names) is not ended by force but by the second signal. Signals within 0.1 s
 * of the first are one with it: timeout(1) sends its signal to the process and to its group.
 *
 *	stop_signals_open(&s, &limit)	before any thread is started: blocks the signals
 *	poll() s.fd, stop_signals_read(&s), s.stopped ...
 *	stop_signals_close(&s)		ends the watch; the signals have their usual effect again
 *
 * Limits. A thread that is in an uninterruptible sleep in the kernel keeps the process from ending,
 * whoever calls exit. So no thread may read what another process or a server may withhold: that is
 * for helper processes (helper_process.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How the process is ended by force. */
struct stop_limit {
	uint64_t after_ns;		/* the first signal; 0: by a second signal only */
	/*
	 * NULL, or what is done last. It is called in a thread of its own while all other threads
	 * go on, and may hang. Returns a sentence for the user, or NULL.
	 */
	const char *(*last)(void *ctx);
	void *ctx;
	void (*begin)(void);		/* what each thread does first; NULL: nothing */
};

struct stop_signals {
	int fd;				/* readable after each signal */
	bool stopped;			/* as of the last stop_signals_read() */
	struct stop_watch *watch;	/* NULL: not open */
};

#define STOP_AFTER_NS 2000000000ull	/* the usual limit */

/* limit: NULL for none. 0, or -errno, which was reported. */
int stop_signals_open(struct stop_signals *s, const struct stop_limit *limit);
void stop_signals_read(struct stop_signals *s);		/* sets stopped */
/* A stop signal came 1 s ago or earlier. */
bool stop_signals_urgent(const struct stop_signals *s);
/* Until the process may be ended by force; UINT64_MAX: no stop signal has come. */
uint64_t stop_signals_left_ns(const struct stop_signals *s);
void stop_signals_close(struct stop_signals *s);	/* not open: does nothing */
void stop_signals_default(void);			/* for a child before exec */
