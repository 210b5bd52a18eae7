/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probee dump [PID|NAME...]: the stacks of all threads at one moment, for reading. It is `probee
 * snapshot -i 1` into memory, and `probee report --dump` of that.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/commands/command.h"
#include "src/commands/help.h"

struct dump_args {
	const char *pids, *tids;
	bool everything, all, native, json;
};

#define AT(field) offsetof(struct dump_args, field)

static const struct opt options[] = {
	{ 'p', "pid", "PIDS", "these processes, by number or name: 1234, postgres, 'java*'",
	  opt_string, AT(pids), NULL, "Options", NULL },
	{ 't', "tid", "TIDS", "these threads alone", opt_string, AT(tids), NULL, NULL, NULL },
	{ 'a', "all-processes", NULL, "every process (default, where none is named)", opt_flag,
	  AT(everything), NULL, NULL, NULL },
	{ 0, "native", NULL,
	  "all frames: those of the kernel, and the native ones of interpreters", opt_flag,
	  AT(native), NULL, NULL, NULL },
	{ 0, "all", NULL, "each thread by itself, where threads that do the same are one entry",
	  opt_flag, AT(all), NULL, NULL, NULL },
	{ 0, "json", NULL, "as JSON: --waits-json with the stack of each thread", opt_flag,
	  AT(json), NULL, NULL, NULL },
};

enum { WORDS_MAX = 14, FD_PATH = 32 };

struct words {
	const char *v[WORDS_MAX];
	int nr;
};

static void add(struct words *w, const char *word)
{
	if (word)
		w->v[w->nr++] = word;
}

/* Commands may move their words, so each gets an array of its own. */
static int run(const struct command_table *all, const char *name, const struct words *w)
{
	const struct command *c = command_find(all, name);
	char *words[WORDS_MAX + 1] = { NULL };

	for (int i = 0; i < w->nr; i++)
		words[i] = (char *)w->v[i];
	return c->run(all, w->nr, words);
}

static int record(const struct command_table *all, const struct dump_args *a, const char *path)
{
	struct words w = { .nr = 0 };
	char pids[4096], tids[4096];

	add(&w, "snapshot");
	add(&w, "-q");
	add(&w, "-i1");
	add(&w, "--cmdline");
	add(&w, "-o");
	add(&w, path);
	if (a->pids)
		snprintf(pids, sizeof(pids), "--pid=%s", a->pids);
	if (a->tids)
		snprintf(tids, sizeof(tids), "--tid=%s", a->tids);
	add(&w, a->pids ? pids : NULL);
	add(&w, a->tids ? tids : NULL);
	add(&w, a->pids || a->tids ? NULL : "-a");
	return run(all, "snapshot", &w);
}

static int show(const struct command_table *all, const struct dump_args *a, const char *path)
{
	struct words w = { .nr = 0 };

	add(&w, "report");
	add(&w, path);
	add(&w, a->json ? "--waits-json" : "--dump");
	add(&w, a->native || a->json ? "--stacks" : NULL);
	add(&w, a->all || a->json ? "--all-waits" : NULL);
	return run(all, "report", &w);
}

static int dump(const struct command_table *all, const struct dump_args *a)
{
	char path[FD_PATH];
	int fd = memfd_create("probee-dump", 0), code;

	if (fd < 0)
		return exit_code_of(fail(-errno, "keep the snapshot in memory"));
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	code = record(all, a, path);
	fail_set_verbosity(0);
	if (!code)
		code = show(all, a, path);
	close(fd);
	return code;
}

/* Words are processes, as with py-spy, jstack and pstack. */
static int take_words(struct dump_args *a, int nr, char **argv, char *buf, size_t size)
{
	size_t n = 0;

	if (nr && a->pids)
		return fail_why(-EINVAL, "%s: -p names the processes. Try: one of them", argv[1]);
	for (int i = 1; i <= nr && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i > 1 ? "," : "", argv[i]);
	if (n >= size)
		return fail_why(-E2BIG, "these are too many processes");
	if (nr)
		a->pids = buf;
	if (a->everything && (a->pids || a->tids))
		return fail_why(-EINVAL, "-a and a process contradict each other. Try: one of "
				"them");
	return 0;
}

int cmd_dump(const struct command_table *all, int argc, char **argv)
{
	const struct opt_list list = { options, sizeof(options) / sizeof(options[0]), NULL };
	struct dump_args args = { .pids = NULL };
	char pids[4000];
	int nr = opt_parse(&list, 1, argc, argv, &args, NULL);

	if (opt_is_help(nr))
		return command_help(all, "dump", nr, &list, 1);
	if (nr < 0 || take_words(&args, nr, argv, pids, sizeof(pids)))
		return EXIT_USAGE;
	return dump(all, &args);
}
