/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/stop_signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/task_state.h"

#define SAME_STOP_NS (100 * NSEC_PER_MSEC)
#define LAST_NS (100 * NSEC_PER_MSEC)
#define URGENT_NS NSEC_PER_SEC
#define LOOK_NS (100 * NSEC_PER_MSEC)
#define IDLE_NS (LOOK_NS / 20)		/* who computes less between two looks only waits */
#define IDLE_LOOKS 5
#define PAUSE_NS (5 * NSEC_PER_MSEC)	/* in which any number of SIGCHLD become one */

struct stop_watch {
	struct stop_limit limit;
	int fd;
	sigset_t set;
	pthread_t thread;
	bool is_closing;		/* written before the thread is woken */
	sem_t closing;			/* posted then, and ends its pause */
	_Atomic uint64_t first_ns;	/* when the first stop signal came; 0: none has come */
	int first;			/* its number */
	/* The watched thread. */
	pid_t tid;
	clockid_t clock;
	uint64_t cpu_ns;		/* as of the last look */
	uint64_t looked_ns;		/* when that was */
	unsigned idle_looks;		/* in a row */
	/* The thread that does what is done last. */
	pthread_t closer;
	sem_t go;
	const char *said;
	atomic_bool is_done;
};

/* ---- the end by force ---- */

static void *closer_main(void *arg)
{
	struct stop_watch *w = arg;

	if (w->limit.begin)
		w->limit.begin();
	while (sem_wait(&w->go) < 0 && errno == EINTR)
		;
	if (!w->is_closing && w->limit.last)
		w->said = w->limit.last(w->limit.ctx);
	atomic_store(&w->is_done, true);
	return NULL;
}

static void do_last(struct stop_watch *w)
{
	uint64_t until = now_ns() + LAST_NS;

	sem_post(&w->go);
	while (!atomic_load(&w->is_done) && now_ns() < until)
		nanosleep(&(struct timespec){ .tv_nsec = NSEC_PER_MSEC }, NULL);
}

/* A terminal or pipe that takes nothing must not delay the end. */
static bool may_be_told(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & POLLOUT;
}

static _Noreturn void end_by_force(struct stop_watch *w, int sig, const char *why)
{
	const char *said;

	do_last(w);
	said = atomic_load(&w->is_done) ? w->said : "what was to be written last is missing";
	if (may_be_told())
		fail_why(0, "SIG%s: %s, so probee was ended by force%s%s", sigabbrev_np(sig), why,
			 said ? ": " : "", said ? said : "");
	_exit(128 + sig);
}

/* ---- the watch ---- */

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void look_at_thread(struct stop_watch *w)
{
	uint64_t cpu = cpu_ns(w->clock);
	bool is_idle = cpu - w->cpu_ns < IDLE_NS && !task_wants_cpu(getpid(), w->tid);

	w->idle_looks = is_idle ? w->idle_looks + 1 : 0;
	w->cpu_ns = cpu;
}

static void wake(const struct stop_watch *w)
{
	uint64_t one = 1;

	if (write(w->fd, &one, sizeof(one)) < 0)
		return;		/* the counter is full, so the descriptor is readable anyway */
}

static void take_stop(struct stop_watch *w, int sig)
{
	uint64_t now = now_ns();

	if (!w->first_ns) {
		w->first = sig;
		w->cpu_ns = cpu_ns(w->clock);
		w->looked_ns = now;
		w->first_ns = now;
	} else if (now - w->first_ns > SAME_STOP_NS) {
		end_by_force(w, sig, "the second signal");
	}
}

/*
 * Looks are counted and not only time: the whole process may have been stopped for longer than the
 * limit.
 */
static void look(struct stop_watch *w)
{
	w->looked_ns = now_ns();
	look_at_thread(w);
	if (w->limit.after_ns && now_ns() - w->first_ns >= w->limit.after_ns &&
	    w->idle_looks >= IDLE_LOOKS)
		end_by_force(w, w->first, "something did not end in time");
}

/* A helper's end is a SIGCHLD as well, and the last one comes just before the close. */
static void take_a_pause(struct stop_watch *w)
{
	uint64_t until = now_ns() + PAUSE_NS;
	struct timespec ts = { (time_t)(until / NSEC_PER_SEC), (long)(until % NSEC_PER_SEC) };

	sem_clockwait(&w->closing, CLOCK_MONOTONIC, &ts);
}

