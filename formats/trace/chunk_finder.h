/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the outer layer of a .pbz: one whole, decompressed chunk after the other. After damage, it
 * goes on at the next IDENT or SIGNPOST with a good checksum.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/trace/trace_layout.h"
#include "formats/trace/trace_source.h"

struct chunk_finder {
	const struct trace_source *source;
	uint64_t offset;		/* of the next frame */
	void *zstd;			/* ZSTD_DCtx */
	uint8_t *data, *raw;		/* compressed and raw chunk */
	size_t cap_data, cap_raw;
	uint8_t *window;		/* for searching */

	/* The chunk that was found last. */
	struct ident ident;
	bool has_ident;			/* its segment's IDENT was seen */
	bool starts_segment;		/* the first chunk of its segment that was found */
	bool follows_gap;		/* chunks of its segment are missing before it */
	struct signpost signpost;
	struct chunk_head head;
	const uint8_t *records;
	size_t records_len;

	/* The segment being read. */
	bool in_segment, is_new_segment, has_gap, at_end;
	uint32_t segment;
	uint64_t next_seq;

	uint64_t bad_chunks, skipped_bytes;
	uint32_t empty_segments;	/* IDENTs without a chunk, but for the last one */
	bool truncated;
};

int chunk_finder_open(const struct trace_source *source, struct chunk_finder *f);	/* silent */
void chunk_finder_rewind(struct chunk_finder *f);
void chunk_finder_close(struct chunk_finder *f);

/* 1: a chunk, valid until the next call; 0: end of file; -errno after a message. */
int chunk_finder_next(struct chunk_finder *f);

/*
 * Looks for an IDENT or SIGNPOST in the first limit octets. 1: *offset is set; 0: there is none.
 * -errno, silent.
 */
int chunk_finder_probe(struct chunk_finder *f, uint64_t limit, uint64_t *offset);
