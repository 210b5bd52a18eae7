/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of the user's that turn a table into Parquet: probee writes rows of CSV to their
 * standard input, and they write the file to their standard output. Nothing is linked with them,
 * and no shell is between.
 *
 *	e = sql_engine_find("duckdb")		NULL: the first that is there
 *	sql_engine_start(e, &columns, in, out, &pid)
 *	sql_engine_wait(e, pid)
 *
 *	duckdb		the program duckdb, or else python3 with the module duckdb
 *	clickhouse	clickhouse (or clickhouse-local), or else python3 with the module chdb
 *
 * Types are those of csv_columns.h, so that nothing is guessed from the rows.
 */
#pragma once

#include <sys/types.h>

struct csv_column_list;
struct opt;
struct sql_engine;

/* For an option row; dst is a const char *: the name. 0 or -EINVAL, explained. */
int sql_engine_parse(const struct opt *o, const char *value, void *dst);

/* NULL: none is installed, which was explained, with what to install. May run python3. */
const struct sql_engine *sql_engine_find(const char *name);

/* in and out become its standard input and output. 0 or -errno, explained. */
int sql_engine_start(const struct sql_engine *e, const struct csv_column_list *columns, int in,
		     int out, pid_t *pid);
/* 0, or -EIO after saying how it ended; what it had to say itself it has said. */
int sql_engine_wait(const struct sql_engine *e, pid_t pid);
