/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/helper_process.h"

enum { QUESTIONS = 3, ANSWER_MS = 300 };	/* the descriptor in the process that reads */

static uint64_t resident_bytes(uint32_t pid)
{
	char path[32], text[128] = "";
	uint64_t pages;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return UINT64_MAX;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0 || sscanf(text, "%*s %" SCNu64, &pages) != 1)
		return UINT64_MAX;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void answer(int (*shut_in)(void))
{
	uint32_t pids[MEMORY_ASKED];
	uint64_t bytes[MEMORY_ASKED];
	ssize_t n;

	if (shut_in && shut_in())
		_exit(1);
	while ((n = recv(QUESTIONS, pids, sizeof(pids), 0)) > 0) {
		size_t nr = (size_t)n / sizeof(*pids);

		for (size_t i = 0; i < nr; i++)
			bytes[i] = resident_bytes(pids[i]);
		if (send(QUESTIONS, bytes, nr * sizeof(*bytes), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

int process_memory_open(struct process_memory *m, int (*shut_in)(void))
{
	int fds[2];

	*m = (struct process_memory){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return fail(-errno, "start a process that reads how much memory others have");
	m->pid = helper_fork((int[]){ fds[1] }, 1);
	if (!m->pid)
		answer(shut_in);
	close(fds[1]);
	if (m->pid < 0) {
		int err = (int)m->pid;

		close(fds[0]);
		*m = (struct process_memory){ .fd = -1 };
		return fail(err, "start a process that reads how much memory others have");
	}
	m->fd = fds[0];
	return 0;
}

bool process_memory_ask(struct process_memory *m, const uint32_t *pids, size_t nr,
			uint64_t *bytes)
{
	struct pollfd p = { .fd = m->fd, .events = POLLIN };
	size_t size = nr * sizeof(*bytes);

	if (m->pid <= 0 || !nr || nr > MEMORY_ASKED)
		return false;
	if (send(m->fd, pids, nr * sizeof(*pids), MSG_NOSIGNAL) < 0 ||
	    poll(&p, 1, ANSWER_MS) != 1 || recv(m->fd, bytes, size, 0) != (ssize_t)size) {
		process_memory_close(m);
		return false;
	}
	return true;
}

/* It ends by itself when the socket does. */
void process_memory_close(struct process_memory *m)
{
	if (m->pid > 0) {
		close(m->fd);
		helper_await(m->pid);
	}
	*m = (struct process_memory){ .fd = -1 };
}
