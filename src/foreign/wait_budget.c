/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/wait_budget.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/hash_index.h"
#include "src/base/io.h"
#include "src/proc/procfs.h"

#define MAX_SUBUID (16u << 20)
#define FREE_NS (5 * NSEC_PER_MSEC)
#define WINDOW_NS (10 * NSEC_PER_SEC)
#define BUDGET_NS (2500 * NSEC_PER_MSEC)	/* in each window */
#define TOTAL_NS (2 * BUDGET_NS)		/* of all users but root */
#define PAUSE_NS (10 * NSEC_PER_SEC)
#define MAX_LEVEL 6
#define SPENDERS 16
/* A process maps its libraries one after the other. */
#define USER_KNOWN_NS (100 * NSEC_PER_MSEC)

struct range {
	uid_t first, nr;
};

/* What a user has spent in the window that began at since_ns. */
struct spender {
	uid_t user;
	unsigned level;			/* pauses so far; the next one is this many times doubled */
	uint64_t since_ns, spent_ns;
	uint64_t paused_until_ns;
	uint64_t forget_ns;		/* nothing is known against him from then on */
};

struct wait_budget {
	struct range *ranges;		/* never change */
	size_t nr_ranges, cap_ranges;
	pthread_mutex_t lock;		/* of all that follows */
	struct spender v[SPENDERS], root, crowd, total;
	struct {
		pid_t pid;
		uid_t user;
		uint64_t until_ns;
	} last;
};

/* "name:first:number", as subuid(5) says. */
static void read_ranges(struct wait_budget *b, const char *text)
{
	struct range r, *slot;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (sscanf(line, "%*[^:\n]:%u:%u", &r.first, &r.nr) == 2 && r.nr &&
		    (slot = array_push(&b->ranges, &b->nr_ranges, &b->cap_ranges)))
			*slot = r;
}

struct wait_budget *wait_budget_new_with(const char *subuid)
{
	struct wait_budget *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	pthread_mutex_init(&b->lock, NULL);
	read_ranges(b, subuid);
	return b;
}

struct wait_budget *wait_budget_new(void)
{
	struct wait_budget *b;
	char *text;

	if (io_read_file("/etc/subuid", &text, MAX_SUBUID) < 0)
		return wait_budget_new_with("");
	b = wait_budget_new_with(text);
	free(text);
	return b;
}

void wait_budget_free(struct wait_budget *b)
{
	if (!b)
		return;
	pthread_mutex_destroy(&b->lock);
	free(b->ranges);
	free(b);
}

uid_t wait_budget_user_was(const struct wait_budget *b, uid_t real, uid_t effective)
{
	uid_t uid = wait_budget_number(real, effective);

	for (size_t i = 0; i < b->nr_ranges; i++)
		if (uid >= b->ranges[i].first && uid - b->ranges[i].first < b->ranges[i].nr)
			return b->ranges[i].first;
	return uid;
}

static uid_t user_of(const struct wait_budget *b, pid_t pid)
{
	struct proc_status status;

	return procfs_status(pid, &status)
		       ? WAIT_BUDGET_NOBODY
		       : wait_budget_user_was(b, status.real_uid, status.uid);
}

uid_t wait_budget_user(struct wait_budget *b, pid_t pid, uid_t owner)
{
	uint64_t now = now_ns();
	uid_t user;

	pthread_mutex_lock(&b->lock);
	if (b->last.pid != pid || b->last.until_ns < now) {
		b->last.pid = pid;
		b->last.user = user_of(b, pid);
		b->last.until_ns = now + USER_KNOWN_NS;
	}
	user = b->last.user;
	pthread_mutex_unlock(&b->lock);
	if (owner != WAIT_BUDGET_NOBODY && (!user || user == WAIT_BUDGET_NOBODY))
		user = wait_budget_user_was(b, owner, owner);
	return user;
}

uid_t wait_budget_file_system(uint64_t dev)
{
	return 1u << 31 | (uid_t)hash_u64(1, dev);
}

/* Where it is kept what user has spent: in a place of his own, if one is left. */
static struct spender *place_of(struct wait_budget *b, uid_t user, uint64_t now)
{
	struct spender *place = &b->crowd;

	if (!user)
		return &b->root;
	for (struct spender *s = b->v; s < b->v + SPENDERS; s++) {
		if (s->forget_ns <= now)
			place = s;
		else if (s->user == user)
			return s;
	}
	return place;
}

/* All users together have spent so much that an eighth of the time must do. */
static bool is_short(const struct wait_budget *b, uid_t user, uint64_t now)
{
	return user && b->total.paused_until_ns > now;
}

uint64_t wait_budget_ask(struct wait_budget *b, uid_t user, uint64_t now, uint64_t limit)
{
	pthread_mutex_lock(&b->lock);
	if (place_of(b, user, now)->paused_until_ns > now)
		limit = 0;
	else if (is_short(b, user, now))
		limit /= 8;
	pthread_mutex_unlock(&b->lock);
	return limit;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* He must behave for as long as the pause was before it is forgotten. */
static void begin_pause(struct spender *s, uint64_t now)
{
	uint64_t pause = PAUSE_NS << s->level;

	s->level += s->level < MAX_LEVEL;
	s->spent_ns = 0;
	s->paused_until_ns = now + pause;
	s->forget_ns = now + 2 * pause;
}

/* Adds to what is spent in the window. After a pause, a quarter of the budget must do. */
static void spend(struct spender *s, uint64_t now, uint64_t took, uint64_t budget)
{
	if (now - s->since_ns >= WINDOW_NS) {
		s->since_ns = now;
		s->spent_ns = 0;
	}
	s->spent_ns += took;
	s->forget_ns = later(s->forget_ns, s->since_ns + WINDOW_NS);
	if (s->spent_ns >= (s->level ? budget / 4 : budget))
		begin_pause(s, now);
}

/* price: what this user pays for the time that was lost. */
static void pay(struct wait_budget *b, uid_t user, uint64_t now, uint64_t took, uint64_t price)
{
	struct spender *s;

	pthread_mutex_lock(&b->lock);
	s = place_of(b, user, now);
	if (s->forget_ns <= now)
		*s = (struct spender){ .user = user };
	spend(s, now, price, is_short(b, user, now) ? BUDGET_NS / 16 : BUDGET_NS);
	if (b->total.forget_ns <= now)
		b->total = (struct spender){ 0 };
	if (user)
		spend(&b->total, now, took, TOTAL_NS);
	pthread_mutex_unlock(&b->lock);
}

void wait_budget_pay(struct wait_budget *b, uid_t user, uint64_t now, uint64_t took)
{
	if (took > FREE_NS)
		pay(b, user, now, took / 2, took / 2);
}

/* All of the budget: whoever has one file that hangs has more, and each may cost a scan. */
void wait_budget_hung(struct wait_budget *b, uid_t user, uint64_t now, uint64_t took)
{
	pay(b, user, now, took, user ? later(took, BUDGET_NS) : took);
}
