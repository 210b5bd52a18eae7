/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_pprof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/render/pprof_message.h"
#include "src/model/definition_store.h"
#include "src/model/record.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/push/push_gzip.h"

/* What samples refer to comes last; so much of it is expected for each location. */
#define LOCATION_BYTES 160

enum label { THREAD_ID, THREAD_NAME, THREAD_STATE, LABELS };

struct making {
	struct push_job *job;
	struct pprof_message message;
	uint64_t keys[LABELS];		/* ids; 0: not used yet */
	const struct push_type *type;
};

static void put_types(struct making *m, const struct push_group *g)
{
	struct pprof_message *p = &m->message;
	const struct push_type *type = m->type;
	uint64_t each = g->rows[0].each;

	if (!type->is_counted)
		pprof_sample_type(p, "samples", "count");
	pprof_sample_type(p, type->type, type->unit);
	if (*type->period_type)
		pprof_period(p, type->period_type, type->unit, each ? each : type->period);
	pprof_default_type(p, type->type);
	pprof_time(p, g->from_ns, g->to_ns - g->from_ns);
}

/* Numbers would be no labels of Pyroscope's, so a thread's is a text. */
static struct pprof_label make_label(struct making *m, enum label label, uint64_t text)
{
	static const char *const keys[LABELS] = { "thread_id", "thread_name", "thread_state" };

	if (!m->keys[label])
		m->keys[label] = pprof_string(&m->message, keys[label]);
	return (struct pprof_label){ .key = m->keys[label], .text = text };
}

static size_t make_labels(struct making *m, const struct push_row *row,
			  struct pprof_label v[LABELS])
{
	struct pprof_message *p = &m->message;
	bool is_name = m->job->opts.threads == PUSH_THREADS_NAME;
	const struct rec_thread *t =
		is_name ? NULL : definition_store_find_thread(p->tables, row->thread);
	uint32_t comm = t ? t->comm : is_name ? row->thread : 0;
	uint64_t name = comm ? pprof_table_string(p, comm) : 0;
	char tid[16];
	size_t nr = 0;

	if (t) {
		snprintf(tid, sizeof(tid), "%u", t->tid);
		v[nr++] = make_label(m, THREAD_ID, pprof_string(p, tid));
	}
	if (name)
		v[nr++] = make_label(m, THREAD_NAME, name);
	if (row->state)
		v[nr++] = make_label(m, THREAD_STATE,
				     pprof_string(p, activity_name(row->state - 1)));
	return nr;
}

static void put_row(struct making *m, const struct push_row *row)
{
	const struct path_key stack = { row->kstack, row->ustack, row->end };
	uint64_t values[] = { (uint64_t)push_value(m->job, row->count),
			      (uint64_t)push_value(m->job, row->weight) };
	struct pprof_label labels[LABELS];
	struct pprof_sample s = { .values = values, .nr_values = 2, .labels = labels };
	char name[64];

	if (m->type->is_counted) {
		s.values++;
		s.nr_values--;
	}
	s.nr_labels = make_labels(m, row, labels);
	if (row->event != PUSH_LOSSES) {
		pprof_sample(&m->message, &stack, &s);
		return;
	}
	push_loss_name(row->ustack, name, sizeof(name));
	pprof_named_sample(&m->message, name, &s);
}

/* At most so many rows, and fewer if the profile seems to become too large. */
static int write_profile(struct making *m, const struct push_group *g, size_t most, size_t *taken)
{
	struct pprof_message *p = &m->message;
	size_t bytes = 0, limit = m->job->opts.max_profile_bytes;
	const struct rec_process *of;
	int err;

	put_types(m, g);
	pprof_segment(p, report_tables(m->job->rep, g->rows->segment));
	of = definition_store_find_process(p->tables, g->rows->process);
	pprof_program(p, of ? of->exe : 0, 1);
	for (*taken = 0; *taken < most && bytes < limit && !p->failed; ++*taken) {
		put_row(m, &g->rows[*taken]);
		bytes = p->written + p->frames.nr * LOCATION_BYTES;
	}
	pprof_end_segment(p, &m->job->opts.style);
	err = pprof_finish(p);
	return err ? err : fflush(p->out) ? -ENOMEM : 0;
}

/* raw: the message, which the caller frees. */
static int make_raw(struct push_job *job, const struct push_group *g, size_t most,
		    struct push_pprof *made, char **raw)
{
	struct making m = { .job = job, .type = push_types_of(&job->types, g->rows->event) };
	FILE *out = open_memstream(raw, &made->raw_len);
	int err = out ? pprof_init(&m.message, out) : -ENOMEM;

	if (!err)
		err = write_profile(&m, g, most, &made->taken);
	pprof_release(&m.message);
	if (out && fclose(out))
		err = -ENOMEM;
	return err;
}

int push_pprof_make(struct push_job *job, const struct push_group *g, struct push_pprof *made)
{
	uint64_t capped = job->counts->capped;
	size_t most = g->nr < job->opts.max_samples ? g->nr : job->opts.max_samples;
	char *raw;
	int err;

	for (;;) {
		raw = NULL;
		*made = (struct push_pprof){ .taken = 0 };
		job->counts->capped = capped;
		err = make_raw(job, g, most, made, &raw);
		if (err || made->raw_len <= job->opts.max_profile_bytes || made->taken == 1)
			break;
		free(raw);
		most = made->taken / 2;
	}
	if (!err)
		made->bytes = push_gzip(raw, made->raw_len, &made->len);
	free(raw);
	return err ? err : made->bytes ? 0 : -ENOMEM;
}
