/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/export_files.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/fd_message.h"
#include "src/base/helper_process.h"
#include "src/tui/export_server.h"

int export_files_open(struct export_files *e, const struct export_from *from)
{
	int fds[2];

	*e = (struct export_files){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return fail(-errno, "start a process that opens files");
	e->pid = helper_fork((int[]){ fds[1], from->fd }, from->fd >= 0 ? 2 : 1);
	if (!e->pid)
		export_serve(from, from->fd >= 0);
	close(fds[1]);
	if (e->pid < 0) {
		close(fds[0]);
		return fail((int)e->pid, "start a process that opens files");
	}
	e->fd = fds[0];
	return 0;
}

/* One answer; fd is set if it came with a descriptor. */
static int take_answer(const struct export_files *e, int flags, struct export_answer *a, int *fd)
{
	struct fd_message m;
	ssize_t n;

	fd_message_init(&m, a, sizeof(*a));
	n = fd_message_receive(e->fd, &m, flags);
	*fd = n >= 0 ? fd_message_take_one(&m) : -1;
	if (n == -EAGAIN)
		return -EAGAIN;
	if (n != sizeof(*a))
		return -EPIPE;
	a->news.text[sizeof(a->news.text) - 1] = 0;
	return 0;
}

static int ask(const struct export_files *e, struct export_request *q, const char *name, int *fd)
{
	struct export_answer a;
	int err;

	if (e->fd < 0 || !name[0] || strlen(name) >= sizeof(q->name))
		return -EINVAL;
	if (e->is_busy)
		return -EBUSY;
	memcpy(q->name, name, strlen(name));
	if (send(e->fd, q, sizeof(*q), MSG_NOSIGNAL) != sizeof(*q))
		return -EPIPE;
	err = take_answer(e, 0, &a, fd);
	return err ? err : a.result;
}

int export_files_make(struct export_files *e, const char *name)
{
	struct export_request q = { .word = EXPORT_MAKE };
	int fd = -1, err = ask(e, &q, name, &fd);

	if (err && fd >= 0)
		close(fd);
	return err ? err : fd < 0 ? -EPIPE : fd;
}

int export_files_begin(struct export_files *e, const char *name, const struct sample_wish *wish)
{
	struct export_request q = { .word = EXPORT_SAMPLES, .wish = *wish };
	int fd = -1, err = ask(e, &q, name, &fd);

	if (fd >= 0)
		close(fd);
	e->is_busy |= !err;
	return err;
}

bool export_files_news(struct export_files *e, struct export_news *news)
{
	struct export_answer a;
	bool is_new = false;
	int err = 0, fd;

	while (e->is_busy && !err) {
		err = take_answer(e, MSG_DONTWAIT, &a, &fd);
		if (fd >= 0)
			close(fd);
		if (err == -EAGAIN)
			break;
		*news = err ? (struct export_news){ .is_over = true, .result = err } : a.news;
		is_new = true;
		e->is_busy = !news->is_over;
	}
	return is_new;
}

void export_files_cancel(struct export_files *e)
{
	const struct export_request q = { .word = EXPORT_CANCEL };

	if (e->is_busy)
		send(e->fd, &q, sizeof(q), MSG_NOSIGNAL);
}

void export_files_close(struct export_files *e)
{
	if (e->fd >= 0) {
		close(e->fd);
		helper_await(e->pid);
	}
	e->fd = -1;
}
