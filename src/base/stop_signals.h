/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT, SIGTERM, SIGHUP and SIGCHLD as a descriptor to poll. The first stop signal ends a
 * recording in good order. From 0.1 s after it, the signals have their usual effect again, so a
 * second Ctrl-C ends the program at once.
 */
#pragma once

#include <stdbool.h>

struct stop_signals {
	int fd;
	bool stopped;
};

int stop_signals_open(struct stop_signals *s);		/* before any thread is started */
void stop_signals_read(struct stop_signals *s);		/* sets stopped */
void stop_signals_close(struct stop_signals *s);
void stop_signals_default(void);			/* for a child before exec */
