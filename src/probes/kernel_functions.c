/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/kernel_functions.h"

#include "src/probes/probe_spec.h"
#include "src/proc/kallsyms.h"

struct search {
	const char *glob;
	kernel_function_fn fn;
	void *ctx;
};

static int on_function(void *ctx, const char *name)
{
	const struct search *s = ctx;

	return probe_glob_matches(s->glob, name) ? s->fn(s->ctx, name) : 0;
}

int kernel_functions_each(const char *glob, kernel_function_fn fn, void *ctx)
{
	struct search s = { .glob = glob, .fn = fn, .ctx = ctx };

	return kallsyms_each_function(on_function, &s);
}
