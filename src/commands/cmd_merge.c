/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/trace/trace_merge.h"
#include "formats/trace/trace_output.h"
#include "formats/trace/trace_reader.h"
#include "formats/trace/trace_writer.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/shut_in.h"
#include "src/commands/trace_list.h"
#include "src/output/output_files.h"

#define STEP_SAID_NS 1000000		/* a wall clock that is slewed by NTP changes by less */

struct merge_args {
	const char *output;
	bool strict, force, no_limits, quiet;
};

struct merge_run {
	const struct merge_args *args;
	struct trace_list traces;
	struct output_files *files;
	struct trace_writer *writer;
	struct trace_merge merge;
	uint64_t recordings, samples;
	size_t nr_merged;
	bool is_broken;			/* the output cannot be written any more */
};

/* A glob may match what the command made the last time: then everything would be there twice. */
static int check_output(const struct merge_run *r)
{
	struct stat out, in;

	if (!strcmp(r->args->output, "-") || stat(r->args->output, &out))
		return 0;
	for (size_t i = 0; i < r->traces.nr; i++)
		if (!stat(r->traces.v[i], &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return fail_why(-EINVAL, "%s is one of the traces that would be merged "
					"into it. Try: -o in another directory", r->args->output);
	return 0;
}

static int open_files(struct merge_run *r)
{
	int err = 0;

	r->files = output_files_new(r->args->force);
	if (!r->files)
		return fail(-ENOMEM, "%s", r->args->output);
	if (strcmp(r->args->output, "-"))
		err = output_files_add(r->files, r->args->output, &trace_output_kind,
				       r->traces.v[0]);
	return err < 0 ? err : output_files_guard(r->files);
}

static int open_writer(struct merge_run *r)
{
	struct trace_writer_options opts = { .whole = true };
	bool is_stdout = !strcmp(r->args->output, "-");
	struct trace_output out;
	int err = is_stdout ? trace_output_open("-", &out)
			    : trace_output_open_in(r->files, 0, &out);

	if (err)
		return err;
	opts.output = &out;
	err = trace_writer_open(r->args->output, &opts, &r->writer);
	if (!err)
		trace_merge_init(&r->merge, r->writer);
	return err;
}

/* What is missing in a trace is missing in the copy, too. Returns whether anything is. */
static bool say_damage(const struct trace_status *st, const char *path)
{
	if (st->bad_chunks)
		fail_why(0, "%s: %" PRIu64 " %s damaged or missing, and not in the copy", path,
			 st->bad_chunks, plural(st->bad_chunks, "chunk is", "chunks are"));
	if (st->truncated)
		fail_why(0, "%s was cut short: the copy has what is there", path);
	return st->bad_chunks || st->truncated;
}

static void say_step(const struct trace_merge_sum *sum, const char *path)
{
	int64_t step = sum->step_ns;

	if (step > STEP_SAID_NS || step < -STEP_SAID_NS)
		note("%s: its wall clock was set by %+.3f s while it was recorded, so it may not "
		     "agree with others", path, (double)step / 1e9);
}

static int copy(struct merge_run *r, struct trace_reader *reader, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct trace_merge_sum sum;
	int err = trace_merge_add(&r->merge, reader, slash ? slash + 1 : path, &sum);

	if (!err && trace_reader_status(reader)->refused_bytes)
		err = fail_why(-EMSGSIZE, "%s stands for more than a recording of its size holds; "
			       "only its beginning is in the copy. Try: --no-limits", path);
	r->recordings += sum.recordings;
	r->samples += sum.samples;
	r->nr_merged += sum.recordings > 0;
	say_step(&sum, path);
	return err;
}

static int merge_one(struct merge_run *r, const char *path, int fd)
{
	const struct trace_reader_options opts = {
		.max_table_bytes = r->args->no_limits ? UINT64_MAX / 2 : 0,
		.max_work = r->args->no_limits ? UINT64_MAX / 2 : 0,
		.forgets = true,
	};
	struct trace_reader *reader = NULL;
	int code = EXIT_OK, err;

	err = fd >= 0 ? trace_reader_open_fd(fd, path, &opts, &reader)
		      : trace_reader_open(path, &opts, &reader);
	if (!err)
		err = copy(r, reader, path);
	if (err)
		fail_if_silent(err, "merge %s", path);
	if (err)
		code = EXIT_FAILED;
	else if (say_damage(trace_reader_status(reader), path) && r->args->strict)
		code = EXIT_LOSS;
	/* The writer fails at every call once it has failed at one. */
	r->is_broken = r->writer && trace_writer_flush(r->writer) < 0;
	trace_reader_close(reader);
	return code;
}

static int merge_all(struct merge_run *r)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < r->traces.nr && !r->is_broken; i++) {
		int one = merge_one(r, r->traces.v[i], trace_list_take(&r->traces, i));

		code = code == EXIT_FAILED || one == EXIT_FAILED ? EXIT_FAILED : code ? code : one;
	}
	return code;
}

