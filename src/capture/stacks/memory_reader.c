/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/memory_reader.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/child_forker.h"
#include "src/base/clock.h"
#include "src/base/helper_deaths.h"
#include "src/base/helper_process.h"
#include "src/base/task_state.h"
#include "src/capture/tables/user_costs.h"
#include "src/foreign/wait_budget.h"
#include "src/rights/recording_rights.h"

#define NAME "probee-memory"
#define ANSWER_NS (200 * NSEC_PER_MSEC)	/* of sleep */
#define BUSY_NS (2 * NSEC_PER_SEC)	/* in all: the machine is busy */
#define LOOK_MS 20
#define MAX_LEFT_BEHIND 8
#define HUNG_KEPT 64
#define HANGS_MAX 2			/* in one process, */
#define HUNG_NS (30 * NSEC_PER_SEC)	/* within so long */

struct request {
	uint64_t addr;
	uint32_t bytes;
	pid_t pid;
};

struct answer {
	uint32_t bytes;			/* 0: they cannot be read */
	uint8_t v[MEMORY_READER_BYTES];
};

struct memory_reader {
	struct child_forker *forker;	/* borrowed */
	struct user_costs *costs;	/* borrowed; NULL: not measured */
	struct answer answer;		/* the last one */
	pid_t child;			/* 0: none runs */
	int sock;
	struct left {
		pid_t child;		/* 0: none */
		pid_t pid;		/* the process whose memory it reads */
	} left[MAX_LEFT_BEHIND];
	struct hung {
		pid_t pid;
		uint64_t time_ns;
	} hung[HUNG_KEPT];		/* processes in which children hung, last ones */
	unsigned nr_hung;
	struct wait_budget *budget;
};

static void child_main(void)
{
	enum { SOCK = 3 };
	static struct answer a;
	struct request q;

	prctl(PR_SET_NAME, NAME);
	recording_rights_keep(ROLE_MEMORY);
	while (recv(SOCK, &q, sizeof(q), 0) == sizeof(q) && q.bytes <= sizeof(a.v)) {
		struct iovec to = { a.v, q.bytes }, from = { (void *)(uintptr_t)q.addr, q.bytes };
		ssize_t n = process_vm_readv(q.pid, &to, 1, &from, 1, 0);

		a.bytes = n == (ssize_t)q.bytes ? q.bytes : 0;
		if (send(SOCK, &a, offsetof(struct answer, v) + a.bytes, 0) < 0)
			break;
	}
	_exit(0);
}

struct memory_reader *memory_reader_new(struct child_forker *forker, struct user_costs *costs)
{
	struct memory_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->forker = forker;
	r->costs = costs;
	r->sock = -1;
	r->budget = wait_budget_new();
	if (r->budget)
		return r;
	free(r);
	return NULL;
}

static void end_child(struct memory_reader *r, bool hangs)
{
	if (r->sock >= 0)
		close(r->sock);
	r->sock = -1;
	helper_end(r->child, hangs);
	r->child = 0;
}

void memory_reader_free(struct memory_reader *r)
{
	if (!r)
		return;
	end_child(r, false);
	wait_budget_free(r->budget);
	free(r);
}

static struct left *free_place(struct memory_reader *r)
{
	for (unsigned i = 0; i < MAX_LEFT_BEHIND; i++)
		if (!r->left[i].child)
			return &r->left[i];
	return NULL;
}

