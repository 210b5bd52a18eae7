/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/diff/diff_tests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/diff/diff_merge.h"
#include "src/diff/diff_side.h"
#include "src/diff/diff_stats.h"
#include "src/profile/profile.h"
#include "src/profile/profile_delta.h"

#define NO_TEST UINT32_MAX

/* A node with all below it, or a function itself wherever it was called. */
struct test {
	uint32_t node;
	uint64_t samples[2];		/* as they were counted, not scaled */
	struct delta delta;
	double p;			/* 2: it has too few samples to be tested */
	uint32_t slot;			/* index in blocks; NO_TEST: likewise */
};

typedef double both_blocks[2][DIFF_BLOCKS];	/* weights before, scaled, and after */

struct tests {
	struct test *v;
	size_t nr, cap;
	both_blocks *blocks;
};

struct testing {
	const struct diff_merged *m;
	const struct diff_side *const *sides;
	double scale;			/* of the weights before */
	struct profile_delta *deltas;
	uint64_t *samples[2];		/* by node: its own, then with all below it */
	/* By node: index in nodes of the innermost one tested from here outwards; NO_TEST: none. */
	uint32_t *node_test;
	uint32_t *function_test;	/* by node: index in functions; NO_TEST */
	struct tests nodes, functions;
	double whole[2][DIFF_BLOCKS];	/* of the root */
	struct hash_index by_function;
};

/* ---- What is tested ---- */

static int count_samples(struct testing *t)
{
	for (int side = 0; side < 2; side++) {
		const struct profile *p = t->sides[side]->p;

		t->samples[side] = calloc(t->m->p->nr_nodes, sizeof(*t->samples[side]));
		if (!t->samples[side])
			return -ENOMEM;
		for (size_t i = 0; i < p->nr_nodes; i++)
			t->samples[side][t->m->place[side][i]] += p->nodes[i].self_samples;
	}
	return 0;
}

struct function_key {
	const struct testing *t;
	uint32_t node;
};

static bool same_function(const void *ctx, uint32_t id)
{
	const struct function_key *k = ctx;
	const struct profile *p = k->t->m->p;
	uint32_t other = k->t->functions.v[id].node;

	return k->t->m->key[k->node] == k->t->m->key[other] &&
	       p->nodes[k->node].kind == p->nodes[other].kind;
}

/* The test of the node's function, made if it is new. */
static int add_function(struct testing *t, uint32_t node)
{
	const struct node *n = &t->m->p->nodes[node];
	const struct node_delta *d = &t->deltas->nodes[node];
	struct function_key key = { t, node };
	uint64_t hash = hash_u64(t->m->key[node], n->kind);
	uint32_t id = ix_find(&t->by_function, hash, same_function, &key);
	struct test *test;

	if (id == IX_NONE) {
		id = (uint32_t)t->functions.nr;
		test = array_push(&t->functions.v, &t->functions.nr, &t->functions.cap);
		if (!test || ix_add(&t->by_function, hash, id))
			return -ENOMEM;
		test->node = node;
	}
	test = &t->functions.v[id];
	test->delta.before += d->before_self;
	test->delta.after += d->after_self;
	test->samples[0] += t->samples[0][node];
	test->samples[1] += t->samples[1][node];
	t->function_test[node] = id;
	return 0;
}

static int find_functions(struct testing *t)
{
	const struct profile *p = t->m->p;
	int err = 0;

	for (uint32_t i = 1; i < p->nr_nodes && !err; i++) {
		t->function_test[i] = NO_TEST;
		if (p->nodes[i].self_samples && !(p->nodes[i].flags & NODE_SYNTHETIC))
			err = add_function(t, i);
	}
	t->function_test[0] = NO_TEST;
	return err;
}

static bool has_enough(const struct testing *t, const struct delta *d, const uint64_t samples[2])
{
	const struct delta *all = &t->deltas->nodes[0].total;
	double whole = (double)all->before + (double)all->after;

	return samples[0] + samples[1] >= TEST_SAMPLES &&
	       (double)d->before + (double)d->after >= TEST_SHARE * whole;
}

