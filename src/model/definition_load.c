/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/definition_load.h"

#include "src/model/definition_store.h"

#define LOAD(field) \
static bool field##_load(const struct definition_store *t, uint32_t id, struct rec_##field *out) \
{ \
	const struct rec_##field *found = definition_store_find_##field(t, id); \
\
	if (found) \
		*out = *found; \
	return found; \
}
LOAD(binary)
LOAD(process)
LOAD(event)
LOAD(frame)
LOAD(func)
#undef LOAD

/* A thread is known again by its record, whether it has got a name or not. */
static bool thread_load(const struct definition_store *t, uint32_t id, struct rec_thread *out)
{
	const struct rec_thread *found = definition_store_find_thread(t, id);

	if (!found)
		return false;
	*out = *found;
	out->comm = rec_thread_kernel_comm(found);
	out->kernel_comm = 0;
	return true;
}

static bool string_load(const struct definition_store *t, uint32_t id, struct rec_string *out)
{
	out->id = id;
	out->bytes = definition_store_string(t, id, &out->len);
	return definition_store_has_string(t, id);
}

static bool node_load(const struct definition_store *t, uint32_t id, struct rec_node *out)
{
	const struct table_node *n = definition_store_node_row(t, id);

	if (n)
		*out = (struct rec_node){ id, n->parent, n->frame };
	return n;
}

bool definition_load(const struct definition_store *t, enum record_tag tag, uint32_t id,
		     struct record *out)
{
	out->tag = tag;
	switch (tag) {
#define DEFINITION(tag, NAME, field, STORED, max_id) \
	case REC_##NAME: return field##_load(t, id, &out->field);
#define RECORD(tag, NAME, field, STORED) case REC_##NAME: break;
#include "src/model/records.def"
	}
	return false;
}
