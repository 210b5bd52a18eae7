/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of files that hold a part of the debug information of a binary:
 *
 *	BESIDE_DWO	of one unit: DW_AT_dwo_name, relative to DW_AT_comp_dir (DWARF 5, 3.1.3)
 *	BESIDE_DWP	of all units, FILE.dwp of the binary or of its debug file (DWARF 5, appendix
 *			F.3); it has no name of its own
 *	BESIDE_ALT	what several debug files have in common (dwz(1)), from .gnu_debugaltlink
 *
 * A parser of debug information collects the names in one block of plain bytes, which is part of
 * its answer. The recorder checks the block (beside_names_are_sound()), and file_opener_beside()
 * opens the files.
 *
 *	struct beside_names n = { 0 };
 *	beside_names_add(&n, BESIDE_DWO, "main.dwo", "/build/project", NULL, 0)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BESIDE_MAX 16			/* names, and files that are opened for all of them */
#define BESIDE_TEXT_BYTES (16u << 10)

enum beside_kind { BESIDE_DWO, BESIDE_DWP, BESIDE_ALT, BESIDE_KINDS };

struct beside_name {
	uint32_t kind;			/* enum beside_kind */
	uint32_t name, dir;		/* offsets in text; dir: DW_AT_comp_dir */
	uint32_t build_id_len;		/* BESIDE_ALT: at least 2; else 0 */
	uint8_t build_id[64];
};

struct beside_names {
	struct beside_name v[BESIDE_MAX];
	uint32_t nr, text_len;
	char text[BESIDE_TEXT_BYTES];	/* strings with a NUL each */
};

/*
 * name and dir: NULL is "". build_id: NULL for all but BESIDE_ALT. 0; -ENOSPC: the block is full;
 * -EINVAL: a build-id of a wrong length.
 */
int beside_names_add(struct beside_names *n, enum beside_kind kind, const char *name,
		     const char *dir, const void *build_id, size_t build_id_len);

/* Whether all kinds, lengths and offsets are what beside_names_add() would have written. */
bool beside_names_are_sound(const struct beside_names *n);
