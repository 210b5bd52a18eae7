/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a compilation unit, and the strings of its table. Internal to src/debug_info.
 *
 * libdw gives the same pointer for the same file, so that a file's place in the text is found by
 * the pointer, and its path is compared and copied once.
 */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/base/hash_index.h"

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
/* The same for a path: a relative one is put behind the directory, as other tools show it. */
uint32_t unit_text_path(struct unit_text *t, const char *path);
void unit_text_release(struct unit_text *t);

struct unit_row {
	uint64_t addr;
	uint32_t line, file;		/* as in struct unit_segment */
	bool is_end;			/* nothing is known from here on */
};

struct unit_rows {
	struct unit_row *v;		/* sorted by address; of the same address the last counts */
	size_t nr, cap;
	Dwarf_Files *files;
	size_t nr_files;
	uint32_t *file_text;		/* of files: offset + 1, 0: not looked up */
};

/* Reads the lines that are in code. 0, -ENOMEM or -E2BIG; a damaged list has no rows. */
int unit_rows_read(struct unit_rows *r, struct unit_text *text, const struct unit_source *src);
void unit_rows_release(struct unit_rows *r);

/* The path of file number index, as attributes of the unit refer to it: an offset in the text. */
uint32_t unit_rows_file(struct unit_rows *r, struct unit_text *text, uint32_t index);
