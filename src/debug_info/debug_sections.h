/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sections of one file that has debug information, as bytes.
 *
 * They belong to the Elf handle, of a file without compressed sections (src/elf/plain_elf.h). In a
 * section of strings, what is behind its last NUL is left out, so each string in it ends.
 */
#pragma once

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

enum debug_part {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_STR,
	DEBUG_LINE_STR,
	DEBUG_STR_OFFSETS,
	DEBUG_ADDR,
	DEBUG_RANGES,
	DEBUG_RNGLISTS,
	DEBUG_LINE,
	NR_DEBUG_PARTS,
};

#define DEBUG_INFO_DWO ".debug_info.dwo"

struct debug_bytes {
	const uint8_t *v;
	size_t len;
};

struct debug_sections {
	struct debug_bytes part[NR_DEBUG_PARTS];	/* of length 0, if it is not there */
};

/* 0; or -ENOTSUP: the file is of another byte order. */
int debug_sections_read(Elf *elf, struct debug_sections *s);

/* Likewise those of split units (.debug_info.dwo, ...). */
int debug_sections_read_dwo(Elf *elf, struct debug_sections *s);

/* Cuts sections of strings behind their last NUL. debug_sections_read() does it. */
void debug_sections_end_strings(struct debug_sections *s);

/* What is in a section from offset on; nothing (and bad), if that is beyond it. */
static inline struct byte_reader debug_bytes_from(const struct debug_sections *s,
						  enum debug_part part, uint64_t offset)
{
	const struct debug_bytes *b = &s->part[part];
	struct byte_reader r = br_make(b->v ? (const void *)b->v : "", b->len);

	br_bytes(&r, offset);
	return r;
}

/* The string at offset, or NULL. */
static inline const char *debug_string_at(const struct debug_sections *s, enum debug_part part,
					  uint64_t offset)
{
	const struct debug_bytes *b = &s->part[part];

	return offset < b->len ? (const char *)b->v + offset : NULL;
}
