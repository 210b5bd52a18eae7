/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How samples become a call tree.
 *
 * A trace has many samples and few distinct stacks, and the names of a stack are expensive. So
 * names are looked up as rarely as possible, in two steps:
 *
 *	samples -> rows		Samples of equal {segment, root, stacks, end} are counted in one row
 *				(sample_counts.h). The root is the node that fold_roots.h gives for
 *				the thread. No frame is looked at.
 *	rows -> tree		Each row is put into the tree once, with its count and weight
 *				(fold_stacks.h): its user stack below the root, or below a note that
 *				says why that stack is not whole, and its kernel stack below that.
 *
 * Ids are scoped to a segment, so everything that is kept by id is dropped when the next segment
 * begins, after its rows were put into the tree. They are also put there when there are MAX_ROWS.
 * fold_node() does both steps for each new row at once, and keeps the node.
 *
 * Limits: the depth and the size of the tree are limited by tree_builder.h. A small trace can
 * describe stacks that are long to add: all pairs of some user stacks and some kernel stacks, say.
 * So the number of frames that are looked at is limited (fold_options.max_steps); what comes then
 * is counted below "[too many stacks]" of its root.
 */
#include "src/profile/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/answer.h"
#include "src/profile/fold_roots.h"
#include "src/profile/fold_stacks.h"
#include "src/profile/profile.h"
#include "src/report/report.h"
#include "src/report/report_subject.h"
#include "src/report/report_text.h"
#include "src/profile/sample_counts.h"
#include "src/report/stack_health.h"
#include "src/profile/stack_note.h"
#include "src/profile/tree_builder.h"
#include "src/waits/idle.h"
#include "src/report/weight_text.h"

#define MAX_ROWS (1u << 18)
#define ROW_STEPS 4			/* what a row costs beside its frames */

struct fold {
	const struct fold_options *opts;
	struct tree_builder tree;
	struct stack_folder stacks;
	struct fold_roots roots;
	struct sample_counts counts;
	uint32_t *places;		/* fold_node(): the nodes of the rows, plus 1 */
	size_t cap_places;
	struct idle_cache idle;
	struct stack_tally tally;
	struct report_amount amount;
	struct report_subject subject;
	uint32_t segment, scan;		/* of the latest snapshot that has a row */
	const struct definition_store *tables;	/* of the segment that the rows are of */
};

int fold_new(const struct fold_options *opts, struct fold **fp)
{
	static const struct fold_options defaults;
	struct fold *f = calloc(1, sizeof(*f));
	struct frame_style style;

	*fp = NULL;
	if (!f || tree_builder_init(&f->tree)) {
		free(f);
		return -ENOMEM;
	}
	f->opts = opts ? opts : &defaults;
	if (f->opts->max_nodes)
		f->tree.max_nodes = f->opts->max_nodes;
	f->tree.max_name_bytes = f->opts->max_name_bytes;
	f->tree.by_line = f->opts->style.by_line;
	style = f->opts->style;
	style.binaries = f->opts->by.binaries;
	stack_folder_init(&f->stacks, &f->tree, &style);
	fold_roots_init(&f->roots, &f->opts->by, &f->stacks);
	*fp = f;
	return 0;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	stack_folder_release(&f->stacks);
	fold_roots_release(&f->roots);
	free(f->places);
	sample_counts_release(&f->counts);
	stack_tally_release(&f->tally);
	idle_cache_release(&f->idle);
	tree_builder_release(&f->tree);
	free(f);
}

/* Scans come in the order of their numbers, so a higher one than before is a new scan. */
static int count_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct fold *f = ctx;

	(void)real_ns;
	if (f->opts->answer)
		answer_scan(f->opts->answer, segment, scan);
	if (scan && (!f->scan || segment != f->segment || scan > f->scan)) {
		f->amount.scans++;
		f->scan = scan;
		f->segment = segment;
	}
	return 0;
}

static void add_row(struct fold *f, const struct sample_count *row);
static void add_rows(struct fold *f);

/* So many frames were looked at that no more are. */
static bool is_spent(const struct fold *f)
{
	return f->opts->max_steps && f->stacks.steps > f->opts->max_steps;
}

/* Rows hold ids of one segment only. */
static void enter_segment(struct fold *f, const struct definition_store *tables)
{
	if (f->tables == tables)
		return;
	add_rows(f);
	stack_folder_enter(&f->stacks, tables);
	fold_roots_enter(&f->roots);
	f->tables = tables;
}

static enum idle idle_kind(struct fold *f, const struct report_sample *s)
{
	return f->opts->fold_idle ? idle_of(&f->idle, s->tables, s->rec) : IDLE_NOT;
}

/* Counts the samples in all sums but those of the tree, and makes their row. 0 or -ENOMEM. */
static int count_sample(struct fold *f, const struct report_sample *s, uint64_t nr,
			struct sample_count *key)
{
	const struct rec_sample *rec = s->rec;

