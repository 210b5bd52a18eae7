/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace that a recording writes, and what becomes of each record besides: live consumers.
 *
 *	trace_file_init(t, path)
 *	trace_file_create(t, has_reports)
 *	record_tee_add(&t->tee, ...)		live consumers
 *	trace_file_record(t, rec) ...		a record_fn
 *	trace_file_flush(t)
 *	trace_file_finish(t)			all is written and closed
 *	trace_file_release(t)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/recording/record_tee.h"

struct trace_writer;

struct trace_file {
	const char *path;		/* as the user knows it */
	char *spool;			/* where the records really are, to be read again; NULL: in
					   path */
	struct trace_writer *writer;
	struct record_tee tee;
	uint64_t file_bytes;		/* once it is finished */
};

void trace_file_init(struct trace_file *t, const char *path);

/*
 * has_reports: the trace will be read again. For a path that keeps nothing (/dev/null) it then goes
 * to a temporary file. Says why it fails.
 */
int trace_file_create(struct trace_file *t, bool has_reports);
int trace_file_record(void *trace_file, const struct record *rec);
int trace_file_flush(void *trace_file);
uint64_t trace_file_bytes(const struct trace_file *t);		/* written so far */
int trace_file_finish(struct trace_file *t);
const char *trace_file_readable(const struct trace_file *t);	/* path to read it from */
void trace_file_release(struct trace_file *t);
