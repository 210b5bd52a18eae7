/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that takes no signals: those are for the thread that waits for them (stop_signals.h).
 * All of them are blocked in the new thread from its first instruction on.
 */
#pragma once

#include <pthread.h>
#include <signal.h>

/* 0 or -errno. The caller joins it. */
static inline int quiet_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}