static int by_weight(const void *x, const void *y)
{
	const struct test *a = x, *b = y;
	uint64_t s = a->delta.before / 2 + a->delta.after / 2,
		 t = b->delta.before / 2 + b->delta.after / 2;

	return s != t ? (s < t ? 1 : -1) : (a->node > b->node) - (a->node < b->node);
}

static int by_node(const void *x, const void *y)
{
	const struct test *a = x, *b = y;

	return (a->node > b->node) - (a->node < b->node);
}

/* Samples become those with all below a node. */
static int find_nodes(struct testing *t)
{
	const struct profile *p = t->m->p;

	for (uint32_t i = (uint32_t)p->nr_nodes; i-- > 0;) {
		uint64_t of_node[2] = { t->samples[0][i], t->samples[1][i] };
		struct test *test;

		for (int side = 0; i && side < 2; side++)
			t->samples[side][p->nodes[i].parent] += of_node[side];
		if (!has_enough(t, &t->deltas->nodes[i].total, of_node))
			continue;
		test = array_push(&t->nodes.v, &t->nodes.nr, &t->nodes.cap);
		if (!test)
			return -ENOMEM;
		test->node = i;
		memcpy(test->samples, of_node, sizeof(of_node));
		test->delta = t->deltas->nodes[i].total;
	}
	if (t->nodes.nr > TEST_MAX) {
		qsort(t->nodes.v, t->nodes.nr, sizeof(*t->nodes.v), by_weight);
		t->nodes.nr = TEST_MAX;
	}
	if (t->nodes.nr)
		qsort(t->nodes.v, t->nodes.nr, sizeof(*t->nodes.v), by_node);
	return 0;
}

/* A node comes behind its parent, and tests are in the order of nodes. */
static void find_tested_above(struct testing *t)
{
	size_t next = 0;

	for (uint32_t i = 0; i < t->m->p->nr_nodes; i++) {
		bool is_next = next < t->nodes.nr && t->nodes.v[next].node == i;

		t->node_test[i] = is_next ? (uint32_t)next++
				  : i	  ? t->node_test[t->m->p->nodes[i].parent]
					  : NO_TEST;
	}
}

static int make_blocks(const struct testing *t, struct tests *tests)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < tests->nr; i++) {
		struct test *test = &tests->v[i];

		test->slot = has_enough(t, &test->delta, test->samples) ? nr++ : NO_TEST;
	}
	tests->blocks = calloc((size_t)nr + 1, sizeof(*tests->blocks));
	return tests->blocks ? 0 : -ENOMEM;
}

/* ---- Their blocks ---- */

static void add_block(struct tests *tests, uint32_t at, int side, uint32_t block, double weight)
{
	if (at != NO_TEST && tests->v[at].slot != NO_TEST)
		tests->blocks[tests->v[at].slot][side][block] += weight;
}

static void spread_node(struct testing *t, int side, uint32_t node, const struct diff_block *b)
{
	double weight = (double)b->weight * (side ? 1 : t->scale);

	t->whole[side][b->block] += weight;
	add_block(&t->nodes, t->node_test[node], side, b->block, weight);
	add_block(&t->functions, t->function_test[node], side, b->block, weight);
}

static void spread(struct testing *t)
{
	for (int side = 0; side < 2; side++) {
		const struct diff_side *s = t->sides[side];

		for (size_t i = 0; i < s->p->nr_nodes; i++)
			for (uint32_t b = s->first[i]; b; b = s->blocks[b - 1].next)
				spread_node(t, side, t->m->place[side][i], &s->blocks[b - 1]);
	}
	for (size_t i = t->nodes.nr; i-- > 0;) {
		const struct test *test = &t->nodes.v[i];
		uint32_t parent = t->m->p->nodes[test->node].parent;
		uint32_t up = parent == NODE_NONE ? NO_TEST : t->node_test[parent];

		for (int side = 0; side < 2; side++)
			for (uint32_t b = 0; b < DIFF_BLOCKS; b++)
				add_block(&t->nodes, up, side, b,
					  t->nodes.blocks[test->slot][side][b]);
	}
}

