/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs and threads are nodes of a small tree that fold_roots.h makes, as in the pictures; its
 * node ids are the accounts. Innermost functions are counted by {account, stack} while samples
 * come, and by {account, name} when the segment ends, so that names are looked up once per stack.
 */
#include "src/profile/answer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/report/answer_lines.h"
#include "src/profile/answer_deadlock.h"
#include "src/profile/answer_stuck.h"
#include "src/profile/answer_text.h"
#include "src/profile/fold_roots.h"
#include "src/profile/fold_stacks.h"
#include "src/profile/sample_counts.h"
#include "src/report/report.h"
#include "src/report/trace_events.h"
#include "src/profile/tree_builder.h"
#include "src/report/weight_text.h"
#include "src/waits/idle.h"
#include "src/waits/wait_function.h"

#define MAX_ACCOUNTS (1u << 16)
#define MAX_LEAVES (3u << 14)		/* before they are counted by name */

/* What one innermost function has in an account. */
struct leaf {
	uint32_t account, name;
	uint64_t weight;
};

struct leaf_table {
	struct leaf *v;
	size_t nr, cap;
	struct hash_index index;
};

struct answer {
	struct tree_builder tree;
	struct stack_folder stacks;	/* only for the names of strings */
	struct fold_roots roots;
	struct account *accounts;	/* by node of the tree */
	size_t cap_accounts;
	/* Innermost functions: by stack (root: the account; kind: a thread that waits), by name. */
	struct sample_counts by_stack;
	struct leaf_table by_name;
	const struct definition_store *tables;
	struct answer_sum sum;
	struct answer_stuck stuck;
	struct answer_deadlock deadlock;
	struct idle_cache idle;
	uint32_t segment, scan;		/* of the latest scan */
	char *text[ANSWER_LINES];
};

struct leaf_key {
	const struct leaf *v;
	uint32_t account, name;
};

static bool same_leaf(const void *ctx, uint32_t id)
{
	const struct leaf_key *k = ctx;

	return k->v[id].account == k->account && k->v[id].name == k->name;
}

static int add_leaf(struct leaf_table *t, const struct leaf *leaf)
{
	struct leaf_key k = { t->v, leaf->account, leaf->name };
	uint64_t hash = hash_u64(leaf->account, leaf->name);
	uint32_t id = ix_find(&t->index, hash, same_leaf, &k);
	struct leaf *l;

	if (id != IX_NONE) {
		t->v[id].weight = weight_sum(t->v[id].weight, leaf->weight);
		return 0;
	}
	l = array_push(&t->v, &t->nr, &t->cap);
	if (!l || ix_add(&t->index, hash, (uint32_t)t->nr - 1))
		return -ENOMEM;
	*l = *leaf;
	return 0;
}

static void release_leaves(struct leaf_table *t)
{
	free(t->v);
	ix_release(&t->index);
	memset(t, 0, sizeof(*t));
}

int answer_new(struct answer **ap)
{
	static const struct fold_by by = { .v = { FOLD_BY_PROGRAM, FOLD_BY_COMM }, .nr = 2 };
	static const struct frame_style style;
	struct answer *a = calloc(1, sizeof(*a));

	*ap = NULL;
	if (!a || tree_builder_init(&a->tree)) {
		free(a);
		return -ENOMEM;
	}
	a->tree.max_nodes = MAX_ACCOUNTS;
	stack_folder_init(&a->stacks, &a->tree, &style);
	fold_roots_init(&a->roots, &by, &a->stacks);
	*ap = a;
	return 0;
}

void answer_free(struct answer *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < ANSWER_LINES; i++)
		free(a->text[i]);
	fold_roots_release(&a->roots);
	stack_folder_release(&a->stacks);
	tree_builder_release(&a->tree);
	sample_counts_release(&a->by_stack);
	release_leaves(&a->by_name);
	free(a->accounts);
	answer_stuck_release(&a->stuck);
	answer_deadlock_release(&a->deadlock);
	idle_cache_release(&a->idle);
	free(a);
}

/* The name of the function of the program that waits; 0: none is known. */
static uint32_t waiting_name(struct answer *a, uint32_t stack)
{
	struct wait_function f;

	wait_function_of(a->tables, stack, &f);
	return f.len ? tree_builder_name(&a->tree, f.name, f.len) : 0;
}

