/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/waits/idle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_place.h"

#define LOOK_AT 12			/* functions of the kernel at most */

/* Functions of the kernel in which a thread waits that has nothing to do. */
static const struct {
	const char *function;
	enum idle idle;
} places[] = {
	{ "ep_poll", IDLE_EVENTS },		{ "do_epoll_wait", IDLE_EVENTS },
	{ "do_sys_poll", IDLE_EVENTS },		{ "do_poll", IDLE_EVENTS },
	{ "do_select", IDLE_EVENTS },		{ "core_sys_select", IDLE_EVENTS },
	{ "io_cqring_wait", IDLE_EVENTS },	{ "read_events", IDLE_EVENTS },
	{ "inotify_read", IDLE_EVENTS },	{ "eventfd_read", IDLE_EVENTS },
	{ "fanotify_read", IDLE_EVENTS },	{ "perf_poll", IDLE_EVENTS },
	{ "inet_csk_accept", IDLE_CONNECTION },	{ "unix_accept", IDLE_CONNECTION },
	{ "do_accept", IDLE_CONNECTION },	{ "vsock_accept", IDLE_CONNECTION },
	{ "hrtimer_nanosleep", IDLE_TIME },	{ "do_nanosleep", IDLE_TIME },
	{ "common_nsleep", IDLE_TIME },		{ "timerfd_read", IDLE_TIME },
	{ "timerfd_read_iter", IDLE_TIME },
	{ "do_sigtimedwait", IDLE_SIGNAL },	{ "sigsuspend", IDLE_SIGNAL },
	{ "__do_sys_pause", IDLE_SIGNAL },	{ "__x64_sys_pause", IDLE_SIGNAL },
	{ "signalfd_dequeue", IDLE_SIGNAL },	{ "signalfd_read_iter", IDLE_SIGNAL },
	{ "fuse_dev_do_read", IDLE_WORK },
};

const char *idle_name(enum idle idle)
{
	static const char *const names[IDLE_KINDS] = {
		[IDLE_EVENTS] = "events", [IDLE_CONNECTION] = "connections",
		[IDLE_TIME] = "time", [IDLE_SIGNAL] = "signals", [IDLE_WORK] = "work",
	};

	return idle < IDLE_KINDS ? names[idle] : NULL;
}

static enum idle place_of(const char *name)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (wait_place_is(name, places[i].function))
			return places[i].idle;
	return IDLE_NOT;
}

static enum idle look_at_kernel(const struct definition_store *t, uint32_t kstack)
{
	const struct table_node *n;
	char buf[FRAME_TEXT_MAX];
	enum idle idle = IDLE_NOT;
	struct frame_view v;

	for (int i = 0; i < LOOK_AT && kstack && !idle; i++) {
		n = definition_store_find_node(t, kstack);
		if (!n)
			break;
		definition_store_frame_view(t, n->frame, 0, buf, &v);
		idle = v.named ? place_of(v.name) : IDLE_NOT;
		kstack = n->parent;
	}
	return idle;
}

/* The place of a node in a cache of answers. NULL: out of memory. */
static uint8_t *answer_of(uint8_t **v, size_t *cap, uint32_t node)
{
	size_t before = *cap;

	if (array_reserve(v, cap, (size_t)node + 1))
		return NULL;
	if (*cap > before)
		memset(*v + before, 0, *cap - before);
	return &(*v)[node];
}

static enum idle kernel_answer(struct idle_cache *c, uint32_t kstack)
{
	uint8_t *a = answer_of(&c->kernel, &c->cap_kernel, kstack);

	if (a && !*a)
		*a = (uint8_t)(look_at_kernel(c->t, kstack) + 1);
	return a ? *a - 1 : IDLE_NOT;
}

/* IDLE_KINDS: the thread has work under way, whatever the kernel's functions are. */
static unsigned look_at_user(const struct definition_store *t, uint32_t ustack)
{
	if (wait_is_for_answer(t, ustack))
		return IDLE_KINDS;
	return wait_is_for_work(t, ustack, IDLE_DEPTH) ? IDLE_WORK : IDLE_NOT;
}

static unsigned user_answer(struct idle_cache *c, uint32_t ustack)
{
	uint8_t *a = answer_of(&c->user, &c->cap_user, ustack);

	if (a && !*a)
		*a = (uint8_t)(look_at_user(c->t, ustack) + 1);
	return a ? *a - 1u : IDLE_NOT;
}

bool event_says_sleep(const struct rec_event *e)
{
	return e && (e->kind == EVENT_SCHED || e->kind == EVENT_SNAPSHOT);
}

/* Rows of snapshots, and intervals off the CPU. */
static bool says_sleep(const struct definition_store *t, const struct rec_sample *rec)
{
	if (rec->state != TASK_SLEEPING && rec->state != TASK_IDLE)
		return false;
	return rec->scan || event_says_sleep(definition_store_find_event(t, rec->event));
}

enum idle idle_of_sleeper(struct idle_cache *c, const struct definition_store *t,
			  const struct sleeper *s)
{
	enum idle in_kernel;
	unsigned in_program;

	if (c->t != t) {
		idle_cache_release(c);
		c->t = t;
	}
	if (s->end == END_KTHREAD)
		return IDLE_WORK;
	in_kernel = s->kstack ? kernel_answer(c, s->kstack) : IDLE_NOT;
	in_program = s->ustack ? user_answer(c, s->ustack) : IDLE_NOT;
	if (in_program == IDLE_KINDS)
		return IDLE_NOT;
	return in_kernel ? in_kernel : (enum idle)in_program;
}

enum idle idle_of(struct idle_cache *c, const struct definition_store *t,
		  const struct rec_sample *rec)
{
	const struct sleeper s = { rec->kstack, rec->ustack, rec->end };

	/* A lock by its variable: the functions on the stack do not tell it from a condition. */
	if (!says_sleep(t, rec) || wait_lock_of_variable(t, rec))
		return IDLE_NOT;
	return idle_of_sleeper(c, t, &s);
}

void idle_cache_release(struct idle_cache *c)
{
	free(c->kernel);
	free(c->user);
	*c = (struct idle_cache){ 0 };
}