/*
 * Any process of the same user, also the recorded command, may send SIGCHLD without end. The watch
 * therefore pauses after each one, so that a flood of them neither keeps it from looking nor wakes
 * the watched thread all the time.
 */
static void *watch_main(void *arg)
{
	const struct timespec look_pause = { .tv_nsec = LOOK_NS };
	struct stop_watch *w = arg;

	if (w->limit.begin)
		w->limit.begin();
	for (;;) {
		int sig = sigtimedwait(&w->set, NULL, w->first_ns ? &look_pause : NULL);

		if (w->is_closing)
			return NULL;
		if (sig > 0 && sig != SIGCHLD)
			take_stop(w, sig);
		if (sig > 0)
			wake(w);
		if (sig == SIGCHLD)
			take_a_pause(w);
		if (w->first_ns && now_ns() - w->looked_ns >= LOOK_NS)
			look(w);
	}
}

/* ---- what the watched thread calls ---- */

static void stop_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

static int start_threads(struct stop_watch *w)
{
	int err = pthread_create(&w->closer, NULL, closer_main, w);

	if (err)
		return -err;
	err = pthread_create(&w->thread, NULL, watch_main, w);
	if (!err)
		return 0;
	w->is_closing = true;
	sem_post(&w->go);
	pthread_join(w->closer, NULL);
	return -err;
}

int stop_signals_open(struct stop_signals *s, const struct stop_limit *limit)
{
	struct stop_watch *w = calloc(1, sizeof(*w));
	int err;

	*s = (struct stop_signals){ .fd = -1 };
	if (!w)
		return fail(-ENOMEM, "wait for signals");
	if (limit)
		w->limit = *limit;
	w->tid = gettid();
	pthread_getcpuclockid(pthread_self(), &w->clock);
	stop_set(&w->set);
	sigaddset(&w->set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &w->set, NULL);
	sem_init(&w->go, 0, 0);
	sem_init(&w->closing, 0, 0);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = w->fd < 0 ? -errno : start_threads(w);
	if (!err) {
		s->fd = w->fd;
		s->watch = w;
		return 0;
	}
	if (w->fd >= 0)
		close(w->fd);
	free(w);
	return fail(err, "wait for signals");
}

void stop_signals_read(struct stop_signals *s)
{
	uint64_t n;

	if (read(s->fd, &n, sizeof(n)) < 0)
		n = 0;		/* no signal has come since the last call */
	s->stopped = s->watch->first_ns != 0;
}

uint64_t stop_signals_left_ns(const struct stop_signals *s)
{
	uint64_t first = s->watch ? s->watch->first_ns : 0, passed;

	if (!first)
		return UINT64_MAX;
	passed = now_ns() - first;
	return passed < STOP_AFTER_NS ? STOP_AFTER_NS - passed : 0;
}

bool stop_signals_urgent(const struct stop_signals *s)
{
	return stop_signals_left_ns(s) <= STOP_AFTER_NS - URGENT_NS;
}

/* So that the second half of a signal (SAME_STOP_NS) does not come when nobody takes it. */
static void wait_for_same(const struct stop_watch *w)
{
	uint64_t now;

	while (w->first_ns && (now = now_ns()) < w->first_ns + SAME_STOP_NS)
		poll(NULL, 0, (int)((w->first_ns + SAME_STOP_NS - now) / NSEC_PER_MSEC) + 1);
}

/* The signals are unblocked last: one that comes now finds no watch, and ends the program. */
void stop_signals_close(struct stop_signals *s)
{
	struct stop_watch *w = s->watch;

	if (!w)
		return;
	wait_for_same(w);
	w->is_closing = true;
	sem_post(&w->closing);
	pthread_kill(w->thread, SIGCHLD);
	sem_post(&w->go);
	pthread_join(w->thread, NULL);
	pthread_join(w->closer, NULL);
	stop_set(&w->set);
	pthread_sigmask(SIG_UNBLOCK, &w->set, NULL);
	close(w->fd);
	sem_destroy(&w->go);
	sem_destroy(&w->closing);
	free(w);
	*s = (struct stop_signals){ .fd = -1 };
}

void stop_signals_default(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}
