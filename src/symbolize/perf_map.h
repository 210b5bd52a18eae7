/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of code made at run time, as language runtimes write them to /tmp/perf-PID.map: one line
 * for each piece of code, "START SIZE name", hexadecimal, in the order in which it was made (perf's
 * tools/perf/Documentation/jit-interface.txt).
 *
 * Pieces overlap, because code is moved or discarded and its memory reused; the latest line counts.
 * So the file is read from its end, each address that was asked for is answered once, and no table
 * of the lines is needed.
 *
 * Any user may have written the file, and it may be huge: only its last PERF_MAP_MAX_BYTES are
 * read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

#define PERF_MAP_NAME_MAX 4096		/* longer names are cut */
#define PERF_MAP_MAX_NAMES (16u << 20)	/* bytes of names from one file */
#define PERF_MAP_MAX_BYTES (256ull << 20)	/* at the end of a file that are read */
#define PERF_MAP_NO_NAME UINT32_MAX

struct perf_map_query {
	uint64_t addr;
	uint32_t cookie;		/* for the caller's use */
	uint32_t name;			/* answer: offset in names, or PERF_MAP_NO_NAME */
	uint64_t start;			/* answer: where the code begins */
	uint32_t next;			/* internal */
};

struct perf_map_source {
	int fd;				/* a regular file; -1: data */
	const void *data;
	uint64_t size;			/* bytes appended later are not read */
};

/*
 * Answers queries, which are sorted by addr afterwards; those that have a name already keep it.
 * Appends the names to *names, each with a NUL. 0; -E2BIG: the file is larger than what is read, or
 * the names would take too much memory; -EIO: it cannot be read; -ENOMEM. Answers found before an
 * error are kept.
 */
int perf_map_find(const struct perf_map_source *src, struct perf_map_query *v, size_t nr,
		  struct byte_buf *names);
