/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee agent: its command line (src/agent/supervisor.h), and how it records and sends. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "src/agent/supervisor.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/agent_push.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/recording/recording.h"

struct agent_args {
	const char *config;
	bool check, status, example, keys;
};

#define AT(field) offsetof(struct agent_args, field)

static const struct opt rows[] = {
	{ 0, "config", "FILE", "the configuration (default " AGENT_CONFIG_PATH ")", opt_string,
	  AT(config), NULL, "Agent", NULL },
	{ 0, "check", NULL, "only say what is wrong in the configuration; 2 if something is",
	  opt_flag, AT(check), NULL, NULL, NULL },
	{ 0, "status", NULL, "say how the agent with this configuration is; 1 if none runs",
	  opt_flag, AT(status), NULL, NULL, NULL },
	{ 0, "example", NULL, "print a configuration with all keys and what they mean", opt_flag,
	  AT(example), NULL, NULL, NULL },
	{ 0, "keys", NULL, "print the keys as a table", opt_flag, AT(keys), NULL, NULL, NULL },
};

static const struct opt_list list = { rows, sizeof(rows) / sizeof(rows[0]), NULL };

/* ---- what the agent's processes do ---- */

static const struct record_mode *mode_of(char **argv)
{
	return &record_modes[argv[0][0] == 's' ? RECORD_SAMPLE : RECORD_BOTH];
}

static int record(int argc, char **argv, struct shared_rates *rates)
{
	const struct record_mode *mode = mode_of(argv);
	struct recording_result result;
	struct record_args args;
	int err = record_args_parse(mode, argc, argv, &args), code = EXIT_USAGE;

	args.capture.rates = rates;
	if (!err)
		err = record_args_find_targets(&args);
	if (!err) {
		err = recording_run(mode, &args, argc, argv, &result);
		code = err ? exit_code_of(fail_if_silent(err, "%s", mode->name)) : EXIT_OK;
	}
	record_args_release(&args);
	return code;
}

/* The agent says where a trace goes, and for how long. */
static int check_record(int argc, char **argv)
{
	struct record_args args;
	int err = record_args_parse(mode_of(argv), argc, argv, &args);

	if (opt_is_help(err) || (!err && (args.dry_run || args.outputs.nr || args.duration_ns ||
					 args.command < argc ||
					 args.render.columns_shown.wants_help ||
					 args.capture.events.wants_help)))
		err = fail_why(-EINVAL, "[record] options: no -d, --help, --dry-run, reports or "
			       "commands: the agent records all the time, to its spool");
	record_args_release(&args);
	return err;
}

static const struct agent_hooks hooks = {
	.record = record,
	.check_record = check_record,
	.open_target = agent_push_open,
	.check_target = agent_push_check,
};

/* ---- the command line ---- */

static int run(const struct agent_args *args)
{
	const char *config = args->config ? args->config : AGENT_CONFIG_PATH;
	int rc;

	if (args->example || args->keys) {
		(args->example ? agent_keys_example : agent_keys_table)(stdout);
		return EXIT_OK;
	}
	if (args->check) {
		rc = agent_check(config, &hooks);
		return !rc ? EXIT_OK : rc == -EINVAL ? EXIT_USAGE : exit_code_of(rc);
	}
	rc = args->status ? agent_status(config) : agent_run(config, &hooks);
	return rc >= 0 ? rc : rc == -EINVAL ? EXIT_USAGE : exit_code_of(rc);
}

int cmd_agent(const struct command_table *all, int argc, char **argv)
{
	struct agent_args args = { .config = NULL };
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL);

	if (opt_is_help(nr))
		return command_help(all, "agent", nr, &list, 1);
	if (nr > 0)
		fail_why(-EINVAL, "%s: what is that? Try: probee agent --config %s", argv[1],
			 argv[1]);
	return nr ? command_usage(all, "agent") : run(&args);
}