	enter_segment(f, s->tables);
	*key = (struct sample_count){ .root = fold_roots_node(&f->roots, s),
				      .kstack = rec->kstack,
				      .ustack = rec->ustack,
				      .segment = (uint16_t)s->segment,
				      .end = rec->end,
				      .kind = (uint8_t)idle_kind(f, s),
				      .count = nr,
				      .weight = s->weight };
	f->amount.samples += nr;
	f->amount.weight = weight_sum(f->amount.weight, s->weight);
	count_scan(f, s->segment, rec->scan, s->real_ns);
	report_subject_sample(&f->subject, s);
	if (f->opts->answer && answer_sample(f->opts->answer, s, nr))
		return -ENOMEM;
	if (f->tree.failed || stack_tally_add_many(&f->tally, s->segment, s->tables, rec, nr))
		return -ENOMEM;
	return 0;
}

int fold_counted(struct fold *f, const struct report_sample *s, uint64_t nr)
{
	struct sample_count key;
	int is_full;

	if (count_sample(f, s, nr, &key))
		return -ENOMEM;
	if (is_spent(f)) {
		add_row(f, &key);	/* which looks at no frame */
		return f->tree.failed ? -ENOMEM : 0;
	}
	if (sample_counts_put(&f->counts, &key))
		return -ENOMEM;
	is_full = sample_counts_reaches(&f->counts, MAX_ROWS);
	if (is_full > 0)
		add_rows(f);
	return is_full < 0 ? is_full : 0;
}

static int count_samples(void *fold, const struct report_sample *s, uint64_t nr)
{
	return fold_counted(fold, s, nr);
}

/* The node of the innermost function of a row. */
static uint32_t place_row(struct fold *f, const struct sample_count *row)
{
	char buf[STACK_NOTE_MAX];
	const char *text = stack_note(row->end, row->ustack != 0, buf);
	const char *hidden = stack_note_hidden(f->tables, row->ustack, row->kstack);
	uint32_t at = row->root;

	f->stacks.steps += ROW_STEPS;
	if (is_spent(f))
		return tree_builder_rest(&f->tree, at);
	if (row->kind) {
		text = stack_note_idle(row->kind, buf);
		return stack_folder_note(&f->stacks, at, text);
	}
	if (text)
		at = stack_folder_note(&f->stacks, at, text);
	if (hidden)
		return stack_folder_note(&f->stacks, at, hidden);
	at = stack_folder_add(&f->stacks, at, row->ustack);
	return stack_folder_add(&f->stacks, at, row->kstack);
}

static void add_row(struct fold *f, const struct sample_count *row)
{
	tree_builder_add(&f->tree, place_row(f, row), row->weight, row->count);
}

/* Puts the rows that were counted so far into the tree. */
static void add_rows(struct fold *f)
{
	f->tree.failed |= sample_counts_settle(&f->counts) != 0;
	for (size_t i = 0; i < f->counts.nr && !f->tree.failed; i++)
		if (i < f->cap_places && f->places[i])
			tree_builder_add(&f->tree, f->places[i] - 1, f->counts.v[i].weight,
					 f->counts.v[i].count);
		else
			add_row(f, &f->counts.v[i]);
	sample_counts_release(&f->counts);
	if (f->cap_places)
		memset(f->places, 0, f->cap_places * sizeof(*f->places));
}

/* Fetches what a sample that comes soon will be counted in. */
static void expect(struct fold *f, const struct report_sample *s)
{
	const struct rec_sample *rec = s->ahead;
	struct sample_count key = { .kstack = rec->kstack, .ustack = rec->ustack, .end = rec->end,
				    .segment = (uint16_t)s->segment };
	size_t row;

	stack_tally_expect(&f->tally, s->segment, rec);
	key.root = fold_roots_known(&f->roots, rec->thread);
	if (rec->scan || key.root == NODE_NONE)
		return;
	sample_counts_expect(&f->counts, &key, &row);
	if (row < f->cap_places)
		__builtin_prefetch(&f->places[row]);
}

int fold_node(struct fold *f, const struct report_sample *s, uint32_t *node)
{
	struct sample_count key;
	size_t row;

	if (s->ahead)
		expect(f, s);

	*node = 0;
	if (count_sample(f, s, 1, &key))
		return -ENOMEM;
	if (f->counts.nr >= MAX_ROWS)
		add_rows(f);
	if (sample_counts_add(&f->counts, &key, &row) ||
	    array_reserve(&f->places, &f->cap_places, row + 1))
		return -ENOMEM;
	if (!f->places[row])
		f->places[row] = place_row(f, &key) + 1;
	*node = f->places[row] - 1;
	return f->tree.failed ? -ENOMEM : 0;
}

static int build(struct fold *f, uint32_t **levels)
{
	add_rows(f);
	/* Finishing the tree needs memory of its own, so what it was built from is freed first. */
	fold_roots_release(&f->roots);
	*levels = stack_folder_take_levels(&f->stacks, f->tree.p->nr_nodes);
	stack_folder_release(&f->stacks);
	return f->tree.failed ? -ENOMEM : 0;
}

