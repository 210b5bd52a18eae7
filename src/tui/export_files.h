/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are named while the terminal view runs, when it has given up the right to open any.
 *
 * A process that is forked before opens them: new files only, in the directory in which probee was
 * started, at most EXPORTS_MAX of them. A trace may be made to take over the view: it
 * could then leave files there, but change none.
 *
 *	export_files_open(&e)		before rights are given up; 0 or -errno, explained
 *	export_files_make(&e, name)	a descriptor, or -errno: -EEXIST, -EACCES, ...; silent
 *	export_files_close(&e)
 */
#pragma once

#include <sys/types.h>

#define EXPORTS_MAX 100

struct export_files {
	int fd;				/* of the process; -1: none */
	pid_t pid;
};

int export_files_open(struct export_files *e);
int export_files_make(struct export_files *e, const char *name);
void export_files_close(struct export_files *e);