/* The name of the innermost function of a stack, as a name of the tree; 0: it has none. */
static uint32_t leaf_name(struct answer *a, uint32_t stack)
{
	const struct table_node *n = definition_store_find_node(a->tables, stack);
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!n)
		return 0;
	definition_store_frame_view(a->tables, n->frame, 0, buf, &v);
	return v.string ? stack_folder_name(&a->stacks, v.string)
			: tree_builder_name(&a->tree, v.name, v.len);
}

/* Counts by name what came by stack. */
static int name_leaves(struct answer *a)
{
	struct sample_counts *t = &a->by_stack;
	int err = sample_counts_settle(t);

	for (size_t i = 0; i < t->nr && !err; i++) {
		const struct sample_count *row = &t->v[i];
		uint32_t waiting = row->kind ? waiting_name(a, row->ustack) : 0;
		const struct leaf l = { .account = row->root, .weight = row->weight,
					.name = waiting ? waiting : leaf_name(a, row->ustack) };

		if (l.name)
			err = add_leaf(&a->by_name, &l);
	}
	sample_counts_release(t);
	return err || a->tree.failed ? -ENOMEM : 0;
}

static int enter_segment(struct answer *a, const struct definition_store *tables)
{
	int err = 0;

	if (a->tables == tables)
		return 0;
	if (a->tables)
		err = name_leaves(a);
	stack_folder_enter(&a->stacks, tables);
	fold_roots_enter(&a->roots);
	a->tables = tables;
	return err;
}

/*
 * The stack whose innermost function is said. The kernel's part of a tracepoint, and of a thread
 * that left its CPU, is the same for all: the function of the program says more.
 */
static uint32_t telling_stack(const struct report_sample *s)
{
	const struct rec_event *e = definition_store_find_event(s->tables, s->rec->event);
	bool by_kernel = e && (e->kind == EVENT_TRACEPOINT || e->kind == EVENT_SCHED);

	if (s->rec->ustack && (by_kernel || !s->rec->kstack))
		return s->rec->ustack;
	return s->rec->kstack;
}

/* The libraries in which a thread waits are the same for all, too. */
static bool waits(const struct report_sample *s, enum activity activity)
{
	const struct rec_event *e = definition_store_find_event(s->tables, s->rec->event);

	return e && e->kind == EVENT_SCHED && s->rec->ustack &&
	       (activity == ACTIVITY_DISK || activity == ACTIVITY_LOCK ||
		activity == ACTIVITY_SLEEPING);
}

int answer_sample(struct answer *a, const struct report_sample *s, uint64_t nr)
{
	const struct rec_sample *rec = s->rec;
	struct sample_count leaf = { .ustack = telling_stack(s), .count = nr,
				     .weight = s->weight };
	enum activity activity = sample_activity(rec, s->futex);
	enum idle idle;
	struct account *account;
	uint32_t at;
	int is_full;

	if (enter_segment(a, s->tables))
		return -ENOMEM;
	at = fold_roots_node(&a->roots, s);
	if (a->tree.failed || array_reserve(&a->accounts, &a->cap_accounts, (size_t)at + 1))
		return -ENOMEM;
	account = &a->accounts[at];
	answer_scan(a, s->segment, rec->scan);
	if (rec->scan) {
		account->wall[activity] = weight_sum(account->wall[activity], s->weight);
		a->sum.wall[activity] = weight_sum(a->sum.wall[activity], s->weight);
		a->sum.rows[activity] += nr;
		return answer_deadlock_sample(&a->deadlock, s) ?:
		       answer_stuck_sample(&a->stuck, s, nr);
	}
	account->weight = weight_sum(account->weight, s->weight);
	account->samples += nr;
	a->sum.weight = weight_sum(a->sum.weight, s->weight);
	a->sum.samples += nr;
	idle = idle_of(&a->idle, s->tables, rec);
	if (idle) {		/* what a thread without work is in is not where it is hot */
		a->sum.idle = weight_sum(a->sum.idle, s->weight);
		account->idle = weight_sum(account->idle, s->weight);
		a->sum.idle_kinds |= 1u << idle;
		return 0;
	}
	leaf.root = at;
	leaf.kind = waits(s, activity);
	if (!leaf.ustack || sample_counts_put(&a->by_stack, &leaf))
		return leaf.ustack ? -ENOMEM : 0;
	is_full = sample_counts_reaches(&a->by_stack, MAX_LEAVES);
	return is_full > 0 ? name_leaves(a) : is_full;
}

