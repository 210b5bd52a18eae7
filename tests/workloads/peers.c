/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peers: processes that wait for others through all that has two ends. "ready PID" is followed by NAME=PID, who waits, and
 * NAME.peer=PID, the only process that holds the other end, for each pair below; NAME.peer=0: there is none to be found.
 * Each of them has one thread, and nobody else has a copy of its descriptors.
 */
#define _GNU_SOURCE	/* O_PATH, unshare() */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "ready.h"

enum { LAST_FD = 300, HUGE_FD = 1000000, MANY = 10000 };

typedef void (*act_fn)(int a, int b);
static char said[8192];

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void say(const char *name, const char *suffix, pid_t pid)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, " %s%s=%d", name, suffix, (int)pid);
}

/* A process that has a and b and no other descriptor. */
static pid_t start(const char *name, act_fn act, int a, int b)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	alarm(LIFETIME_S);
	for (int fd = 3; fd < LAST_FD; fd++)
		if (fd != a && fd != b)
			close(fd);
	act(a, b);
	for (;;)
		pause();
}

static void hold(int a, int b)
{
	(void)a;
	(void)b;
	for (;;)
		pause();
}

FRAME static void do_read(int a, int b)
{
	char c[16];

	(void)b;
	(void)!read(a, c, sizeof(c));
}

FRAME static void do_recv(int a, int b)
{
	char c[16];

	(void)b;
	recv(a, c, sizeof(c), 0);
}

FRAME static void do_fill(int a, int b)
{
	static char page[4096];

	(void)b;
	while (write(a, page, sizeof(page)) > 0)
		;
}

FRAME static void do_poll(int a, int b)
{
	struct pollfd p[2] = { { .fd = a, .events = POLLIN }, { .fd = b, .events = POLLIN } };

	poll(p, b < 0 ? 1 : 2, -1);
}

static void epoll_add(int ep, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	must(!epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), "epoll_ctl");
}

FRAME static void do_epoll(int a, int b)
{
	struct epoll_event e;
	int ep = epoll_create1(0);

	epoll_add(ep, a);
	if (b >= 0)
		epoll_add(ep, b);
	epoll_wait(ep, &e, 1, -1);
}

FRAME static void do_epoll_many(int a, int b)
{
	struct epoll_event e;
	int ep = epoll_create1(0), ev = eventfd(0, 0);

	(void)b;
	epoll_add(ep, a);
	for (int i = 1; i < MANY; i++) {
		int fd = dup(ev);

		if (fd < 0)
			break;
		epoll_add(ep, fd);
	}
	epoll_wait(ep, &e, 1, -1);
}

/* Both ends at numbers as high as they get. */
static int move_up(int fd)
{
	struct rlimit lim;
	int high;

	must(!getrlimit(RLIMIT_NOFILE, &lim), "getrlimit");
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	high = dup2(fd, lim.rlim_cur > HUGE_FD ? HUGE_FD : (int)lim.rlim_cur - 1);
	must(high >= 0, "dup2");
	close(fd);
	return high;
}

static void do_read_high(int a, int b)
{
	do_read(move_up(a), b);
}

static void hold_high(int a, int b)
{
	hold(move_up(a), b);
}

/* O_PATH opens nothing: this process does not hold the pipe. */
static void hold_path(int a, int b)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", a);
	must(open(path, O_PATH) >= 0, "O_PATH");
	close(a);
	hold(a, b);
}

static int to_close;

static void *close_it(void *arg)
{
	usleep(100000);
	close(to_close);
	return arg;
}

/* The descriptor is gone while the read goes on. */
static void do_read_closed(int a, int b)
{
	pthread_t t;

	to_close = a;
	pthread_create(&t, NULL, close_it, NULL);
	do_read(a, b);
}

/* Of a client and of a server: the server does not accept when b says so. */
static struct sockaddr_un abstract = { AF_UNIX, { 0 } };

static int unix_listener(const char *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(abstract.sun_path + 1, sizeof(abstract.sun_path) - 1, "probee-peers-%d-%s", (int)getpid(), name);
	must(!bind(fd, (void *)&abstract, sizeof(abstract)) && !listen(fd, 5), "unix listener");
	return fd;
}

