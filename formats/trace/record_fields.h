/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The payload of each record type as a list of fields: this is the format (TRACE.md 4), as data.
 * record_codec.c writes and reads by it, and id_checker.c finds in it the members that are ids of
 * other records.
 *
 *	for (const struct field *f = record_layout(tag)->fields; f->at; f++) ...
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/record.h"

/* How a member of struct record is stored; TRACE.md 1 says what uv, sv and bytes are. */
enum field_kind {
	U8,
	UV32,
	UV64,
	SV32,
	SV64,
	FIXED64,
	TIME,			/* sv: difference to the chunk's time base */
	PLUS1,			/* uv: the value plus one, so that -1 is one byte */
	PARENT,			/* uv: the own id minus the parent's; 0: none */
	TEXT,			/* bytes: a pointer with its length behind it */
	KEY,			/* the key of META */
	BUILD_ID,
	SEGMENTS,
	LINES,
	RUNS,
	LATER64,		/* uv, which versions before 1.2 did not write */
	ENDS			/* end codes of a scan with their counts; like LATER64 */
};

struct field {
	uint8_t kind;			/* enum field_kind */
	uint8_t to;	/* enum record_tag: the member is an id of such a record, or 0; 0: no id */
	uint16_t at;	/* offset in struct record; 0, which is the tag, ends the list */
};

/* These are the words of records.def. */
enum record_stored { STORED_SINGLE, STORED_BATCHED, STORED_IN_COLUMNS };

struct record_layout {
	const struct field *fields;	/* empty if the record is stored in columns */
	uint8_t stored;			/* enum record_stored */
	uint8_t nr_fields;	/* also the least bytes of an item: each field has one at least */
};

bool record_is_known(uint64_t tag);

/* tag must be known; never NULL. */
const struct record_layout *record_layout(enum record_tag tag);

/* The time of a record; false: it has none. That of SAMPLE is not a field. */
bool record_time(const struct record *rec, uint64_t *time_ns);
