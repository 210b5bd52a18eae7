/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How samples become a call tree.
 *
 * A trace has many samples and few distinct stacks, and the names of a stack are expensive: each
 * frame has to be looked up, may stand for several inlined functions, and each of these is found
 * among the children of a node by hashing. So names are looked up as rarely as possible, in three
 * steps:
 *
 *	samples -> rows		Samples of equal {segment, thread name, stacks, end} are counted in
 *				one row (sample_counts.h). No frame is looked at.
 *	frames -> keys		The nodes that a frame stands for are made once per frame.
 *	rows -> tree		Each row is put into the tree once, with its count and weight.
 *
 * The third step uses that stacks share their callers. A stack is the id of its innermost NODE
 * record, which names its frame and its parent, the node one caller further out. A memo {base,
 * stack} -> node says: the path that begins below the tree's node "base" and takes all frames of
 * "stack" ends at "node". A stack is followed outwards only until a memo is found, and added
 * inwards from there:
 *
 *	NODE 1 main, 2 main;parse, 3 main;parse;read, 4 main;parse;eat
 *
 *	row (app, 3)	no memo: adds main, parse and read below "app", and keeps the
 *			memos {app, 1}, {app, 2} and {app, 3}
 *	row (app, 4)	finds the memo {app, 2} and adds only eat
 *
 * The base is the node of the thread's name (or the note below it) for a user stack, and the end of
 * the user stack for a kernel stack.
 *
 * Ids are scoped to a segment, so everything that is kept by id is dropped when the next segment
 * begins, after its rows were put into the tree. They are also put there when there are MAX_ROWS.
 *
 * Limits: there are at most MAX_MEMOS memos; without one, a stack is added from its outermost
 * frame, which costs only time. A stack whose callers were lost with a damaged chunk begins with
 * "[missing]". The depth and the size of the tree are limited by tree_builder.h. A small trace can
 * describe stacks that are long to add: all pairs of some user stacks and some kernel stacks, say.
 * So the number of frames that are looked at is limited (fold_options.max_steps); what comes then
 * is counted below "[too many stacks]" of its thread.
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
#include "src/profile/frame_name.h"
#include "src/profile/profile.h"
#include "src/profile/report.h"
#include "src/profile/report_subject.h"
#include "src/profile/report_text.h"
#include "src/profile/sample_counts.h"
#include "src/profile/stack_health.h"
#include "src/profile/stack_note.h"
#include "src/profile/tree_builder.h"
#include "src/profile/weight_text.h"

#define MAX_MEMOS (1u << 20)
#define MAX_ROWS (1u << 18)
#define MAX_KEYS (1u << 18)		/* of frames, before all are made anew */
#define ROW_STEPS 4			/* what a row costs beside its frames */

/*
 * A path that was added before: from the tree's node base down all frames of stack it leads to
 * node.
 */
struct memo {
	uint32_t base, stack, node;
};

/* keys[first ..] are those of one frame, outermost first; nr 0: not made yet */
struct frame_keys {
	uint32_t first, nr;
};

struct fold {
	const struct fold_options *opts;
	struct tree_builder tree;
	struct sample_counts counts;
	struct stack_tally stacks;
	struct report_amount amount;
	struct report_subject subject;
	uint32_t segment, scan;		/* of the latest snapshot that has a row */
	uint64_t steps;			/* frames looked at so far */

	/* All members below hold ids of one segment and are emptied when the next one begins. */
	const struct definition_store *tables;
	uint32_t *comms;		/* by thread id: the thread's name; 0: not known yet */
	size_t cap_comms;
	struct frame_keys *frames;	/* by frame id */
	size_t cap_frames;
	struct node *keys;
	size_t nr_keys, cap_keys;
	uint32_t *strings;		/* by string id: its name plus 1; 0: not known yet */
	size_t cap_strings;
	struct memo *memos;
	size_t nr_memos, cap_memos;
	struct hash_index memo_index;
	uint32_t *path;			/* the part of a stack without a memo, innermost first */
	size_t nr_path, cap_path;
	struct byte_buf text;		/* of a name that is put together */
};

static void forget_segment(struct fold *f)
{
	free(f->comms);
	free(f->frames);
	free(f->strings);
	f->comms = NULL;
	f->frames = NULL;
	f->strings = NULL;
	f->cap_comms = f->cap_frames = f->cap_strings = f->nr_keys = f->nr_memos = 0;
	ix_release(&f->memo_index);
}

