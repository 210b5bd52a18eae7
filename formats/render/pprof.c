/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples as a profile for pprof: gzip of what pprof_message.h writes.
 *
 *	sample		one for each {stack, thread, state}: locations, innermost first; the number
 *			of samples and their weight; labels thread, process, state, pid and tid
 *
 * Samples are counted first and written when their segment ends; what they refer to follows them.
 * Memory grows with distinct stacks, not with samples.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/gzip_stream.h"
#include "formats/render/pprof_message.h"
#include "formats/render/renderer.h"
#include "src/model/definition_store.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/profile/sample_counts.h"
#include "src/report/state_words.h"
#include "src/report/trace_events.h"

#define MAX_ROWS (1u << 18)

extern const struct renderer renderer_pprof;

enum label { THREAD, TID, PROCESS, PID, STATE, LABELS };

struct pprof {
	struct pprof_message message;
	struct sample_counts rows;	/* .root: the thread; .kind: enum activity, plus 1 */
	uint64_t keys[LABELS];		/* ids of the keys of labels; 0: not used yet */
	bool shows_states;
};

/* ---- samples ---- */

/* text: pprof_string(); 0: the label is a number. */
static struct pprof_label make_label(struct pprof *p, enum label label, uint64_t text,
				     uint64_t number)
{
	static const char *const keys[LABELS] = { "thread", "tid", "process", "pid", "state" };

	if (!p->keys[label])
		p->keys[label] = pprof_string(&p->message, keys[label]);
	return (struct pprof_label){ p->keys[label], text, number };
}

static size_t make_labels(struct pprof *p, const struct sample_count *row,
			  struct pprof_label v[LABELS])
{
	struct pprof_message *m = &p->message;
	const struct rec_thread *t = definition_store_find_thread(m->tables, row->root);
	const struct rec_process *of =
		t ? definition_store_find_process(m->tables, t->process) : NULL;
	size_t nr = 0;

	pprof_program(m, of ? of->exe : 0, row->weight);
	if (t) {
		v[nr++] = make_label(p, THREAD, pprof_table_string(m, t->comm), 0);
		v[nr++] = make_label(p, TID, 0, t->tid);
	}
	if (of) {
		v[nr++] = make_label(p, PROCESS, pprof_table_string(m, of->comm), 0);
		v[nr++] = make_label(p, PID, 0, of->tgid);
	}
	if (row->kind)
		v[nr++] = make_label(p, STATE, pprof_string(m, activity_name(row->kind - 1)), 0);
	return nr;
}

static void put_row(struct pprof *p, const struct sample_count *row)
{
	const struct path_key stack = { row->kstack, row->ustack, row->end };
	const uint64_t values[] = { row->count, row->weight };
	struct pprof_label labels[LABELS];
	const struct pprof_sample s = { values, 2, labels, make_labels(p, row, labels) };

	pprof_sample(&p->message, &stack, &s);
}

static void put_rows(struct pprof *p)
{
	p->message.failed |= sample_counts_settle(&p->rows) != 0;
	for (size_t i = 0; i < p->rows.nr && !p->message.failed; i++)
		put_row(p, &p->rows.v[i]);
	sample_counts_release(&p->rows);
}

static void end_segment(struct pprof *p, const struct frame_style *style)
{
	if (!p->message.tables)
		return;
	put_rows(p);
	pprof_end_segment(&p->message, style);
}

/* ---- the profile ---- */

static void put_types(struct pprof_message *m, const struct trace_event *e)
{
	const char *unit = !e || !strcmp(e->unit, "samples") ? "count"
			   : !strcmp(e->unit, "ns")	     ? "nanoseconds"
							     : e->unit;
	const char *name = !e				 ? "samples"
			   : event_is_cpu_time(e->kind)	 ? "cpu"
			   : event_is_wall_time(e->kind) ? "wall"
							 : e->name;

	pprof_sample_type(m, "samples", "count");
	pprof_sample_type(m, name, unit);
	pprof_period(m, name, unit, e ? e->period : 0);
	pprof_default_type(m, name);
}

static void put_facts(struct pprof_message *m, const struct report *rep)
{
	struct profile_facts f;

	report_facts(rep, &f);
	pprof_time(m, f.begin_real_ns, f.duration_ns);
	pprof_comment(m, f.tool);
	pprof_comment(m, f.argv);
	pprof_comment(m, f.host);
	pprof_comment(m, f.shown);
	pprof_comment(m, f.scans);
	pprof_comment(m, f.warning);
}

struct counting {
	struct pprof *p;
	const struct frame_style *style;
};

static int count(void *ctx, const struct report_sample *s, uint64_t nr)
{
	struct counting *c = ctx;
	struct pprof *p = c->p;
	unsigned state = p->shows_states ? sample_activity(s->rec, s->futex) + 1u : 0;
	struct sample_count row = { .root = s->rec->thread, .kstack = s->rec->kstack,
				    .ustack = s->rec->ustack, .segment = (uint16_t)s->segment,
				    .end = s->rec->end,
				    .kind = (uint8_t)state,
				    .count = nr, .weight = s->weight };
	int is_full;

	if (p->message.tables != s->tables)
		end_segment(p, c->style);
	pprof_segment(&p->message, s->tables);
	is_full = sample_counts_reaches(&p->rows, MAX_ROWS);
	if (is_full > 0)
		put_rows(p);
	if (p->message.failed || is_full < 0 || sample_counts_put(&p->rows, &row))
		return -ENOMEM;
	return ferror_unlocked(p->message.out) ? -EIO : 0;
}

static int write_profile(struct pprof *p, struct report *rep, const struct render_opts *opts)
{
	static const struct report_counting counting = { .samples = count };
	const struct trace_event *e = report_event(rep);
	struct counting c = { p, &opts->style };
	int err;

	p->shows_states = e && event_is_wall_time(e->kind);
	put_types(&p->message, e);
	put_facts(&p->message, rep);
	err = report_counted(rep, &counting, &c);
	if (err)
		return err;
	end_segment(p, &opts->style);
	err = pprof_finish(&p->message);
	return err ? err : ferror(p->message.out) ? -EIO : 0;
}

static int pprof_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	struct pprof p = { .shows_states = false };
	struct gzip_stream gzip;
	int err = gzip_stream_open(&gzip, out), closed;

	if (err)
		return err;
	err = pprof_init(&p.message, gzip.stream);
	if (!err)
		err = write_profile(&p, rep, opts);
	closed = gzip_stream_close(&gzip);
	sample_counts_release(&p.rows);
	pprof_release(&p.message);
	return err ? err : closed;
}

/* It is compressed, so its head is no text: gzip_stream_made() knows it. */
static bool made(const char *head)
{
	(void)head;
	return false;
}

const struct renderer renderer_pprof = {
	.name = "pprof",
	.suffixes = ".pb.gz .pprof",
	.is_packed = true,
	.help = "a profile for go tool pprof and the tools that read its format",
	.made = made,
	.stream = pprof_stream,
};
