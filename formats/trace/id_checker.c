/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/trace/id_checker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/record_fields.h"
#include "formats/trace/trace_layout.h"
#include "src/base/array.h"

/*
 * Records that define something: the memory that each id costs a consumer, and how many ids there
 * may be.
 */
static const struct definition {
	uint16_t size;			/* 0: defines nothing */
	uint32_t max_id;
} definitions[RECORD_TAGS] = {
#define DEFINITION(tag, NAME, field, STORED, max_id) \
	[tag] = { sizeof(struct rec_##field), max_id },
#include "src/model/records.def"
};

static void forget_rows(struct id_checker *t)
{
	if (t->in_scan)
		memset(t->in_scan, 0, t->cap_in_scan);
}

void id_checker_reset(struct id_checker *t)
{
	memset(t->next_id, 0, sizeof(t->next_id));
	t->bytes = t->rows_end = 0;
	forget_rows(t);
	t->has_gaps = false;
}

void id_checker_again(struct id_checker *t)
{
	forget_rows(t);
}

void id_checker_lose(struct id_checker *t)
{
	forget_rows(t);
	t->has_gaps = true;
}

void id_checker_release(struct id_checker *t)
{
	free(t->depth);
	free(t->in_scan);
	memset(t, 0, sizeof(*t));
}

static bool is_defined(const struct id_checker *t, enum record_tag tag, uint32_t id)
{
	assert(definitions[tag].size);
	return id < (t->next_id[tag] ? t->next_id[tag] : 1);
}

static bool check_reference(const struct id_checker *t, enum record_tag to, uint32_t *id)
{
	if (is_defined(t, to, *id))
		return true;
	if (!t->has_gaps)
		return false;
	*id = 0;
	return true;
}

static bool check_references(const struct id_checker *t, struct record *rec)
{
	bool good = true;

	for (const struct field *f = record_layout(rec->tag)->fields; f->at; f++)
		if (f->to)
			good &= check_reference(t, f->to, (void *)((char *)rec + f->at));
	return good;
}

/* The kind of an event says what its argument refers to. */
static bool check_taskev(const struct id_checker *t, struct rec_taskev *ev)
{
	if (ev->event == TASK_FORK)
		return check_reference(t, REC_PROCESS, &ev->arg);
	return ev->event != TASK_COMM || check_reference(t, REC_STRING, &ev->arg);
}

static bool check_symbol(const struct id_checker *t, const struct rec_symbol *s)
{
	bool good = true;

	for (uint32_t i = 0; i < s->nr_lines; i++) {
		uint32_t func = s->lines[i].func;

		good &= check_reference(t, REC_FUNC, &func);
		if (func != s->lines[i].func)
			((struct rec_line *)s->lines)[i].func = func;
	}
	return good;
}

/*
 * Every thread of the runs must have a row to repeat, unless that may have been in a missing chunk.
 */
static bool check_repeat(const struct id_checker *t, const struct rec_repeat *r)
{
	uint64_t behind = 1;		/* one after the run before */
	bool good = r->scan != 0;

	for (uint32_t i = 0; i < r->nr_runs && good; i++) {
		uint32_t first = r->runs[i].thread, nr = r->runs[i].nr;

		good = nr && first >= behind;
		behind = (uint64_t)first + nr;
		good &= behind - 1 <= definitions[REC_THREAD].max_id;
		if (good && !t->has_gaps)
			good = behind <= t->cap_in_scan && !memchr(t->in_scan + first, 0, nr);
	}
	return good;
}

/* Depth is kept per node, so that no chain of parents of unknown length is ever followed. */
static int add_depth(struct id_checker *t, const struct rec_node *n, uint64_t next)
{
	unsigned depth = n->parent ? t->depth[n->parent] + 1u : 1;

	if (depth > MAX_DEPTH)
		return -EBADMSG;
	if (array_reserve(&t->depth, &t->cap_depth, (size_t)n->id + 1))
		return -ENOMEM;
	memset(&t->depth[next], 0, (n->id - next) * sizeof(*t->depth));
	t->depth[n->id] = (uint16_t)depth;
	return 0;
}

/*
 * The memory that ids cost a consumer beside their structs: strings their bytes; threads, frames
 * and nodes what a report counts by them.
 */
static uint64_t extra_bytes(const struct record *rec, uint64_t nr_ids)
{
	enum { BY_FRAME = 32, BY_NODE = 40, BY_THREAD = 16 };

	if (rec->tag == REC_STRING)
		return rec->string.len;
	if (rec->tag == REC_FRAME)
		return nr_ids * BY_FRAME;
	if (rec->tag == REC_NODE)
		return nr_ids * BY_NODE;
	return rec->tag == REC_THREAD ? nr_ids * BY_THREAD : 0;
}

static int add_definition(struct id_checker *t, const struct definition *def,
			  const struct record *rec)
{
	uint64_t next = t->next_id[rec->tag] ? t->next_id[rec->tag] : 1;
	uint32_t id = record_defines(rec);
	int err;

	if (id < next || id > next + MAX_ID_GAP || id > def->max_id)
		return -EBADMSG;
	err = rec->tag == REC_NODE ? add_depth(t, &rec->node, next) : 0;
	if (err)
		return err;
	t->next_id[rec->tag] = (uint64_t)id + 1;
	t->bytes += def->size * (id + 1 - next) + extra_bytes(rec, id + 1 - next);
	return 0;
}

int id_checker_add(struct id_checker *t, struct record *rec)
{
	const struct definition *def = &definitions[rec->tag];

	if (!check_references(t, rec) ||
	    (rec->tag == REC_TASKEV && !check_taskev(t, &rec->taskev)) ||
	    (rec->tag == REC_SYMBOL && !check_symbol(t, &rec->symbol)) ||
	    (rec->tag == REC_REPEAT && !check_repeat(t, &rec->repeat)))
		return -EBADMSG;
	if (rec->tag == REC_SYMBOL)
		t->bytes += rec->symbol.nr_lines * sizeof(struct rec_line);
	if (rec->tag == REC_CLOCK)
		t->bytes += sizeof(struct rec_clock);
	return def->size ? add_definition(t, def, rec) : 0;
}

int id_checker_add_sample(struct id_checker *t, struct rec_sample *s)
{
	bool good = true;

#define CHECK(member, NAME) good &= check_reference(t, REC_##NAME, &s->member);
	SAMPLE_REFERENCES(CHECK)
#undef CHECK
	if (!good)
		return -EBADMSG;
	if (!s->scan || !s->thread)
		return 0;
	if (array_reserve(&t->in_scan, &t->cap_in_scan, (size_t)s->thread + 1))
		return -ENOMEM;
	if (s->thread >= t->rows_end) {		/* they are kept: scan_rows.h */
		t->bytes += (s->thread + 1 - t->rows_end) * sizeof(*s);
		t->rows_end = (uint64_t)s->thread + 1;
	}
	t->in_scan[s->thread] =
		s->state == TASK_RUNNING || s->state == TASK_RUNNABLE ? ROW_RUNS : ROW_WAITS;
	return 0;
}
