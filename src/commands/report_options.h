/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options that every command has that shows what is in traces: which samples, and how.
 *
 *	struct my_args {
 *		struct report_options show;	first, because the rows hold offsets in it
 *		...
 *	};
 *	lists[n] = report_option_list;		beside the command's own rows
 *	opt_parse(lists, ...)
 *	report_options_check(&args.show)
 *	report_options_release(&args.show)
 */
#pragma once

#include <stdbool.h>

#include "formats/render/renderer.h"
#include "src/base/opt.h"
#include "src/report/query.h"

struct output_files;
struct output_list;

struct report_options {
	struct query query;
	struct render_opts render;
	bool strict, no_pager, force;
};

extern const struct opt_list report_option_list;

/* What no single row can see. 0, or -EINVAL after saying what contradicts what. */
int report_options_check(const struct report_options *o);

/* Says what of the filters could not be applied. */
void report_options_tell(const struct report_options *o);

/*
 * Opens the files that will be written, before the traces are read: none of them is written over.
 * path: the trace that outputs without a name are called after; other: another one, or NULL.
 * What fails was explained. Succeeds if anything can be written. The caller frees *files.
 */
int report_options_open(const struct report_options *o, struct output_list *outputs,
			const char *path, const char *other, struct output_files **files);

void report_options_release(struct report_options *o);