int fold_new(const struct fold_options *opts, struct fold **fp)
{
	static const struct fold_options defaults;
	struct fold *f = calloc(1, sizeof(*f));

	*fp = NULL;
	if (!f || tree_builder_init(&f->tree)) {
		free(f);
		return -ENOMEM;
	}
	f->opts = opts ? opts : &defaults;
	if (f->opts->max_nodes)
		f->tree.max_nodes = f->opts->max_nodes;
	f->tree.max_name_bytes = f->opts->max_name_bytes;
	*fp = f;
	return 0;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	forget_segment(f);
	free(f->keys);
	free(f->memos);
	free(f->path);
	bb_release(&f->text);
	sample_counts_release(&f->counts);
	stack_tally_release(&f->stacks);
	tree_builder_release(&f->tree);
	free(f);
}

/* The name that a string of the segment is; a long one is looked at only once. */
static uint32_t table_name(struct fold *f, uint32_t string)
{
	uint32_t end = definition_store_id_end(f->tables, REC_STRING), *name = NULL, id;
	const char *s;
	size_t len;

	if (string < end && !array_reserve(&f->strings, &f->cap_strings, end))
		name = &f->strings[string];
	if (name && *name)
		return *name - 1;
	s = definition_store_string(f->tables, string, &len);
	id = tree_builder_name(&f->tree, s, len);
	if (name && id != IX_NONE)
		*name = id + 1;
	return id;
}

static uint32_t comm_name(struct fold *f, const struct rec_thread *thread)
{
	uint32_t string = thread ? thread->comm : UINT32_MAX;
	size_t len;

	definition_store_string(f->tables, string, &len);
	return len ? table_name(f, string) : tree_builder_name(&f->tree, "[no name]", 9);
}

static uint32_t thread_comm(struct fold *f, const struct report_sample *s)
{
	uint32_t id = s->rec->thread;

	if (!s->thread ||
	    array_reserve(&f->comms, &f->cap_comms, definition_store_id_end(f->tables, REC_THREAD)))
		return comm_name(f, s->thread);
	if (!f->comms[id])
		f->comms[id] = comm_name(f, s->thread);
	return f->comms[id];
}

/* Scans come in the order of their numbers, so a higher one than before is a new scan. */
static int count_scan(void *ctx, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	struct fold *f = ctx;

	(void)real_ns;
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
	return f->opts->max_steps && f->steps > f->opts->max_steps;
}

/* Rows hold ids of one segment only. */
static void enter_segment(struct fold *f, const struct definition_store *tables)
{
	if (f->tables == tables)
		return;
	add_rows(f);
	forget_segment(f);
	f->tables = tables;
}

int fold_counted(struct fold *f, const struct report_sample *s, uint64_t nr)
{
	const struct rec_sample *rec = s->rec;
	struct sample_count key = { .kstack = rec->kstack,
				    .ustack = rec->ustack,
				    .segment = (uint16_t)s->segment,
				    .end = rec->end,
				    .count = nr,
				    .weight = s->weight };

	enter_segment(f, s->tables);
	key.comm = thread_comm(f, s);
	f->amount.samples += nr;
	f->amount.weight = weight_sum(f->amount.weight, s->weight);
	count_scan(f, s->segment, rec->scan, s->real_ns);
	report_subject_sample(&f->subject, s);
	if (f->tree.failed || stack_tally_add_many(&f->stacks, s->segment, s->tables, rec, nr))
		return -ENOMEM;
	if (is_spent(f)) {
		add_row(f, &key);	/* which looks at no frame */
		return f->tree.failed ? -ENOMEM : 0;
	}
	if (sample_counts_add(&f->counts, &key))
		return -ENOMEM;
	if (f->counts.nr >= MAX_ROWS)
		add_rows(f);
	return 0;
}

static int count_samples(void *fold, const struct report_sample *s, uint64_t nr)
{
	return fold_counted(fold, s, nr);
}

static uint32_t view_name(struct fold *f, const struct frame_view *v)
{
	bool offset = f->opts->style.offsets && v->has_offset;
	bool line = f->opts->style.lines && v->line;

	if (!offset && !line)
		return v->string ? table_name(f, v->string)
				 : tree_builder_name(&f->tree, v->name, v->len);
	frame_name(f->tables, v, offset, line, &f->text);
	f->tree.failed |= f->text.bad;
	return tree_builder_name(&f->tree, (const char *)f->text.v, f->text.nr);
}

