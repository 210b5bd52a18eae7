/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines of processes (--cmdline), read from /proc/PID/cmdline as early as possible: a
 * process may live for a millisecond only, and it has none until its exec is nearly done.
 *
 * The kernel reads that file out of the process's memory, and a process can have it wait for a file
 * server for ever. So a reader with a time limit does it (timed_reader.h), one that reads nothing
 * else: who makes it hang costs himself and others command lines, and no mappings.
 *
 *	cmdlines_new(begin_thread, &c)
 *	cmdlines_read(c, p)		sets p->cmdline, if p lives and has one
 *	cmdlines_free(c)
 */
#pragma once

struct cmdlines;
struct process;

/* begin_thread: what its thread does first; NULL: nothing. 0 or -ENOMEM, explained. */
int cmdlines_new(void (*begin_thread)(void), struct cmdlines **cp);
void cmdlines_free(struct cmdlines *c);			/* NULL is fine */

/* Nothing if it is known. To be called again where p had none yet. c NULL: not wanted. */
void cmdlines_read(struct cmdlines *c, struct process *p);
