/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a report that needs the samples themselves (a page, pprof, CSV, tracks of threads) of what
 * the terminal view shows. A view has only counts, so the trace is read again: that may take
 * seconds, and is done in a process of its own (export_files.h), which has given up its rights.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What of a trace is written. It crosses from one process to another, so it holds no pointers. */
struct sample_wish {
	uint32_t renderer;		/* its place in renderers[] */
	uint32_t tgid, tid;		/* 0: all */
	uint32_t activities;		/* 1 << enum activity; 0: all */
	uint64_t from_ns, to_ns;	/* CLOCK_REALTIME; 0: from the beginning, to the end */
	/* The bytes of the file that are a trace; both 0: all of them. */
	uint64_t begin, end;
	bool may_grow;			/* a recorder writes it now */
	char event[64];			/* name; "": all that a report shows without a word */
};

/*
 * Writes to out, in the form that file's name says. The descriptor fd is closed. 0, or an error
 * that was explained in one line on standard error.
 */
int sample_export(int fd, const char *trace, const struct sample_wish *wish, const char *file,
		  FILE *out);
