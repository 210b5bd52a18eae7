/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are named while the terminal view runs, when it has given up the right to open any.
 *
 * A process that is forked before opens them: new files only, in the directory in which probee was
 * started, at most EXPORTS_MAX of them. A trace may be made to take over the view: it
 * could then leave files there, but change none.
 *
 *	export_files_open(&e, &from)		before rights are given up; 0 or -errno, explained
 *	export_files_make(&e, name)	a descriptor, or -errno: -EEXIST, -EACCES, ...; silent
 *	export_files_begin(&e, name, &wish)	has a report of samples written; likewise
 *	poll() e.fd, export_files_news(&e, &news)	while e.is_busy
 *	export_files_cancel(&e)			the news that it is over still come
 *	export_files_close(&e)
 *
 * For a report of samples that process (export_server.h) forks another one, which gives up its
 * rights before it reads the trace. One is written at a time, and for EXPORT_SECONDS at most. A
 * file that does not become whole is taken away again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define EXPORTS_MAX 100
#define EXPORT_SECONDS 120
#define EXPORT_NAME_MAX 200		/* with its NUL */
#define EXPORT_TEXT_MAX 240

struct sample_wish;

struct export_files {
	int fd;				/* of the process; -1: none */
	pid_t pid;
	bool is_busy;			/* a report of samples is being written */
};

/* What reports of samples are made from. */
struct export_from {
	int fd;				/* of the trace, it stays the caller's; -1: none */
	const char *name;		/* of the trace */
	int (*shut_in)(void);		/* gives up rights; NULL: it keeps them */
};

struct export_news {
	bool is_over;
	int result;			/* 0 or -errno: -ECANCELED, -ETIME, ... */
	uint64_t bytes;			/* written so far */
	unsigned seconds;		/* since it began */
	char text[EXPORT_TEXT_MAX];	/* why it failed, in a line; "": the result says it */
};

int export_files_open(struct export_files *e, const struct export_from *from);
int export_files_make(struct export_files *e, const char *name);
int export_files_begin(struct export_files *e, const char *name, const struct sample_wish *wish);
/* True: something is new. Never waits. */
bool export_files_news(struct export_files *e, struct export_news *news);
void export_files_cancel(struct export_files *e);
void export_files_close(struct export_files *e);
