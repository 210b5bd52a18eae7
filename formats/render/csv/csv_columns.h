/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What may stand in a row of CSV or NDJSON. Each column is a row of a table, from which --columns
 * and its help come, and docs/SQL.md.
 *
 *	struct csv_column_list l = { 0 };
 *	csv_columns_parse(o, "timestamp,tid,ustack", &l)	for an option row
 *
 * A value that is not known is an empty cell, or null.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csv;
struct csv_column_list;
struct opt;
struct report_sample;

/* What stands in a column, for formats and databases that have types. */
enum column_type { COLUMN_TEXT, COLUMN_INTEGER, COLUMN_DECIMAL, COLUMN_TIME, COLUMN_TYPES };

struct csv_column {
	const char *name;
	const char *help;		/* for documents: "thread number" */
	enum column_type type;
	bool is_sql;			/* one of those of docs/SQL.md: --columns=sql */
	/* Adds the cell to the row, without what separates or quotes it. 0 or -ENOMEM. */
	int (*put)(struct csv *c, const struct report_sample *s);
};

extern const struct csv_column csv_columns[];	/* ends with one without a name */

/*
 * dst is a struct csv_column_list. "all" stands for every column, "sql" for those of docs/SQL.md. 0
 * or -EINVAL, explained.
 */
int csv_columns_parse(const struct opt *o, const char *value, void *dst);

/* dst is a bool: whether it is rfc4180. 0 or -EINVAL, explained. */
int csv_dialect_parse(const struct opt *o, const char *value, void *dst);

/* Name and meaning of each column, a line each. */
void csv_columns_help(FILE *out);

/* Adds a column by its name. */
void csv_columns_add(struct csv_column_list *l, const char *name);
/* Adds those of docs/SQL.md. */
void csv_columns_add_sql(struct csv_column_list *l);
/* Leaves each column in the list once, for formats that name their columns in each row. */
void csv_columns_once(struct csv_column_list *l);