static uint32_t parent_of(const struct answer *a, uint32_t account)
{
	return a->tree.p->nodes[account].parent;
}

/* Gives each program what its threads have. 0 or -ENOMEM. */
static int sum_programs(struct answer *a, uint32_t nr)
{
	size_t leaves = a->by_name.nr;
	int err = 0;

	for (size_t i = 0; i < leaves && !err; i++) {
		struct leaf l = a->by_name.v[i];

		l.account = parent_of(a, l.account);
		if (l.account)
			err = add_leaf(&a->by_name, &l);
	}
	for (uint32_t n = nr; n-- > 1;) {
		struct account *to = &a->accounts[parent_of(a, n)];
		const struct account *from = &a->accounts[n];

		to->weight = weight_sum(to->weight, from->weight);
		to->samples += from->samples;
		to->idle = weight_sum(to->idle, from->idle);
		for (unsigned s = 0; s < ACTIVITIES; s++)
			to->wall[s] = weight_sum(to->wall[s], from->wall[s]);
	}
	return err;
}

static void find_hottest(struct answer *a)
{
	for (size_t i = 0; i < a->by_name.nr; i++) {
		const struct leaf *l = &a->by_name.v[i];
		struct account *at = &a->accounts[l->account];
		const char *name = intern_get(a->tree.p->names, l->name, NULL);

		if (l->weight < at->hot_weight ||
		    (l->weight == at->hot_weight && at->hot && strcmp(at->hot, name) < 0))
			continue;
		at->hot = name;
		at->hot_weight = l->weight;
	}
}

/* Programs are shown or, where there is only one, its threads. 0 or -ENOMEM. */
static int finish_accounts(struct answer *a, uint32_t nr)
{
	uint32_t programs = 0;
	int err = 0;

	for (uint32_t n = 1; n < nr; n++)
		programs += !parent_of(a, n);
	for (uint32_t n = 1; n < nr; n++) {
		a->accounts[n].name = profile_name(a->tree.p, a->tree.p->nodes[n].name);
		a->accounts[n].is_shown = programs == 1 || !parent_of(a, n);
	}
	if (programs > 1)
		err = sum_programs(a, nr);
	find_hottest(a);
	return err;
}

int answer_lines(struct answer *a, struct report *rep, struct answer_lines *lines)
{
	size_t nr = a->tree.p->nr_nodes;
	int err = a->tables ? name_leaves(a) : 0;

	memset(lines, 0, sizeof(*lines));
	if (!err && array_reserve(&a->accounts, &a->cap_accounts, nr))
		err = -ENOMEM;
	if (!err)
		err = finish_accounts(a, (uint32_t)nr);
	if (!err)
		err = answer_deadlock_find(&a->deadlock, rep);
	a->sum.deadlock = a->deadlock.text;
	a->sum.stuck = a->stuck.text;
	a->sum.nr_stuck = a->stuck.nr;
	return err ? err : answer_text(rep, &a->sum, a->accounts + 1, nr - 1, a->text, lines);
}

/* Scans come in the order of their numbers, so a higher one than before is a new scan. */
void answer_scan(struct answer *a, uint32_t segment, uint32_t scan)
{
	if (!scan || (a->sum.scans && segment == a->segment && scan <= a->scan))
		return;
	a->sum.scans++;
	a->segment = segment;
	a->scan = scan;
}

static int add_samples(void *answer, const struct report_sample *s, uint64_t nr)
{
	return answer_sample(answer, s, nr);
}

static int add_scan(void *answer, uint32_t segment, uint32_t scan, uint64_t real_ns)
{
	(void)real_ns;
	answer_scan(answer, segment, scan);
	return 0;
}

int answer_add_samples(struct answer *a, struct report *rep)
{
	static const struct report_counting counting = { .samples = add_samples,
							 .scan = add_scan };

	return report_counted(rep, &counting, a);
}

int answer_add_scans(struct answer *a, struct report *rep)
{
	static const struct report_counting counting = { .scan_rows = true,
							 .samples = add_samples,
							 .scan = add_scan };
	const struct trace_event *e = report_event(rep);

	if ((e && event_is_wall_time(e->kind)) || !report_info(rep)->scans.count)
		return 0;
	return report_counted(rep, &counting, a);
}
