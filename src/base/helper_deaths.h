/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helper processes that ended unasked. Each is counted, and the user is told which one it was and
 * what ended it. Code that notices such an end reports it here, so that none is silent.
 *
 *	helper_deaths_new()
 *	helper_deaths_add(d, "probee-parser", wait status)	from any thread
 *	helper_deaths_count(d)
 *	helper_deaths_free(d)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* In place of a wait status: */
#define HELPER_END_UNKNOWN (-1)		/* the status was not seen */
#define HELPER_END_SILENT (-2)		/* it did not answer in time and was killed for that */
#define HELPER_END_STOPPED (-3)		/* the same, after a SIGSTOP */

/* The exit status of a helper that could not begin is this + errno. */
#define HELPER_EXIT_ERRNO 100

struct helper_deaths;

struct helper_deaths *helper_deaths_new(void);		/* NULL: no memory */
void helper_deaths_free(struct helper_deaths *d);	/* NULL is fine */

/*
 * status: as of waitpid(2). Says it once for each name and cause; d NULL: each time, and nothing is
 * counted. name is borrowed for as long as d lives.
 */
void helper_deaths_add(struct helper_deaths *d, const char *name, int status);
uint64_t helper_deaths_count(struct helper_deaths *d);	/* d NULL: 0 */

/* "was ended by signal 11 (Segmentation fault)", "could not begin: Operation not permitted". */
void helper_end_text(int status, char *buf, size_t size);

/* With what a helper exits that could not begin: err is -errno. */
int helper_exit_status(int err);
/* -errno of a helper that could not begin; 0: it ended of something else. status: of waitpid(2). */
int helper_begin_error(int status);

/*
 * The wait status of a child that has closed its end of a socket, and therefore is about to end;
 * *pid is 0 then. HELPER_END_UNKNOWN: it did not within 0.2 s.
 */
int helper_end_status(pid_t *pid);
