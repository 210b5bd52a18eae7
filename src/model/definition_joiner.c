/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/definition_joiner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/model/definition_load.h"
#include "src/model/definition_store.h"
#include "src/model/same_definition.h"

struct key {
	const struct definition_joiner *j;
	const struct definition_store *tables;
	const struct record *rec;
};

void definition_joiner_release(struct definition_joiner *j)
{
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		ix_release(&j->index[tag]);
	free(j->claimed);
	memset(j, 0, sizeof(*j));
}

void definition_joiner_begin(struct definition_joiner *j)
{
	j->segment++;
}

/* A process without a number stands for any number of others. */
static bool is_claimed(const struct definition_joiner *j, const struct record *rec, uint32_t id)
{
	return rec->tag == REC_PROCESS && rec->process.tgid && id < j->cap_claimed &&
	       j->claimed[id] == j->segment + 1;
}

static bool is_same(const void *ctx, uint32_t id)
{
	const struct key *k = ctx;
	struct record has;

	return definition_load(k->tables, k->rec->tag, id, &has) &&
	       definition_is_equal(k->rec, &has) && !is_claimed(k->j, k->rec, id);
}

uint32_t definition_joiner_find(const struct definition_joiner *j, const struct definition_store *t,
				const struct record *rec)
{
	const struct key k = { j, t, rec };

	if (definition_is_unique(rec))
		return IX_NONE;
	return ix_find(&j->index[rec->tag], definition_hash(rec), is_same, &k);
}

int definition_joiner_claim(struct definition_joiner *j, enum record_tag tag, uint32_t id)
{
	if (tag != REC_PROCESS)
		return 0;
	if (array_reserve(&j->claimed, &j->cap_claimed, (size_t)id + 1))
		return -ENOMEM;
	j->claimed[id] = j->segment + 1;
	return 0;
}

int definition_joiner_meet(struct definition_joiner *j, struct definition_store *t,
			   const struct record *rec)
{
	int err;

	if (rec->tag != REC_PROCESS)
		return 0;
	err = definition_joiner_claim(j, REC_PROCESS, rec->process.id);
	return err ? err : definition_store_record(t, rec);
}

static int add(struct definition_joiner *j, const struct record *rec, uint32_t id)
{
	if (definition_is_unique(rec))
		return 0;
	return ix_add(&j->index[rec->tag], definition_hash(rec), id);
}

int definition_joiner_add(struct definition_joiner *j, const struct record *rec, uint32_t id)
{
	int err = add(j, rec, id);

	return err ? err : definition_joiner_claim(j, rec->tag, id);
}

int definition_joiner_add_all(struct definition_joiner *j, const struct definition_store *t)
{
	struct record rec;
	int err = 0;

	for (unsigned i = 0; i < nr_definition_tags && !err; i++) {
		const enum record_tag tag = definition_tags[i];
		const uint32_t end = definition_store_id_end(t, tag);

		for (uint32_t id = 1; id < end && !err; id++)
			if (definition_load(t, tag, id, &rec))
				err = add(j, &rec, id);
	}
	return err;
}

size_t definition_joiner_memory(const struct definition_joiner *j)
{
	size_t bytes = j->cap_claimed * sizeof(*j->claimed);

	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		bytes += ix_memory(&j->index[tag]);
	return bytes;
}
