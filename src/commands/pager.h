/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output for reading on a terminal: as wide as that is, and in a pager when it is longer than the
 * screen. Where standard output is no terminal all of this does nothing.
 *
 *	pager_begin(&p, flags)		standard output goes into memory from now on
 *	... printf(), p.columns ...
 *	pager_end(&p)			shows it, and waits for the pager's end
 *
 * The pager is $PROBEE_PAGER, else $PAGER, else less (with LESS=FRX, unless the user has set LESS);
 * "" and "cat" mean none. A pager that cannot be started is no failure: everything is still in
 * memory and is written to the terminal. It is the same when the user ends the pager early. So the
 * exit code of a command never depends on the pager.
 *
 * Where the user may have fewer rights than this program (under sudo, or when the program file has
 * capabilities or is setuid) the pager is less with LESSSECURE=1, whatever the environment says:
 * others can start programs.
 */
#pragma once

#include <stdbool.h>

enum {
	PAGER_WRAP = 1,			/* breaks lines at the terminal's width */
	PAGER_NONE = 2,			/* --no-pager: no more than that */
};

struct pager {
	unsigned columns, rows;		/* of the terminal; 0: it is none */
	unsigned flags;
	int terminal;			/* standard output as it was; -1: it was left alone */
};

void pager_begin(struct pager *p, unsigned flags);
int pager_end(struct pager *p);		/* 0, or -errno, which was explained */