static const uint8_t flag_of_tier[(FUNC_TIERS >> FUNC_TIER_SHIFT) + 1] = {
	[TIER_INTERPRETED] = NODE_INTERPRETED, [TIER_BASELINE] = NODE_BASELINE,
	[TIER_OPTIMIZED] = NODE_OPTIMIZED,     [TIER_COMPILED] = NODE_COMPILED,
	[TIER_BUILTIN] = NODE_BUILTIN,
};

/* Makes the keys of the nodes that a frame stands for, outermost first. 0 or -ENOMEM. */
static int make_keys(struct fold *f, uint32_t frame, struct frame_keys *made)
{
	const struct rec_frame *rec = definition_store_find_frame(f->tables, frame);
	const struct rec_binary *binary =
		rec ? definition_store_find_binary(f->tables, rec->binary) : NULL;
	uint32_t all = definition_store_frame_depth(f->tables, frame);
	uint32_t nr = frame_style_depth(&f->opts->style, all);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (f->nr_keys + nr >= UINT32_MAX || array_reserve(&f->keys, &f->cap_keys, f->nr_keys + nr))
		return -ENOMEM;
	*made = (struct frame_keys){ (uint32_t)f->nr_keys, nr };
	for (uint32_t i = nr; i-- > 0;) {
		struct node *key = &f->keys[f->nr_keys++];

		definition_store_frame_view(f->tables, frame,
					    frame_style_nth(&f->opts->style, all, i), buf, &v);
		*key = (struct node){
			.name = view_name(f, &v),
			.binary = binary ? table_name(f, binary->path) : 0,
			.kind = rec ? rec->kind : FRAME_SYNTHETIC,
			.line = v.start_line && !f->opts->style.lines ? v.start_line : v.line,
			.flags = (uint8_t)((v.inlined ? NODE_INLINED : 0) |
					   (rec ? 0 : NODE_SYNTHETIC) | flag_of_tier[v.tier]),
		};
		if (f->opts->style.lines && v.line)
			v.file = v.line_file;
		if (v.file)
			key->file = table_name(f, v.file);
		/* All generated code is in one binary, so the script tells namesakes apart. */
		if (rec && rec->kind == FRAME_JIT && key->file)
			key->binary = key->file;
		if (rec && rec->flags & FRAME_GUESSED)
			key->flags |= NODE_GUESSED;
	}
	return 0;
}

/* Forgets the keys of all frames when there are too many, or when none could find them again. */
static void limit_keys(struct fold *f)
{
	if (f->nr_keys < MAX_KEYS)
		return;
	if (f->cap_frames)
		memset(f->frames, 0, f->cap_frames * sizeof(*f->frames));
	f->nr_keys = 0;
}

static uint32_t add_frame(struct fold *f, uint32_t at, uint32_t frame)
{
	struct frame_keys none = { 0, 0 }, *k = &none;
	uint32_t end = definition_store_id_end(f->tables, REC_FRAME);

	if (frame < end) {
		if (array_reserve(&f->frames, &f->cap_frames, end)) {
			f->tree.failed = true;
			return at;
		}
		k = &f->frames[frame];
	}
	if (!k->nr) {
		limit_keys(f);
		if (make_keys(f, frame, k)) {
			f->tree.failed = true;
			return at;
		}
	}
	for (uint32_t i = 0; i < k->nr; i++)
		at = tree_builder_child(&f->tree, at, &f->keys[k->first + i]);
	f->steps += k->nr;
	return at;
}

static uint32_t add_synthetic(struct fold *f, uint32_t at, uint32_t name)
{
	struct node key = { .name = name, .kind = FRAME_SYNTHETIC, .flags = NODE_SYNTHETIC };

	return tree_builder_child(&f->tree, at, &key);
}

static uint32_t add_note(struct fold *f, uint32_t at, const char *text)
{
	return add_synthetic(f, at, tree_builder_name(&f->tree, text, strlen(text)));
}

struct memo_key {
	const struct memo *v;
	uint32_t base, stack;
};

static bool same_memo(const void *ctx, uint32_t id)
{
	const struct memo_key *k = ctx;

	return k->v[id].base == k->base && k->v[id].stack == k->stack;
}

static uint64_t memo_hash(uint32_t base, uint32_t stack)
{
	return hash_u64(0, (uint64_t)base << 32 | stack);
}

static uint32_t find_memo(struct fold *f, uint32_t base, uint32_t stack)
{
	const struct memo_key k = { f->memos, base, stack };
	uint32_t id = ix_find(&f->memo_index, memo_hash(base, stack), same_memo, &k);

	return id == IX_NONE ? NODE_NONE : f->memos[id].node;
}

