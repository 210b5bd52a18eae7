/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output for reading on a terminal: as wide as the terminal, and in a pager when it is longer than
 * the screen. If standard output is not a terminal, these functions do nothing.
 *
 *	pager_begin(&p, flags)		standard output goes into memory from now on
 *	... printf(), p.columns ...
 *	pager_end(&p)			shows it, and waits for the pager's end
 *
 * The pager is $PROBEE_PAGER, else $PAGER, else less (with LESS=FRX, unless the user has set LESS);
 * "" and "cat" mean none. A pager that cannot be started is no failure: the text is still in memory
 * and is written to the terminal. It is no failure either when the user ends the pager early. So
 * the exit code of a command never depends on the pager.
 *
 * The process that may become the pager is forked by pager_begin(), without capabilities: between
 * the two calls this program may give up the right to start programs (shut_in.h). pager_end() must
 * be called in any case.
 *
 * If the user may have fewer rights than this program (under sudo, or when the program file has
 * capabilities or is setuid), the pager is less with LESSSECURE=1, whatever the environment says,
 * because a pager can start programs.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum {
	PAGER_WRAP = 1,			/* breaks lines at the terminal's width */
	PAGER_NONE = 2,			/* --no-pager */
};

struct pager {
	unsigned columns, rows;		/* of the terminal; 0: not a terminal */
	unsigned flags;
	int terminal;			/* the former standard output; -1: it is unchanged */
	pid_t pid;			/* waits to become the pager */
	int go;				/* its word to go; -1: no pager */
};

void pager_begin(struct pager *p, unsigned flags);
int pager_end(struct pager *p);		/* 0 or -errno, which was reported */