static bool start_child(struct memory_reader *r)
{
	int sv[2];

	if (r->child > 0)
		return true;
	if (!free_place(r) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return false;
	r->child = child_forker_fork(r->forker, child_main, &sv[1], 1);
	close(sv[1]);
	r->sock = sv[0];
	if (r->child < 0)
		end_child(r, false);
	return r->child > 0;
}

/* A child that was left behind was killed as well, so it ends when what it waits for has come. */
static void take_back(struct memory_reader *r)
{
	for (unsigned i = 0; i < MAX_LEFT_BEHIND; i++)
		if (r->left[i].child && waitpid(r->left[i].child, NULL, WNOHANG))
			r->left[i].child = 0;
}

static bool is_left_alone(const struct memory_reader *r, pid_t pid)
{
	unsigned times = 0;
	uint64_t now = now_ns();

	for (unsigned i = 0; i < MAX_LEFT_BEHIND; i++)
		if (r->left[i].child && r->left[i].pid == pid)
			return true;
	for (unsigned i = 0; i < r->nr_hung && i < HUNG_KEPT; i++)
		times += r->hung[i].pid == pid && now < r->hung[i].time_ns + HUNG_NS;
	return times >= HANGS_MAX;
}

static void leave_behind(struct memory_reader *r, pid_t pid)
{
	struct left *place = free_place(r);

	assert(place);			/* else start_child() has started none */
	*place = (struct left){ r->child, pid };
	r->hung[r->nr_hung++ % HUNG_KEPT] = (struct hung){ pid, now_ns() };
}

/* How long an answer may be waited for, and how long it took. */
struct patience_of_read {
	uint64_t limit_ns;		/* of sleep */
	uint64_t slept_ns;
	uint64_t cpu_ns;		/* of the children */
	const atomic_bool *unwanted;	/* NULL: none */
};

/*
 * Waits for the child's answer. What counts against its time are the moments at which it sleeps: a
 * child that wants a CPU does not hang. 0; -ETIMEDOUT: it hangs; -EBUSY: it gets no CPU;
 * -ECANCELED.
 */
static int await_answer(const struct memory_reader *r, struct patience_of_read *p)
{
	struct pollfd pfd = { .fd = r->sock, .events = POLLIN };
	uint64_t until = now_ns() + BUSY_NS;

	while (poll(&pfd, 1, LOOK_MS) <= 0) {
		if (p->unwanted && atomic_load_explicit(p->unwanted, memory_order_relaxed))
			return -ECANCELED;
		if (!task_wants_cpu(r->child, r->child))
			p->slept_ns += LOOK_MS * NSEC_PER_MSEC;
		if (p->slept_ns >= p->limit_ns)
			return -ETIMEDOUT;
		if (now_ns() >= until)
			return -EBUSY;
	}
	return 0;
}

/* 0 and r->answer; an error of await_answer(); -EPIPE: the child has died. */
static int ask(struct memory_reader *r, const struct request *q, struct patience_of_read *p)
{
	struct answer *a = &r->answer;
	ssize_t got;
	int err;

	a->bytes = 0;
	if (send(r->sock, q, sizeof(*q), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	err = await_answer(r, p);
	if (err)
		return err;
	got = recv(r->sock, a, sizeof(*a), MSG_DONTWAIT);
	return got == (ssize_t)(offsetof(struct answer, v) + a->bytes) ? 0 : -EPIPE;
}

/* By somebody (SIGSTOP): that says nothing about the memory. */
static bool is_stopped(pid_t pid)
{
	char state = task_state(pid, pid);

	return state == 'T' || state == 't';
}

/* Lets go of a child that has not answered. -EPIPE: that is not because of what it was asked. */
static int give_up(struct memory_reader *r, pid_t pid, int err)
{
	int ended = err == -ETIMEDOUT && is_stopped(r->child) ? HELPER_END_STOPPED : 0;

	if (ended || err == -EPIPE)
		child_forker_bury(r->forker, NAME, &r->child, ended);
	else if (err == -ETIMEDOUT)
		leave_behind(r, pid);
	err = ended ? -EPIPE : err;
	end_child(r, err == -ETIMEDOUT);
	return err;
}

static int ask_once_more_if_it_died(struct memory_reader *r, const struct request *q,
				    struct patience_of_read *p)
{
	uint64_t cpu_ns;
	int err = -EPIPE;

	for (int try = 0; err == -EPIPE && try < 2; try++) {
		if (!start_child(r))
			return -EBUSY;
		p->slept_ns = 0;
		cpu_ns = process_cpu_ns(r->child);
		err = ask(r, q, p);
		p->cpu_ns += ns_before(process_cpu_ns(r->child), cpu_ns);
		if (err)
			err = give_up(r, q->pid, err);
	}
	return err;
}

int memory_reader_get(struct memory_reader *r, pid_t pid, uint64_t addr, void *buf, size_t bytes,
		      const atomic_bool *unwanted)
{
	struct request q = { addr, (uint32_t)bytes, pid };
	struct patience_of_read p = { .unwanted = unwanted };
	uid_t user;
	int err;

	assert(bytes <= MEMORY_READER_BYTES);
	take_back(r);
	if (is_left_alone(r, pid))
		return -EAGAIN;
	user = wait_budget_user(r->budget, pid, WAIT_BUDGET_NOBODY);
	p.limit_ns = wait_budget_ask(r->budget, user, now_ns(), ANSWER_NS);
	if (!p.limit_ns)
		return -EAGAIN;
	err = ask_once_more_if_it_died(r, &q, &p);
	(err == -ETIMEDOUT ? wait_budget_hung : wait_budget_pay)(r->budget, user, now_ns(),
								 p.slept_ns);
	user_costs_add(r->costs, user, p.cpu_ns);
	if (err)
		return -EAGAIN;
	if (r->answer.bytes != bytes)
		return -EFAULT;
	memcpy(buf, r->answer.v, bytes);
	return 0;
}

int memory_of_process(void *of, uint64_t addr, void *buf, size_t len)
{
	const struct memory_of_process *m = of;

	if (len > MEMORY_READER_BYTES)
		return -EFAULT;
	return memory_reader_get(m->reader, m->pid, addr, buf, len, m->unwanted);
}

unsigned memory_reader_hung(const struct memory_reader *r)
{
	return r->nr_hung;
}