/* ---- Verdicts ---- */

/*
 * The part of the difference in each block that is not explained by a difference of the whole: of
 * shares, only that is chance. Other scales do not divide by the whole.
 */
static void block_differences(const struct testing *t, const struct test *test,
			      const both_blocks *blocks, double d[DIFF_BLOCKS])
{
	const struct delta *all = &t->deltas->nodes[0].total;
	bool is_share = t->deltas->scale == SCALE_SHARE;
	double before = is_share && all->before
				? (double)test->delta.before / (double)all->before
				: 0;
	double after = is_share && all->after ? (double)test->delta.after / (double)all->after
					      : 0;

	for (int b = 0; b < DIFF_BLOCKS; b++)
		d[b] = (*blocks)[1][b] - after * t->whole[1][b] -
		       ((*blocks)[0][b] - before * t->whole[0][b]);
}

/* What a sample weighs there; where there is none, what one weighs on average. */
static double sample_weight(const struct testing *t, const struct test *test, int side)
{
	const struct delta *all = &t->deltas->nodes[0].total, *d = &test->delta;

	if (test->samples[side])
		return (double)(side ? d->after : d->before) / (double)test->samples[side];
	if (t->samples[side][0])
		return (double)(side ? all->after : all->before) / (double)t->samples[side][0];
	return 0;
}

/* The whole of shares is fixed; otherwise it is as random as its parts. */
static double count_variance(const struct testing *t, const struct test *test)
{
	const struct delta *all = &t->deltas->nodes[0].total, *d = &test->delta;
	double whole = (double)all->before + (double)all->after;
	double share = ((double)d->before + (double)d->after) / whole;
	double variance = diff_count_variance((double)test->samples[0] + (double)test->samples[1],
					      sample_weight(t, test, 0),
					      sample_weight(t, test, 1));

	return t->deltas->scale == SCALE_SHARE ? variance * (1 - share) : variance;
}

static double difference(const struct delta *d)
{
	return (double)d->after - (double)d->before;
}

/* The difference must be beyond both kinds of chance. */
static void measure(const struct testing *t, struct test *test, const both_blocks *both)
{
	double blocks[DIFF_BLOCKS], counted = diff_root(count_variance(t, test)), timed, half;
	double d = difference(&test->delta), p;

	block_differences(t, test, both, blocks);
	timed = diff_root(diff_block_variance(blocks));
	half = DIFF_T95 * timed > DIFF_Z95 * counted ? DIFF_T95 * timed : DIFF_Z95 * counted;
	test->delta.error = half < 1.8e19 ? (uint64_t)(half + 0.5) : UINT64_MAX;
	test->p = counted > 0 ? diff_p_value(d / counted, DIFF_NORMAL) : d ? 0 : 1;
	p = timed > 0 ? diff_p_value(d / timed, DIFF_FREEDOM) : d ? 0 : 1;
	if (p > test->p)
		test->p = p;
}

static bool is_large(const struct testing *t, const struct delta *d)
{
	const struct delta *all = &t->deltas->nodes[0].total;
	double most = (double)(d->before > d->after ? d->before : d->after);
	double whole = (double)(all->before > all->after ? all->before : all->after);
	double size = difference(d) < 0 ? -difference(d) : difference(d);

	return size > 0 && size >= DIFF_LEAST_CHANGE * most && size >= DIFF_LEAST_SHARE * whole;
}

