/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tracepoints as its trace file system has them. Where that is not mounted, and the
 * rights are there (CAP_SYS_ADMIN), it is mounted at no place of any namespace, for this process
 * alone (fsmount(2)).
 *
 *	int fd = tracefs_open()			its directory, or -errno
 *	tracefs_id(fd, "sched", "sched_switch")	the number for perf_event_open(2), or -errno
 *	tracefs_field(fd, ..., "next_pid", &f)	where a field is in what the program gets
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tracefs_field {
	uint32_t offset, size;
	bool is_signed;
};

int tracefs_open(void);
/* The names of all events, a line each: "sched:sched_switch"; NULL: errno says why. */
FILE *tracefs_events(int tracefs);
long tracefs_id(int tracefs, const char *category, const char *name);
/* 0, or -ENOENT: it has no such field; names gets those that it has. */
int tracefs_field(int tracefs, const char *category, const char *name, const char *field,
		  struct tracefs_field *out, char *names, size_t size);
