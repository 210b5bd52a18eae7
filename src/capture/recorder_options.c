/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the options of a recorder say. */
#include "src/base/opt.h"
#include "src/capture/recorder_parts.h"
#include "src/proc/target_rules.h"

#define FEW_TARGETS 32

bool recorder_has_filter(const struct recorder_options *o)
{
	return (o->pids && o->pids->nr) || (o->tids && o->tids->nr) ||
	       (o->rules && target_rules_are_open(o->rules));
}

bool recorder_has_few_targets(const struct recorder_options *o)
{
	size_t nr = (o->pids ? o->pids->nr : 0) + (o->tids ? o->tids->nr : 0);

	return nr && nr <= FEW_TARGETS && !(o->rules && target_rules_are_open(o->rules));
}

bool recorder_is_filtered(const struct recorder *r)
{
	return recorder_has_filter(&r->opts);
}

bool recorder_in_a_hurry(const struct recorder *r)
{
	return r->opts.hurry && r->opts.hurry(r->opts.sink_ctx);
}
