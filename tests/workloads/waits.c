/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits MODE [N]: threads that wait for what is known. "ready PID" is followed by KEY=VALUE words: the tids, addresses
 * and since when (CLOCK_MONOTONIC nanoseconds, taken by the thread just before it goes to wait: KEY.at).
 *
 *	deadlock N	N threads in a ring: each holds its mutex and wants the next one's	t0= .. tN-1=
 *	static		the same with two mutexes among the initialised variables	t0= t1=
 *	shared		the same with two in memory that processes share (a memfd)	t0= t1=
 *	convoy N	one sleeps with a mutex held, N want it			head= w0= .. wN-1=
 *	handover	as convoy 3; at SIGUSR1 the head lets go and the next one keeps the mutex
 *	others		a thread for each kind of wait below
 *	again		locks a mutex twice					t0=
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "ready.h"

enum { MAX = 4100 };

struct waiter {
	char name[24];
	void (*run)(struct waiter *w);
	pthread_mutex_t *have, *want;
	pthread_t thread;
	atomic_int tid;
	_Atomic uint64_t at;
};

static struct waiter waiters[MAX];
static int nr_waiters;
static pthread_barrier_t barrier;
static pthread_mutex_t *locks;		/* in anonymous memory, as malloc() gives it */
static pthread_mutex_t in_data[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

static uint64_t mono(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void now_waits(struct waiter *w)
{
	atomic_store(&w->at, mono());
}

static void *thread_main(void *arg)
{
	struct waiter *w = arg;

	pthread_setname_np(pthread_self(), w->name);
	atomic_store(&w->tid, (int)syscall(SYS_gettid));
	w->run(w);
	return NULL;
}

static struct waiter *add(const char *name, void (*run)(struct waiter *w), pthread_mutex_t *have, pthread_mutex_t *want)
{
	struct waiter *w = &waiters[nr_waiters++];

	snprintf(w->name, sizeof(w->name), "%s", name);
	w->run = run;
	w->have = have;
	w->want = want;
	return w;
}

static struct waiter *begin(struct waiter *w)
{
	if (pthread_create(&w->thread, NULL, thread_main, w)) {
		perror("pthread_create");
		exit(1);
	}
	while (!atomic_load(&w->tid))
		usleep(100);
	return w;
}

/* Everybody has its own before anybody wants another's. */
FRAME static void ring_wait(struct waiter *w)
{
	pthread_mutex_lock(w->have);
	pthread_barrier_wait(&barrier);
	now_waits(w);
	pthread_mutex_lock(w->want);
	NO_TAIL_CALL();
}

FRAME static void hold_and_sleep(struct waiter *w)
{
	pthread_mutex_lock(w->have);
	pthread_barrier_wait(&barrier);
	now_waits(w);
	for (;;)
		sleep(LIFETIME_S);
}

FRAME static void want_only(struct waiter *w)
{
	now_waits(w);
	pthread_mutex_lock(w->want);
	NO_TAIL_CALL();
}

static void ring(int n, pthread_mutex_t *m)
{
	char name[16];

	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		add(name, ring_wait, &m[i], &m[(i + 1) % n]);
	}
	for (int i = 0; i < n; i++)
		begin(&waiters[i]);
}

static pthread_mutex_t *in_memfd(void)
{
	size_t bytes = 2 * sizeof(pthread_mutex_t);
	int fd = memfd_create("locks", 0);
	pthread_mutexattr_t attr;
	pthread_mutex_t *m;

	if (fd < 0 || ftruncate(fd, (off_t)bytes)) {
		perror("waits: memfd");
		exit(1);
	}
	m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	for (int i = 0; i < 2; i++)
		pthread_mutex_init(&m[i], &attr);
	return m;
}

static void convoy(int n)
{
	char name[16];

	pthread_barrier_init(&barrier, NULL, 2);
	begin(add("head", hold_and_sleep, &locks[0], NULL));
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "w%d", i);
		begin(add(name, want_only, NULL, &locks[0]));
	}
}

FRAME static void hold_until_told(struct waiter *w)
{
	sigset_t told;
	int sig;

	sigemptyset(&told);
	sigaddset(&told, SIGUSR1);
	pthread_mutex_lock(w->have);
	pthread_barrier_wait(&barrier);
	now_waits(w);
	sigwait(&told, &sig);
	pthread_mutex_unlock(w->have);
	for (;;)
		sleep(LIFETIME_S);
}

FRAME static void want_and_keep(struct waiter *w)
{
	now_waits(w);
	pthread_mutex_lock(w->want);
	for (;;)
		sleep(LIFETIME_S);
}

static void handover(void)
{
	sigset_t told;

	sigemptyset(&told);
	sigaddset(&told, SIGUSR1);
	sigprocmask(SIG_BLOCK, &told, NULL);	/* for all threads */
	pthread_barrier_init(&barrier, NULL, 2);
	begin(add("head", hold_until_told, &locks[0], NULL));
	pthread_barrier_wait(&barrier);
	begin(add("w0", want_and_keep, NULL, &locks[0]));
	begin(add("w1", want_and_keep, NULL, &locks[0]));
	begin(add("w2", want_and_keep, NULL, &locks[0]));
}

