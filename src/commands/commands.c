#include "src/commands/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/opt.h"

const struct command commands[] = {
	{ "sample", "record stacks of running threads, so many times a second",
	  "[-a | -p PIDS] [-F HZ] [-d TIME] [-o trace.pbz] [-- CMD ARGS]", cmd_sample },
	{ "snapshot", "record the stack of every thread, running or not",
	  "(-a | -p PIDS | -t TIDS) [-F HZ] [-i N] [-o trace.pbz]", cmd_snapshot },
	{ "record", "both in one recording: CPU time by samples, waiting by snapshots",
	  "[-a | -p PIDS] [-F HZ] [--snap-freq HZ] [-d TIME] [-o trace.pbz] [-- CMD ARGS]",
	  cmd_record },
	{ "report", "turn a trace into a flame graph, folded stacks, CSV, JSON or text",
	  "FILE [--svg[=FILE]] [--csv] ...", cmd_report },
	{ "info", "say what is in a trace: what, when, losses, how stacks ended", "FILE [--sizes]",
	  cmd_info },
	{ "unwind-info", "say what is known of how to unwind a binary, or the rule at an address",
	  "ELF|PID [ADDRESS|SYMBOL ...] [--rows] [--json]", cmd_unwind_info },
	{ "verify", "unwind the stacks that --audit kept again with libdw, and compare",
	  "FILE [--limit N] [-v]", cmd_verify },
	{ "doctor", "say what this kernel and these rights allow", "", cmd_doctor },
	{ NULL, NULL, NULL, NULL },
};

const struct command *command_find(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int command_help(const char *name, const struct opt_list *lists, size_t nr_lists)
{
	const struct command *c = command_find(name);

	printf("usage: probee %s%s%s\n\nprobee %s: %s\n", c->name, c->usage[0] ? " " : "", c->usage,
	       c->name, c->summary);
	opt_print_help(lists, nr_lists, stdout);
	return EXIT_OK;
}

int command_usage(const char *name)
{
	const struct command *c = command_find(name);

	fail_why(0, "usage: probee %s%s%s. Try: probee %s --help", c->name,
		 c->usage[0] ? " " : "", c->usage, c->name);
	return EXIT_USAGE;
}

int exit_code_of(int err)
{
	return err == -EPERM || err == -ENOTSUP ? EXIT_CANNOT : EXIT_FAILED;
}