static int end(struct merge_run *r, int code)
{
	struct trace_writer *w = r->writer;

	r->writer = NULL;
	if (!r->is_broken && !r->nr_merged)
		fail_why(-ENODATA, "none of the %zu traces has a recording", r->traces.nr);
	if (r->is_broken || !r->nr_merged) {
		trace_writer_abandon(w);
		return EXIT_FAILED;
	}
	if (trace_writer_close(w))
		return EXIT_FAILED;
	note("%s has %" PRIu64 " %s and %" PRIu64 " samples of %zu of %zu traces", r->args->output,
	     r->recordings, plural(r->recordings, "recording", "recordings"), r->samples,
	     r->nr_merged, r->traces.nr);
	return code;
}

static int run(const struct merge_args *args, char **words, size_t nr)
{
	struct merge_run r = { .args = args };
	int code = EXIT_FAILED, err;

	if (args->quiet)
		fail_set_verbosity(-1);
	err = trace_list_expand(&r.traces, words, nr);
	if (!err)
		err = check_output(&r);
	if (!err)
		err = open_files(&r);
	if (!err)
		err = shut_in(trace_list_open(&r.traces));
	if (!err)
		err = open_writer(&r);
	if (!err)
		code = end(&r, merge_all(&r));
	output_files_free(r.files);
	trace_list_release(&r.traces);
	return code;
}

#define AT(field) offsetof(struct merge_args, field)

static const struct opt merge_opts[] = {
	{ 'o', "output", "FILE", "where the new trace goes; - is standard output", opt_string,
	  AT(output), NULL, "Options", NULL },
	{ 0, "force", NULL, "replace a file that is no earlier trace, too", opt_flag, AT(force),
	  NULL, NULL, NULL },
	{ 0, "strict", NULL, "exit with 3 when a trace is damaged or was cut short", opt_flag,
	  AT(strict), NULL, NULL, NULL },
	{ 0, "no-limits", NULL, "read traces of any content, whatever time and memory that takes",
	  opt_flag, AT(no_limits), NULL, NULL, NULL },
	{ 'q', "quiet", NULL, "say only what went wrong or is missing", opt_flag, AT(quiet), NULL,
	  NULL, NULL },
};

static int check(const struct merge_args *args, int nr)
{
	if (nr <= 0)
		return fail_why(-EINVAL, "merge needs traces: files, directories or globs");
	return args->output ? 0 : fail_why(-EINVAL, "merge needs -o: where the new trace goes");
}

int cmd_merge(const struct command_table *all, int argc, char **argv)
{
	struct opt_list list = { merge_opts, sizeof(merge_opts) / sizeof(merge_opts[0]), NULL };
	struct merge_args args = { 0 };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL);

	if (opt_is_help(nr))
		return command_help(all, "merge", nr, &list, 1);
	if (nr < 0)
		return EXIT_USAGE;
	if (check(&args, nr))
		return command_usage(all, "merge");
	return run(&args, argv + 1, (size_t)nr);
}
