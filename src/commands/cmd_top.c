/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee top: records this machine, and shows it while it does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/commands/command.h"
#include "src/commands/live_command.h"
#include "src/commands/shut_in.h"
#include "src/commands/top_recorder.h"
#include "src/commands/tui_options.h"
#include "src/recording/record_options.h"

#define ONCE_SETTLE_MS 1500	/* `top --once` prints what came in this time */

static int give_up_rights(void)
{
	return shut_in(true);
}

static int show(const struct tui_args *args, struct top_recorder *r, const char *path)
{
	struct tui_source source = {
		.name = path ? path : "live", .is_live = true, .frees = !path,
		.is_over = top_recorder_is_over, .message = top_recorder_message,
		.shut_in = give_up_rights, .ctx = r,
	};

	source.fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
			 : fcntl(r->trace, F_DUPFD_CLOEXEC, 3);
	if (source.fd < 0) {
		fail(-errno, "open %s", source.name);
		return EXIT_FAILED;
	}
	return tui_show(args, &source);
}

static int record_and_show(struct tui_args *args, struct live_words *words,
			   const struct record_args *record)
{
	const char *path = record->output;
	bool as_text = args->show.once || args->follow;
	struct top_recorder r;
	bool failed;
	int code;

	if (!as_text && tui_check_terminal())
		return EXIT_USAGE;
	live_words_complete(words, record);
	if (top_recorder_start(&r, path, words->rest.nr, words->rest.v, cmd_record))
		return EXIT_FAILED;
	if (top_recorder_await(&r, path))
		return top_recorder_stop(&r);
	code = show(args, &r, path);
	failed = top_recorder_is_over(&r) && r.code;	/* by itself, not because it was to end */
	top_recorder_stop(&r);
	return !code && failed ? r.code : code;
}

static int run(struct tui_args *args, struct live_words *words)
{
	struct words *rest = &words->rest;
	const struct record_mode *mode = &record_modes[RECORD_BOTH];
	struct record_args record;
	int err = record_args_parse(mode, rest->nr, rest->v, &record), code;

	if (!err && record.output && !strcmp(record.output, "-"))
		err = fail_why(-EINVAL, "top shows what it records: -o needs the name of a file");
	if (!err && (record.dry_run || record.capture.events.wants_help ||
		     record.render.columns_shown.wants_help))
		code = cmd_record(rest->nr, rest->v);
	else
		code = err ? command_usage("top") : record_and_show(args, words, &record);
	record_args_release(&record);
	return code;
}

static int help(void)
{
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[RECORD_LISTS + 1] = { tui_option_list };
	size_t nr = record_opt_lists(&record_modes[RECORD_BOTH], rows, lists + 1);

	return command_help("top", lists, nr + 1);
}

int cmd_top(int argc, char **argv)
{
	struct tui_args args = { .show = { .settle_ms = ONCE_SETTLE_MS } };
	struct live_words words;
	int code = EXIT_FAILED;

	if (!live_words_new(&words, argc, argv, &tui_option_list)) {
		if (live_words_ask_for_help(&words))
			code = help();
		else if (opt_parse(&tui_option_list, 1, words.own.nr, words.own.v, &args, NULL) < 0)
			code = command_usage("top");
		else {
			tui_options_finish(&args);
			code = run(&args, &words);
		}
	}
	live_words_release(&words);
	return code;
}
