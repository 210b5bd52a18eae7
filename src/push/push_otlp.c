/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OTLP: profiles of many processes and windows in one request.
 *
 *	resource	a process (push_resource.h)
 *	  scope		probee and its version
 *	    profile	an event in a window, or a part of it
 *	      sample	a stack, the attributes of its thread, one value
 *
 * CPU time is given as the number of samples, and what each stands for as the period: so OTLP's
 * other profilers do, and so receivers know it. A sample is worth exactly as much as the trace
 * says: if samples of a profile weigh differently, there is one for each weight (push_row.each), or
 * the period is the greatest common divisor of all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/model/record.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/weight_text.h"
#include "src/push/otlp_request.h"
#include "src/push/push_job.h"
#include "src/push/push_resource.h"

#define PATH "/v1development/profiles"
#define CONTENT_TYPE "application/x-protobuf"
/* Bytes in a request, about, without what its tables take. */
enum { SAMPLE_BYTES = 16, PROFILE_BYTES = 80, RESOURCE_BYTES = 64, VALUE_BYTES = 16 };

struct thread_attributes {
	uint32_t id, name;
	bool known;
};

struct otlp {
	struct push_job *job;
	struct otlp_request req;
	struct push_resource whom;
	uint32_t segment, process;	/* of the last resource */
	struct thread_attributes *threads;	/* of that segment, by push_row.thread */
	size_t cap_threads;
	uint32_t states[ACTIVITIES + 1];	/* attributes; 0: not made yet */
	size_t value_bytes;		/* of resources */
	uint64_t samples, lost, from_ns, to_ns;	/* of the body */
	uint64_t cost;			/* likewise; as push_body.cost */
};

static void otlp_end(void *enc)
{
	struct otlp *o = enc;

	otlp_request_release(&o->req);
	push_resource_release(&o->whom);
	free(o->threads);
	free(o);
}

static void *otlp_begin(struct push_job *job)
{
	struct otlp *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->job = job;
	if (!otlp_request_init(&o->req)) {
		o->req.tables.addresses = job->opts.addresses;
		return o;
	}
	otlp_end(o);
	return NULL;
}

/* ---- bodies ---- */

static void forget_threads(struct otlp *o)
{
	free(o->threads);
	o->threads = NULL;
	o->cap_threads = 0;
}

static int begin_body(struct otlp *o)
{
	forget_threads(o);
	memset(o->states, 0, sizeof(o->states));
	o->value_bytes = 0;
	o->samples = o->lost = o->from_ns = o->to_ns = o->cost = 0;
	return otlp_request_clear(&o->req);
}

static int give_body(struct otlp *o, const uint8_t *raw, size_t raw_len)
{
	char what[PUSH_WHAT_MAX];
	struct push_body b = {
		.path = PATH, .content_type = CONTENT_TYPE,
		.profiles = (uint32_t)o->req.nr_profiles, .samples = o->samples, .lost = o->lost,
		.from_ns = o->from_ns, .to_ns = o->to_ns, .what = what, .cost = o->cost,
	};

	push_what_many(b.profiles, (uint32_t)o->req.nr_resources, b.from_ns, b.to_ns, what);
	return push_give_packed(o->job, &b, raw, raw_len);
}

static int otlp_flush(void *enc)
{
	struct otlp *o = enc;
	uint8_t *raw;
	size_t len;
	int err;

	if (!o->req.nr_profiles)
		return 0;
	raw = otlp_request_pack(&o->req, &len);
	err = raw ? give_body(o, raw, len) : -ENOMEM;
	free(raw);
	return err ? err : begin_body(o);
}

static size_t body_bytes(const struct otlp *o)
{
	const struct otlp_request *r = &o->req;

	return r->tables.bytes + r->nr_samples * SAMPLE_BYTES + r->nr_profiles * PROFILE_BYTES +
	       r->nr_resources * RESOURCE_BYTES + o->value_bytes;
}

/* ---- resources ---- */

static int add_value(struct otlp *o, const struct push_attribute *a)
{
	struct otlp_request *r = &o->req;
	struct otlp_key_value *v = array_push(&r->values, &r->nr_values, &r->cap_values);

	if (!v)
		return -ENOMEM;
	*v = (struct otlp_key_value){ .key = intern_str(r->texts, a->key),
				      .text = a->is_number ? 0 : intern_str(r->texts, a->text),
				      .is_number = a->is_number, .number = a->number };
	o->value_bytes += VALUE_BYTES + strlen(a->key) + strlen(a->text);
	return v->key == IX_NONE || v->text == IX_NONE ? -ENOMEM : 0;
}

