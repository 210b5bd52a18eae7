/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/diff/diff_side.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/diff/diff_stats.h"
#include "src/profile/fold.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/profile/view.h"
#include "src/report/weight_text.h"

struct pass {
	struct diff_side *side;
	struct fold *fold;
};

static int find_spans(const struct report *rep, struct diff_side *s)
{
	size_t nr = 0;

	while (report_tables(rep, (uint32_t)nr))
		nr++;
	s->spans = calloc(nr + 1, sizeof(*s->spans));
	s->ahead_ns = calloc(nr + 1, sizeof(*s->ahead_ns));
	if (!s->spans || !s->ahead_ns)
		return -ENOMEM;
	for (; s->nr_spans < nr; s->nr_spans++) {
		struct time_window *w = &s->spans[s->nr_spans];

		report_span(rep, (uint32_t)s->nr_spans, w);
		s->ahead_ns[s->nr_spans] = s->time_ns;
		s->time_ns = weight_sum(s->time_ns, w->to_ns - w->from_ns);
	}
	return 0;
}

static uint32_t part_of(uint64_t at, uint64_t all)
{
	if (at >= all)
		return all ? DIFF_BLOCKS - 1 : 0;
	return (uint32_t)((unsigned __int128)at * DIFF_BLOCKS / all);
}

static uint32_t block_of(struct diff_side *s, const struct report_sample *sample)
{
	const struct time_window *w = &s->spans[sample->segment];
	uint64_t at = sample->real_ns < w->from_ns ? 0 : sample->real_ns - w->from_ns;
	uint64_t passed = s->passed;

	assert(sample->segment < s->nr_spans);
	s->passed = weight_sum(passed, sample->weight);
	if (s->by_weight)
		return part_of(passed, s->weight);
	if (at > w->to_ns - w->from_ns)
		at = w->to_ns - w->from_ns;
	return part_of(weight_sum(at, s->ahead_ns[sample->segment]), s->time_ns);
}

/* Samples come nearly in the order of time, so the block is that of the last one, or a new one. */
static int add_block(struct diff_side *s, uint32_t node, uint32_t block, uint64_t weight)
{
	struct diff_block *b;

	assert(block < DIFF_BLOCKS);
	if (array_reserve(&s->first, &s->cap_first, (size_t)node + 1))
		return -ENOMEM;
	for (uint32_t i = s->first[node]; i; i = s->blocks[i - 1].next) {
		if (s->blocks[i - 1].block != block)
			continue;
		s->blocks[i - 1].weight = weight_sum(s->blocks[i - 1].weight, weight);
		return 0;
	}
	b = s->nr_blocks < UINT32_MAX - 1
		    ? array_push(&s->blocks, &s->nr_blocks, &s->cap_blocks)
		    : NULL;
	if (!b)
		return -ENOMEM;
	*b = (struct diff_block){ block, s->first[node], weight };
	s->first[node] = (uint32_t)s->nr_blocks;
	return 0;
}

static int add_sample(void *ctx, const struct report_sample *s)
{
	struct pass *pass = ctx;
	uint32_t node;
	int err = fold_node(pass->fold, s, &node);

	if (err)
		return err;
	return add_block(pass->side, node, block_of(pass->side, s), s->weight);
}

static int sum_weight(void *ctx, const struct report_sample *s, uint64_t nr)
{
	struct diff_side *side = ctx;

	(void)nr;
	side->weight = weight_sum(side->weight, s->weight);
	return 0;
}

int diff_side_fold(struct report *rep, const struct fold_options *opts, bool by_weight,
		   struct diff_side *s)
{
	static const struct report_counting counting = { .samples = sum_weight };
	struct fold_options limited = *opts;
	struct pass pass = { .side = s };
	int err;

	memset(s, 0, sizeof(*s));
	s->by_weight = by_weight;
	fold_limit(&limited, rep);
	err = find_spans(rep, s);
	if (!err && by_weight)
		err = report_counted(rep, &counting, s);
	if (!err)
		err = fold_new(&limited, &pass.fold);
	if (!err)
		err = report_samples(rep, add_sample, &pass);
	if (!err)
		err = fold_take_report(pass.fold, rep, &s->p);
	if (!err && array_reserve(&s->first, &s->cap_first, s->p->nr_nodes))
		err = -ENOMEM;
	fold_free(pass.fold);
	return err == -ENOMEM ? fail(err, "%s", report_path(rep)) : err;
}

/* Hands the blocks of each node to the one that its samples went to. */
static int move_blocks(struct diff_side *s, const uint32_t *place, size_t nr)
{
	uint32_t *first = calloc(s->p->nr_nodes, sizeof(*first));

	if (!first)
		return -ENOMEM;
	for (size_t n = 0; n < nr; n++) {
		uint32_t last = s->first[n];

		if (!last || place[n] == NODE_NONE)
			continue;
		assert(last <= s->nr_blocks && place[n] < s->p->nr_nodes);
		while (s->blocks[last - 1].next)
			last = s->blocks[last - 1].next;
		s->blocks[last - 1].next = first[place[n]];
		first[place[n]] = s->first[n];
	}
	free(s->first);
	s->first = first;
	s->cap_first = s->p->nr_nodes;
	return 0;
}

int diff_side_view(struct diff_side *s, const struct report *rep, const struct view *view)
{
	struct report_limits limits;
	size_t nr = s->p->nr_nodes;
	uint32_t *place;
	int err;

	if (view_is_plain(view))
		return 0;
	report_limits(rep, &limits);
	err = view_apply_placed(view, &limits, &s->p, &place);
	if (!err)
		err = move_blocks(s, place, nr);
	free(place);
	return err == -ENOMEM ? fail(err, "%s", report_path(rep)) : err;
}

void diff_side_release(struct diff_side *s)
{
	profile_free(s->p);
	free(s->blocks);
	free(s->first);
	free(s->spans);
	free(s->ahead_ns);
	memset(s, 0, sizeof(*s));
}
