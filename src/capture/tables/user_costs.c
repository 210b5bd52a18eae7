/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/tables/user_costs.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "src/base/clock.h"
#include "src/model/per_process.h"
#include "src/model/process.h"

#define MOST_PARENTS 8
#define KNOWN_NS (60 * NSEC_PER_SEC)

struct place_of_process {
	uint64_t serial;
	uint64_t until_ns;		/* then it is looked up again: servers change their user */
	uint32_t place;			/* + 1; 0: not looked up yet */
};

struct number {
	uint32_t number, place;
};

struct user_costs {
	struct user_costs_deps deps;
	struct per_process of;
	struct number numbers[COST_NUMBERS];
	size_t nr_numbers;
	uint64_t pieces[RATE_USERS];	/* measured since user_costs_divide() */
	uint64_t chance;		/* what the next piece depends on */
	bool is_within;			/* a piece that is measured */
	pthread_mutex_t lock;		/* of new places */
};

int user_costs_new(const struct user_costs_deps *deps, struct user_costs **cp)
{
	struct user_costs *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->deps = *deps;
	c->of.size = sizeof(struct place_of_process);
	c->chance = now_ns() | 1;
	pthread_mutex_init(&c->lock, NULL);
	if (!atomic_load(&deps->rates->nr_users)) {
		atomic_store(&deps->rates->users[0].user, RATE_OTHER_USERS);
		atomic_store(&deps->rates->nr_users, 1);
	}
	*cp = c;
	return 0;
}

void user_costs_free(struct user_costs *c)
{
	if (!c)
		return;
	per_process_release(&c->of);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static uint32_t find_place(const struct shared_rates *r, uint32_t user)
{
	uint32_t nr = atomic_load(&r->nr_users);

	for (uint32_t i = 1; i < nr; i++)
		if (atomic_load(&r->users[i].user) == user)
			return i;
	return 0;
}

static uint32_t place_of_user(struct user_costs *c, uint32_t user)
{
	struct shared_rates *r = c->deps.rates;
	uint32_t place = find_place(r, user), nr;

	if (place)
		return place;
	pthread_mutex_lock(&c->lock);
	place = find_place(r, user);
	nr = atomic_load(&r->nr_users);
	if (!place && nr < RATE_USERS && user != RATE_OTHER_USERS) {
		place = nr;
		atomic_store(&r->users[place].user, user);
		atomic_store(&r->nr_users, nr + 1);
	}
	pthread_mutex_unlock(&c->lock);
	return place;
}

static void note_number(struct user_costs *c, uint32_t number, uint32_t place)
{
	for (size_t i = 0; i < c->nr_numbers; i++)
		if (c->numbers[i].number == number)
			return;
	if (c->nr_numbers < COST_NUMBERS)
		c->numbers[c->nr_numbers++] = (struct number){ number, place };
}

static int look_up(struct user_costs *c, uint32_t tgid, uint32_t *place)
{
	struct process_users users;
	int err = c->deps.users_of(c->deps.ctx, tgid, &users);

	if (err)
		return err;
	*place = place_of_user(c, users.user);
	note_number(c, users.number, *place);
	return 0;
}

/* One that was gone before it could be looked up is taken for one of its parent's user. */
static uint32_t place_of_process(struct user_costs *c, uint32_t tgid)
{
	uint64_t now = now_ns();
	uint32_t place = 0;

	for (int depth = 0; tgid && depth < MOST_PARENTS; depth++) {
		struct process *p = processes_find(c->deps.processes, tgid, TIME_NEVER);
		struct place_of_process *of = p ? per_process_at(&c->of, p) : NULL;

		if (of && of->place && now < of->until_ns)
			return of->place - 1;
		if (!look_up(c, tgid, &place)) {
			if (of) {
				of->place = place + 1;
				of->until_ns = now + KNOWN_NS;
			}
			return place;
		}
		if (of && of->place)
			return of->place - 1;
		tgid = p ? p->parent_tgid : 0;
	}
	return place;
}

/* A linear congruential generator (Knuth, MMIX); its upper bits are good enough. */
static bool is_chosen(struct user_costs *c)
{
	c->chance = c->chance * 6364136223846793005u + 1442695040888963407u;
	return !((c->chance >> 33) % COST_ONE_IN);
}

struct cost_piece user_costs_begin(struct user_costs *c, uint32_t tgid)
{
	struct cost_piece piece = { 0 };

	if (!c || !tgid || c->is_within || !is_chosen(c))
		return piece;
	piece.place = place_of_process(c, tgid);
	piece.begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	c->is_within = true;
	c->pieces[piece.place]++;
	return piece;
}

static void add_at(struct user_costs *c, uint32_t place, uint64_t ns)
{
	assert(place < RATE_USERS);
	atomic_fetch_add(&c->deps.rates->users[place].cost_ns, ns);
}

void user_costs_end(struct user_costs *c, struct cost_piece piece)
{
	if (!piece.begin_ns)
		return;
	c->is_within = false;
	add_at(c, piece.place,
	       COST_ONE_IN * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - piece.begin_ns));
}

void user_costs_add(struct user_costs *c, uint32_t user, uint64_t ns)
{
	if (c && ns)
		add_at(c, place_of_user(c, user), ns);
}

void user_costs_divide(struct user_costs *c, uint64_t ns)
{
	uint64_t all = 0;

	if (!c)
		return;
	for (size_t i = 0; i < RATE_USERS; i++)
		all += c->pieces[i];
	for (uint32_t i = 0; i < RATE_USERS; i++) {
		if (c->pieces[i] && ns)
			add_at(c, i, (uint64_t)((double)ns * (double)c->pieces[i] / (double)all));
		c->pieces[i] = 0;
	}
}

size_t user_costs_rates(const struct user_costs *c, struct number_rate out[COST_NUMBERS])
{
	size_t nr = 0;

	for (size_t i = 0; c && i < c->nr_numbers; i++) {
		uint32_t times = atomic_load(&c->deps.rates->users[c->numbers[i].place].times);

		if (times > 1)
			out[nr++] = (struct number_rate){ c->numbers[i].number, times };
	}
	return nr;
}
