/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options as rows of a table: parsing, --help, the man page and shell completion come from the same
 * rows.
 *
 * A row parses its value into the args struct of the command, or into that of its table, at
 * .offset. Accepted spellings: -F 99, -F99, -qra (flags bundle), --freq 99, --freq=99, unambiguous
 * prefixes (--fre 99), "--" ends the
 * options. An option whose arg is written "[=FILE]" takes a value only behind "=", or as the next
 * word when that ends in one of .suffixes (".svg"), so `--svg out.svg` works and `--svg trace.pbz`
 * leaves trace.pbz alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct opt {
	char key;			/* short letter, 0: none */
	const char *name;		/* long name without the dashes */
	const char *arg;		/* NULL: flag; "HZ": value; "[=FILE]": optional value */
	const char *help;		/* one sentence with the default: "(default 99)" */
	/*
	 * value is NULL for a flag or an absent optional value. 0, or -EINVAL after saying why with
	 * fail_why().
	 */
	int (*parse)(const struct opt *o, const char *value, void *dst);
	size_t offset;			/* of dst in the args struct */
	const char *suffixes;		/* space-separated, only for "[=FILE]" */
	const char *group;		/* heading in --help; NULL: same as the row before */
	const void *data;		/* for .parse, e.g. the renderer a row stands for */
};

/* One table of options. A command may have several, such as its own and those of the renderers. */
struct opt_list {
	const struct opt *v;
	size_t nr;
	void *args;			/* what these rows fill; NULL: the args of opt_parse() */
};

enum opt_help {
	OPT_HELP_BRIEF = -1000,		/* -h */
	OPT_HELP = -1001,		/* --help */
	OPT_HELP_ALL = -1002,		/* --help=all */
	OPT_HELP_TOPIC = -1100,		/* --help=0; --help=1 is one less */
	OPT_HELP_LAST = -1199,
};
/* Which help a word asks for; 0: none. */
int opt_help_of(const char *word);
static inline bool opt_is_help(int parsed)
{
	return parsed <= OPT_HELP_BRIEF && parsed >= OPT_HELP_LAST;
}

/*
 * Parses argv[1..argc-1] into args. Words that are not options are moved to argv[1..] in their
 * order and their number is returned. *after becomes the index in the original argv of the first
 * word of a command to run: the one after "--", or the first that is neither an option nor a
 * number; or argc. after may be NULL, and then "--" only ends the options. An option of another
 * profiler does what it means here (habit.h); argv[0] is the command's name. -EINVAL after a
 * message that names the option and suggests the nearest one; one of enum opt_help when help was
 * asked for.
 */
int opt_parse(const struct opt_list *lists, size_t nr_lists, int argc, char **argv, void *args,
	      int *after);

/* Which options are printed. */
struct opt_selection {
	const char *options;	/* these, as "all pid freq", in this order; NULL: all */
	const char *heading;	/* those of this group alone; NULL: all */
	const char *left_out;	/* not those of these groups, "Push|Output"; NULL: none */
};

/*
 * Prints the option part of help: grouped, aligned and wrapped. Rows of one group stand together,
 * whatever list they are from; the groups come in the order of their first rows.
 */
void opt_print_help(const struct opt_list *lists, size_t nr_lists, const struct opt_selection *s,
		    unsigned columns, void *file /* FILE * */);
/* Whether a heading is in "Push|Output"; headings may be NULL. */
bool opt_has_heading(const char *headings, const char *heading);

/* Ready-made parsers; dst types: bool, const char *, uint32_t, double (>0), uint64_t ns. */
/* Sets a bool to true; rows with "[=BOOL]" also take true, yes, on, 1, false, no, off, 0. */
int opt_flag(const struct opt *o, const char *value, void *dst);
/* A row without a value that stands for the number 1; dst is a uint32_t. */
int opt_one(const struct opt *o, const char *value, void *dst);
int opt_string(const struct opt *o, const char *value, void *dst);	/* borrows from argv */
int opt_u32(const struct opt *o, const char *value, void *dst);
/* Hertz as a double, 0.001 .. 100000. */
int opt_hz(const struct opt *o, const char *value, void *dst);
/* 10 (seconds), 1.5s, 200ms, 5m or 1h, as nanoseconds. */
int opt_duration(const struct opt *o, const char *value, void *dst);
/* 200000 (bytes), 500K, 10M or 1G, at least 1, as a uint64_t. */
int opt_size(const struct opt *o, const char *value, void *dst);
/* These read such values in silence; false: it is none, and nothing was set. */
bool opt_read_hz(const char *value, double *hz);
bool opt_read_duration(const char *value, uint64_t *duration_ns);
bool opt_read_size(const char *value, uint64_t *size);
/* URLs of servers of debug files, borrowed; without a value those of $DEBUGINFOD_URLS. */
int opt_servers(const struct opt *o, const char *value, void *dst);
/* Adds "1,2,10-12" to a struct id_list; the option may be repeated. */
int opt_id_list(const struct opt *o, const char *value, void *dst);

struct id_list {
	uint32_t *v;
	size_t nr, cap;
};

bool id_list_has(const struct id_list *l, uint32_t id);
