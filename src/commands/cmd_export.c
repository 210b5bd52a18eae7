/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probee export: the samples of many traces as one Parquet file, which a database engine of the
 * user's makes (sql_engine.h).
 *
 * This process reads the traces and has no rights by then; its standard output is a pipe to the
 * engine, and the engine's standard output is the new file, which takes its place when the engine
 * has succeeded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/render/column_list.h"
#include "formats/render/csv/csv_columns.h"
#include "formats/render/output_list.h"
#include "formats/render/renderer.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/report_many.h"
#include "src/commands/report_options.h"
#include "src/commands/sql_engine.h"
#include "src/commands/trace_list.h"
#include "src/output/output_file.h"
#include "src/output/output_files.h"

struct export_args {
	struct report_options show;	/* first: report_options.h */
	const char *output, *engine;
	bool quiet;
};

_Static_assert(!offsetof(struct export_args, show), "report_options.h");

#define AT(field) offsetof(struct export_args, field)

static const struct opt export_opts[] = {
	{ 0, "parquet-by", "duckdb|clickhouse",
	  "the engine that makes the file, as a program or as a module of python3 (default: the "
	  "one that is there)",
	  sql_engine_parse, AT(engine), NULL, "Table", NULL },
	{ 'o', "output", "FILE", "the Parquet file; - is standard output", opt_string, AT(output),
	  NULL, NULL, NULL },
	{ 0, "columns", "COLUMNS",
	  "these columns, 'all' for every one (default: 'sql', those of docs/SQL.md)",
	  csv_columns_parse, AT(show.render.columns_shown), NULL, NULL, NULL },
	{ 'q', "quiet", NULL, "say only what went wrong or is missing", opt_flag, AT(quiet), NULL,
	  "Other", NULL },
};

struct exporting {
	struct export_args *args;
	const struct sql_engine *engine;
	struct trace_list traces;
	struct output_list outputs;	/* the rows, to standard output */
	struct output_files *files;
	bool is_stdout;
	int out;			/* the Parquet file */
	int null;			/* /dev/null: standard output after the rows */
	pid_t pid;
};

/* A Parquet file does not say who made it, so none is replaced without --force. */
static enum output_seen look(int fd)
{
	(void)fd;
	return OUTPUT_SEEN_OTHER;
}

static const struct output_kind parquet_kind = { .noun = "file that may be replaced",
						 .look = look };

static int open_output(struct exporting *x)
{
	int err = 0;

	x->is_stdout = !strcmp(x->args->output, "-");
	if (x->is_stdout && isatty(STDOUT_FILENO))
		return fail_why(-EINVAL, "a Parquet file is not for a terminal: name a file");
	x->files = output_files_new(x->args->show.force);
	if (!x->files)
		return fail(-ENOMEM, "%s", x->args->output);
	if (!x->is_stdout)
		err = output_files_add(x->files, x->args->output, &parquet_kind, x->traces.v[0]);
	if (err >= 0)
		err = output_files_guard(x->files);
	return err < 0 ? err : 0;
}

/* Makes standard output the pipe to the engine, which it starts. */
static int start_engine(struct exporting *x)
{
	const struct csv_column_list *columns = &x->args->show.render.columns_shown;
	int rows[2], err;

	x->out = x->is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
			      : output_files_open(x->files, 0);
	if (x->out < 0)
		return x->is_stdout ? fail(-errno, "standard output") : x->out;
	x->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (x->null < 0 || pipe2(rows, O_CLOEXEC))
		return fail(-errno, "pipe to the engine");
	fflush(stdout);
	err = sql_engine_start(x->engine, columns, rows[0], x->out, &x->pid);
	if (!err && dup2(rows[1], STDOUT_FILENO) < 0)
		err = fail(-errno, "pipe");
	close(rows[0]);
	close(rows[1]);
	return err;
}

/* The end of the rows: the engine reads that there are no more. */
static void end_rows(const struct exporting *x)
{
	fflush(stdout);
	clearerr(stdout);
	if (dup2(x->null, STDOUT_FILENO) < 0)
		close(STDOUT_FILENO);
}

/* An engine may succeed and have written nothing, or elsewhere. */
static int check_file(const struct exporting *x)
{
	struct stat st;

	if (fstat(x->out, &st) || !S_ISREG(st.st_mode) || st.st_size)
		return 0;
	return fail_why(-EIO, "%s: the engine says nothing, but has written nothing either",
			x->args->output);
}

static int write_rows(struct exporting *x)
{
	struct report_options *show = &x->args->show;
	uint64_t rows = 0;
	int code = report_many(show, &x->outputs, &x->traces, &rows), err;

	end_rows(x);
	err = sql_engine_wait(x->engine, x->pid);
	if (!err && rows)
		err = check_file(x);
	if (err || !rows)
		return EXIT_FAILED;
	if (!x->is_stdout && output_files_publish(x->files, 0))
		return EXIT_FAILED;
	return code;
}

static int run(struct export_args *args, char **words, size_t nr)
{
	struct exporting x = { .args = args };
	int code = EXIT_FAILED;

	x.engine = sql_engine_find(args->engine);
	if (!x.engine)
		return EXIT_CANNOT;
	if (!trace_list_expand(&x.traces, words, nr) &&
	    !output_list_add(&x.outputs, renderer_find("csv"), NULL) && !open_output(&x) &&
	    !output_list_place(&x.outputs, x.files, x.traces.v[0], false) && !start_engine(&x))
		code = write_rows(&x);
	output_files_free(x.files);
	output_list_release(&x.outputs);
	trace_list_release(&x.traces);
	return code;
}

/* A row says of which event it is, so a table has all of them unless one is asked for. */
static void complete(struct export_args *args)
{
	struct render_opts *render = &args->show.render;

	if (args->quiet)
		fail_set_verbosity(-1);
	if (!render->columns_shown.nr)
		csv_columns_add_sql(&render->columns_shown);
	csv_columns_once(&render->columns_shown);
	render->is_rfc4180 = true;
	render->all_events = !args->show.query.event && args->show.query.weight == WEIGHT_ANY;
}

static int check(const struct export_args *args, int nr)
{
	if (nr <= 0)
		return fail_why(-EINVAL, "export needs traces: files, directories or globs");
	if (!args->output)
		return fail_why(-EINVAL, "export needs -o: where the file goes");
	return report_options_check(&args->show);
}

int cmd_export(const struct command_table *all, int argc, char **argv)
{
	struct export_args args = { .output = NULL };
	struct opt_list lists[] = {
		{ export_opts, sizeof(export_opts) / sizeof(export_opts[0]), NULL },
		report_option_list,
	};
	int nr = opt_parse(lists, 2, argc, argv, &args, NULL), rc = EXIT_USAGE;

	if (opt_is_help(nr)) {
		rc = command_help(all, "export", nr, lists, 2);
	} else if (nr >= 0 && args.show.render.columns_shown.wants_help) {
		csv_columns_help(stdout);
		rc = EXIT_OK;
	} else if (nr >= 0 && check(&args, nr)) {
		rc = command_usage(all, "export");
	} else if (nr >= 0) {
		complete(&args);
		rc = run(&args, argv + 1, (size_t)nr);
	}
	report_options_release(&args.show);
	return rc;
}
