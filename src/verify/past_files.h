/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the files behind a recording's mappings again, but only if they are still what was recorded
 * (the same build-id, or without one the same size and time).
 *
 *	past_files_new(tables, maps, &pf)	for one segment of a trace
 *	past_files_get(pf, binary)		opens the file when it is asked for the first time
 *	past_files_free(pf)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "unwind/row.h"

struct past_files;
struct past_maps;
struct definition_store;

enum past_file_state {
	PAST_FILE_UNASKED, PAST_FILE_OK,
	PAST_FILE_MISSING,		/* it cannot be opened, or is no ELF file */
	PAST_FILE_CHANGED,		/* it is another build */
};

struct past_file {
	enum past_file_state state;
	int fd;				/* -1 unless the file is OK */
	const char *path;
};

int past_files_new(const struct definition_store *tables, const struct past_maps *maps,
		   struct past_files **pfp);
void past_files_free(struct past_files *pf);	/* NULL is fine */

/* Borrowed; never NULL. */
const struct past_file *past_files_get(struct past_files *pf, uint32_t binary);

/*
 * The next binary that was asked for and is not OK, by ascending id. Begin with *binary 0. NULL: no
 * more.
 */
const struct past_file *past_files_next_bad(const struct past_files *pf, uint32_t *binary);

/* The rule that probee's table of the file has; false: the file is not OK or has no table. */
bool past_files_rule(struct past_files *pf, uint32_t binary, uint64_t vaddr,
		     struct unwind_rule *rule, uint16_t *machine);
