/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug information of one ELF file, compressed or not (src/elf/plain_elf.h). libelf finds its
 * sections, and units are read from their bytes (unit_reader.h).
 *
 *	debug_file_open(fd, &f, &lack)
 *	debug_file_index(f, out)		which unit has which code
 *	debug_file_unit(f, unit, ..., out)	the table of one unit
 *	debug_file_close(f)
 *
 * libelf maps the file: if it shrinks meanwhile, the process dies of it, and must be one that may.
 * A file of another byte order than this machine's has no lines.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/debug_info/debug_section.h"

struct debug_file;
struct unit_wanted;

/*
 * fd is borrowed until debug_file_close(). 0; -ENOENT: it has no debug information; or another
 * -errno. *lack is set where it has some that cannot be read: DEBUG_LACKS_MEMORY, or the number of
 * a compression that is not known here (ELFCOMPRESS_...).
 */
int debug_file_open(int fd, struct debug_file **fp, uint32_t *lack);
/*
 * What is missing in other files that it was asked of since, as *lack of debug_file_open(); 0:
 * nothing.
 */
uint32_t debug_file_lack(const struct debug_file *f);
/* Nothing is asked for a while: its pages, and those of its alternate file, are given back. */
void debug_file_rest(const struct debug_file *f);
/* Memory of what was unpacked of it and of the files that it was given. */
size_t debug_file_bytes(const struct debug_file *f);
void debug_file_close(struct debug_file *f);		/* NULL is fine */

/* Appends an index (debug_index.h). 0, -ENOENT or -ENOMEM. until_ns: as of struct unit_source. */
int debug_file_index(struct debug_file *f, uint64_t until_ns, struct byte_buf *out);

/* Whether the rest of a unit is in a .dwo file, and its name; the names are borrowed. */
bool debug_file_is_split(struct debug_file *f, uint64_t unit, const char **name, const char **dir);

/*
 * Appends a table (unit_table.h), of what is wanted (unit_source.h). dwo_fd: its .dwo file,
 * borrowed, or -1, and the table has lines alone. 0, or -errno as of unit_read().
 */
int debug_file_unit(struct debug_file *f, uint64_t unit, const struct unit_wanted *wanted,
		    int dwo_fd, uint64_t until_ns, struct byte_buf *out);

/*
 * The file that dwz(1) has put into it what several debug files have in common: its name and
 * build-id, which are borrowed; the length of the build-id, 0: there is none. And that file, which
 * is borrowed: 0, or -ENOENT: it is another one.
 */
size_t debug_file_alternate(struct debug_file *f, const char **name, const void **build_id);
int debug_file_set_alternate(struct debug_file *f, int fd);

/* Whether it was given these files. */
bool debug_file_has_alternate(const struct debug_file *f);
bool debug_file_has_package(const struct debug_file *f);

/* The file that has all split units (FILE.dwp), borrowed. 0, or -errno: it is no such file. */
int debug_file_set_package(struct debug_file *f, int fd);
bool debug_file_is_in_package(struct debug_file *f, uint64_t unit);