static void do_accept_hold(int a, int b)
{
	(void)b;
	must(accept(a, NULL, NULL) >= 0, "accept");
	close(a);
	hold(-1, -1);
}

static void do_unix_client(int a, int b)
{
	(void)a;
	(void)b;
	a = socket(AF_UNIX, SOCK_STREAM, 0);
	must(!connect(a, (void *)&abstract, sizeof(abstract)), "connect");
	do_recv(a, -1);
}

static struct sockaddr_in6 tcp;
static socklen_t tcp_len;

static int tcp_listener(int family)
{
	int fd = socket(family, SOCK_STREAM, 0), one = 1;

	memset(&tcp, 0, sizeof(tcp));
	tcp.sin6_family = (sa_family_t)family;
	tcp_len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(tcp);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (void *)&tcp, tcp_len) || listen(fd, 5) || getsockname(fd, (void *)&tcp, &tcp_len))
		return -1;
	return fd;
}

/* To the loopback address of the listener's family, or by IPv4 to an IPv6 listener; from port b. */
static void do_tcp_client(int a, int b)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons((uint16_t)b) };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = tcp.sin6_port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int v6 = tcp.sin6_family == AF_INET6 && b != -4, fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);

	(void)a;
	tcp.sin6_addr = in6addr_loopback;
	if (b > 0)
		must(!bind(fd, (void *)&own, sizeof(own)), "tcp client");
	must(!connect(fd, v6 ? (void *)&tcp : (void *)&in, v6 ? sizeof(tcp) : sizeof(in)), "tcp connect");
	do_recv(fd, -1);
}

static void pair(const char *name, act_fn wait, int a, act_fn other, int b)
{
	char peer[32];

	snprintf(peer, sizeof(peer), "%.10s.peer", name);
	say(name, ".peer", start(peer, other, b, -1));
	say(name, "", start(name, wait, a, -1));
	close(a);
	close(b);
}

static void pipe_pair(const char *name, act_fn wait, act_fn other)
{
	int fds[2];

	must(!pipe(fds), "pipe");
	if (wait == do_fill)
		pair(name, wait, fds[1], other, fds[0]);
	else
		pair(name, wait, fds[0], other, fds[1]);
}

static void socket_pair(const char *name, int type, act_fn wait)
{
	int fds[2];

	must(!socketpair(AF_UNIX, type, 0, fds), "socketpair");
	pair(name, wait, fds[0], hold, fds[1]);
}

static void fifo_pair(void)
{
	int r, w;

	must(!mkfifo("fifo", 0600), "mkfifo");
	r = open("fifo", O_RDONLY | O_NONBLOCK);
	w = open("fifo", O_WRONLY);
	fcntl(r, F_SETFL, 0);
	pair("fifo", do_read, r, hold, w);
}

static uint16_t server_port;	/* network order */
static int client_port;

static int free_port(void)
{
	int fd = tcp_listener(AF_INET);

	must(fd >= 0, "tcp listener");
	close(fd);
	return ntohs(tcp.sin6_port);
}

static void servers(void)
{
	int fd = unix_listener("a"), v6;

	say("named", ".peer", start("named.peer", do_accept_hold, fd, -1));
	say("named", "", start("named", do_unix_client, -1, -1));
	close(fd);
	fd = unix_listener("b");
	say("unaccepted", ".peer", start("unaccepted.peer", hold, fd, -1));
	say("unaccepted", "", start("unaccepted", do_unix_client, -1, -1));
	close(fd);
	client_port = free_port();
	fd = tcp_listener(AF_INET);
	must(fd >= 0, "tcp listener");
	server_port = tcp.sin6_port;
	say("tcp", ".peer", start("tcp.peer", do_accept_hold, fd, -1));
	say("tcp", "", start("tcp", do_tcp_client, -1, client_port));
	close(fd);
	v6 = tcp_listener(AF_INET6);
	if (v6 < 0)
		return;
	say("mapped", ".peer", start("mapped.peer", do_accept_hold, v6, -1));
	say("mapped", "", start("mapped", do_tcp_client, -1, -4));
	close(v6);
	v6 = tcp_listener(AF_INET6);
	say("tcp6", ".peer", start("tcp6.peer", do_accept_hold, v6, -1));
	say("tcp6", "", start("tcp6", do_tcp_client, -1, -1));
	close(v6);
}

