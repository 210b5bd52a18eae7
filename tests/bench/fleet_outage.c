/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_outage [NAME=NUMBER]...: what a receiver sees of many agents when it comes back, without
 * waiting for it: a simulation of events with the waits of src/push/push_retry.c, in which nothing
 * is sent.
 *
 *	agents=10000 window_s=15
 *	outage_s=600		so long the receiver takes nothing
 *	limit=0			so many requests it takes in a second from then on; 0:
 *				twice what the agents make. Those above are answered 429
 *	retry_after_s=0		what a 429 asks for; 0: nothing
 *	wish=10			percent of that by which an agent comes later, at random
 *	answer_ms=50		until each answer
 *	jitter=1		0: windows of all agents end at once, and waits are not random
 *	most_s=300		the longest wait
 *
 * Each agent has the next window every window_s, keeps those that were not taken in a spool, and
 * sends them one behind the other, the oldest first. Prints a name and a number a line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/push/push_retry.h"

enum { AGENTS, WINDOW_S, OUTAGE_S, LIMIT, RETRY_AFTER_S, WISH, ANSWER_MS, JITTER, MOST_S, NUMBERS };
enum { MOST_SECONDS = 4 * 3600 };	/* what takes longer is not followed */

struct agent {
	struct push_retry retry;
	uint64_t offset_ns;		/* end of its first window */
	uint64_t sent;
};

struct event {
	uint64_t time_ns;
	uint32_t agent;
};

struct fleet {
	uint64_t number[NUMBERS];
	uint64_t seed, limit;
	struct agent *agents;
	struct event *heap;		/* the next one first */
	size_t nr;
	uint64_t *attempts, *taken;	/* by second */
	uint64_t *tenths;		/* attempts, by 100 ms */
	uint64_t refused, failed;
	uint64_t oldest_ns;		/* when it was taken */
	uint64_t most_waiting;		/* windows of one agent */
	uint64_t caught_up_ns;		/* no agent has more than one window from here on */
	uint64_t behind;		/* agents that have more */
	bool *is_behind;
};

static uint64_t random_below(struct fleet *f, uint64_t limit)
{
	f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
	return limit ? (f->seed >> 20) % limit : 0;
}

/* ---- the order of events ---- */

static void swap(struct event *a, struct event *b)
{
	struct event c = *a;

	*a = *b;
	*b = c;
}

static void sift_down(struct fleet *f)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < f->nr) {
		if (child + 1 < f->nr && f->heap[child + 1].time_ns < f->heap[child].time_ns)
			child++;
		if (f->heap[at].time_ns <= f->heap[child].time_ns)
			return;
		swap(&f->heap[at], &f->heap[child]);
		at = child;
	}
}

static void add_event(struct fleet *f, uint64_t time_ns, uint32_t agent)
{
	size_t at = f->nr++;

	f->heap[at] = (struct event){ time_ns, agent };
	for (; at && f->heap[at].time_ns < f->heap[(at - 1) / 2].time_ns; at = (at - 1) / 2)
		swap(&f->heap[at], &f->heap[(at - 1) / 2]);
}

/* ---- agents ---- */

static uint64_t seconds(const struct fleet *f, int which)
{
	return f->number[which] * NSEC_PER_SEC;
}

static uint64_t waiting(const struct fleet *f, const struct agent *a, uint64_t now)
{
	if (now < a->offset_ns)
		return 0;
	return (now - a->offset_ns) / seconds(f, WINDOW_S) + 1 - a->sent;
}

static void note_waiting(struct fleet *f, uint32_t i, uint64_t now)
{
	uint64_t nr = waiting(f, &f->agents[i], now);
	bool is_behind = nr > 1;

	if (nr > f->most_waiting)
		f->most_waiting = nr;
	if (is_behind != f->is_behind[i])
		f->behind += is_behind ? 1 : (uint64_t)-1;
	f->is_behind[i] = is_behind;
	if (!f->behind && !f->caught_up_ns && now > seconds(f, OUTAGE_S))
		f->caught_up_ns = now;
}

static void begin_retry(struct fleet *f, struct agent *a, uint64_t now)
{
	const struct push_retry_policy p = { NSEC_PER_SEC, seconds(f, MOST_S), UINT64_MAX / 2 };

	push_retry_begin(&a->retry, &p, now);
}

/* Without jitter the wait is what it would be at most. */
static uint64_t wait_after(struct fleet *f, struct agent *a, uint64_t now, uint64_t wish)
{
	uint64_t unit = NSEC_PER_SEC, wait;

	for (unsigned i = 0; i < a->retry.failures && unit < seconds(f, MOST_S); i++)
		unit *= 2;
	wait = push_retry_wait(&a->retry, now, 0);
	if (wish)
		return wish + random_below(f, wish * f->number[WISH] / 100 + 1);
	if (f->number[JITTER])
		return wait;
	return unit < seconds(f, MOST_S) ? unit : seconds(f, MOST_S);
}

/* ---- the receiver ---- */

static bool takes(struct fleet *f, uint64_t now)
{
	uint64_t second = now / NSEC_PER_SEC;

	f->attempts[second]++;
	f->tenths[now / (NSEC_PER_SEC / 10)]++;
	if (now < seconds(f, OUTAGE_S)) {
		f->failed++;
		return false;
	}
	if (f->taken[second] >= f->limit) {
		f->refused++;
		return false;
	}
	f->taken[second]++;
	return true;
}

