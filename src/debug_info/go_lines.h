/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined functions and source lines of a Go program without debug information.
 *
 *	go_lines_open(fd, &g)
 *	go_lines_index(g, until, out)		which unit has which code
 *	go_lines_unit(g, unit, until, out)	the table of one unit
 *	go_lines_close(g)
 *
 * Go's runtime prints stacks with its own table (.gopclntab), so that it is in stripped programs,
 * too. A record of each function leads to lists of what holds up to which address (go_pcs.h): the
 * file, the line, and the index of an entry in the function's tree of inlined calls. An entry has
 * the name of the function that was inlined, and an address in its caller: the line, the file and
 * the index there are those of the call.
 *
 * Go 1.16 to 1.26, as documented by runtime/symtab.go, runtime/symtabinl.go and
 * cmd/link/internal/ld/pcln.go. A unit is a few functions that follow each other. Not read: columns
 * (the table has none), and where functions are declared before Go 1.20.
 *
 * The file is mapped: if it shrinks meanwhile, the process dies of it, and must be one that may.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

/*
 * The numbers of units are other ones than those of debug information (debug_file.h), because the
 * tables of both may be in one cache file: a program and its stripped copy have one build-id.
 */
#define UNITS_OF_GO (1ull << 63)

struct go_lines;

/* fd is borrowed. 0; -ENOENT: not a Go program, or of an unknown version; or another -errno. */
int go_lines_open(int fd, struct go_lines **gp);

/* Opens a file whose bytes are in memory; data is borrowed. Returns what go_lines_open() does. */
int go_lines_open_memory(const void *data, size_t len, struct go_lines **gp);
void go_lines_close(struct go_lines *g);		/* NULL is fine */

/* Appends an index (debug_index.h). 0, -ETIMEDOUT or -ENOMEM. until_ns as in struct unit_source. */
int go_lines_index(struct go_lines *g, uint64_t until_ns, struct byte_buf *out);

/* Appends a table (unit_table.h). 0, or -errno as of unit_read(). */
int go_lines_unit(struct go_lines *g, uint64_t unit, uint64_t until_ns, struct byte_buf *out);