/* Other ends that nobody holds alone, or nobody at all. */
static void unknown_ends(void)
{
	struct iovec iov = { "x", 1 };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	int fds[2], sv[2], two[2];

	must(!pipe(fds), "pipe");	/* two writers */
	start("several.a", hold, fds[1], -1);
	start("several.b", hold, fds[1], -1);
	say("several", ".peer", 0);
	say("several", "", start("several", do_read, fds[0], -1));
	close(fds[0]);
	close(fds[1]);
	must(!pipe(fds) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sv), "pipe");	/* the writer's end is under way */
	memcpy(CMSG_DATA(&control.head), &fds[1], sizeof(int));
	must(sendmsg(sv[0], &msg, 0) == 1, "sendmsg");
	start("flight.sv", hold, sv[1], sv[0]);
	say("flight", ".peer", 0);
	say("flight", "", start("flight", do_read, fds[0], -1));
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(sv[i]);
	}
	must(!pipe(fds) && !pipe(two), "pipe");		/* whichever comes first */
	start("two.peer", hold, fds[1], two[1]);
	say("poll2", ".peer", 0);
	say("poll2", "", start("poll2", do_poll, fds[0], two[0]));
	say("epoll2", ".peer", 0);
	say("epoll2", "", start("epoll2", do_epoll, fds[0], two[0]));
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(two[i]);
	}
	must(!pipe(fds), "pipe");
	start("many.peer", hold, fds[1], -1);
	say("epollmany", ".peer", 0);
	say("epollmany", "", start("epollmany", do_epoll_many, fds[0], -1));
	close(fds[0]);
	close(fds[1]);
	must(!pipe(fds), "pipe");
	start("closed.peer", hold, fds[1], -1);
	say("closed", ".peer", 0);
	say("closed", "", start("closed", do_read_closed, fds[0], -1));
	close(fds[0]);
	close(fds[1]);
}

/* A path is no holder beside the real one. */
static void path_pair(void)
{
	int fds[2];

	must(!pipe(fds), "pipe");
	start("path", hold_path, fds[1], -1);
	pair("opath", do_read, fds[0], hold, fds[1]);
}

FRAME static void do_flock(int a, int b)
{
	(void)a;
	(void)b;
	flock(open("lock", O_RDWR), LOCK_EX);
}

static void hold_flock(int a, int b)
{
	must(!flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX), "flock");
	hold(a, b);
}

FRAME static void do_fcntl(int a, int b)
{
	struct flock l = { .l_type = F_WRLCK };

	(void)a;
	(void)b;
	fcntl(open("record", O_RDWR), F_SETLKW, &l);
}

static void hold_fcntl(int a, int b)
{
	struct flock l = { .l_type = F_WRLCK };

	must(!fcntl(open("record", O_RDWR | O_CREAT, 0600), F_SETLKW, &l), "fcntl");
	hold(a, b);
}

static void locks(void)
{
	say("flock", ".peer", start("flock.peer", hold_flock, -1, -1));
	say("fcntl", ".peer", start("fcntl.peer", hold_fcntl, -1, -1));
	usleep(100000);
	say("flock", "", start("flock", do_flock, -1, -1));
	say("fcntl", "", start("fcntl", do_fcntl, -1, -1));
}

static _Atomic int *shared;		/* pids that children of children tell */

FRAME static void do_wait_any(int a, int b)
{
	shared[0] = start("any.child", hold, -1, -1);
	wait4(-1, NULL, 0, NULL);
	(void)a;
	(void)b;
}

FRAME static void do_waitid(int a, int b)
{
	siginfo_t info;

	shared[1] = start("id.child", hold, -1, -1);
	waitid(P_PID, (id_t)shared[1], &info, WEXITED);
	(void)a;
	(void)b;
}

