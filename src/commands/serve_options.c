/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/serve_options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/output_list.h"
#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/fail.h"
#include "src/commands/command.h"
#include "src/commands/report_options.h"
#include "src/commands/shut_in.h"
#include "src/profile/no_match.h"
#include "src/report/report.h"
#include "src/serve/serve.h"

#define AT(field) offsetof(struct serve_args, field)

static int add_host(const struct opt *o, const char *value, void *dst)
{
	struct host_list *l = dst;
	const char **slot;

	if (!*value || strpbrk(value, ":/ "))
		return fail_why(-EINVAL, "--%s=%s: a name alone, such as profiles.example.org",
				o->name, value);
	if (array_reserve(&l->v, &l->cap, l->nr + 2))
		return fail(-ENOMEM, "--%s", o->name);
	slot = &l->v[l->nr++];
	slot[0] = value;
	slot[1] = NULL;
	return 0;
}

static const struct opt rows[] = {
	{ 0, "listen", "ADDRESS:PORT",
	  "listen there (default 127.0.0.1:8000; a port alone will do; 0: any that is free). "
	  "Elsewhere than on this machine with --token-file only, and behind a proxy with TLS",
	  opt_string, AT(listen), NULL, "Server", NULL },
	{ 0, "token-file", "FILE",
	  "the word in the address is that of FILE, which only its owner may read (default: a new "
	  "one each time)",
	  opt_string, AT(token_file), NULL, NULL, NULL },
	{ 0, "no-token", NULL,
	  "no word in the address: every user and program of this machine may look", opt_flag,
	  AT(no_token), NULL, NULL, NULL },
	{ 0, "host", "NAME",
	  "browsers may know this server by NAME, as behind a proxy; give it again for more",
	  add_host, AT(hosts), NULL, NULL, NULL },
	{ 0, "refresh-ms", "MS", "tell clients what is new every MS milliseconds (default 1000)",
	  opt_u32, AT(refresh_ms), NULL, NULL, NULL },
	{ 0, "until-end", NULL, "end when the recording has ended, instead of showing it on",
	  opt_flag, AT(until_end), NULL, NULL, NULL },
	{ 0, "idle", NULL,
	  "show the stacks of threads that have nothing to do, which pages fold into [idle: ...]",
	  opt_flag, AT(idle), NULL, NULL, NULL },
};

const struct opt_list serve_option_list = { rows, sizeof(rows) / sizeof(rows[0]), NULL };

/*
 * What a client may choose of a report. Limits stay, nothing is said of files, and nothing goes to
 * a terminal.
 */
static const char *const report_words[] = {
	"pid", "tid", "comm", "process", "cgroup", "cpu", "include", "exclude", "state", "event",
	"weight", "from", "to", "by", "inverted", "callers", "callees", "collapse-recursion",
	"merge", "all-threads", "title", "offsets", "lines", "inline-depth", "no-inline",
	"native-loops", "native-only", "script-only", "hide", "idle",
	"kernel-suffix", "marks", "top", "min-percent", "deep", NULL
};

/* What the renderer needs must be there; of a recording under way it may still come. */
static int check_matches(const struct serve_report *r, struct report *rep)
{
	struct match_wish wish = { .scan_rows = r->renderer->of_scans,
				   .samples = !r->renderer->of_scans };

	return r->may_come ? 0 : report_check_matches(rep, &wish);
}

static int write_report(const struct serve_report *r, struct report_options *o)
{
	struct output_list outputs = { .nr = 0 };
	struct report *rep = NULL;
	int err;

	o->query.may_come = o->query.goes_on = r->may_come;
	err = report_open_fd(r->trace_fd, r->name, &o->query, &rep);
	if (err == -EAGAIN)
		fail_why(err, "there are no such samples yet");
	if (!err)
		err = check_matches(r, rep);
	if (!err)
		err = output_list_add(&outputs, r->renderer, "-");
	if (!err)
		err = output_list_run(&outputs, rep, &o->render);
	if (!err && fflush(stdout))
		err = -errno;
	report_close(rep);
	output_list_release(&outputs);
	return err;
}

/* In a child of the server. */
static int make_report(const struct serve_report *r)
{
	struct report_options o = { .strict = false };
	char **argv = calloc((size_t)r->nr_words + 2, sizeof(*argv));
	int err = argv ? 0 : -ENOMEM;

	if (!err) {
		argv[0] = "report";
		memcpy(argv + 1, r->words, sizeof(*argv) * (size_t)r->nr_words);
		if (opt_parse(&report_option_list, 1, r->nr_words + 1, argv, &o, NULL) != 0)
			err = -EINVAL;
	}
	if (!err)
		err = report_options_check(&o);
	if (!err)
		err = write_report(r, &o);
	if (err)
		fail_if_silent(err, "make the report");
	report_options_release(&o);
	free(argv);
	return err ? EXIT_FAILED : EXIT_OK;
}

int serve_options_fill(const struct serve_args *args, struct serve_options *opts)
{
	if (args->no_token && args->token_file)
		return fail_why(-EINVAL, "--no-token and --token-file: one or the other");
	*opts = (struct serve_options){
		.listen = args->listen,
		.token_file = args->token_file,
		.no_token = args->no_token,
		.hosts = args->hosts.v,
		.refresh_ms = args->refresh_ms,
		.until_end = args->until_end,
		.shows_idle = args->idle,
		.words = report_words,
		.report = make_report,
		.shut_in = shut_in_serving,
		.lifeline = -1,
	};
	return 0;
}

void serve_args_release(struct serve_args *args)
{
	free(args->hosts.v);
}
