/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outer layer of a .pbz file (TRACE.md 2) and the limits of both sides (TRACE.md 7).
 *
 *	file    := segment+
 *	segment := IDENT (SIGNPOST data)+
 *
 * IDENT and SIGNPOST are zstd skippable frames; data is one ordinary zstd frame that holds one
 * chunk.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDENT_MAGIC 0x184d2a50u
#define SIGNPOST_MAGIC 0x184d2a51u
#define SKIPPABLE_MAGIC 0x184d2a50u	/* ..5f: frames that zstd skips */
#define SKIPPABLE_MASK 0xfffffff0u
#define ZSTD_DATA_MAGIC 0xfd2fb528u

enum {
	TRACE_MAJOR = 1,
	TRACE_MINOR = 14,

	FRAME_HEAD_SIZE = 8,		/* u32 magic, u32 size of the rest */
	IDENT_SIZE = FRAME_HEAD_SIZE + 35,
	SIGNPOST_SIZE = FRAME_HEAD_SIZE + 44,
	CHUNK_HEAD_SIZE = 24,		/* "PBC1", segment, seq, length, time base */

	CHUNK_TARGET = 256 << 10,	/* raw bytes at which the writer closes a chunk */
	CHUNK_MAX_SAMPLES = 24576,
	CHUNK_MAX_REPEATED = 1 << 22,	/* rows of REPEATs at which the writer closes a chunk */
	/* Rows of REPEATs in one chunk that the reader accepts. */
	MAX_REPEATED = 2 * CHUNK_MAX_REPEATED,
	MAX_ROWS = 1 << 18,		/* rows of one SAMPLES record that the reader accepts */
	MAX_RAW_SIZE = 4 << 20,		/* size of a chunk that the reader accepts */
	MAX_DATA_SIZE = 4 << 20,	/* size of its compressed form */
	WRITER_WINDOW_LOG = 21,

	MAX_STRING = 64 << 10,
	MAX_META_KEY = 63,
	MAX_BUILD_ID = 64,
	MAX_SEGMENTS = 4096,
	MAX_LINES = 256,
	MAX_DEPTH = 4096,
	MAX_ID_GAP = 1 << 20,
};

/* Upper bits of ident.flags: a reader refuses a trace that sets one it does not know. */
#define IDENT_CRITICAL_FLAGS 0xff00u

struct ident {
	uint8_t major, minor;
	uint16_t flags;
	uint8_t uuid[16];
};

/* signpost.contents */
enum { CHUNK_HAS_TABLES = 1, CHUNK_HAS_SAMPLES = 2, CHUNK_HAS_END = 4 };

struct signpost {
	uint8_t contents;		/* CHUNK_HAS_... */
	uint32_t segment;		/* its id: the first four bytes of the uuid */
	uint32_t seq;			/* 0, 1, ... in its segment */
	uint32_t data_size;		/* size of the data frame after this one */
	uint32_t raw_size;		/* size of the chunk in it */
	uint64_t first_ns, last_ns;	/* times of its samples; 0: there are none */
	uint32_t nr_samples;
};

/* The first bytes of a chunk. */
struct chunk_head {
	uint32_t segment, seq;		/* as in the signpost */
	uint32_t length;		/* bytes of the records after this head */
	uint64_t time_base_ns;		/* times in records are relative to it */
};

uint32_t ident_segment(const struct ident *id);

void ident_encode(uint8_t out[IDENT_SIZE], const struct ident *id);
void signpost_encode(uint8_t out[SIGNPOST_SIZE], const struct signpost *sp);
void chunk_head_encode(uint8_t out[CHUNK_HEAD_SIZE], const struct chunk_head *head);

/*
 * False: there is no such frame, it is cut short, or it is damaged (crc). len may exceed the frame.
 */
bool ident_decode(const void *data, size_t len, struct ident *id);
bool signpost_decode(const void *data, size_t len, struct signpost *sp);
bool chunk_head_decode(const void *data, size_t len, struct chunk_head *head);
