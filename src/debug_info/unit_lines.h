/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a compilation unit, and the strings of its table. Internal to src/debug_info.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/hash_index.h"

struct addr_range;
struct unit_source;

struct unit_text {
	struct byte_buf buf;		/* each string once, with its NUL; offset 0 is "" */
	struct text_ref *refs;
	size_t nr_refs, cap_refs;
	const char *directory;		/* of the compilation; NULL: unknown */
	struct hash_index index;
	bool bad;			/* out of memory, or too much text */
};

/* The offset of a string; NULL and "" are UNIT_NONE. Same text, same offset. */
uint32_t unit_text_add(struct unit_text *t, const char *s);
/* The offset of a path: a relative one is put behind the directory, as other tools show it. */
uint32_t unit_text_path(struct unit_text *t, const char *path);
void unit_text_release(struct unit_text *t);

struct unit_row {
	uint64_t addr;
	uint32_t line, file;		/* as in struct unit_segment */
	bool is_end;			/* nothing is known from here on */
};

/* The code of the unit that is not thrown away. */
struct unit_code {
	struct addr_range *v;		/* sorted when the first row is put */
	size_t nr, cap;
	bool is_known;			/* false: the unit does not say, all rows count */
};

/* The path of a file by its number, or NULL; borrowed until the next call. */
typedef const char *(*unit_path_fn)(void *ctx, size_t file);

/*
 *	unit_rows_files(&r, nr, path, ctx)
 *	unit_rows_code(&r, &src, lo, hi)	for each range of the unit
 *	unit_rows_put(&r, &src, &row)		sorted by address; row.file is a number of a file
 */
struct unit_rows {
	struct unit_row *v;		/* sorted by address, no two of the same */
	size_t nr, cap;
	struct unit_text *text;		/* borrowed */
	unit_path_fn path;
	void *ctx;
	size_t nr_files;
	uint32_t *file_text;		/* of files: offset + 1, 0: not looked up */
	struct unit_code code;
	size_t at;			/* in code: range of the last row */
	bool is_begun, was_in;		/* the last row was in code */
};

/* 0 or -ENOMEM. */
int unit_rows_files(struct unit_rows *r, size_t nr_files, unit_path_fn path, void *ctx);
int unit_rows_reserve(struct unit_rows *r, size_t nr);	/* before the first row */
int unit_rows_code(struct unit_rows *r, const struct unit_source *src, uint64_t lo, uint64_t hi);

/* Adds a row; the last one of an address counts. 0, -ENOMEM or -E2BIG. */
int unit_rows_put(struct unit_rows *r, const struct unit_source *src, const struct unit_row *row);
/*
 * What follows is of code from addr on, and begins with the last row up to there; and behind that
 * row: if it does not count, nothing is known at addr.
 */
void unit_rows_go_to(struct unit_rows *r);
int unit_rows_arrive(struct unit_rows *r, uint64_t addr);
void unit_rows_release(struct unit_rows *r);

/* The path of file number index, as attributes of the unit refer to it: an offset in the text. */
uint32_t unit_rows_file(struct unit_rows *r, size_t index);
