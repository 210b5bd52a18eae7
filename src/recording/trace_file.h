/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace file of a recording, together with the live consumers of its records.
 *
 *	trace_file_init(t, path)
 *	trace_file_create(t, has_reports)
 *	record_tee_add(&t->tee, ...)		adds live consumers
 *	trace_file_record(t, rec) ...		a record_fn
 *	trace_file_flush(t)
 *	trace_file_finish(t)			writes the rest and closes the file
 *	trace_file_release(t)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/recording/record_tee.h"

struct trace_writer;

struct trace_file {
	const char *path;		/* as the user knows it */
	char *spool;			/* a temporary file instead of path; NULL: none */
	struct trace_writer *writer;
	struct record_tee tee;
	uint64_t file_bytes;		/* set by trace_file_finish() */
};

void trace_file_init(struct trace_file *t, const char *path);

/*
 * has_reports: the trace will be read again. If path keeps nothing (/dev/null), the records then go
 * to a temporary file (spool). 0 or -errno, which was reported.
 */
int trace_file_create(struct trace_file *t, bool has_reports);
int trace_file_record(void *trace_file, const struct record *rec);
int trace_file_flush(void *trace_file);
uint64_t trace_file_bytes(const struct trace_file *t);		/* octets written so far */
int trace_file_finish(struct trace_file *t);
const char *trace_file_readable(const struct trace_file *t);	/* the path to read it from */
void trace_file_release(struct trace_file *t);
