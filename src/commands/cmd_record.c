/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee sample, probee snapshot, probee record. */
#include <errno.h>

#include "src/base/fail.h"
#include "src/base/memory.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/flight_command.h"
#include "src/commands/probe_places.h"
#include "src/probes/uprobe_points.h"
#include "src/recording/recording.h"

static int help(const struct record_mode *mode)
{
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[RECORD_LISTS];

	return command_help(mode->name, lists, record_opt_lists(mode, rows, lists));
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
	struct uprobe_scope scope = { .pids = &args->pids,
				      .command = args->command < argc ? argv[args->command]
								      : NULL };
	int err = 0;

	if (!probes->nr) {
		fail_why(-EINVAL, "--dry-run of what? Try: probee sample --dry-run -e u:malloc");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < probes->nr && !err; i++)
		err = probe_places_show(&probes->v[i]->spec, &scope);
	return err == -EINVAL ? EXIT_USAGE : err ? exit_code_of(err) : EXIT_OK;
}

static int command(const struct record_mode *mode, int argc, char **argv)
{
	struct recording_result result;
	struct record_args args;
	int err = record_args_parse(mode, argc, argv, &args), code;

	if (err == OPT_HELP)
		code = help(mode);
	else if (err)
		code = EXIT_USAGE;
	else if (args.render.columns_shown.wants_help)
		code = list_columns();
	else if (args.capture.events.wants_help)
		code = list_events();
	else if (args.dry_run)
		code = show_places(&args, argc, argv);
	else if (args.flight.keep_ns)
		code = flight_command(mode, &args, argc, argv);
	else if ((err = recording_run(mode, &args, argc, argv, &result)))
		code = exit_code_of(fail_if_silent(err, "%s", mode->name));
	else
		code = args.strict && (result.lost || memory_refusals()) ? EXIT_LOSS : EXIT_OK;
	record_args_release(&args);
	return code;
}

int cmd_sample(int argc, char **argv)
{
	return command(&record_modes[RECORD_SAMPLE], argc, argv);
}

int cmd_snapshot(int argc, char **argv)
{
	return command(&record_modes[RECORD_SNAPSHOT], argc, argv);
}

int cmd_record(int argc, char **argv)
{
	return command(&record_modes[RECORD_BOTH], argc, argv);
}
