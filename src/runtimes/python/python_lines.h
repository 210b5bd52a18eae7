/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of an instruction by a code object's table: pairs of bytes up to 3.9 (co_lnotab,
 * Objects/lnotab_notes.txt) and in 3.10 (co_linetable, the same file), entries of several bytes
 * since 3.11 (InternalDocs/code_objects.md).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * offset: of the instruction in the code, in bytes; below 0: nothing has run yet, which is the
 * first line. 0; -ENODATA: it has no line; -ESTALE: the table does not reach so far.
 */
int python_line_of(uint32_t minor, uint32_t first_line, const uint8_t *table, size_t len,
		   int64_t offset, uint32_t *line);
