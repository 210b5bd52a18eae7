/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/csv/csv_columns.h"
#include "formats/render/output_list.h"
#include "formats/render/row_table.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/pager.h"
#include "src/commands/report_follow.h"
#include "src/commands/report_many.h"
#include "src/commands/report_options.h"
#include "src/commands/shut_in.h"
#include "src/commands/trace_list.h"
#include "src/output/output_files.h"
#include "src/profile/no_match.h"
#include "src/report/report.h"
#include "src/rights/capabilities.h"

struct report_args {
	struct report_options show;	/* first: report_options.h */
	struct output_list outputs;
	struct pager *pager;		/* NULL: none */
	int fd;				/* of the trace; -1: it is opened by its path */
	struct trace_list traces;	/* of a table of several */
	bool follow, tui;
};

_Static_assert(!offsetof(struct report_args, show), "report_options.h");

#define AT(field) offsetof(struct report_args, field)

/* What report has beside the options of report_options.h. */
static const struct opt report_opts[] = {
	{ 'o', "output", "FILE",
	  "write this file; its ending says what: .svg, .txt, .csv, .folded, .json, ...",
	  output_list_parse_file, AT(outputs), NULL, "Reports (without FILE: standard output)",
	  NULL },
	{ 'r', "reverse-stack", NULL, "CSV: outermost frame first", opt_flag,
	  AT(show.render.reverse_stack), NULL, "Looks", NULL },
	{ 0, "wait-columns", NULL,
	  "CSV: four more columns: waited_s (seconds since the thread ran), syscall, waits_on, "
	  "owner (the thread that holds it)",
	  opt_flag, AT(show.render.wait_columns), NULL, NULL, NULL },
	{ 0, "columns", "COLUMNS",
	  "CSV, NDJSON: these columns, 'all' for every one, 'sql' for those of docs/SQL.md; 'help' "
	  "lists them",
	  csv_columns_parse, AT(show.render.columns_shown), NULL, NULL, NULL },
	{ 0, "all-events", NULL,
	  "CSV, NDJSON: samples of all events, where otherwise one is shown (columns event, unit)",
	  opt_flag, AT(show.render.all_events), NULL, NULL, NULL },
	{ 0, "csv-dialect", "xstack|rfc4180",
	  "CSV: columns separated by | (default), or by commas with quotes, and times in UTC",
	  csv_dialect_parse, AT(show.render.is_rfc4180), NULL, NULL, NULL },
	{ 0, "walk", "N", "waits: of the Nth snapshot (default: the last one)", opt_u32,
	  AT(show.render.scan), NULL, NULL, NULL },
	{ 0, "all-waits", NULL, "waits: every line, and shells that wait for their child",
	  opt_flag, AT(show.render.all_waits), NULL, NULL, NULL },
	{ 'v', "stacks", NULL, "waits: the same, with stacks", opt_flag,
	  AT(show.render.wait_stacks), NULL, NULL, NULL },
	{ 'f', "follow", NULL,
	  "show the report again each second while the trace grows, until the recording ends or "
	  "Ctrl-C",
	  opt_flag, AT(follow), NULL, "Other", NULL },
	{ 0, "tui", NULL, "in the terminal, to walk about in: probee tui", opt_flag, AT(tui), NULL,
	  NULL, NULL },
	{ 'q', "quiet", NULL, "CSV without its header; say only what went wrong or is missing",
	  opt_flag, AT(show.render.quiet), NULL, NULL, NULL },
};

/* What a trace must contain for the outputs that were asked for. */
static struct match_wish wish_of(const struct report_args *args)
{
	struct match_wish wish = { .scan = args->show.render.scan };

	for (size_t i = 0; i < args->outputs.nr; i++) {
		bool of_scans = args->outputs.v[i].renderer->of_scans;

		wish.scan_rows |= of_scans;
		wish.samples |= !of_scans;
	}
	return wish;
}

static int render(struct report_args *args, struct report *rep)
{
	struct match_wish wish = wish_of(args);
	int err = report_check_matches(rep, &wish);

	if (err)
		return err;
	if (report_emptiness(rep))
		note("%s %s", report_path(rep), report_emptiness(rep));
	return output_list_run(&args->outputs, rep, &args->show.render);
}

/* The first time the trace may be open already. */
static int open_trace(struct report_args *args, const char *path, struct report **rep)
{
	int fd = args->fd;

	args->fd = -1;
	return fd >= 0 ? report_open_fd(fd, path, &args->show.query, rep)
		       : report_open(path, &args->show.query, rep);
}

/* Shows what was printed, if it goes to a pager and has not been shown yet. */
static int end_pager(struct report_args *args)
{
	struct pager *pager = args->pager;

	args->pager = NULL;
	return pager ? pager_end(pager) : 0;
}

/* The line under a report that will be made again would be old at once: only the last has one. */
static struct shown show(void *report_args, const char *path)
{
	struct report_args *args = report_args;
	struct report *rep = NULL;
	int err = open_trace(args, path, &rep);
	bool ended = rep && report_has_ended(rep);
	struct shown shown;

	if (!err)
		err = render(args, rep);
	err = end_pager(args) ?: err;
	if (err && err != -EAGAIN)
		fail_if_silent(err, "report %s", path);
	if (rep && (ended || !args->follow)) {
		fflush(stdout);
		output_list_summary(rep);
	}
	if (rep)
		report_options_tell(&args->show);
	/* What cannot be read or written now cannot be later; what is not there yet may come. */
	shown.is_empty = err == -EAGAIN;
	shown.is_over = ended || (err && err != -EAGAIN);
	shown.exit_code =
		err ? EXIT_FAILED : args->show.strict && report_has_loss(rep) ? EXIT_LOSS : EXIT_OK;
	report_close(rep);
	return shown;
}

