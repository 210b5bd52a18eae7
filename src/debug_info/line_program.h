/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line program of a unit (DWARF 5, chapter 6.2, versions 2 to 5): its files, and its rows.
 *
 *	line_program_open(u, &w, &p)		reads the header
 *	line_program_path(p, file, buf)
 *	line_program_run(p, from, regions, &rows, w)	sorted by address
 *	line_program_free(p)
 *
 * A program makes sequences of rows, each of which ascends. Compilers make a sequence for each
 * section of code, mostly in the order in which the linker places them. So rows are mostly sorted
 * when the sequences are; only where these overlap all rows are sorted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct die_unit;
struct line_program;
struct unit_regions;
struct work_limit;

struct line_row {
	uint64_t addr;
	uint32_t line;			/* as in struct unit_segment */
	uint32_t file : 31;
	uint32_t is_end : 1;		/* the first address behind a sequence */
};

struct line_rows {
	struct line_row *v;
	size_t nr, cap;
};

/* u is borrowed. 0, -ENOENT: it has no line program; -EBADMSG; -E2BIG or -ENOMEM. */
int line_program_open(const struct die_unit *u, struct work_limit *w, struct line_program **pp);
void line_program_free(struct line_program *p);		/* NULL is fine */

size_t line_program_nr_files(const struct line_program *p);

#define LINE_PATH_BYTES 8200

/*
 * The path of a file: as it is in the program, behind the directory that it names, if it is
 * relative. Parts of more than 4096 bytes are cut. NULL: there is no such file.
 */
const char *line_program_path(const struct line_program *p, uint64_t file,
			      char buf[LINE_PATH_BYTES]);

/*
 * Appends the rows, sorted by address; the end of a sequence stands before what begins there.
 * Sequences that end before the address from are left out; and with regions those that meet none
 * of them. 0; -EBADMSG: the program is damaged; -E2BIG; -ETIMEDOUT or -ENOMEM.
 */
int line_program_run(struct line_program *p, uint64_t from, const struct unit_regions *regions,
		     struct line_rows *rows, struct work_limit *w);
