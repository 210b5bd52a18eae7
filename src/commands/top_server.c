/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/top_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/commands/command.h"

static void serve(struct serve *s, const struct serve_source *source, int messages_fd)
{
	if (dup2(messages_fd, STDERR_FILENO) < 0)
		_exit(EXIT_FAILED);
	_exit(serve_add(s, source) || serve_run(s) ? EXIT_FAILED : EXIT_OK);
}

int top_server_start(struct top_server *t, const struct serve_options *opts,
		     const struct serve_source *source, int messages_fd)
{
	struct serve_options own = *opts;
	struct serve *s = NULL;
	int ends[2], err;

	*t = (struct top_server){ .lifeline = -1 };
	if (pipe2(ends, O_CLOEXEC)) {
		close(source->fd);
		return fail(-errno, "start a web server");
	}
	own.lifeline = ends[0];
	err = serve_open(&own, &s);
	if (!err) {
		snprintf(t->url, sizeof(t->url), "%s", serve_url(s));
		fflush(NULL);
		t->pid = fork();
		if (!t->pid) {
			close(ends[1]);
			serve(s, source, messages_fd);
		}
		if (t->pid < 0)
			err = fail(-errno, "start a web server");
	}
	serve_close(s);
	close(source->fd);
	close(ends[0]);
	t->lifeline = ends[1];
	if (err)
		top_server_stop(t);
	return err;
}

void top_server_stop(struct top_server *t)
{
	if (t->lifeline >= 0)
		close(t->lifeline);
	if (t->pid > 0)
		waitpid(t->pid, NULL, 0);
	*t = (struct top_server){ .lifeline = -1 };
}