/* A memo that cannot be kept costs only time. */
static void add_memo(struct fold *f, uint32_t base, uint32_t stack, uint32_t node)
{
	struct memo *m =
		f->nr_memos < MAX_MEMOS ? array_push(&f->memos, &f->nr_memos, &f->cap_memos) : NULL;

	if (!m)
		return;
	*m = (struct memo){ base, stack, node };
	if (ix_add(&f->memo_index, memo_hash(base, stack), (uint32_t)f->nr_memos - 1))
		f->nr_memos--;
}

/* Adds a stack below base and returns its innermost node. */
static uint32_t add_stack(struct fold *f, uint32_t base, uint32_t stack)
{
	const struct table_node *n;
	uint32_t at = NODE_NONE, *slot;

	f->nr_path = 0;
	while (stack && (at = find_memo(f, base, stack)) == NODE_NONE) {
		n = definition_store_find_node(f->tables, stack);
		slot = n ? array_push(&f->path, &f->nr_path, &f->cap_path) : NULL;
		f->tree.failed |= n && !slot;
		if (!slot)
			break;
		*slot = stack;
		stack = n->parent;
	}
	f->steps += f->nr_path;
	/* No memo: the whole stack is new, and a note stands for callers that were lost. */
	if (at == NODE_NONE)
		at = stack ? add_note(f, base, "[missing]") : base;
	while (f->nr_path && !tree_builder_is_rest(&f->tree, at)) {
		stack = f->path[--f->nr_path];
		at = add_frame(f, at, definition_store_find_node(f->tables, stack)->frame);
		add_memo(f, base, stack, at);
	}
	return at;
}

static void add_row(struct fold *f, const struct sample_count *row)
{
	char buf[STACK_NOTE_MAX];
	const char *text = stack_note(row->end, row->ustack != 0, buf);
	uint32_t at = add_synthetic(f, 0, row->comm);

	f->steps += ROW_STEPS;
	if (is_spent(f)) {
		at = tree_builder_rest(&f->tree, at);
	} else {
		if (text)
			at = add_note(f, at, text);
		at = add_stack(f, at, row->ustack);
		at = add_stack(f, at, row->kstack);
	}
	tree_builder_add(&f->tree, at, row->weight, row->count);
}

/* Puts the rows that were counted so far into the tree. */
static void add_rows(struct fold *f)
{
	for (size_t i = 0; i < f->counts.nr && !f->tree.failed; i++)
		add_row(f, &f->counts.v[i]);
	sample_counts_release(&f->counts);
}

static int build(struct fold *f)
{
	add_rows(f);
	/* Finishing the tree needs memory of its own, so what it was built from is freed first. */
	forget_segment(f);
	free(f->memos);
	f->memos = NULL;
	f->cap_memos = 0;
	free(f->keys);
	f->keys = NULL;
	f->cap_keys = 0;
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
	if (!p->health || stack_health_init(p->health, &f->stacks, tables_of, ctx))
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
	int err = build(f);

	*pp = NULL;
	if (!err)
		p = tree_builder_take(&f->tree);
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

	f->amount.event = report_event(rep);
	report_amount_text(&f->amount, text, sizeof(text));
	p->facts.amount = keep(p, text, failed);
	report_subject_text(&f->subject, rep, subject, sizeof(subject));
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

int fold_report(struct report *rep, const struct fold_options *opts, struct profile **pp)
{
	static const struct report_counting counting = { .samples = count_samples,
							 .scan = count_scan };
	struct fold_options limited = { .style = opts ? opts->style : (struct frame_style){ 0 } };
	struct report_limits limits;
	struct fold *f;
	int err;

	report_limits(rep, &limits);
	limited.max_nodes = limits.nodes;
	limited.max_name_bytes = limits.name_bytes;
	limited.max_steps = limits.steps;
	*pp = NULL;
	err = fold_new(&limited, &f);
	if (!err)
		err = report_counted(rep, &counting, f);
	if (!err)
		err = fold_take(f, report_tables_of, rep, pp);
	if (!err && f->tree.is_full)
		report_set_blurred(rep);
	if (!err)
		err = fill_facts(f, rep, *pp);
	if (err == -ENOMEM)
		fail(err, "%s", report_path(rep));
	if (err) {
		profile_free(*pp);
		*pp = NULL;
	}
	fold_free(f);
	return err;
}
