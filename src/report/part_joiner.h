/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one recording of its parts.
 *
 * The problem. A long recording is divided into segments, and each defines again what it needs
 * (TRACE.md 4.1, `recording.part`). A reader that took each segment for a recording of its own
 * would have every process, thread and frame as often as there are parts.
 *
 * The idea. The first part's definitions are the recording's. A definition of a later part is
 * compared with those that the recording has: if it has an equal one, the id in the part stands for
 * that one, and the definition is left out; otherwise it gets the next id. What refers to
 * definitions is translated. So all that comes behind sees one segment, as if the recording had
 * never been divided.
 *
 *	part 1		FRAME 1 {libc, 0x100}	FRAME 2 {app, 0x20}
 *	part 2		FRAME 1 {app, 0x20}	FRAME 2 {app, 0x44}
 *	the recording	1 {libc, 0x100}, 2 {app, 0x20}, 3 {app, 0x44}; of part 2: 1 -> 2, 2 -> 3
 *
 *	part_joiner_enter(j, segment, rec)	each record of the first pass
 *	part_joiner_record(j, tables, &rec)	translates it, or says that it is known
 *	part_joiner_sample(j, segment, &sample)	samples of later passes
 *	part_joiner_release(j)
 *
 * Traces without such parts pay one look at an array for each record.
 *
 * Limits: a process that has executed its own program again, and has its old name, is taken for the
 * one that it was before, if the two are in different parts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/definition_joiner.h"
#include "src/model/record.h"

struct definition_store;
struct part_ids;

struct part {
	uint32_t recording;		/* 0, 1, ... */
	uint32_t number;		/* of the part in its recording: 1, 2, ... */
	struct part_ids *ids;		/* NULL: they are those of the recording */
};

/* All 0 at first. */
struct part_joiner {
	struct part *v;			/* by segment of the file */
	size_t nr, cap;
	uint32_t nr_recordings;
	struct definition_joiner known;	/* what the recording has defined */
	bool is_indexed;
	struct rec_line *lines;		/* of the SYMBOL that was translated last */
	size_t cap_lines;
};

void part_joiner_release(struct part_joiner *j);
/* rec: of that segment; the first one says whether it goes on with a recording. 0 or -ENOMEM. */
int part_joiner_enter(struct part_joiner *j, uint32_t segment, const struct record *rec);
/* The recording of a segment; UINT32_MAX: no record of it has come. */
uint32_t part_joiner_recording(const struct part_joiner *j, uint32_t segment);
/*
 * rec: of the segment that was entered last; its lists are borrowed until the next call. 1: it is
 * to be used; 0: the recording has it already, and tables have what it adds; -ENOMEM.
 */
int part_joiner_record(struct part_joiner *j, struct definition_store *tables, struct record *rec);
/* true: the segment has ids of its own, which are translated in s. */
bool part_joiner_sample(const struct part_joiner *j, uint32_t segment, struct rec_sample *s);
/* Whether a segment goes on with the recording of the one before it. */
bool part_joiner_is_joined(const struct part_joiner *j, uint32_t segment);
size_t part_joiner_memory(const struct part_joiner *j, uint32_t segment);	/* of its ids */