/*
 * Gives up rights, with all open that is needed. A trace that is followed is opened again and
 * again, so root keeps the right to read files: the trace may belong to the user behind sudo.
 */
static int give_up_rights(struct report_args *args, const char *path)
{
	if (args->follow)
		return shut_in_with(CAP_BIT(CAP_DAC_READ_SEARCH), false);
	args->fd = shut_in_open(path);
	return shut_in(args->fd >= 0);
}

/* The pager is there before rights are given up, because it is a program that must be started. */
static int report_once(struct report_args *args, const char *path)
{
	struct pager pager;
	int code;

	if (output_list_is_for_reading(&args->outputs)) {
		pager_begin(&pager, args->show.no_pager ? PAGER_NONE : 0);
		args->show.render.columns = pager.columns;
		args->pager = &pager;
	}
	code = give_up_rights(args, path) ? EXIT_FAILED : show(args, path).exit_code;
	return end_pager(args) ? EXIT_FAILED : code;
}

static int run(struct report_args *args, const char *path)
{
	struct output_files *files = NULL;
	int code = EXIT_FAILED;

	if (args->show.render.quiet)
		fail_set_verbosity(-1);
	if (!args->outputs.nr && output_list_add(&args->outputs, renderer_find("text"), NULL))
		return EXIT_FAILED;
	args->show.query.may_come = args->follow;
	if (report_options_open(&args->show, &args->outputs, path, NULL, &files))
		code = EXIT_FAILED;
	else if (!args->follow)
		code = report_once(args, path);
	else if (!give_up_rights(args, path))
		code = report_follow(path, show, args);
	output_files_free(files);
	return code;
}

/* Several traces in one table. */
static int run_many(struct report_args *args, char **words, size_t nr)
{
	struct output_files *files = NULL;
	struct trace_list *l = &args->traces;
	int code = EXIT_FAILED;
	uint64_t rows;

	if (args->show.render.quiet)
		fail_set_verbosity(-1);
	if (args->follow || !row_table_suits(&args->outputs)) {
		fail_why(-EISDIR, args->follow ? "%s: --follow shows one trace"
				  : "%s: several traces are shown as a table (--csv, --ndjson). "
				    "Try: probee merge, and a report of that", *words);
		return EXIT_FAILED;
	}
	if (!trace_list_expand(l, words, nr) &&
	    !report_options_open(&args->show, &args->outputs, l->v[0],
				 l->nr > 1 ? l->v[1] : NULL, &files))
		code = report_many(&args->show, &args->outputs, l, &rows);
	output_files_free(files);
	trace_list_release(l);
	return code;
}

static bool are_many(int nr, char **argv)
{
	return nr > 1 || (nr == 1 && trace_list_is_several(argv[1]));
}

/* `--svg out` where `--svg=out` was meant: the last word is then no file yet. */
static int refuse_many(const struct report_args *args, int nr, char **argv)
{
	const struct output_list *l = &args->outputs;

	if (l->nr && nr > 1 && access(argv[nr], F_OK) && !trace_list_is_several(argv[nr]))
		return fail_why(-EINVAL,
				"report shows one trace at a time. To write a file: --%s=%s",
				l->v[l->nr - 1].renderer->name, argv[nr]);
	if (nr > 1 && !row_table_suits(l))
		return fail_why(-EINVAL, "report shows one trace at a time, but several as a table "
				"(--csv, --ndjson). Try: probee merge, and a report of that");
	return nr > 1 && args->follow ? fail_why(-EINVAL, "--follow shows one trace") : 0;
}

static int check_args(struct report_args *args, int nr, char **argv)
{
	int err = are_many(nr, argv) ? refuse_many(args, nr, argv) : 0;

	if (!err)
		err = output_list_check(&args->outputs);
	return err ? err : report_options_check(&args->show);
}

/* The terminal view needs ncurses, so a program of the report half alone does not have it. */
static int show_in_terminal(const struct command_table *all, char *path)
{
	const struct command *tui = command_find(all, "tui");
	char *words[] = { "tui", path, NULL };

	if (tui)
		return tui->run(all, 2, words);
	fail_why(-ENOTSUP, "this program has no terminal view. Try: --html=FILE");
	return EXIT_CANNOT;
}

static int list_columns(void)
{
	csv_columns_help(stdout);
	return EXIT_OK;
}

int cmd_report(const struct command_table *all, int argc, char **argv)
{
	struct report_args args = { .fd = -1 };
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[] = {
		{ rows, output_list_opts(rows, AT(outputs)), NULL },
		report_option_list,
		{ report_opts, sizeof(report_opts) / sizeof(report_opts[0]), NULL },
	};
	int nr = opt_parse(lists, 3, argc, argv, &args, NULL), rc = EXIT_USAGE;
	char *path = NULL;

	if (opt_is_help(nr))
		rc = command_help(all, "report", nr, lists, 3);
	else if (nr >= 0 && args.show.render.columns_shown.wants_help)
		rc = list_columns();
	else if (nr >= 0 && nr <= 1 && !(path = command_trace(nr, argv)))
		rc = EXIT_USAGE;
	else if (path && args.tui)
		rc = show_in_terminal(all, path);
	else if (nr >= 0 && check_args(&args, nr, argv))
		rc = command_usage(all, "report");
	else if (nr >= 0 && are_many(nr, argv))
		rc = run_many(&args, argv + 1, (size_t)nr);
	else if (nr >= 0)
		rc = run(&args, path);
	output_list_release(&args.outputs);
	report_options_release(&args.show);
	return rc;
}
