/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee top: records this machine, and shows it while it does. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/live_command.h"
#include "src/commands/serve_options.h"
#include "src/commands/shut_in.h"
#include "src/commands/top_recorder.h"
#include "src/commands/top_server.h"
#include "src/commands/tui_options.h"
#include "src/recording/record_options.h"
#include "src/tui/screen.h"

#define ONCE_SETTLE_MS 1500	/* `top --once` prints what came in this time */
#define ONCE_NAMES_MS 5000	/* and waits so long for names, at most */

struct top_args {
	struct tui_args view;
	struct serve_args serve;
	bool is_served;
};

static const struct opt top_rows[] = {
	{ 0, "serve", NULL, "show it to browsers, too: probee serve", opt_flag,
	  offsetof(struct top_args, is_served), NULL, "Server", NULL },
};

/* Each list has a struct of its own. */
static const struct opt_list top_option_list = { top_rows, 1, NULL };

static int give_up_rights(void)
{
	return shut_in(true);
}

static int open_trace(const struct top_recorder *r, const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
		      : fcntl(r->trace, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? fail(-errno, "open %s", path ? path : "the recording") : fd;
}

/* Beside a server, both give back what neither keeps. */
static int show(const struct tui_args *args, struct top_recorder *r, const char *path,
		const char *url)
{
	struct tui_source source = {
		.name = path ? path : "live", .is_live = true, .is_here = true, .frees = !path,
		.kept_bytes = LIVE_KEPT_BYTES,
		.is_over = top_recorder_is_over, .message = top_recorder_message,
		.messages = top_recorder_messages,
		.shut_in = give_up_rights, .shut_in_asked = shut_in_asking, .ctx = r, .url = url,
	};

	source.fd = open_trace(r, path);
	return source.fd < 0 ? EXIT_FAILED : tui_show(args, &source);
}

static int start_server(const struct top_args *args, const struct top_recorder *r,
			const char *path, struct top_server *server)
{
	struct serve_source source = { .name = path ? path : "this machine", .is_live = true,
				       .kept_bytes = path ? 0 : LIVE_KEPT_BYTES };
	struct serve_options opts;
	int err = serve_options_fill(&args->serve, &opts);

	if (err)
		return err;
	opts.shows_idle |= args->view.show.idle;
	source.fd = open_trace(r, path);
	return source.fd < 0 ? source.fd : top_server_start(server, &opts, &source, r->messages);
}

static int view(const struct top_args *args, struct top_recorder *r, const char *path)
{
	struct top_server server = { .lifeline = -1 };
	struct tui_args shown = args->view;
	int code;

	shown.show.until_end = args->serve.until_end;
	if (!shown.show.view && !shown.show.once && !shown.follow)
		shown.show.view = "processes";
	if (args->is_served && start_server(args, r, path, &server))
		return EXIT_FAILED;
	code = show(&shown, r, path, args->is_served ? server.url : NULL);
	top_server_stop(&server);
	return code;
}

static int record_and_show(const struct command_table *all, const struct top_args *args,
			   struct live_words *words, const struct record_args *record)
{
	struct top_recorder_command command = { .run = cmd_record, .all = all };
	const char *path = record->output;
	bool as_text = args->view.show.once || args->view.follow;
	struct top_recorder r;
	bool failed;
	int code;

	if (!as_text && screen_check())
		return EXIT_USAGE;
	live_words_complete(words, record);
	command.argc = words->rest.nr;
	command.argv = words->rest.v;
	if (top_recorder_start(&r, path, &command))
		return EXIT_FAILED;
	r.is_brief = !as_text;
	if (top_recorder_await(&r, path))
		return top_recorder_stop(&r);
	code = view(args, &r, path);
	failed = top_recorder_is_over(&r) && r.code;	/* by itself, not because it was to end */
	top_recorder_stop(&r);
	return !code && failed ? r.code : code;
}

static int run(const struct command_table *all, const struct top_args *args,
	       struct live_words *words)
{
	struct words *rest = &words->rest;
	const struct record_mode *mode = &record_modes[RECORD_BOTH];
	struct record_args record;
	int err = record_args_parse(mode, rest->nr, rest->v, &record), code;

	if (!err)
		err = live_words_check("top", &record);
	if (!err && (record.dry_run || record.capture.events.wants_help ||
		     record.render.columns_shown.wants_help))
		code = cmd_record(all, rest->nr, rest->v);
	else
		code = err ? command_usage(all, "top") : record_and_show(all, args, words, &record);
	record_args_release(&record);
	return code;
}

static int help(const struct command_table *all, int how)
{
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[RECORD_LISTS + 3] = { tui_option_list, top_option_list,
						    serve_option_list };
	size_t nr = record_opt_lists(&record_modes[RECORD_BOTH], NULL, rows, lists + 3);

	return command_help(all, "top", how, lists, nr + 3);
}

static int parse(struct live_words *w, const struct opt_list *lists, struct top_args *args)
{
	void *const to[] = { &args->view, args, &args->serve };

	for (size_t l = 0; l < 3; l++)
		if (opt_parse(&lists[l], 1, w->own[l].nr, w->own[l].v, to[l], NULL) < 0)
			return -EINVAL;
	tui_options_finish(&args->view);
	return 0;
}

int cmd_top(const struct command_table *all, int argc, char **argv)
{
	const struct opt_list lists[] = { tui_option_list, top_option_list, serve_option_list };
	struct top_args args = { .view.show = { .settle_ms = ONCE_SETTLE_MS,
						.names_ms = ONCE_NAMES_MS } };
	struct live_words words;
	int code = EXIT_FAILED;

	if (!live_words_new(&words, argc, argv, lists, 3)) {
		if (live_words_help(&words))
			code = help(all, live_words_help(&words));
		else if (parse(&words, lists, &args))
			code = command_usage(all, "top");
		else
			code = run(all, &args, &words);
	}
	serve_args_release(&args.serve);
	live_words_release(&words);
	return code;
}
