/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/stack_filter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/model/definition_store.h"
#include "src/report/report_sample.h"

/*
 * Names are foreign, so a pattern may meet one that it needs very long for. These are far beyond
 * what a sensible pattern needs for a long name.
 */
#define MATCH_LIMIT 100000
#define HEAP_KIB 4096

enum mark { MARK_KNOWN = 1, MARK_INCLUDED = 2, MARK_EXCLUDED = 4, MARK_HIDDEN = 8 };

struct stack_pattern {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
	uint64_t given_up;
	uint8_t mark;			/* what it sets where it is found */
};

static int add_pattern(struct stack_filter *f, const struct opt *o, const char *value,
		       uint8_t mark)
{
	struct stack_pattern *p = array_push(&f->v, &f->nr, &f->cap);
	PCRE2_UCHAR why[128];
	PCRE2_SIZE at;
	int error;

	if (!p)
		return fail(-ENOMEM, "--%s", o->name);
	p->mark = mark;
	p->code = pcre2_compile((PCRE2_SPTR)value, PCRE2_ZERO_TERMINATED,
				PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &at, NULL);
	if (!p->code) {
		pcre2_get_error_message(error, why, sizeof(why));
		return fail_why(-EINVAL, "--%s: '%s' is no regular expression: %s at %zu", o->name,
				value, (char *)why, (size_t)at);
	}
	p->data = pcre2_match_data_create_from_pattern(p->code, NULL);
	p->limits = pcre2_match_context_create(NULL);
	if (!p->data || !p->limits)
		return fail(-ENOMEM, "--%s", o->name);
	pcre2_set_match_limit(p->limits, MATCH_LIMIT);
	pcre2_set_heap_limit(p->limits, HEAP_KIB);
	f->includes |= mark == MARK_INCLUDED;
	return 0;
}

int stack_filter_include(const struct opt *o, const char *value, void *dst)
{
	return add_pattern(dst, o, value, MARK_INCLUDED);
}

int stack_filter_exclude(const struct opt *o, const char *value, void *dst)
{
	return add_pattern(dst, o, value, MARK_EXCLUDED);
}

int stack_filter_hide(const struct opt *o, const char *value, void *dst)
{
	return add_pattern(dst, o, value, MARK_HIDDEN);
}

void stack_filter_release(struct stack_filter *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		pcre2_code_free(f->v[i].code);
		pcre2_match_data_free(f->v[i].data);
		pcre2_match_context_free(f->v[i].limits);
	}
	free(f->v);
	memset(f, 0, sizeof(*f));
}

void stack_marks_release(struct stack_marks *m)
{
	free(m->frames);
	free(m->nodes);
	free(m->threads);
	memset(m, 0, sizeof(*m));
}

static uint8_t marks_of_name(const struct stack_filter *f, const char *s, size_t len)
{
	uint8_t marks = 0;

	for (size_t i = 0; i < f->nr; i++) {
		struct stack_pattern *p = &f->v[i];
		int found;

		if (marks & p->mark)
			continue;
		found = pcre2_match(p->code, (PCRE2_SPTR)s, len, 0, 0, p->data, p->limits);
		if (found >= 0)
			marks |= p->mark;
		else
			p->given_up += found != PCRE2_ERROR_NOMATCH;
	}
	return marks;
}

bool stack_filter_hides(const struct stack_filter *f, const char *name, size_t len)
{
	return marks_of_name(f, name, len) & MARK_HIDDEN;
}

static uint8_t make_frame_marks(const struct stack_filter *f, const struct definition_store *t,
				uint32_t frame)
{
	uint32_t nr = definition_store_frame_depth(t, frame);
	uint8_t marks = MARK_KNOWN;
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	for (uint32_t i = 0; i < nr; i++) {
		definition_store_frame_view(t, frame, i, buf, &v);
		marks |= marks_of_name(f, v.name, v.len);
	}
	return marks;
}

static uint8_t frame_marks(const struct stack_filter *f, struct stack_marks *m,
			   const struct definition_store *t, uint32_t frame)
{
	uint32_t end = definition_store_id_end(t, REC_FRAME);

	if (frame >= end || array_reserve(&m->frames, &m->cap_frames, end))
		return make_frame_marks(f, t, frame);
	if (!m->frames[frame])
		m->frames[frame] = make_frame_marks(f, t, frame);
	return m->frames[frame];
}

/* All stacks at once: a caller's stack has a lower id. */
static void mark_stacks(const struct stack_filter *f, struct stack_marks *m,
			const struct definition_store *t, uint32_t end)
{
	for (uint32_t id = 1; id < end; id++) {
		const struct table_node *n = definition_store_find_node(t, id);

		assert(!n || n->parent < id);
		if (n)
			m->nodes[id] = frame_marks(f, m, t, n->frame) | m->nodes[n->parent];
	}
}

static uint8_t stack_marks(const struct stack_filter *f, struct stack_marks *m,
			   const struct definition_store *t, uint32_t stack)
{
	uint32_t end = definition_store_id_end(t, REC_NODE);

	if (stack >= end)
		return 0;
	if (!m->nodes) {
		if (array_reserve(&m->nodes, &m->cap_nodes, end))
			return 0;
		mark_stacks(f, m, t, end);
	}
	assert(stack < m->cap_nodes);
	return m->nodes[stack];
}

static uint8_t string_marks(const struct stack_filter *f, const struct definition_store *t,
			    uint32_t string)
{
	size_t len;
	const char *s = definition_store_string(t, string, &len);

	return marks_of_name(f, s, len);
}

static uint8_t task_marks(const struct stack_filter *f, struct stack_marks *m,
			  const struct report_sample *s)
{
	uint32_t end = definition_store_id_end(s->tables, REC_THREAD), id = s->rec->thread;
	uint8_t marks = MARK_KNOWN;

	if (!s->thread || array_reserve(&m->threads, &m->cap_threads, end))
		return 0;
	assert(id < m->cap_threads);
	if (m->threads[id])
		return m->threads[id];
	marks |= string_marks(f, s->tables, s->thread->comm);
	marks |= string_marks(f, s->tables, rec_thread_kernel_comm(s->thread));
	if (s->process)
		marks |= string_marks(f, s->tables, s->process->comm);
	return m->threads[id] = marks;
}

bool stack_filter_passes(const struct stack_filter *f, struct stack_marks *m,
			 const struct report_sample *s)
{
	uint8_t marks;

	if (!f->nr)
		return true;
	marks = task_marks(f, m, s);
	marks |= stack_marks(f, m, s->tables, s->rec->ustack);
	marks |= stack_marks(f, m, s->tables, s->rec->kstack);
	return !(marks & MARK_EXCLUDED) && (!f->includes || marks & MARK_INCLUDED);
}

uint64_t stack_filter_given_up(const struct stack_filter *f)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < f->nr; i++)
		nr += f->v[i].given_up;
	return nr;
}
