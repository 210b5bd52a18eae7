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
 *
 * The file of a program that runs is read again and again as it grows. A mark says how far it was
 * read the last time: what had no answer then (is_old) is only looked for behind the mark. A file
 * that was written anew since, as Java does each time that it is asked, no longer has the bytes
 * of the mark, and is read as a whole.
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
	uint64_t time_ns;		/* when it was there; 0: any time. Not used for maps */
	uint64_t start;			/* answer: where the code begins */
	uint64_t since_ns;		/* answer: when it came there; 0: not known (maps) */
	uint32_t cookie;		/* for the caller's use */
	uint32_t next;			/* internal */
	/* Answers: offsets in names, or PERF_MAP_NO_NAME. */
	uint32_t name;
	uint32_t sysname;		/* as it is in the file (jit_label.h) */
	uint32_t file;
	uint32_t line;			/* where the function begins; 0 unknown */
	uint32_t at_file;		/* of the address; only dumps say it (jitdump.h) */
	uint32_t at_line, at_column;
	uint8_t lang, tier;		/* enum func_lang, func_tier */
	uint8_t is_old;			/* 1: has no answer in front of the mark */
	uint8_t pad;
};

struct perf_map_source {
	int fd;				/* a regular file; -1: data */
	const void *data;
	uint64_t size;			/* bytes appended later are not read */
	bool is_growing;		/* a line without an end is left for the next time */
};

/* How far a file was read, and a hash of the last bytes of that. All 0: not yet. */
struct perf_map_mark {
	uint64_t bytes, hash;
};

/* By addr, and by cookie where several have one addr. */
void perf_map_sort(struct perf_map_query *v, size_t nr);

/* Appends what a runtime says of the code of a query, and sets the answers but for start. */
void perf_map_put_label(struct byte_buf *names, const char *text, size_t len,
			struct perf_map_query *to);

/*
 * Answers queries, which are sorted afterwards; those that have a name already keep it. Appends the
 * names to *names, each with a NUL, and moves the mark. 0; -E2BIG: the file is larger than what is
 * read, or the names would take too much memory; -EIO: it cannot be read; -ENOMEM. Answers found
 * before an error are kept.
 */
int perf_map_find(const struct perf_map_source *src, struct perf_map_query *v, size_t nr,
		  struct perf_map_mark *mark, struct byte_buf *names);
