/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/code_shares.h"

#include "src/base/clock.h"

void code_shares_init(struct code_shares *s)
{
	*s = (struct code_shares){ .of = { .size = sizeof(struct code_share) } };
}

void code_shares_release(struct code_shares *s)
{
	per_process_release(&s->of);
}

struct code_share *code_share_of(struct code_shares *s, const struct process *p)
{
	return per_process_at(&s->of, p);
}

/* The tokens that are left of parts times the share of one process. */
static uint32_t left(struct code_tokens *t, uint32_t parts)
{
	uint64_t now = now_ns(), step = NSEC_PER_SEC / SHARE_A_SECOND / parts;
	uint64_t back = (now - t->since_ns) / step;

	t->used -= back < t->used ? (uint32_t)back : t->used;
	t->since_ns = t->used ? t->since_ns + back * step : now;
	return t->used < SHARE_TOKENS * parts ? SHARE_TOKENS * parts - t->used : 0;
}

uint32_t code_share_left(struct code_share *share)
{
	return left(&share->tokens, 1);
}

bool code_shares_are_spent(struct code_shares *s)
{
	return !left(&s->all, 2);
}

void code_shares_pay(struct code_shares *s, struct code_share *share, uint32_t tokens)
{
	/* What has come back so far does not count against this. */
	left(&share->tokens, 1);
	left(&s->all, 2);
	share->tokens.used += tokens;
	s->all.used += tokens;
}

void code_share_exit(struct code_share *share, const struct code_pin *pin)
{
	for (unsigned i = 0; i < SHARE_EXITS; i++)
		if (share->exits[i].addr == pin->addr)
			return;
	share->exits[share->nr_exits++ % SHARE_EXITS] = *pin;
}