static int by_number(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* Sets the verdict of all tests of a family, in which false discoveries are limited together. */
static int judge(const struct testing *t, struct tests *tests, size_t *tested, size_t *differing)
{
	double *p = malloc((tests->nr + 1) * sizeof(*p)), most;
	size_t nr = 0;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < tests->nr; i++) {
		struct test *test = &tests->v[i];

		test->p = 2;
		if (test->slot == NO_TEST)
			continue;
		measure(t, test, (const both_blocks *)&tests->blocks[test->slot]);
		p[nr++] = test->p;
	}
	qsort(p, nr, sizeof(*p), by_number);
	most = diff_discover(p, nr, DIFF_FALSE);
	free(p);
	*tested = nr;
	*differing = 0;
	for (size_t i = 0; i < tests->nr; i++) {
		struct test *test = &tests->v[i];
		bool differs = test->p <= most && is_large(t, &test->delta);

		*differing += differs;
		test->delta.verdict = test->p > 1  ? DELTA_FEW
				      : !differs   ? DELTA_SAME
				      : difference(&test->delta) > 0 ? DELTA_MORE
								     : DELTA_LESS;
	}
	return 0;
}

static void shade(struct tests *tests)
{
	double most = 0, size;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < tests->nr; i++) {
			struct delta *d = &tests->v[i].delta;

			if (d->verdict != DELTA_MORE && d->verdict != DELTA_LESS)
				continue;
			size = difference(d) < 0 ? -difference(d) : difference(d);
			if (!pass && size > most)
				most = size;
			d->shade = size * 2 > most   ? 4
				   : size * 4 > most ? 3
				   : size * 8 > most ? 2
						     : 1;
		}
}

/* ---- Results ---- */

static int by_size(const void *x, const void *y)
{
	const struct function_delta *a = x, *b = y;
	double s = difference(&a->self), t = difference(&b->self);

	s = s < 0 ? -s : s;
	t = t < 0 ? -t : t;
	return s != t ? (s < t ? 1 : -1) : (a->node > b->node) - (a->node < b->node);
}

static int keep(struct testing *t)
{
	struct profile_delta *d = t->deltas;

	for (size_t i = 0; i < t->nodes.nr; i++)
		d->nodes[t->nodes.v[i].node].total = t->nodes.v[i].delta;
	d->functions = calloc(t->functions.nr + 1, sizeof(*d->functions));
	if (!d->functions)
		return -ENOMEM;
	for (size_t i = 0; i < t->functions.nr; i++)
		d->functions[i] = (struct function_delta){ t->functions.v[i].node,
							   t->functions.v[i].delta };
	d->nr_functions = t->functions.nr;
	if (d->nr_functions)
		qsort(d->functions, d->nr_functions, sizeof(*d->functions), by_size);
	return 0;
}

static int run(struct testing *t)
{
	int err = count_samples(t);

	t->node_test = malloc(t->m->p->nr_nodes * sizeof(*t->node_test));
	t->function_test = malloc(t->m->p->nr_nodes * sizeof(*t->function_test));
	if (!t->node_test || !t->function_test)
		err = -ENOMEM;
	if (!err)
		err = find_functions(t);
	if (!err)
		err = find_nodes(t);
	if (!err)
		err = make_blocks(t, &t->nodes);
	if (!err)
		err = make_blocks(t, &t->functions);
	if (err)
		return err;
	find_tested_above(t);
	spread(t);
	err = judge(t, &t->nodes, &t->deltas->tested, &t->deltas->differing);
	if (!err)
		err = judge(t, &t->functions, &t->deltas->functions_tested,
			    &t->deltas->functions_differing);
	shade(&t->nodes);
	shade(&t->functions);
	return err ? err : keep(t);
}

int diff_test(struct diff_merged *m, const struct diff_side *const sides[2], double scale)
{
	struct testing t = { .m = m, .sides = sides, .scale = scale, .deltas = m->p->deltas };
	int err = run(&t);

	free(t.samples[0]);
	free(t.samples[1]);
	free(t.node_test);
	free(t.function_test);
	free(t.nodes.v);
	free(t.nodes.blocks);
	free(t.functions.v);
	free(t.functions.blocks);
	ix_release(&t.by_function);
	return err;
}
