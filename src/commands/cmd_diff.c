/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/diff_renderers.h"
#include "formats/render/output_list.h"
#include "formats/render/tree_choice.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/pager.h"
#include "src/commands/report_options.h"
#include "src/commands/shut_in.h"
#include "src/output/output_files.h"
#include "src/diff/diff.h"
#include "src/diff/diff_roots.h"
#include "src/profile/fold.h"
#include "src/profile/no_match.h"
#include "src/profile/profile.h"
#include "src/report/report.h"

enum { BEFORE, AFTER, SIDES };

struct diff_args {
	struct report_options show;	/* first: report_options.h */
	struct output_list outputs;
	enum delta_scale scale;
	const char *paths[SIDES];
	int fds[SIDES];			/* of the traces; -1: opened by their paths */
	bool has_joined;		/* it was said that programs have other names */
};

_Static_assert(!offsetof(struct diff_args, show), "report_options.h");

#define AT(field) offsetof(struct diff_args, field)

static int parse_scale(const struct opt *o, const char *value, void *dst)
{
	static const char *const names[DELTA_SCALES] = {
		[SCALE_AUTO] = "auto", [SCALE_TIME] = "time",	[SCALE_CPUS] = "cpus",
		[SCALE_RUN] = "run",   [SCALE_SHARE] = "share", [SCALE_NONE] = "none",
	};

	for (int i = 0; i < DELTA_SCALES; i++) {
		if (strcmp(names[i], value))
			continue;
		*(enum delta_scale *)dst = (enum delta_scale)i;
		return 0;
	}
	return fail_why(-EINVAL, "--%s: '%s' is not one of %s", o->name, value, o->arg);
}

static const struct opt diff_opts[] = {
	{ 'o', "output", "FILE",
	  "write this file; its ending says what: .svg, .txt, .json, .folded",
	  output_list_parse_file, AT(outputs), NULL, "Reports (without FILE: standard output)",
	  diff_renderers },
	{ 0, "normalize", "auto|time|cpus|run|share|none",
	  "make both comparable: by recorded time, by time and CPUs, by runs of the command, as "
	  "shares of all, or not at all (default auto: run if both recorded a command from its "
	  "beginning to its end, else time)",
	  parse_scale, AT(scale), NULL, "Comparison", NULL },
	{ 0, "all", NULL, "text: also what does not differ by more than chance", opt_flag,
	  AT(show.render.all), NULL, NULL, NULL },
	{ 'q', "quiet", NULL, "say only what went wrong or is missing", opt_flag,
	  AT(show.render.quiet), NULL, "Other", NULL },
};

static int give_up_rights(struct diff_args *args)
{
	for (int side = 0; side < SIDES; side++)
		args->fds[side] = shut_in_open(args->paths[side]);
	return shut_in(args->fds[BEFORE] >= 0 && args->fds[AFTER] >= 0);
}

static int open_traces(struct diff_args *args, struct report *reps[SIDES])
{
	int err = 0;

	for (int side = 0; side < SIDES && !err; side++) {
		const char *path = args->paths[side];

		err = args->fds[side] >= 0 ? report_open_fd(args->fds[side], path,
							    &args->show.query, &reps[side])
					   : report_open(path, &args->show.query, &reps[side]);
		args->fds[side] = -1;
	}
	return err;
}

/* What only one side has is a difference; what neither has is a mistake. */
static int check_matches(struct report *after, const struct profile *p)
{
	struct match_wish wish = { .samples = true };

	return p->facts.samples ? 0 : report_check_matches(after, &wish);
}

/* Makes the tree that an output shows. */
static int make_tree(const struct diff_args *args, struct report *reps[SIDES], struct tree *tree)
{
	const struct render_opts *render = &args->show.render;
	struct fold_options fold = { .style = render->style, .by = tree->by };
	struct view view = render->view.turn;
	struct diff_options opts = { .fold = &fold, .view = &view, .scale = args->scale,
				     .hides_quiet = tree->hides_quiet };
	int err;

	view.keeps_levels = render->view.by.nr;
	err = diff_reports(reps[BEFORE], reps[AFTER], &opts, &tree->profile);
	return err ? err : check_matches(reps[AFTER], tree->profile);
}

/*
 * A program that was renamed is one that is gone and one that is new, with all that it calls. Then
 * the tree is made again without names, unless the user has chosen levels that have them.
 */
static int join_renamed(struct diff_args *args, struct report *reps[SIDES], struct tree *tree)
{
	struct diff_roots roots;

	diff_roots_find(tree->profile, &tree->by, &roots);
	if (!roots.are_apart)
		return 0;
	if (args->show.render.view.by.nr) {
		note("the two recordings have no program or thread name in common. To compare what "
		     "these call: --by none");
		return 0;
	}
	if (!args->has_joined)
		note("no program or thread name is in both recordings (%.40s, %.40s): what they "
		     "call is compared, as with --by none", roots.before, roots.after);
	args->has_joined = true;
	tree->by = diff_roots_without(&tree->by);
	profile_free(tree->profile);
	tree->profile = NULL;
	return make_tree(args, reps, tree);
}