static int begin_resource(struct otlp *o, const struct push_row *row)
{
	const struct push_whom of = { o->job->rep, &o->job->opts, row->segment, row->process };
	struct otlp_request *r = &o->req;
	struct otlp_resource *new;
	uint64_t cut = o->whom.cut;
	int err;

	if (r->nr_resources && o->segment == row->segment && o->process == row->process)
		return 0;
	if (o->segment != row->segment)
		forget_threads(o);
	err = push_resource_make(&o->whom, &of);
	new = array_push(&r->resources, &r->nr_resources, &r->cap_resources);
	if (err || !new)
		return -ENOMEM;
	o->job->counts->cut_values += o->whom.cut - cut;
	o->segment = row->segment;
	o->process = row->process;
	*new = (struct otlp_resource){ r->nr_values, o->whom.nr, r->nr_profiles, 0 };
	for (size_t i = 0; i < o->whom.nr && !err; i++)
		err = add_value(o, &o->whom.v[i]);
	return err;
}

/* ---- samples ---- */

static void know_thread(struct otlp_tables *t, const struct rec_thread *thread,
			struct thread_attributes *a)
{
	a->id = otlp_number_attribute(t, "thread.id", thread->tid);
	a->name = otlp_named_attribute(t, "thread.name", thread->comm);
}

/* Finds attributes by push_row.thread: the id of a THREAD, or of a name's STRING. */
static const struct thread_attributes *thread_of(struct otlp *o, uint32_t id)
{
	struct otlp_tables *t = &o->req.tables;
	bool is_name = o->job->opts.threads == PUSH_THREADS_NAME;
	const struct rec_thread *thread =
		is_name ? NULL : definition_store_find_thread(t->definitions, id);
	struct thread_attributes *a;

	if (!thread && !is_name)
		return NULL;
	if (array_reserve(&o->threads, &o->cap_threads, (size_t)id + 1)) {
		t->failed = true;
		return NULL;
	}
	a = &o->threads[id];
	if (a->known)
		return a;
	if (thread)
		know_thread(t, thread, a);
	else
		a->name = otlp_named_attribute(t, "thread.name", id);
	a->known = true;
	return a;
}

static uint32_t state_of(struct otlp *o, uint32_t state)
{
	const char *name = activity_name(state - 1);

	if (state > ACTIVITIES)
		return 0;
	if (!o->states[state])
		o->states[state] = otlp_text_attribute(&o->req.tables, "thread.state", name,
						       strlen(name));
	return o->states[state];
}

static uint32_t set_of(struct otlp *o, const struct push_row *row)
{
	const struct thread_attributes *thread = row->thread ? thread_of(o, row->thread) : NULL;
	uint32_t v[3];
	size_t nr = 0;

	if (thread && thread->id)
		v[nr++] = thread->id;
	if (thread && thread->name)
		v[nr++] = thread->name;
	if (row->state)
		v[nr++] = state_of(o, row->state);
	return otlp_set(&o->req.tables, v, nr);
}

static uint32_t stack_of(struct otlp *o, const struct push_row *row)
{
	char name[64];

	if (row->event != PUSH_LOSSES)
		return otlp_stack(&o->req.tables, row, &o->job->opts.style);
	push_loss_name(row->ustack, name, sizeof(name));
	return otlp_named_stack(&o->req.tables, name);
}

/* Adds rows until the profile is large enough. Their number. */
static int add_rows(struct otlp *o, const struct push_group *g, size_t *taken)
{
	const struct push_encode_opts *opts = &o->job->opts;
	struct otlp_request *r = &o->req;
	size_t bytes = 0, most = opts->max_profile_bytes / 4 * 3;

	otlp_tables_mark(&r->tables);
	for (*taken = 0; *taken < g->nr && *taken < opts->max_samples && bytes < most; ++*taken) {
		const struct push_row *row = &g->rows[*taken];
		struct otlp_sample *s = array_push(&r->samples, &r->nr_samples, &r->cap_samples);

		if (!s)
			return -ENOMEM;
		s->stack = stack_of(o, row);
		s->set = set_of(o, row);
		s->value = row->each ? row->count : row->weight;
		if (r->tables.failed)
			return -ENOMEM;
		bytes += otlp_stack_cost(&r->tables, s->stack);
	}
	o->cost += bytes;
	return r->tables.failed ? -ENOMEM : 0;
}

static int compare_samples(const void *x, const void *y)
{
	const struct otlp_sample *a = x, *b = y;

	if (a->stack != b->stack)
		return a->stack < b->stack ? -1 : 1;
	return a->set == b->set ? 0 : a->set < b->set ? -1 : 1;
}

