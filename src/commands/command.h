/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands of probee, one cmd_NAME.c each, in sets of those that need the same libraries.
 *
 * A program is a list of sets: program.c is probee; report_program.c is the report half alone,
 * which needs zstd and nothing else, so it links and runs where libbpf and libelf are not. main.c
 * and commands.c are part of every program and know no library.
 *
 * run() gets the words of the command line from the command's own name on: argv[0] is "report". It
 * parses them with opt_parse(), answers OPT_HELP with command_help(), and returns one of the exit
 * codes below. Only main.c and cmd_*.c know exit codes; everything under them speaks -errno.
 */
#pragma once

#include <stddef.h>

struct opt_list;

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,	/* nothing usable came out; the message said why */
	EXIT_USAGE = 2,		/* the command line makes no sense */
	EXIT_LOSS = 3,		/* under --strict: samples were lost or a trace is incomplete */
	EXIT_DIFFERENT = 4,	/* verify: libdw found other stacks */
	EXIT_CANNOT = 77,	/* this kernel or these rights cannot do it; `probee doctor` says
				   why */
};

struct command {
	const char *name;
	const char *summary;	/* one line, for `probee --help`; NULL: it is not shown there */
	const char *usage;	/* what follows "probee NAME " */
	int (*run)(int argc, char **argv);
};

/* What `probee --version` says of a library. */
struct library {
	const char *name;
	void (*version)(char *buf, size_t size);
};

struct command_set {
	const struct command *commands;		/* at least one; ends with a NULL name */
	const struct library *libraries;	/* ends with a NULL name */
};

extern const struct command_set report_set;	/* report_commands.c */
extern const struct command_set *const command_sets[];	/* of this program; ends with NULL */

/* All commands of the program, one after the other: NULL begins, NULL ends. */
const struct command *command_next(const struct command *c);
const struct command *command_find(const char *name);

/* Prints usage, summary and options to stdout; returns EXIT_OK. */
int command_help(const char *name, const struct opt_list *lists, size_t nr_lists);

/*
 * A usage mistake that was already explained by fail_why(): points to --help and returns
 * EXIT_USAGE.
 */
int command_usage(const char *name);

/* Exit code of an error from below: -EPERM, -ENOTSUP 77; everything else 1. */
int exit_code_of(int err);

int cmd_sample(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_unwind_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_complete(int argc, char **argv);
