/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probee xstack, or a link to probee called xstack: the command line and the output of xstack. It
 * is turned into `probee snapshot --csv`, whose columns, placeholders and words for states are
 * those of xstack. The trace goes nowhere.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/help.h"

struct xstack_args {
	bool all, quiet, reversed, version;
	const char *pid, *tid, *freq, *iterations;
};

#define AT(field) offsetof(struct xstack_args, field)

static const struct opt options[] = {
	{ 'a', "all", NULL, "all threads", opt_flag, AT(all), NULL, "Options", NULL },
	{ 'p', "pid", "PIDS", "the threads of this process", opt_string, AT(pid), NULL, NULL,
	  NULL },
	{ 't', "tid", "TIDS", "this thread", opt_string, AT(tid), NULL, NULL, NULL },
	{ 'F', "freq", "HZ", "snapshots a second (default 1)", opt_string, AT(freq), NULL, NULL,
	  NULL },
	{ 'i', "iterations", "N", "so many snapshots (default: until Ctrl-C)", opt_string,
	  AT(iterations), NULL, NULL, NULL },
	{ 'q', "quiet", NULL, "no header", opt_flag, AT(quiet), NULL, NULL, NULL },
	{ 'r', "reverse-stack", NULL, "outermost function first", opt_flag, AT(reversed), NULL,
	  NULL, NULL },
};

#define WORDS_MAX 16

struct words {
	char *v[WORDS_MAX];		/* owned; NULL behind the last */
	int nr;
};

/* Adds a word if value is given; what a format needs of it comes in place of %s. */
static bool add(struct words *w, const char *format, const char *value)
{
	if (value && asprintf(&w->v[w->nr], format, value) < 0)
		return false;
	w->nr += !!value;
	return true;
}

static int snapshot(const struct command_table *all, const struct xstack_args *a)
{
	struct words w = { .nr = 0 };
	int rc = EXIT_FAILED;

	if (add(&w, "%s", "snapshot") && add(&w, "%s", "--csv") &&
	    add(&w, "%s", "--output=/dev/null") && add(&w, "%s", "--xstack-states") &&
	    add(&w, "%s", a->all ? "-a" : NULL) && add(&w, "--pid=%s", a->pid) &&
	    add(&w, "--tid=%s", a->tid) && add(&w, "--freq=%s", a->freq) &&
	    add(&w, "--iterations=%s", a->iterations) && add(&w, "%s", a->quiet ? "-q" : NULL) &&
	    add(&w, "%s", a->reversed ? "-r" : NULL))
		rc = cmd_snapshot(all, w.nr, w.v);
	else
		fail(-ENOMEM, "read the command line");
	for (int i = 0; i < WORDS_MAX; i++)
		free(w.v[i]);
	return rc;
}

int cmd_xstack(const struct command_table *all, int argc, char **argv)
{
	const struct opt_list list = { options, sizeof(options) / sizeof(options[0]), NULL };
	struct xstack_args args = { 0 };
	int nr;

	if (argc < 2)
		return command_help(all, "xstack", OPT_HELP, &list, 1);
	nr = opt_parse(&list, 1, argc, argv, &args, NULL);
	if (opt_is_help(nr))
		return command_help(all, "xstack", nr, &list, 1);
	if (nr > 0)
		fail_why(-EINVAL, "%s: what is that? Try: xstack -p %s", argv[1], argv[1]);
	else if (!nr && !args.all && !args.pid && !args.tid)
		fail_why(-EINVAL, "xstack of what? Try: -a, -p PID or -t TID");
	if (nr || (!args.all && !args.pid && !args.tid))
		return EXIT_USAGE;
	return snapshot(all, &args);
}
