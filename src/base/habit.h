/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users of other profilers type by habit, and what it is called here. habits.def is the one
 * table: options of perf, py-spy, samply, async-profiler and bcc that a command does not have, and
 * commands that probee does not have.
 *
 * opt.c asks for each word that begins with '-', main.c for a first word that is no command.
 */
#pragma once

struct habit {
	const char *commands;	/* "record sample": where the option is typed; "*": everywhere;
				 * "probee": where no command is; NULL: typed is a command */
	const char *typed;	/* all spellings: "-s --sort", "-diff_base", "script" */
	/*
	 * "#": a number; else as in the shell: "*": any, "dwarf,*": begins with it, "cpu": this
	 * one. NULL: none; but a row that is refused fits then, whatever its value. Of a command:
	 * the next word, and NULL: any or none.
	 */
	const char *value;
	/*
	 * A command: the words that stand in its place. An option: the one that stands in its
	 * place, "--by=comm", or "--by" when the value goes on as it is; "" when nothing does, and
	 * "<" when the value becomes a word, as the name of a trace is.
	 * NULL: it is refused, and say tells what to type.
	 */
	const char *meant;
	const char *say;	/* a whole sentence; NULL: nothing is said */
};

/* NULL: it is no habit. value: what is or may be its value; NULL: nothing follows. */
const struct habit *habit_of_option(const char *command, const char *typed, const char *value);
/* next: the word behind it, or NULL. */
const struct habit *habit_of_command(const char *typed, const char *next);