static void note_age(struct fleet *f, const struct agent *a, uint64_t now)
{
	uint64_t ended = a->offset_ns + a->sent * seconds(f, WINDOW_S);

	if (now - ended > f->oldest_ns)
		f->oldest_ns = now - ended;
}

/* The agent sends its oldest window. When it does something again. */
static uint64_t attempt(struct fleet *f, uint32_t i, uint64_t now)
{
	struct agent *a = &f->agents[i];
	uint64_t wish = 0;

	if (takes(f, now)) {
		note_age(f, a, now);
		a->sent++;
		begin_retry(f, a, now);
		note_waiting(f, i, now);
		if (waiting(f, a, now))
			return now + f->number[ANSWER_MS] * NSEC_PER_MSEC;
		return a->offset_ns + a->sent * seconds(f, WINDOW_S);
	}
	note_waiting(f, i, now);
	if (now >= seconds(f, OUTAGE_S))
		wish = seconds(f, RETRY_AFTER_S);
	return now + wait_after(f, a, now, wish);
}

static void run(struct fleet *f)
{
	while (f->heap[0].time_ns < MOST_SECONDS * NSEC_PER_SEC && !f->caught_up_ns) {
		uint32_t i = f->heap[0].agent;

		f->heap[0].time_ns = attempt(f, i, f->heap[0].time_ns);
		sift_down(f);
	}
}

static int begin(struct fleet *f)
{
	uint64_t nr = f->number[AGENTS];

	f->agents = calloc(nr, sizeof(*f->agents));
	f->heap = calloc(nr, sizeof(*f->heap));
	f->is_behind = calloc(nr, sizeof(*f->is_behind));
	f->attempts = calloc(MOST_SECONDS + 1, sizeof(*f->attempts));
	f->taken = calloc(MOST_SECONDS + 1, sizeof(*f->taken));
	f->tenths = calloc(10 * (MOST_SECONDS + 1), sizeof(*f->tenths));
	if (!f->agents || !f->heap || !f->is_behind || !f->attempts || !f->taken || !f->tenths)
		return fail(-ENOMEM, "begin");
	f->limit = f->number[LIMIT] ? f->number[LIMIT] : 2 * nr / f->number[WINDOW_S];
	for (uint32_t i = 0; i < nr; i++) {
		struct agent *a = &f->agents[i];

		if (f->number[JITTER])
			a->offset_ns = random_below(f, seconds(f, WINDOW_S));
		push_retry_seed(&a->retry, random_below(f, UINT64_MAX));
		begin_retry(f, a, 0);
		add_event(f, a->offset_ns, i);
	}
	return 0;
}

/* ---- what is printed ---- */

static uint64_t most(const uint64_t *v, size_t from, size_t to)
{
	uint64_t n = 0;

	for (size_t i = from; i < to; i++)
		n = v[i] > n ? v[i] : n;
	return n;
}

static void print(const struct fleet *f)
{
	uint64_t outage = f->number[OUTAGE_S];

	printf("windows_a_second %" PRIu64 "\nlimit %" PRIu64 "\n",
	       f->number[AGENTS] / f->number[WINDOW_S], f->limit);
	printf("attempts_in_outage %" PRIu64 "\npeak_1s_in_outage %" PRIu64 "\n", f->failed,
	       most(f->attempts, 0, outage));
	printf("peak_1s %" PRIu64 "\npeak_100ms %" PRIu64 "\nrefused %" PRIu64 "\n",
	       most(f->attempts, outage, MOST_SECONDS),
	       most(f->tenths, outage * 10, MOST_SECONDS * 10), f->refused);
	printf("caught_up_s %.0f\n", f->caught_up_ns
		? (double)f->caught_up_ns / 1e9 - (double)outage : (double)MOST_SECONDS);
	printf("oldest_window_s %.0f\nmost_windows_waiting %" PRIu64 "\n",
	       (double)f->oldest_ns / 1e9, f->most_waiting);
}

static int parse(struct fleet *f, char **argv)
{
	static const struct { const char *name; uint64_t value; } defaults[NUMBERS] = {
		{ "agents", 10000 }, { "window_s", 15 }, { "outage_s", 600 }, { "limit", 0 },
		{ "retry_after_s", 0 }, { "wish", 10 }, { "answer_ms", 50 }, { "jitter", 1 },
		{ "most_s", 300 },
	};

	for (size_t i = 0; i < NUMBERS; i++)
		f->number[i] = defaults[i].value;
	for (; *argv; argv++) {
		size_t i, len = strcspn(*argv, "=");

		for (i = 0; i < NUMBERS && (strncmp(*argv, defaults[i].name, len) ||
					    defaults[i].name[len]); i++)
			;
		if (i == NUMBERS || !(*argv)[len])
			return fail_why(2, "fleet_outage: what is %s?", *argv);
		f->number[i] = strtoull(*argv + len + 1, NULL, 10);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct fleet f = { .seed = 1 };

	(void)argc;
	if (parse(&f, argv + 1))
		return 2;
	if (begin(&f))
		return 1;
	run(&f);
	print(&f);
	return 0;
}