FRAME static void lock_twice(struct waiter *w)
{
	pthread_mutex_lock(w->want);
	now_waits(w);
	pthread_mutex_lock(w->want);
	NO_TAIL_CALL();
}

/* ---- one of each ---- */

static pthread_mutex_t *pi, *robust, *recursive;
static pthread_cond_t *cond;
static pthread_rwlock_t *rwlock;
static sem_t *sem, free_slots;
static int pipe_fds[2], listener, epoll;
static pid_t child;

FRAME static void own_all(struct waiter *w)
{
	pthread_mutex_lock(pi);
	pthread_mutex_lock(robust);
	pthread_mutex_lock(recursive);
	pthread_rwlock_wrlock(rwlock);
	pthread_barrier_wait(&barrier);
	now_waits(w);
	for (;;)
		sleep(LIFETIME_S);
}

#define WAIT(name, call) \
	FRAME static void wait_##name(struct waiter *w) \
	{ \
		char c; \
		struct epoll_event event; \
		(void)c; \
		(void)event; \
		now_waits(w); \
		(void)!(call); \
		NO_TAIL_CALL(); \
	}

WAIT(pi, pthread_mutex_lock(pi))
WAIT(robust, pthread_mutex_lock(robust))
WAIT(recursive, pthread_mutex_lock(recursive))
WAIT(rdlock, pthread_rwlock_rdlock(rwlock))
WAIT(wrlock, pthread_rwlock_wrlock(rwlock))
WAIT(sem, sem_wait(sem))
WAIT(slot, sem_wait(&free_slots))
WAIT(join, pthread_join(waiters[0].thread, NULL))
WAIT(nanosleep, usleep(290 * 1000000u))
WAIT(pipe, read(pipe_fds[0], &c, 1))
WAIT(accept, accept(listener, NULL, NULL))
WAIT(epoll, epoll_wait(epoll, &event, 1, -1))
WAIT(wait4, waitpid(child, NULL, 0))

FRAME static void wait_cond(struct waiter *w)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&m);
	now_waits(w);
	pthread_cond_wait(cond, &m);
}

static void prepare(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(pi = &locks[0], &attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_NONE);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(robust = &locks[1], &attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_STALLED);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(recursive = &locks[2], &attr);
	pthread_cond_init(cond = (void *)&locks[8], NULL);
	pthread_rwlock_init(rwlock = (void *)&locks[12], NULL);
	sem_init(sem = (void *)&locks[16], 0, 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	epoll = epoll_create1(0);
	if (pipe(pipe_fds) || bind(listener, (void *)&any, sizeof(any)) || listen(listener, 1) || epoll < 0) {
		perror("waits");
		exit(1);
	}
	child = fork();
	if (!child) {
		alarm(LIFETIME_S);
		for (;;)
			pause();
	}
}

static void others(void)
{
	static const struct {
		const char *name;
		void (*run)(struct waiter *w);
	} kinds[] = {
		{ "pi", wait_pi }, { "robust", wait_robust }, { "recursive", wait_recursive }, { "cond", wait_cond },
		{ "rdlock", wait_rdlock }, { "wrlock", wait_wrlock }, { "sem", wait_sem }, { "join", wait_join },
		{ "nanosleep", wait_nanosleep }, { "pipe", wait_pipe }, { "accept", wait_accept },
		{ "epoll", wait_epoll }, { "wait4", wait_wait4 }, { "slot", wait_slot },
	};

	prepare();
	pthread_barrier_init(&barrier, NULL, 2);
	begin(add("owner", own_all, NULL, NULL));
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		begin(add(kinds[i].name, kinds[i].run, NULL, NULL));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 2;

	if (n < 1 || n > MAX - 1)
		return 2;
	locks = mmap(NULL, MAX * sizeof(*locks), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(mode, "deadlock"))
		ring(n, locks);
	else if (!strcmp(mode, "static"))
		ring(2, in_data);
	else if (!strcmp(mode, "shared"))
		ring(2, in_memfd());
	else if (!strcmp(mode, "convoy"))
		convoy(n);
	else if (!strcmp(mode, "handover"))
		handover();
	else if (!strcmp(mode, "again"))
		begin(add("t0", lock_twice, NULL, &locks[0]));
	else if (!strcmp(mode, "others"))
		others();
	else
		return 2;
	usleep(100000);		/* from the last clock_gettime() into the kernel */
	alarm(LIFETIME_S);
	printf("ready %d", (int)getpid());
	for (int i = 0; i < nr_waiters; i++)
		printf(" %s=%d %s.at=%llu", waiters[i].name, (int)waiters[i].tid, waiters[i].name,
		       (unsigned long long)waiters[i].at);
	printf(" lock=%p child=%d pipe_end=%d\n", (void *)locks, (int)child, pipe_fds[0]);
	fflush(stdout);
	for (;;)
		pause();
}
