/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traces that a command line names: files, directories (their *.pbz, in the order of their
 * names) and globs that the shell was kept from expanding ('traces/web-*.pbz'), also where they
 * match more files than a command line holds.
 *
 *	trace_list_expand(&l, words, nr)
 *	fds = trace_list_open(&l)		before rights are given up: shut_in.h
 *	trace_list_release(&l)
 *
 * A name that exists is that file, whatever characters it has. Only regular files of a directory,
 * and of what a glob matches, count (a glob may match directories, whose traces count, too); names
 * that begin with a dot are left out, as in the shell. Order is that of the words, and within one
 * that of the bytes of names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct trace_list {
	char **v;			/* paths; "-": standard input */
	int *fds;			/* -1: it is to be opened by its path */
	size_t nr, cap;
};

/* Whether a word may stand for several traces: a directory, or a glob that is no file. */
bool trace_list_is_several(const char *word);

/* 0 or -errno, explained: a glob or a directory has no trace, or cannot be read. */
int trace_list_expand(struct trace_list *l, char *const *words, size_t nr);

/*
 * Opens them all, so that none must be opened later. Returns whether that was so; a file that
 * cannot be opened, or is one too many, is tried again when it is its turn. Silent.
 */
bool trace_list_open(struct trace_list *l);
/* The descriptor of a trace, now the caller's; -1: none. */
int trace_list_take(struct trace_list *l, size_t i);
void trace_list_release(struct trace_list *l);
