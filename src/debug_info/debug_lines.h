/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined functions and source lines of one binary.
 *
 *	debug_lines_open(&src, &d)
 *	debug_lines_expect(d, addrs, nr)	which are asked for next
 *	debug_lines_find(d, addr, until, v, max)	for addresses in ascending order
 *	debug_lines_news(d, out)			what was made since the last call
 *	debug_lines_close(d)
 *
 * Only the units are read that have an address that is asked for, and of them only the functions
 * with addresses that are asked for or expected. Their tables come from the cache file, from this
 * process's memory, or are made. When a unit is made for the third time, it is made as a
 * whole. Tables above a bound are forgotten, those not used for longest first. What was unpacked of
 * a compressed file is several times as much as all tables of it. It is given up when nothing was
 * read there for 200 times as long as unpacking took, so that unpacking it again and again takes at
 * most 0.5 % of a CPU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"
#include "src/debug_info/unit_table.h"

struct beside_names;
struct debug_lines;

struct debug_lines_source {
	const int *fds;			/* files that may have debug information, best first */
	size_t nr_fds;
	int cache_fd;			/* -1: none */
	bool keeps_news;		/* what is made is wanted for the cache file */
};

/*
 * The descriptors are borrowed. 0; -ENOENT: nothing is known of its lines; -ENOMEM. *lack: a file
 * has debug information that cannot be read, as debug_file_open() says; else it stays.
 */
int debug_lines_open(const struct debug_lines_source *src, struct debug_lines **dp, uint32_t *lack);
/* What was found missing since, as *lack of debug_lines_open(); 0: nothing. */
uint32_t debug_lines_lack(const struct debug_lines *d);
/* Nothing is asked for a while: pages of its files, which count as memory of this process, go. */
void debug_lines_rest(const struct debug_lines *d);
/*
 * Gives up what was unpacked of its files and has not been read for so long that unpacking it again
 * costs little. Returns the time to call it again, of now_ns()'s clock; 0: there is nothing to give
 * up.
 */
uint64_t debug_lines_leave_files(struct debug_lines *d, uint64_t now_ns);
/* The last call of debug_lines_wants() has named files. */
bool debug_lines_is_asking(const struct debug_lines *d);
void debug_lines_close(struct debug_lines *d);		/* NULL is fine */

/* Forgets what was expected before. It costs nothing but time if other addresses are asked for. */
void debug_lines_expect(struct debug_lines *d, const uint64_t *addrs, size_t nr);

/*
 * Finds functions at addr like unit_table_find(), innermost first. Their number; 0: none is known.
 * What v refers to holds until the next call. -ETIMEDOUT: this thread has had until_ns of CPU time
 * before the unit was begun, so it is worth asking again. -EAGAIN: likewise, when the files are
 * there that debug_lines_wants() names. *lang: of the unit.
 */
int debug_lines_find(struct debug_lines *d, uint64_t addr, uint64_t until_ns, struct unit_place *v,
		     size_t max, uint8_t *lang);

/*
 * Names of files that have more of the debug information, for answers that were -EAGAIN since the
 * last call. Each is named once; who is told that its answer is to be asked again, and gives no
 * file, gets what there is without it. Borrowed until the next call.
 */
const struct beside_names *debug_lines_wants(struct debug_lines *d);

/* Gives the file of one of these names, which becomes d's. */
void debug_lines_give(struct debug_lines *d, uint32_t name, int fd);

/* Appends records for the cache file. -ENOMEM: they are lost. */
int debug_lines_news(struct debug_lines *d, struct byte_buf *out);

size_t debug_lines_bytes(const struct debug_lines *d);	/* heap held by tables */
