/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probee push: traces to a receiver of profiles (src/push/push.h). */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/trace/trace_output.h"
#include "formats/trace/trace_source.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/base/plural.h"
#include "src/base/visible.h"
#include "src/base/stop_signals.h"
#include "src/commands/command.h"
#include "src/commands/help.h"
#include "src/push/push.h"
#include "src/push/push_answer.h"
#include "src/push/push_body.h"
#include "src/push/push_progress_file.h"

#define FILES_MAX 200			/* each is an open descriptor */

struct push_args {
	struct push_options push;
	const char *progress;
	bool dry_run, quiet, verbose;
};

#define AT(field) offsetof(struct push_args, field)

static const struct opt push_opts[] = {
	{ 'n', "dry-run", NULL, "only say what would be sent", opt_flag, AT(dry_run), NULL, "Other",
	  NULL },
	{ 0, "progress", "FILE",
	  "remember in FILE how much of the trace is delivered, and go on from there next time",
	  opt_string, AT(progress), NULL, NULL, NULL },
	{ 'v', "verbose", NULL, "say more on the way", opt_flag, AT(verbose), NULL, NULL, NULL },
	{ 'q', "quiet", NULL, "say only what went wrong", opt_flag, AT(quiet), NULL, NULL, NULL },
};

/* One run of the command. */
struct pushing {
	const struct push_args *args;
	struct push_target *target;
	struct trace_source traces[FILES_MAX];
	int nr;
	struct stop_signals signals;
	struct push_result sum;
	int done;			/* traces that were looked at to their end */
	uint64_t bodies;		/* of all traces that were shown by a dry run */
};

/* ---- traces ---- */

static int open_trace(struct pushing *p, const char *path)
{
	struct trace_source *s = &p->traces[p->nr];
	int err = trace_source_open(path, s);

	if (err)
		return err;
	p->nr++;
	if (trace_output_is_open(s->fd))
		return fail_why(-EBUSY, "%s is still being recorded. Try again when it is whole",
				path);
	return 0;
}

static int open_traces(struct pushing *p, int nr, char **paths)
{
	int err = 0;

	for (int i = 0; i < nr && !err; i++)
		err = open_trace(p, paths[i]);
	return err;
}

static bool is_stopped(void *pushing)
{
	struct pushing *p = pushing;
	struct pollfd f = { .fd = p->signals.fd, .events = POLLIN };

	if (!p->signals.stopped && poll(&f, 1, 0) > 0)
		stop_signals_read(&p->signals);
	return p->signals.stopped;
}

/* ---- a dry run ---- */

static void print_time(uint64_t ns)
{
	time_t s = (time_t)(ns / NSEC_PER_SEC);
	char text[64];
	struct tm tm;

	if (!gmtime_r(&s, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)s);
	printf("%s.%03u", text, (unsigned)(ns % NSEC_PER_SEC / NSEC_PER_MSEC));
}

static int show_body(void *pushing, const struct push_body *b)
{
	struct pushing *p = pushing;
	char text[1024];

	push_answer_line(text, sizeof(text), b->what, strlen(b->what));
	printf("body %" PRIu64 ": %s\n", ++p->bodies, text);
	push_answer_line(text, sizeof(text), b->path, strlen(b->path));
	printf("  POST %s, %s%s\n", text, b->content_type, b->is_gzip ? ", gzip" : "");
	printf("  %" PRIu32 " %s, %" PRIu64 " %s, %" PRIu64 " lost; %zu bytes, %" PRIu64
	       " before compression\n", b->profiles, plural(b->profiles, "profile", "profiles"),
	       b->samples, plural(b->samples, "sample", "samples"), b->lost, b->len, b->raw_len);
	printf("  from ");
	print_time(b->from_ns);
	printf(" to ");
	print_time(b->to_ns);
	printf(" UTC\n");
	return is_stopped(p) ? -ECANCELED : 0;
}

static void print_fact(const char *what, const char *text)
{
	fputs(what, stdout);
	visible_put(stdout, text);
}

static void print_head(const struct pushing *p)
{
	const struct push_options *o = &p->args->push;
	const char *url = push_target_url(p->target);

	print_fact("", push_target_layout(p->target));
	print_fact(", to ", *url ? url : "no receiver yet");
	print_fact("\nservice: ", o->service ? o->service : "of each process");
	for (size_t i = 0; i < o->labels.nr; i++)
		print_fact("\nlabel: ", o->labels.v[i]);
	putchar('\n');
}

static int show_all(struct pushing *p)
{
	struct push_result r;
	char text[512];
	int err = 0;

	print_head(p);
	for (int i = 0; i < p->nr && !err; i++) {
		err = push_dry_run(p->target, p->traces[i].fd, p->traces[i].name, show_body, p,
				   &r);
		push_result_add(&p->sum, &r);
	}
	push_result_text(&p->sum, text, sizeof(text));
	if (!err)
		printf("nothing was sent; what would be %s\n", text);
	return err;
}

