/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee serve: traces, or a recording of this machine, as pages that follow what comes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/trace/trace_output.h"
#include "src/base/fail.h"
#include "src/base/visible.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/commands/live_command.h"
#include "src/commands/serve_options.h"
#include "src/commands/top_recorder.h"
#include "src/recording/record_options.h"
#include "src/serve/serve.h"

/* The address alone is on standard output, for programs that start this one. */
static void say_url(const char *url)
{
	note("open this address in a browser; Ctrl-C ends it");
	visible_put(stdout, url);
	putchar('\n');
	fflush(stdout);
}

/* ---- traces ---- */

static bool recorder_is_gone(void *fd)
{
	return !trace_output_is_open(*(const int *)fd);
}

struct file {
	int lock_fd;		/* asked whether a recorder still writes the trace */
};

static int add_file(struct serve *s, const char *path, struct file *f)
{
	struct serve_source source = { .name = path };

	source.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (source.fd < 0)
		return fail(-errno, "open %s", path);
	f->lock_fd = fcntl(source.fd, F_DUPFD_CLOEXEC, 3);
	source.is_live = f->lock_fd >= 0 && trace_output_is_open(f->lock_fd);
	source.is_over = recorder_is_gone;
	source.ctx = &f->lock_fd;
	return serve_add(s, &source);
}

#define MAX_FILES 100

static int serve_files(const struct serve_options *opts, int nr, char **paths)
{
	struct file files[MAX_FILES];
	struct serve *s = NULL;
	int err = 0;

	if (nr > MAX_FILES) {
		fail_why(-E2BIG, "serve shows %d traces at most", MAX_FILES);
		return EXIT_USAGE;
	}
	for (int i = 0; i < nr; i++)
		files[i].lock_fd = -1;
	err = serve_open(opts, &s);
	for (int i = 0; i < nr && !err; i++)
		err = add_file(s, paths[i], &files[i]);
	if (!err)
		err = serve_run(s);
	serve_close(s);
	for (int i = 0; i < nr; i++)
		if (files[i].lock_fd >= 0)
			close(files[i].lock_fd);
	return err ? exit_code_of(err) : EXIT_OK;
}

/* ---- this machine ---- */

static bool recorder_is_over(void *recorder)
{
	top_recorder_tell(recorder);
	return top_recorder_is_over(recorder);
}

static int add_recording(struct serve *s, struct top_recorder *r, const char *path)
{
	struct serve_source source = {
		.name = path ? path : "this machine", .is_live = true,
		.kept_bytes = path ? 0 : LIVE_KEPT_BYTES,
		.is_over = recorder_is_over, .message = top_recorder_message, .ctx = r,
	};

	source.fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
			 : fcntl(r->trace, F_DUPFD_CLOEXEC, 3);
	return source.fd < 0 ? fail(-errno, "open %s", source.name) : serve_add(s, &source);
}

static int record_and_serve(const struct command_table *all, const struct serve_options *opts,
			    struct live_words *words, const struct record_args *record)
{
	struct top_recorder_command command = { .run = cmd_record, .all = all };
	const char *path = record->output;
	struct serve *s = NULL;
	struct top_recorder r;
	bool failed = false;
	int err, code;

	/* The recorder first, because it would keep the port if it were forked later. */
	live_words_complete(words, record);
	command.argc = words->rest.nr;
	command.argv = words->rest.v;
	if (top_recorder_start(&r, path, &command))
		return EXIT_FAILED;
	err = serve_open(opts, &s);
	if (!err)
		err = top_recorder_await(&r, path);
	if (!err)
		err = add_recording(s, &r, path);
	if (!err)
		err = serve_run(s);
	/* Whether it ended by itself, and not because it was to end. */
	failed = err == -ECHILD || (top_recorder_is_over(&r) && r.code);
	serve_close(s);
	code = top_recorder_stop(&r);
	if (failed && code)
		return code;
	return err ? exit_code_of(err) : EXIT_OK;
}

static int serve_machine(const struct command_table *all, const struct serve_options *opts,
			 struct live_words *words)
{
	const struct record_mode *mode = &record_modes[RECORD_BOTH];
	struct words *rest = &words->rest;
	struct record_args record;
	int err = record_args_parse(mode, rest->nr, rest->v, &record), code;

	if (!err)
		err = live_words_check("serve", &record);
	if (!err && (record.dry_run || record.capture.events.wants_help ||
		     record.render.columns_shown.wants_help))
		code = cmd_record(all, rest->nr, rest->v);
	else
		code = err ? command_usage(all, "serve")
			   : record_and_serve(all, opts, words, &record);
	record_args_release(&record);
	return code;
}

/* ---- the command line ---- */

static int help(const struct command_table *all, int how)
{
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[RECORD_LISTS + 1] = { serve_option_list };
	size_t nr = record_opt_lists(&record_modes[RECORD_BOTH], NULL, rows, lists + 1);

	return command_help(all, "serve", how, lists, nr + 1);
}

static int run(const struct command_table *all, struct live_words *words,
	       struct serve_args *args)
{
	struct words *rest = &words->rest;
	struct serve_options opts;
	int nr;

	if (live_words_help(words))
		return help(all, live_words_help(words));
	if (opt_parse(&serve_option_list, 1, words->own[0].nr, words->own[0].v, args,
		      NULL) < 0 ||
	    serve_options_fill(args, &opts))
		return command_usage(all, "serve");
	opts.ready = say_url;
	/* A first word that is no option is a file: a recording has only options. */
	if (rest->nr < 2 || rest->v[1][0] == '-')
		return serve_machine(all, &opts, words);
	nr = opt_parse(&serve_option_list, 1, rest->nr, rest->v, args, NULL);
	return nr < 0 ? command_usage(all, "serve") : serve_files(&opts, nr, rest->v + 1);
}

int cmd_serve(const struct command_table *all, int argc, char **argv)
{
	struct serve_args args = { .refresh_ms = 0 };
	struct live_words words;
	int code = EXIT_FAILED;

	if (!live_words_new(&words, argc, argv, &serve_option_list, 1))
		code = run(all, &words, &args);
	serve_args_release(&args);
	live_words_release(&words);
	return code;
}
