/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands of probee, one cmd_NAME.c each. Commands that need the same libraries form a set.
 *
 * A program is a list of sets: program.c is probee; report_program.c is the report half alone,
 * which needs zstd and no other library, so it links and runs where libbpf and libelf are missing.
 * main.c and commands.c are part of every program.
 *
 * run() gets all commands of the program, because help and completion look at them, and the words
 * of the command line from the command's own name on: argv[0] is "report". It parses them with
 * opt_parse(), answers enum opt_help with command_help() (help.h), and returns one of the exit
 * codes below. Only main.c and cmd_*.c know exit codes; everything under them speaks -errno.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct command_table;
struct opt_list;

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,	/* there is no usable result; the message said why */
	EXIT_USAGE = 2,		/* the command line makes no sense */
	EXIT_LOSS = 3,		/* under --strict: samples were lost or a trace is incomplete */
	EXIT_DIFFERENT = 4,	/* verify: libdw found other stacks */
	EXIT_LATER = 75,	/* push: not all is delivered yet; it may be tried again */
	EXIT_CANNOT = 77,	/* this kernel or these rights do not allow it: `probee doctor` */
};

struct command {
	const char *name;
	const char *summary;	/* one line for `probee --help`; NULL: not shown there */
	const char *usage;	/* what follows "probee NAME " */
	int (*run)(const struct command_table *all, int argc, char **argv);
	/* false: it begins without capabilities, unless root started it. */
	bool needs_rights;
};

/* What `probee --version` says about a library. */
struct library {
	const char *name;
	void (*version)(char *buf, size_t size);
};

struct command_set {
	const struct command *commands;		/* at least one; ends with a NULL name */
	const struct library *libraries;	/* ends with a NULL name */
};

/* All commands of a program. */
struct command_table {
	const struct command_set *const *sets;	/* ends with NULL */
};

extern const struct command_set report_set;		/* report_commands.c */
extern const struct command_table all_commands;		/* program.c, or report_program.c */

/*
 * Runs a command line of this program that names no command: those of its ancestors. -1: it is none
 * of these.
 */
int run_without_command(int argc, char **argv);

/* The command after c, of all sets. NULL gives the first one; after the last one comes NULL. */
const struct command *command_next(const struct command_table *all, const struct command *c);
const struct command *command_find(const struct command_table *all, const char *name);

/*
 * The trace to read: the first of nr words behind argv[0], or, where there is none, the one that
 * recordings write without -o. NULL, after a message: that is not here.
 */
#define DEFAULT_TRACE "trace.pbz"
char *command_trace(int nr, char **argv);

/*
 * After a usage mistake that fail_why() explained: prints the usage, names --help and returns
 * EXIT_USAGE.
 */
int command_usage(const struct command_table *all, const char *name);

/* The exit code of an error from below: 77 for -EPERM and -ENOTSUP, else 1. */
int exit_code_of(int err);

int cmd_sample(const struct command_table *all, int argc, char **argv);
int cmd_snapshot(const struct command_table *all, int argc, char **argv);
int cmd_dump(const struct command_table *all, int argc, char **argv);
int cmd_record(const struct command_table *all, int argc, char **argv);
int cmd_report(const struct command_table *all, int argc, char **argv);
int cmd_diff(const struct command_table *all, int argc, char **argv);
int cmd_merge(const struct command_table *all, int argc, char **argv);
int cmd_export(const struct command_table *all, int argc, char **argv);
int cmd_info(const struct command_table *all, int argc, char **argv);
int cmd_unwind_info(const struct command_table *all, int argc, char **argv);
int cmd_symbolize(const struct command_table *all, int argc, char **argv);
int cmd_verify(const struct command_table *all, int argc, char **argv);
int cmd_doctor(const struct command_table *all, int argc, char **argv);
int cmd_complete(const struct command_table *all, int argc, char **argv);
int cmd_probes(const struct command_table *all, int argc, char **argv);
int cmd_xstack(const struct command_table *all, int argc, char **argv);
int cmd_top(const struct command_table *all, int argc, char **argv);
int cmd_tui(const struct command_table *all, int argc, char **argv);
int cmd_serve(const struct command_table *all, int argc, char **argv);
int cmd_push(const struct command_table *all, int argc, char **argv);
int cmd_agent(const struct command_table *all, int argc, char **argv);
