/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/shadow_names.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/model/record.h"

#define NAMES_MAX (1u << 20)

struct entry {
	uint64_t id;
	char *name, *file;		/* name NULL: not known yet */
	uint32_t line;
	bool waits;
};

struct shadow_names {
	struct entry *v;
	size_t nr, cap;
	struct hash_index index;	/* of v, by id */
	uint64_t waiting;
};

uint8_t shadow_name_lang(const struct shadow_name *name)
{
	static const struct {
		const char *end;
		uint8_t lang;
	} known[] = {
		{ ".py", LANG_PYTHON }, { ".rb", LANG_RUBY }, { ".php", LANG_PHP },
		{ ".js", LANG_JAVASCRIPT },
	};
	const char *end = strrchr(name->file, '.');

	for (size_t i = 0; end && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(end, known[i].end))
			return known[i].lang;
	return LANG_UNKNOWN;
}

int shadow_names_new(struct shadow_names **np)
{
	*np = calloc(1, sizeof(**np));
	return *np ? 0 : -ENOMEM;
}

void shadow_names_free(struct shadow_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nr; i++) {
		free(n->v[i].name);
		free(n->v[i].file);
	}
	ix_release(&n->index);
	free(n->v);
	free(n);
}

struct entry_key {
	const struct shadow_names *n;
	uint64_t id;
};

static bool same_id(const void *ctx, uint32_t at)
{
	const struct entry_key *k = ctx;

	return k->n->v[at].id == k->id;
}

/* The entry of the id, which is made; NULL: there is no memory, or there are too many. */
static struct entry *entry_of(struct shadow_names *n, uint64_t id)
{
	struct entry_key k = { n, id };
	uint32_t at = ix_find(&n->index, id, same_id, &k);
	struct entry *e;

	assert(at == IX_NONE || at < n->nr);
	if (at != IX_NONE)
		return &n->v[at];
	e = n->nr < NAMES_MAX ? array_push(&n->v, &n->nr, &n->cap) : NULL;
	if (!e)
		return NULL;
	*e = (struct entry){ .id = id };
	if (ix_add(&n->index, id, (uint32_t)n->nr - 1)) {
		n->nr--;
		return NULL;
	}
	return e;
}

int shadow_names_put(struct shadow_names *n, uint64_t id, const struct shadow_name *name)
{
	struct entry *e = entry_of(n, id);
	bool waits;

	if (!e)
		return n->nr < NAMES_MAX ? -ENOMEM : 0;
	if (e->name)
		return 0;
	e->name = strdup(name->name);
	e->file = strdup(name->file);
	if (!e->name || !e->file)
		return -ENOMEM;
	e->line = name->line;
	waits = e->waits;
	assert(!waits || n->waiting);
	n->waiting -= waits;
	e->waits = false;
	return waits;
}

bool shadow_names_get(struct shadow_names *n, uint64_t id, struct shadow_name *out)
{
	struct entry *e = entry_of(n, id);

	if (e && e->name) {
		*out = (struct shadow_name){ e->name, e->file, e->line };
		return true;
	}
	n->waiting += !e || !e->waits;
	if (e)
		e->waits = true;
	return false;
}

uint64_t shadow_names_waiting(const struct shadow_names *n)
{
	return n->waiting;
}
