/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee sample, probee snapshot, probee record. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/render/csv/csv_columns.h"
#include "src/base/fail.h"
#include "src/base/memory.h"
#include "src/base/opt.h"
#include "src/capture/collectors/usdt_stack_list.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/flight_command.h"
#include "src/commands/live_command.h"
#include "src/commands/probe_places.h"
#include "src/commands/record_push.h"
#include "src/probes/uprobe_points.h"
#include "src/recording/recording.h"

static int help(const struct command_table *all, const struct record_mode *mode, int how)
{
	struct opt rows[OUTPUT_OPTS_MAX], push_rows[PUSH_OPTS_MAX];
	struct opt_list lists[RECORD_LISTS + 1];
	size_t nr = record_opt_lists(mode, NULL, rows, lists);

	if (mode->sample)
		lists[nr++] = record_push_rows(push_rows);
	return command_help(all, mode->name, how, lists, nr);
}

static int list_columns(void)
{
	csv_columns_help(stdout);
	return EXIT_OK;
}

static int list_events(void)
{
	event_table_help(stdout);
	return EXIT_OK;
}

/* --dry-run: where the probes would be put. Events by time and counters are opened nowhere. */
static int show_places(const struct record_args *args, int argc, char **argv)
{
	const struct probe_list *probes = &args->capture.events.probes;
	const struct usdt_stack_list *stacks = usdt_stacks_of(&args->capture);
	struct uprobe_scope scope = { .pids = &args->pids,
				      .command = args->command < argc ? argv[args->command]
								      : NULL };
	int err = 0;

	if (!probes->nr && !stacks->nr) {
		fail_why(-EINVAL, "--dry-run of what? Try: probee sample --dry-run -e u:malloc");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < probes->nr && !err; i++)
		err = probe_places_show(&probes->v[i]->spec, &scope);
	for (size_t i = 0; i < stacks->nr && !err; i++) {
		err = probe_places_show(&stacks->v[i]->entry.spec, &scope);
		if (!err)
			err = probe_places_show(&stacks->v[i]->returns.spec, &scope);
	}
	return err == -EINVAL ? EXIT_USAGE : err ? exit_code_of(err) : EXIT_OK;
}

/* Without -o a trace that is sent is kept in memory, as standard output. */
static int keep_in_memory(struct record_args *args)
{
	int fd;

	if (args->output && strcmp(args->output, "-"))
		return 0;
	if (args->output)
		return fail_why(-EINVAL, "--push and -o - contradict each other. Try: -o FILE");
	if (args->outputs.nr)
		return fail_why(-EINVAL, "reports need a trace that is kept. Try: -o FILE");
	fd = memfd_create("probee-trace", MFD_CLOEXEC);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return fail(-errno, "keep the trace in memory");
	close(fd);
	args->output = "-";
	return 0;
}

/* The exit status. What writes a trace is silent where its reader has gone. */
static int failed(const struct record_mode *mode, const struct record_args *args, int err)
{
	if (err == -EPIPE && args->output && !strcmp(args->output, "-"))
		fail_if_silent(err, "write the trace to standard output, whose reader has gone");
	return exit_code_of(fail_if_silent(err, "%s", mode->name));
}

static int record(const struct record_mode *mode, struct record_args *args, int argc, char **argv,
		  struct record_push *push)
{
	struct recording_result result;
	int err = push ? keep_in_memory(args) : 0, code, push_code = EXIT_OK;

	if (err)
		return EXIT_USAGE;
	if (push) {
		args->opened = record_push_begin;
		args->opened_ctx = push;
		args->segment_ns = args->segment_ns ? args->segment_ns : RECORD_PUSH_WINDOW_NS;
	}
	err = recording_run(mode, args, argc, argv, &result);
	if (push)
		push_code = record_push_end(push);
	if (err)
		code = failed(mode, args, err);
	else
		code = args->strict && (result.lost || memory_refusals()) ? EXIT_LOSS : EXIT_OK;
	return code ? code : push_code;
}

/* Parses a copy, because words move in it: the trace has the command as it was typed. */
static int parse(const struct record_mode *mode, int argc, char **argv, struct record_args *args)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	int err;

	*args = (struct record_args){ .duration_ns = 0 };	/* it is released whatever comes */
	if (!copy)
		return fail(-ENOMEM, "read the options");
	memcpy(copy, argv, sizeof(*copy) * (size_t)argc);
	err = record_args_parse(mode, argc, copy, args);
	free(copy);
	return err;
}

static int parsed(const struct command_table *all, const struct record_mode *mode, int argc,
		  char **argv, struct record_push *push)
{
	struct record_args args;
	int err = parse(mode, argc, argv, &args), code;

	if (opt_is_help(err))
		code = help(all, mode, err);
	else if (err)
		code = EXIT_USAGE;
	else if (args.render.columns_shown.wants_help)
		code = list_columns();
	else if (args.capture.events.wants_help)
		code = list_events();
	else if (record_args_find_targets(&args))
		code = EXIT_FAILED;
	else if (args.dry_run)
		code = show_places(&args, argc, argv);
	else if (args.flight.keep_ns)
		code = flight_command(mode, &args, argc, argv);
	else
		code = record(mode, &args, argc, argv, push);
	record_args_release(&args);
	return code;
}

static int command(const struct command_table *all, const struct record_mode *mode, int argc,
		   char **argv)
{
	struct record_push push = { .lifeline = -1 };
	struct live_words words = { .rest.nr = 0 };
	int pushes = mode->sample ? record_push_words(&words, argc, argv, &push) : 0, code;

	if (pushes < 0)
		code = EXIT_USAGE;
	else if (pushes)
		code = parsed(all, mode, words.rest.nr, words.rest.v, &push);
	else
		code = parsed(all, mode, argc, argv, NULL);
	record_push_release(&push);
	live_words_release(&words);
	return code;
}

int cmd_sample(const struct command_table *all, int argc, char **argv)
{
	return command(all, &record_modes[RECORD_SAMPLE], argc, argv);
}

int cmd_snapshot(const struct command_table *all, int argc, char **argv)
{
	return command(all, &record_modes[RECORD_SNAPSHOT], argc, argv);
}

int cmd_record(const struct command_table *all, int argc, char **argv)
{
	return command(all, &record_modes[RECORD_BOTH], argc, argv);
}
