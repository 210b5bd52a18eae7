/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/user_shares.h"

#include <assert.h>
#include <stdlib.h>

#include "src/base/clock.h"

#define USERS 64
#define OPEN_TOKENS 2048
#define OPEN_PER_SECOND 512
#define ROOT_TIMES 16			/* root has so many times the tokens */
#define HELD_MAX 4096
#define HELD_PART 8			/* of all descriptors */
#define ROOT_PART 3

struct share {
	uid_t user;
	uint32_t tokens;
	uint64_t filled_ns;
	size_t held;
};

struct user_shares {
	struct share v[USERS];
	unsigned nr;
	size_t held_max, root_max;
};

struct user_shares *user_shares_new(size_t nr_fds)
{
	struct user_shares *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->held_max = nr_fds / HELD_PART < HELD_MAX ? nr_fds / HELD_PART : HELD_MAX;
	s->root_max = nr_fds / ROOT_PART < ROOT_TIMES * HELD_MAX ? nr_fds / ROOT_PART
								  : ROOT_TIMES * HELD_MAX;
	return s;
}

void user_shares_free(struct user_shares *s)
{
	free(s);
}

static uint32_t times(uid_t user)
{
	return user ? 1 : ROOT_TIMES;
}

/* The last share is that of all who have none of their own. */
static const struct share *find(const struct user_shares *s, uid_t user)
{
	for (unsigned i = 0; i < s->nr; i++)
		if (s->v[i].user == user)
			return &s->v[i];
	return s->nr == USERS ? &s->v[USERS - 1] : NULL;
}

static struct share *share_of(struct user_shares *s, uid_t user)
{
	const struct share *found = find(s, user);

	if (found)
		return &s->v[found - s->v];
	assert(s->nr < USERS);		/* else find() gives the last one */
	s->v[s->nr] = (struct share){ .user = user, .tokens = OPEN_TOKENS * times(user) };
	return &s->v[s->nr++];
}

static void fill(struct share *s, uint64_t now_ns)
{
	uint64_t passed = now_ns - s->filled_ns, full = OPEN_TOKENS * times(s->user);
	uint64_t add = (passed < 60 * NSEC_PER_SEC ? passed : 60 * NSEC_PER_SEC) *
		       OPEN_PER_SECOND * times(s->user) / NSEC_PER_SEC;

	if (!add)
		return;
	s->tokens = (uint32_t)(s->tokens + add < full ? s->tokens + add : full);
	s->filled_ns = now_ns;
}

bool user_shares_open(struct user_shares *s, uid_t user, bool is_met, uint64_t now_ns)
{
	struct share *share = share_of(s, user);
	uint32_t reserve = is_met ? 0 : OPEN_TOKENS * times(user) / 2;

	fill(share, now_ns);
	if (share->tokens <= reserve)
		return false;
	share->tokens--;
	return true;
}

void user_shares_hold(struct user_shares *s, uid_t user, int change)
{
	struct share *share = share_of(s, user);

	if (change > 0)
		share->held++;
	else
		share->held -= share->held > 0;
}

bool user_shares_is_full(const struct user_shares *s, uid_t user)
{
	const struct share *share = find(s, user);

	return share && share->held >= (user ? s->held_max : s->root_max);
}

uid_t user_shares_heaviest(const struct user_shares *s, size_t *nr)
{
	size_t most = 0;
	uid_t user = 0;

	*nr = 0;
	for (unsigned i = 0; i < s->nr; i++) {
		size_t weight = s->v[i].user ? s->v[i].held : s->v[i].held / ROOT_PART;

		if (weight <= most)
			continue;
		most = weight;
		user = s->v[i].user;
		*nr = s->v[i].held;
	}
	return user;
}