/* Rows of different ids may be equal in all that is sent. */
static void merge_samples(struct otlp_request *r, size_t first)
{
	size_t to = first;

	qsort(r->samples + first, r->nr_samples - first, sizeof(*r->samples), compare_samples);
	for (size_t i = first; i < r->nr_samples; i++) {
		struct otlp_sample *s = &r->samples[i];

		if (to > first && !compare_samples(&r->samples[to - 1], s))
			r->samples[to - 1].value = weight_sum(r->samples[to - 1].value, s->value);
		else
			r->samples[to++] = *s;
	}
	r->nr_samples = to;
}

/* ---- profiles ---- */

static uint64_t common_divisor(const struct otlp_sample *s, size_t nr)
{
	uint64_t all = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t a = s[i].value, b = all;

		while (b) {
			uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		all = a;
	}
	return all && all <= INT64_MAX ? all : 1;
}

static void set_cpu_time(struct otlp *o, struct otlp_profile *p, uint64_t each)
{
	struct otlp_request *r = &o->req;
	uint64_t unit = each ? 1 : common_divisor(r->samples + p->first, p->nr);

	for (size_t i = 0; i < p->nr; i++)
		r->samples[p->first + i].value /= unit;
	p->type = otlp_string(&r->tables, "samples");
	p->unit = otlp_string(&r->tables, "count");
	p->period_type = otlp_string(&r->tables, "cpu");
	p->period_unit = otlp_string(&r->tables, "nanoseconds");
	p->period = push_value(o->job, each ? each : unit);
}

static void set_type(struct otlp *o, struct otlp_profile *p, const struct push_row *row)
{
	const struct push_type *type = push_types_of(&o->job->types, row->event);
	struct otlp_tables *t = &o->req.tables;

	if (type->is_cpu_time) {
		set_cpu_time(o, p, row->each);
		return;
	}
	p->type = otlp_string(t, type->type);
	p->unit = otlp_string(t, type->unit);
	if (!*type->period_type)
		return;
	p->period_type = otlp_string(t, type->period_type);
	p->period_unit = otlp_string(t, type->unit);
	p->period = push_value(o->job, type->period);
}

static int end_profile(struct otlp *o, const struct push_group *g, size_t first)
{
	struct otlp_request *r = &o->req;
	struct otlp_profile *p = array_push(&r->profiles, &r->nr_profiles, &r->cap_profiles);

	if (!p)
		return -ENOMEM;
	merge_samples(r, first);
	p->first = first;
	p->nr = r->nr_samples - first;
	p->time_ns = g->from_ns;
	p->duration_ns = g->to_ns - g->from_ns;
	push_profile_id(o->job, g, p->id);
	set_type(o, p, g->rows);
	for (size_t i = 0; i < p->nr; i++)
		r->samples[first + i].value =
			(uint64_t)push_value(o->job, r->samples[first + i].value);
	r->resources[r->nr_resources - 1].nr_profiles++;
	return r->tables.failed ? -ENOMEM : 0;
}

static void count_profile(struct otlp *o, const struct push_group *g)
{
	push_group_sums(g, &o->samples, &o->lost);
	if (!o->from_ns || g->from_ns < o->from_ns)
		o->from_ns = g->from_ns;
	if (g->to_ns > o->to_ns)
		o->to_ns = g->to_ns;
}

/* One more profile may be too much. */
static bool is_full(const struct otlp *o)
{
	const struct push_encode_opts *opts = &o->job->opts;

	if (body_bytes(o) + opts->max_profile_bytes > opts->max_body_bytes)
		return true;
	return opts->max_cost && o->cost >= opts->max_cost;
}

static int otlp_profile(void *enc, const struct push_group *g, size_t *taken)
{
	struct otlp *o = enc;
	struct push_group part = *g;
	size_t first;
	int err = 0;

	if (is_full(o))
		err = otlp_flush(o);
	if (!err)
		err = begin_resource(o, g->rows);
	if (err)
		return err;
	otlp_tables_segment(&o->req.tables, report_tables(o->job->rep, g->rows->segment));
	first = o->req.nr_samples;
	err = add_rows(o, g, taken);
	if (err)
		return err;
	part.nr = *taken;
	count_profile(o, &part);
	return end_profile(o, &part, first);
}

const struct push_encoder push_encoder_otlp = {
	.begin = otlp_begin,
	.profile = otlp_profile,
	.flush = otlp_flush,
	.end = otlp_end,
};
