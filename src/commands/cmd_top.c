/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee top: records this machine, and shows it while it does. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/commands/command.h"
#include "src/commands/shut_in.h"
#include "src/commands/top_recorder.h"
#include "src/commands/tui_options.h"
#include "src/recording/record_options.h"

#define ONCE_SETTLE_MS 1500	/* `top --once` prints what came in this time */

struct words {
	char **v;
	int nr;
};

static const struct opt *find_own(const char *word, bool *has_value)
{
	size_t len = strcspn(word, "=");

	*has_value = word[len] == '=';
	if (!strcmp(word, "-f"))
		word = "--follow", len = 8;
	if (strncmp(word, "--", 2))
		return NULL;
	for (size_t i = 0; i < tui_option_list.nr; i++)
		if (strlen(tui_option_list.v[i].name) == len - 2 &&
		    !strncmp(tui_option_list.v[i].name, word + 2, len - 2))
			return &tui_option_list.v[i];
	return NULL;
}

/* The words about the view come to own, all others to rest, which has "record" in front. */
static void split(int argc, char **argv, struct words *own, struct words *rest)
{
	bool has_value, is_over = false;

	own->v[own->nr++] = argv[0];
	rest->v[rest->nr++] = "record";
	for (int i = 1; i < argc; i++) {
		const struct opt *o = is_over ? NULL : find_own(argv[i], &has_value);
		struct words *to = o ? own : rest;

		is_over |= !strcmp(argv[i], "--");
		to->v[to->nr++] = argv[i];
		if (o && o->arg && !has_value && i + 1 < argc)
			to->v[to->nr++] = argv[++i];
	}
}

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

/* The recorder's words from where all else was parsed: what is to be recorded, and where to. */
static int add_defaults(const struct record_args *record, struct words *rest, int command)
{
	int at = command < rest->nr ? command - 1 : rest->nr, more = 0;
	char *words[3];

	if (!record->all && !record->pids.nr && !record->tids.nr && command == rest->nr)
		words[more++] = "-a";
	if (!record->output) {
		words[more++] = "-o";
		words[more++] = "-";
	}
	memmove(&rest->v[at + more], &rest->v[at], sizeof(char *) * (size_t)(rest->nr - at));
	memcpy(&rest->v[at], words, sizeof(char *) * (size_t)more);
	rest->nr += more;
	return 0;
}

static int record_and_show(struct tui_args *args, struct words *rest,
			   const struct record_args *record)
{
	const char *path = record->output;
	bool as_text = args->show.once || args->follow;
	struct top_recorder r;
	bool failed;
	int code;

	if (!as_text && tui_check_terminal())
		return EXIT_USAGE;
	add_defaults(record, rest, record->command);
	if (top_recorder_start(&r, path, rest->nr, rest->v, cmd_record))
		return EXIT_FAILED;
	if (top_recorder_await(&r, path))
		return top_recorder_stop(&r);
	code = show(args, &r, path);
	failed = top_recorder_is_over(&r) && r.code;	/* by itself, not because it was to end */
	top_recorder_stop(&r);
	return !code && failed ? r.code : code;
}

static int run(struct tui_args *args, struct words *rest)
{
	const struct record_mode *mode = &record_modes[RECORD_BOTH];
	struct record_args record;
	int err = record_args_parse(mode, rest->nr, rest->v, &record), code;

	if (!err && record.output && !strcmp(record.output, "-"))
		err = fail_why(-EINVAL, "top shows what it records: -o needs the name of a file");
	if (!err && (record.dry_run || record.capture.events.wants_help ||
		     record.render.columns_shown.wants_help))
		code = cmd_record(rest->nr, rest->v);
	else
		code = err ? command_usage("top") : record_and_show(args, rest, &record);
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

static bool asks_for_help(const struct words *w)
{
	for (int i = 1; i < w->nr && strcmp(w->v[i], "--"); i++)
		if (!strcmp(w->v[i], "-h") || !strcmp(w->v[i], "--help"))
			return true;
	return false;
}

int cmd_top(int argc, char **argv)
{
	struct words own = { .nr = 0 }, rest = { .nr = 0 };
	struct tui_args args = { .show = { .settle_ms = ONCE_SETTLE_MS } };
	int code = EXIT_FAILED;

	own.v = calloc((size_t)argc + 2, sizeof(*own.v));
	rest.v = calloc((size_t)argc + 6, sizeof(*rest.v));
	if (!own.v || !rest.v) {
		fail(-ENOMEM, "read the command line");
	} else {
		split(argc, argv, &own, &rest);
		if (asks_for_help(&rest))
			code = help();
		else if (opt_parse(&tui_option_list, 1, own.nr, own.v, &args, NULL) < 0)
			code = command_usage("top");
		else {
			tui_options_finish(&args);
			code = run(&args, &rest);
		}
	}
	free(own.v);
	free(rest.v);
	return code;
}