FRAME static void do_vfork(int a, int b)
{
	pid_t pid = vfork();

	if (!pid) {
		shared[2] = getpid();
		for (;;)
			pause();
	}
	(void)a;
	(void)b;
}

FRAME static void do_wait_two(int a, int b)
{
	start("two.child1", hold, -1, -1);
	start("two.child2", hold, -1, -1);
	wait4(-1, NULL, 0, NULL);
	(void)a;
	(void)b;
}

static void children(void)
{
	static const char *const names[] = { "waitany", "waitid", "vfork", "waittwo" };
	static const act_fn acts[] = { do_wait_any, do_waitid, do_vfork, do_wait_two };

	for (int i = 0; i < 4; i++)
		say(names[i], "", start(names[i], acts[i], -1, -1));
	usleep(200000);
	for (int i = 0; i < 4; i++)
		say(names[i], ".peer", shared[i]);
}

/* Two that read what the other one writes; and the one that waits for a child that has no room left. */
static void rings(void)
{
	int x[2], y[2];
	pid_t a, b;

	must(!pipe(x) && !pipe(y), "pipe");
	a = start("ring.a", do_read, x[0], y[1]);
	b = start("ring.b", do_read, y[0], x[1]);
	say("ringa", "", a);
	say("ringa", ".peer", b);
	say("ringb", "", b);
	say("ringb", ".peer", a);
	for (int i = 0; i < 2; i++) {
		close(x[i]);
		close(y[i]);
	}
	must(!pipe(x), "pipe");		/* reads what only itself could write */
	a = start("self", do_read, x[0], x[1]);
	say("self", "", a);
	say("self", ".peer", a);
	close(x[0]);
	close(x[1]);
}

static void do_subprocess(int a, int b)
{
	int fds[2];

	must(!pipe(fds), "pipe");
	shared[4] = start("sub.child", do_fill, fds[1], -1);
	close(fds[1]);
	waitpid(shared[4], NULL, 0);
	(void)a;
	(void)b;
}

/* In namespaces of its own: other pids, and the loopback device with the port that is in use outside, too. */
static void do_namespaces(int a, int b)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd, fds[2];

	(void)a;
	(void)b;
	must(!unshare(CLONE_NEWPID | CLONE_NEWNET), "unshare");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	must(!ioctl(fd, SIOCSIFFLAGS, &lo), "lo");
	close(fd);
	if (fork())
		hold(-1, -1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(!pipe(fds), "pipe");
	start("ns.peer", hold, fds[1], -1);
	start("ns.pipe", do_read, fds[0], -1);
	close(fds[0]);
	close(fds[1]);
	memset(&tcp, 0, sizeof(tcp));
	tcp.sin6_family = AF_INET;
	tcp.sin6_port = server_port;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	must(!bind(fd, (void *)&tcp, sizeof(struct sockaddr_in)) && !listen(fd, 5), "bind in the namespace");
	start("ns.tcppeer", do_accept_hold, fd, -1);
	start("ns.tcp", do_tcp_client, -1, client_port);
	close(fd);
	hold(-1, -1);
}

int main(void)
{
	pid_t sub;

	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pipe_pair("read", do_read, hold);
	pipe_pair("write", do_fill, hold);
	pipe_pair("poll", do_poll, hold);
	pipe_pair("epoll", do_epoll, hold);
	pipe_pair("high", do_read_high, hold_high);
	fifo_pair();
	socket_pair("stream", SOCK_STREAM, do_recv);
	socket_pair("seqpacket", SOCK_SEQPACKET, do_read);
	socket_pair("dgram", SOCK_DGRAM, do_recv);
	socket_pair("sendfull", SOCK_STREAM, do_fill);
	path_pair();
	servers();
	unknown_ends();
	locks();
	children();
	rings();
	sub = start("sub", do_subprocess, -1, -1);
	say("sub", "", sub);
	usleep(100000);
	say("sub", ".peer", shared[4]);
	say("subchild", "", shared[4]);
	say("subchild", ".peer", sub);
	start("ns", do_namespaces, -1, -1);
	usleep(400000);
	printf("ready %d%s\n", (int)getpid(), said);
	fflush(stdout);
	for (;;)
		pause();
}