/* Most outputs show the same tree. */
static int compare(struct diff_args *args, struct report *reps[SIDES])
{
	struct tree tree = { .profile = NULL };
	struct fold_by by = { .nr = 0 };		/* as it was chosen */
	int err = diff_check(reps[BEFORE], reps[AFTER]);

	for (size_t i = 0; i < args->outputs.nr && !err; i++) {
		struct tree next = tree_choose(reps[AFTER], args->outputs.v[i].renderer,
					       &args->show.render);

		if (!tree.profile || next.hides_quiet != tree.hides_quiet ||
		    memcmp(&next.by, &by, sizeof(by))) {
			profile_free(tree.profile);
			tree = next;
			by = next.by;
			err = make_tree(args, reps, &tree);
			if (!err)
				err = join_renamed(args, reps, &tree);
		}
		if (!err)
			err = output_list_show(&args->outputs, i, reps[AFTER], tree.profile,
					       &args->show.render);
	}
	profile_free(tree.profile);
	return err;
}

static int show(struct diff_args *args, struct pager *pager)
{
	struct report *reps[SIDES] = { NULL };
	int err = open_traces(args, reps), code;

	if (!err)
		err = compare(args, reps);
	if (pager)
		err = pager_end(pager) ?: err;
	if (err)
		fail_if_silent(err, "compare %s and %s", args->paths[BEFORE], args->paths[AFTER]);
	for (int side = 0; side < SIDES && !err; side++)
		output_list_summary(reps[side]);
	report_options_tell(&args->show);
	code = err			 ? EXIT_FAILED
	       : !args->show.strict	 ? EXIT_OK
	       : report_has_loss(reps[BEFORE]) || report_has_loss(reps[AFTER]) ? EXIT_LOSS
									       : EXIT_OK;
	report_close(reps[BEFORE]);
	report_close(reps[AFTER]);
	return code;
}

/* The pager is there before rights are given up, because it is a program that must be started. */
static int run(struct diff_args *args)
{
	struct output_files *files = NULL;
	struct pager pager, *shown = NULL;
	int code = EXIT_FAILED;

	if (args->show.render.quiet)
		fail_set_verbosity(-1);
	if (!args->outputs.nr && output_list_add(&args->outputs, &diff_renderer_text, NULL))
		return EXIT_FAILED;
	if (!report_options_open(&args->show, &args->outputs, args->paths[AFTER],
				 args->paths[BEFORE], &files)) {
		if (output_list_is_for_reading(&args->outputs)) {
			pager_begin(&pager, args->show.no_pager ? PAGER_NONE : 0);
			args->show.render.columns = pager.columns;
			shown = &pager;
		}
		if (!give_up_rights(args))
			code = show(args, shown);
		else if (shown)
			pager_end(shown);
	}
	output_files_free(files);
	return code;
}

static int check_outputs(struct diff_args *args)
{
	return output_list_check(&args->outputs) ?: report_options_check(&args->show);
}

static int check_args(struct diff_args *args, int nr, char **argv)
{
	static char before[] = DEFAULT_TRACE ".old", after[] = DEFAULT_TRACE;

	if (!nr && !access(before, F_OK) && !access(after, F_OK)) {
		args->paths[BEFORE] = before;
		args->paths[AFTER] = after;
		return check_outputs(args);
	}
	if (nr != 2)
		return fail_why(-EINVAL, "diff needs two traces, the one before and the one "
				"after%s", nr ? "" : ", and " DEFAULT_TRACE ".old and "
				DEFAULT_TRACE " are not both here");
	if (!strcmp(argv[1], "-") && !strcmp(argv[2], "-"))
		return fail_why(-EINVAL, "only one of the traces can be standard input");
	args->paths[BEFORE] = argv[1];
	args->paths[AFTER] = argv[2];
	return check_outputs(args);
}

int cmd_diff(const struct command_table *all, int argc, char **argv)
{
	struct diff_args args = { .fds = { -1, -1 } };
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[] = {
		{ rows, output_list_opts_of(diff_renderers, rows, AT(outputs)), NULL },
		{ diff_opts, sizeof(diff_opts) / sizeof(diff_opts[0]), NULL },
		report_option_list,
	};
	int nr = opt_parse(lists, 3, argc, argv, &args, NULL), rc = EXIT_USAGE;

	if (opt_is_help(nr))
		rc = command_help(all, "diff", nr, lists, 3);
	else if (nr >= 0)
		rc = check_args(&args, nr, argv) ? command_usage(all, "diff") : run(&args);
	output_list_release(&args.outputs);
	report_options_release(&args.show);
	return rc;
}
