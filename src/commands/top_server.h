/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The web server beside the terminal view of `probee top --serve`: a process of its own, which
 * reads the same trace and ends with the view.
 *
 *	top_server_start(&t, &opts, &source)	before the view takes the screen
 *	t.url					what to open
 *	top_server_stop(&t)
 */
#pragma once

#include <sys/types.h>

#include "src/serve/serve.h"

struct top_server {
	pid_t pid;			/* 0: it does not run */
	int lifeline;			/* closing it ends the server */
	char url[256];
};

/*
 * source.fd is the server's. messages_fd: what it prints goes there, because the screen is the
 * view's. 0 or -errno, which was reported.
 */
int top_server_start(struct top_server *t, const struct serve_options *opts,
		     const struct serve_source *source, int messages_fd);
void top_server_stop(struct top_server *t);
