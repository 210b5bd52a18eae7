/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outer layer of a .pbz, read: one whole, decompressed chunk after the other. Whatever is
 * damaged is skipped by looking for the next IDENT or SIGNPOST with a good checksum.
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

	/* Of the chunk found last. */
	struct ident ident;
	bool has_ident;			/* its segment's IDENT was seen */
	bool starts_segment;		/* first chunk found of its segment */
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
	bool truncated;
};

int chunk_finder_open(const struct trace_source *source, struct chunk_finder *f);	/* silent */
void chunk_finder_rewind(struct chunk_finder *f);
void chunk_finder_close(struct chunk_finder *f);

/* 1: a chunk, valid until the next call; 0: end of file; -errno after a message. */
int chunk_finder_next(struct chunk_finder *f);

/*
 * Whether there is an IDENT or SIGNPOST in the first limit octets at all; its offset. -errno,
 * silent.
 */
int chunk_finder_probe(struct chunk_finder *f, uint64_t limit, uint64_t *offset);
