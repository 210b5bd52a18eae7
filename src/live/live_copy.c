/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/live/live_copy.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "src/base/array.h"
#include "src/model/definition_store.h"
#include "src/model/same_definition.h"
#include "src/live/live_ids.h"
#include "src/model/definition_load.h"

int live_copy_init(struct live_copy *c, const struct definition_store *from, struct live_ids *to)
{
	bool failed = false;

	*c = (struct live_copy){ .from = from, .to = to };
	for (unsigned i = 0; i < nr_definition_tags; i++) {
		const enum record_tag tag = definition_tags[i];

		c->end[tag] = definition_store_id_end(from, tag);
		c->ids[tag] = calloc((size_t)c->end[tag] + 1, sizeof(**c->ids));
		failed |= !c->ids[tag];
	}
	if (failed)
		live_copy_release(c);
	return failed ? -ENOMEM : 0;
}

void live_copy_release(struct live_copy *c)
{
	for (unsigned tag = 0; tag < RECORD_TAGS; tag++)
		free(c->ids[tag]);
	free(c->path);
	free(c->lines);
	memset(c, 0, sizeof(*c));
}

uint32_t live_copy_define(struct live_copy *c, const struct record *rec)
{
	uint32_t id = 0;

	if (!c->failed)
		c->failed = live_ids_define(c->to, rec, &id, NULL);
	return id;
}

uint32_t live_copy_string(struct live_copy *c, const char *s)
{
	return live_copy_define(c, &(struct record){ .tag = REC_STRING,
						     .string = { 0, s, strlen(s) } });
}

/* ---- one definition ---- */

static void copy_symbol(struct live_copy *c, uint32_t old, uint32_t frame)
{
	const struct table_symbol *s = definition_store_find_symbol(c->from, old);
	struct record rec = { .tag = REC_SYMBOL };

	if (!s || c->failed)
		return;
	c->failed = array_reserve(&c->lines, &c->cap_lines, s->nr_lines);
	for (uint32_t i = 0; i < s->nr_lines && !c->failed; i++) {
		struct rec_line line = *definition_store_line(c->from, s, i);

		line.func = live_copy_id(c, REC_FUNC, line.func);
		line.file = live_copy_id(c, REC_STRING, line.file);
		c->lines[i] = line;
	}
	rec.symbol = (struct rec_symbol){ frame, s->status, s->offset, c->lines, s->nr_lines };
	if (!c->failed)
		c->failed = definition_store_record(c->to->store, &rec);
}

static void copy_thread_name(struct live_copy *c, uint32_t old, uint32_t thread)
{
	const struct rec_thread *t = definition_store_find_thread(c->from, old);
	struct record rec = { .tag = REC_THREADNAME };

	if (!t || !t->kernel_comm || c->failed)
		return;
	rec.threadname = (struct rec_threadname){ thread, live_copy_id(c, REC_STRING, t->comm) };
	if (!c->failed)
		c->failed = definition_store_record(c->to->store, &rec);
}

/* A parent that is not needed for anything else is left out: chains of them may be long. */
static uint32_t copy_reference(struct live_copy *c, enum record_tag from, enum record_tag to,
			       uint32_t id)
{
	if (from == REC_PROCESS && to == REC_PROCESS)
		return id < c->end[to] ? c->ids[to][id] : 0;
	return live_copy_id(c, to, id);
}

static uint32_t copy_one(struct live_copy *c, enum record_tag tag, uint32_t id)
{
	struct record rec;
	uint32_t made;

	assert(id < c->end[tag] && !c->ids[tag][id]);
	if (!definition_load(c->from, tag, id, &rec))
		return live_ids_missing(c->to, tag);
	for (const struct field *f = record_layout(tag)->fields; f->at; f++) {
		uint32_t *ref = f->to ? (uint32_t *)((char *)&rec + f->at) : NULL;

		if (ref)
			*ref = copy_reference(c, tag, f->to, *ref);
	}
	made = live_copy_define(c, &rec);
	if (tag == REC_FRAME)
		copy_symbol(c, id, made);
	if (tag == REC_THREAD)
		copy_thread_name(c, id, made);
	return made;
}

/* From the innermost frame out to the first one that was copied, and back. */
static uint32_t copy_stack(struct live_copy *c, uint32_t id)
{
	uint32_t *ids = c->ids[REC_NODE], at = id, parent;
	const struct table_node *n = NULL;
	size_t nr = 0;

	while (at && at < c->end[REC_NODE] && !ids[at]) {
		n = definition_store_node_row(c->from, at);
		if (!n)
			break;
		if (array_reserve(&c->path, &c->cap_path, nr + 1)) {
			c->failed = true;
			return 0;
		}
		c->path[nr++] = at;
		at = n->parent;
	}
	parent = !at			      ? 0
		 : at >= c->end[REC_NODE]     ? live_ids_missing(c->to, REC_NODE)
		 : ids[at]		      ? ids[at]
					      : live_ids_missing(c->to, REC_NODE);
	while (nr-- > 0 && !c->failed) {
		struct record rec = { .tag = REC_NODE };

		n = definition_store_node_row(c->from, c->path[nr]);
		rec.node.parent = parent;
		rec.node.frame = live_copy_id(c, REC_FRAME, n->frame);
		parent = ids[c->path[nr]] = live_copy_define(c, &rec);
	}
	return parent;
}

uint32_t live_copy_id(struct live_copy *c, enum record_tag tag, uint32_t id)
{
	uint32_t *made;

	if (!id || c->failed)
		return 0;
	if (id >= c->end[tag])
		return live_ids_missing(c->to, tag);
	made = &c->ids[tag][id];
	if (!*made)
		*made = tag == REC_NODE ? copy_stack(c, id) : copy_one(c, tag, id);
	return *made;
}

uint32_t live_copy_older(struct live_copy *c)
{
	struct record frame = { .tag = REC_FRAME }, func = { .tag = REC_FUNC };
	struct record node = { .tag = REC_NODE }, symbol = { .tag = REC_SYMBOL };
	struct rec_line line = { 0 };

	if (c->older)
		return c->older;
	frame.frame = (struct rec_frame){ .kind = FRAME_SYNTHETIC, .addr = UINT64_MAX };
	func.func.name = func.func.sysname = live_copy_string(c, "[older stacks]");
	line.func = live_copy_define(c, &func);
	node.node.frame = live_copy_define(c, &frame);
	symbol.symbol = (struct rec_symbol){ .frame = node.node.frame, .status = SYMBOL_OK,
					     .lines = &line, .nr_lines = 1 };
	if (!c->failed)
		c->failed = definition_store_record(c->to->store, &symbol);
	c->older = live_copy_define(c, &node);
	return c->older;
}