/* ---- sending ---- */

static int send_trace(struct pushing *p, const struct trace_source *s,
		      struct push_progress_file *kept)
{
	struct push_progress progress = { .stop = is_stopped, .ctx = p };
	struct push_result r;
	int err;

	if (kept->fd >= 0) {
		push_progress_file_use(kept, &progress);
		kept->stop = is_stopped;
		kept->stop_ctx = p;
	}
	err = push_trace(p->target, s->fd, s->name, &progress, &r);
	push_result_add(&p->sum, &r);
	p->done += !err && r.outcome == PUSH_DONE;
	return err;
}

static int send_all(struct pushing *p, struct push_progress_file *kept)
{
	int err = 0;

	for (int i = 0; i < p->nr && !err && p->sum.outcome == PUSH_DONE; i++)
		err = send_trace(p, &p->traces[i], kept);
	return err;
}

/* The last lines, and the exit code. */
static int tell(const struct pushing *p)
{
	const struct push_result *r = &p->sum;
	char text[512];

	push_result_text(r, text, sizeof(text));
	note("%s", text);
	if (r->outcome == PUSH_DONE && !r->refused.bodies && !r->rejected_profiles)
		return EXIT_OK;
	if (r->outcome == PUSH_DONE) {
		fail_why(-EIO, "the receiver refused a part: %s", r->why);
		return EXIT_FAILED;
	}
	if (r->outcome == PUSH_BLOCKED) {
		fail_why(-EIO, "%s takes nothing: %s", push_target_url(p->target), r->why);
		return EXIT_FAILED;
	}
	fail_why(-EAGAIN, "not all is delivered: %s%s", r->outcome == PUSH_STOPPED
		 ? "stopped" : r->why, p->args->progress
		 ? ". The same command goes on from there" : "");
	if (p->nr > 1)
		note("%d of %d traces were sent to their end", p->done, p->nr);
	return EXIT_LATER;
}

static int send_or_show(struct pushing *p, struct push_progress_file *kept)
{
	char text[512];
	int err;

	if (p->args->dry_run)
		return show_all(p) ? EXIT_FAILED : EXIT_OK;
	note_verbose("%s, to %s", push_target_layout(p->target), push_target_url(p->target));
	err = send_all(p, kept);
	if (!err)
		return tell(p);
	push_result_text(&p->sum, text, sizeof(text));
	if (p->sum.requests)
		note("%s", text);
	return exit_code_of(err);
}

static int run(struct pushing *p, int nr, char **paths)
{
	static const struct stop_limit limit = { .after_ns = STOP_AFTER_NS };
	struct push_progress_file kept = { .fd = -1 };
	int err = push_target_open(&p->args->push, &p->target), code;

	if (err == -EINVAL)
		return EXIT_USAGE;
	if (!err)
		err = open_traces(p, nr, paths);
	if (!err && p->args->progress)
		err = push_progress_file_open(p->args->progress, &kept);
	if (!err)
		err = stop_signals_open(&p->signals, &limit);
	if (!err)
		push_target_leave_root(p->target);
	if (!err)
		err = push_target_shut_in(p->target);
	code = err ? exit_code_of(err) : send_or_show(p, &kept);
	stop_signals_close(&p->signals);
	push_target_close(p->target);
	push_progress_file_close(&kept);
	while (p->nr)
		trace_source_close(&p->traces[--p->nr]);
	return code;
}

static int check(const struct push_args *args, int nr)
{
	if (!nr)
		return fail_why(-EINVAL, "push needs a trace");
	if (nr > FILES_MAX)
		return fail_why(-EINVAL, "push sends %d traces at most", FILES_MAX);
	if (nr > 1 && args->progress)
		return fail_why(-EINVAL, "--progress is of one trace");
	return 0;
}

static int push(struct push_args *args, int nr, char **paths)
{
	struct pushing *p = calloc(1, sizeof(*p));
	int code = EXIT_FAILED;

	args->push.dry_run = args->dry_run;
	fail_set_verbosity(args->quiet ? -1 : args->verbose ? 1 : 0);
	if (p) {
		p->args = args;
		code = run(p, nr, paths);
	} else {
		fail(-ENOMEM, "push");
	}
	free(p);
	return code;
}

int cmd_push(const struct command_table *all, int argc, char **argv)
{
	struct push_args args = { .progress = NULL };
	struct opt rows[PUSH_OPTS_MAX];
	struct opt_list lists[] = {
		{ rows, push_option_rows(rows, AT(push)), NULL },
		{ push_opts, sizeof(push_opts) / sizeof(push_opts[0]), NULL },
	};
	int nr = opt_parse(lists, 2, argc, argv, &args, NULL), code;

	if (opt_is_help(nr))
		code = command_help(all, "push", nr, lists, 2);
	else if (nr < 0 || check(&args, nr))
		code = command_usage(all, "push");
	else
		code = push(&args, nr, argv + 1);
	push_options_release(&args.push);
	return code;
}
