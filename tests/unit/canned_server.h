/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A web server in a process of its own that answers requests with texts from a list, and counts
 * them. The n-th request gets the n-th answer, then the last one again and again.
 *
 *	canned_start(&c, answers)	NULL-terminated; an answer NULL-terminates nothing by itself
 *	c.port, c.seen->nr, c.seen->body[i]
 *	canned_stop(&c)
 *
 * An answer that is "" closes the connection; one that is "hang" says nothing.
 */
#pragma once

#include <arpa/inet.h>
#include <assert.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNED_SEEN = 64, CANNED_TEXT = 4096 };

struct canned_seen {
	volatile unsigned nr;
	char head[CANNED_SEEN][CANNED_TEXT];
	char body[CANNED_SEEN][CANNED_TEXT];
};

struct canned {
	pid_t pid;
	unsigned port;
	int sock;
	struct canned_seen *seen;
};

/* One request; false: the client is gone. */
static bool canned_read(int fd, struct canned_seen *seen)
{
	static char buf[1 << 20];
	size_t n = 0, len = 0, head = 0;
	char *end, *field;

	for (;;) {
		ssize_t k = read(fd, buf + n, sizeof(buf) - 1 - n);

		if (k <= 0)
			return false;
		n += (size_t)k;
		buf[n] = 0;
		end = head ? buf + head : strstr(buf, "\r\n\r\n");
		if (end && !head) {
			head = (size_t)(end - buf) + 4;
			field = strcasestr(buf, "Content-Length:");
			len = field ? strtoul(field + 15, NULL, 10) : 0;
		}
		if (head && n >= head + len)
			break;
	}
	assert(seen->nr < CANNED_SEEN);
	snprintf(seen->head[seen->nr], CANNED_TEXT, "%.*s", (int)head, buf);
	snprintf(seen->body[seen->nr], CANNED_TEXT, "%.*s", (int)len, buf + head);
	seen->nr++;
	return true;
}

static void canned_serve(int sock, struct canned_seen *seen, const char *const *answers)
{
	for (;;) {
		int fd = accept(sock, NULL, NULL);
		unsigned n = 0;

		while (fd >= 0 && canned_read(fd, seen)) {
			for (n = 0; n + 1 < seen->nr && answers[n + 1];)
				n++;
			if (!strcmp(answers[n], "hang"))
				pause();
			if (!*answers[n] || write(fd, answers[n], strlen(answers[n])) < 0)
				break;
		}
		close(fd);
	}
}

static inline void canned_start(struct canned *c, const char *const *answers)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);

	c->seen = mmap(NULL, sizeof(*c->seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	c->sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert(c->seen != MAP_FAILED && c->sock >= 0);
	assert(!bind(c->sock, (struct sockaddr *)&a, sizeof(a)) && !listen(c->sock, 8));
	assert(!getsockname(c->sock, (struct sockaddr *)&a, &len));
	c->port = ntohs(a.sin_port);
	c->pid = fork();
	assert(c->pid >= 0);
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		canned_serve(c->sock, c->seen, answers);
	}
	close(c->sock);
}

static inline void canned_stop(struct canned *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	munmap(c->seen, sizeof(*c->seen));
}
