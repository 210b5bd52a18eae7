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
	/*
	 * Asked before the data of a chunk is read that lies in the file, in its place: true leaves
	 * it out. NULL: none is left out. Kept by chunk_finder_rewind().
	 */
	bool (*leaves_out)(void *ctx, const struct signpost *sp);
	void *ctx;
	/*
	 * The file is still being written: what is not whole at its end is no damage, and
	 * chunk_finder_next() may be called again after it returned 0. Kept by rewinding.
	 */
	bool grows;
	uint64_t offset;		/* of the next frame */
	uint64_t end;			/* nothing is looked for from here on */
	void *zstd;			/* ZSTD_DCtx */
	uint8_t *data, *raw;		/* compressed and raw chunk */
	size_t cap_data, cap_raw;
	uint8_t *window;		/* what was read of the file last, and for searching */
	uint64_t window_at;
	size_t window_len, ahead;	/* how much is read next */

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
	uint64_t segment_offset;	/* of its IDENT, or of its first chunk without one */
	uint64_t next_seq;

	uint64_t bad_chunks, skipped_bytes;
	uint32_t empty_segments;	/* IDENTs without a chunk, but for the last one */
	bool truncated;
};

int chunk_finder_open(const struct trace_source *source, struct chunk_finder *f);	/* silent */
void chunk_finder_rewind(struct chunk_finder *f);
void chunk_finder_close(struct chunk_finder *f);

/* Goes from one chunk, whose signpost this is, to an offset, where the file ends for now. */
void chunk_finder_go(struct chunk_finder *f, uint64_t offset, const struct signpost *sp,
		     uint64_t end);

/* 1: a chunk, valid until the next call; 0: end of file; -errno after a message. */
int chunk_finder_next(struct chunk_finder *f);

/*
 * Looks for an IDENT or SIGNPOST in the first limit bytes. 1: *offset is set; 0: there is none.
 * -errno, silent.
 */
int chunk_finder_probe(struct chunk_finder *f, uint64_t limit, uint64_t *offset);