static const char *keep(struct profile *p, const char *s, bool *failed)
{
	uint32_t id = intern_str(p->names, s);

	*failed |= id == IX_NONE;
	return id == IX_NONE ? "" : intern_get(p->names, id, NULL);
}

static const struct definition_store *report_tables_of(const void *report, uint32_t segment)
{
	return report_tables(report, segment);
}

/* Fills the facts about the quality of the stacks. */
static int fill_health(struct fold *f, segment_tables_fn tables_of, const void *ctx,
		       struct profile *p)
{
	struct profile_facts *facts = &p->facts;
	bool failed = false;
	char text[512];

	p->health = calloc(1, sizeof(*p->health));
	if (!p->health || stack_health_init(p->health, &f->tally, tables_of, ctx))
		return -ENOMEM;
	facts->samples = f->amount.samples;
	facts->weight = f->amount.weight;
	facts->roots = p->health->all.whole;
	facts->user_stacks = p->health->all.stacks;
	report_stacks_text(p->health, text, sizeof(text));
	facts->stacks = keep(p, text, &failed);
	report_broken_text(p->health, text, sizeof(text));
	facts->not_whole = keep(p, text, &failed);
	return failed ? -ENOMEM : 0;
}

int fold_take(struct fold *f, segment_tables_fn tables_of, const void *ctx, struct profile **pp)
{
	struct profile *p = NULL;
	uint32_t *levels = NULL;
	int err = build(f, &levels);

	*pp = NULL;
	if (!err)
		p = tree_builder_take(&f->tree);
	if (p)
		p->levels = levels;
	else
		free(levels);
	if (!err)
		err = p ? fill_health(f, tables_of, ctx, p) : -ENOMEM;
	if (err)
		profile_free(p);
	else
		*pp = p;
	return err;
}

/* Says in words what is shown. */
static void tell_amount(struct fold *f, const struct report *rep, struct profile *p, bool *failed)
{
	char text[512], subject[128];
	uint64_t threads, rows;

	f->amount.event = report_event(rep);
	report_amount_text(&f->amount, text, sizeof(text));
	p->facts.amount = keep(p, text, failed);
	p->facts.nr_scans = f->amount.scans;
	report_subject_text(&f->subject, rep, subject, sizeof(subject));
	report_hidden(rep, &threads, &rows);
	report_hidden_text(threads, rows, text, sizeof(text));
	p->facts.hidden = keep(p, text, failed);
	report_title_text(subject, &f->amount, text, sizeof(text));
	p->facts.title = keep(p, text, failed);
}

/* The facts outlive the report, so their strings are copied into the profile. */
static int fill_facts(struct fold *f, const struct report *rep, struct profile *p)
{
	struct profile_facts *facts = &p->facts, of_stacks = *facts;
	bool failed = false;

	report_facts(rep, facts);
	tell_amount(f, rep, p, &failed);
	facts->samples = of_stacks.samples;
	facts->weight = of_stacks.weight;
	facts->roots = of_stacks.roots;
	facts->user_stacks = of_stacks.user_stacks;
	facts->stacks = of_stacks.stacks;
	facts->not_whole = of_stacks.not_whole;
	facts->host = keep(p, facts->host, &failed);
	facts->kernel = keep(p, facts->kernel, &failed);
	facts->tool = keep(p, facts->tool, &failed);
	facts->argv = keep(p, facts->argv, &failed);
	facts->event = keep(p, facts->event, &failed);
	facts->thing = keep(p, facts->thing, &failed);
	facts->unit = keep(p, facts->unit, &failed);
	facts->shown = keep(p, facts->shown, &failed);
	facts->warning = keep(p, facts->warning, &failed);
	facts->scans = keep(p, facts->scans, &failed);
	facts->names = keep(p, facts->names, &failed);
	return failed ? -ENOMEM : 0;
}

int fold_take_report(struct fold *f, struct report *rep, struct profile **pp)
{
	int err = fold_take(f, report_tables_of, rep, pp);

	if (!err && f->tree.is_full)
		report_set_blurred(rep);
	if (!err)
		err = fill_facts(f, rep, *pp);
	if (err) {
		profile_free(*pp);
		*pp = NULL;
	}
	return err;
}

void fold_limit(struct fold_options *opts, const struct report *rep)
{
	struct report_limits limits;

	report_limits(rep, &limits);
	opts->max_nodes = limits.nodes;
	opts->max_name_bytes = limits.name_bytes;
	opts->max_steps = limits.steps;
}

int fold_report(struct report *rep, const struct fold_options *opts, struct profile **pp)
{
	static const struct report_counting counting = { .samples = count_samples,
							 .scan = count_scan };
	struct fold_options limited = opts ? *opts : (struct fold_options){ .max_nodes = 0 };
	struct fold *f;
	int err;

	fold_limit(&limited, rep);
	*pp = NULL;
	err = fold_new(&limited, &f);
	if (!err)
		err = report_counted(rep, &counting, f);
	if (!err)
		err = fold_take_report(f, rep, pp);
	if (err == -ENOMEM)
		fail(err, "%s", report_path(rep));
	fold_free(f);
	return err;
}
