/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/code_owners.h"

#include <assert.h>

#include "src/model/process.h"

#define SHARE 4				/* a user may have 1/4 of all objects, */
#define SHARE_OF_ROOT 2
#define WAITING_SHARE 8			/* and 1/8 of all may wait */
#define FEW 1024

struct owner_of_process {
	uint64_t serial;
	struct code_owner *owner;	/* NULL: not looked up yet */
};

void code_owners_init(struct code_owners *o, size_t nr_objects, process_owner_fn user_of,
		      void *ctx)
{
	*o = (struct code_owners){ .of = { .size = sizeof(struct owner_of_process) },
				   .nr_objects = nr_objects,
				   .user_of = user_of,
				   .ctx = ctx };
}

void code_owners_release(struct code_owners *o)
{
	per_process_release(&o->of);
}

static struct code_owner *owner_of_user(struct code_owners *o, uint32_t user)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].user == user)
			return &o->v[i];
	if (o->nr == CODE_OWNERS)
		return &o->v[CODE_OWNERS - 1];
	o->v[o->nr] = (struct code_owner){ .user = user };
	return &o->v[o->nr++];
}

struct code_owner *code_owner_of(struct code_owners *o, const struct process *p)
{
	struct owner_of_process *of = per_process_at(&o->of, p);
	struct code_owner *owner = of ? of->owner : NULL;

	if (!owner)
		owner = owner_of_user(o, o->user_of ? o->user_of(o->ctx, p->tgid) : 0);
	if (of)
		of->owner = owner;
	return owner;
}

bool code_owner_may_add(const struct code_owners *o, const struct code_owner *c)
{
	return c->nr < o->nr_objects / (c->user ? SHARE : SHARE_OF_ROOT) &&
	       c->nr_waiting < o->nr_objects / WAITING_SHARE;
}

int code_owner_waits(struct code_owner *c)
{
	return (int)c->nr_waiting++;
}

void code_owner_was_read(struct code_owner *c)
{
	assert(c->nr_waiting);
	c->nr_waiting--;
}

bool code_owners_have_few_waiting(const struct code_owners *o)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].nr_waiting && (o->v[i].nr_waiting < FEW || !o->v[i].user))
			return true;
	return false;
}
