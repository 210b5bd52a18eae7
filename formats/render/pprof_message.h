/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The message perftools.profiles.Profile, field by field, into a stream
 * (https://github.com/google/pprof/blob/main/proto/profile.proto, whose field numbers these are).
 *
 *	pprof_init(&p, out)			0 or -ENOMEM
 *	pprof_sample_type(), pprof_period(), pprof_time(), pprof_comment() ...
 *	pprof_segment(&p, tables)		whose ids the next calls mean
 *	pprof_program(&p, binary, weight)	pprof calls the profile by the heaviest program
 *	pprof_sample(&p, &stack, &sample) ...
 *	pprof_end_segment(&p, style)		what its samples refer to; before the next segment
 *	pprof_finish(&p)			mappings, names and strings; 0 or -ENOMEM
 *	pprof_release(&p)
 *
 *	location	one for each FRAME record: its address in its file, and a line for each of
 *			its functions, the inlined ones first
 *	function	one for each FUNC record, and one for each name of an address without one
 *	mapping		one for each file, with its build id. The first one is that of the program
 *			with the most weight: pprof takes it for the main one
 *
 * Only what samples refer to is written, and programs. Numbers of locations, functions and mappings
 * are those of the records of their segment, behind those of the segments before; synthetic frames
 * are numbered from PPROF_SYNTHETIC on. ferror(out) tells whether a write failed.
 *
 * pprof takes a function whose system name equals its name for mangled, and cuts what stands in
 * brackets. So the system name is left out where it is not another one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/render/path_memos.h"
#include "src/base/bytes.h"

struct definition_store;
struct frame_style;
struct intern;

#define PPROF_SYNTHETIC (1ull << 48)

struct pprof_used {			/* ids that something refers to */
	uint32_t *ids;
	size_t nr, cap;
	uint8_t *marks;			/* by id: 1 if it is in ids */
	size_t cap_marks;
};

struct pprof_mapping {
	uint64_t id, file, build_id;	/* file, build_id: pprof_string() */
};

struct pprof_message {
	FILE *out;
	struct intern *strings;		/* the string table: id 0 is "" */
	const struct definition_store *tables;
	/* Numbers of the segment begin here: a FRAME may be 0, a location may not. */
	uint64_t first_frame, first_func, first_binary;
	struct pprof_used frames, funcs, binaries;	/* of the segment */
	struct pprof_mapping *mappings;	/* of all segments, in order */
	size_t nr_mappings, cap_mappings;
	uint64_t *weights;		/* of programs, by the string of their path */
	size_t cap_weights;
	uint32_t *known;		/* by STRING of the segment: its id plus 1; 0: none yet */
	size_t cap_known;
	uint32_t *named;		/* names that are functions of their own, in order */
	size_t nr_named, cap_named;
	uint8_t *is_named;		/* by string id */
	size_t cap_is_named;
	uint64_t *path;
	size_t nr_path, cap_path;
	/* Threads share stacks: what was written of them, of this segment. */
	struct path_memos memos;
	struct byte_buf message, part, line;
	char *text;			/* of escaped */
	size_t text_len;
	FILE *escaped;
	uint64_t written;		/* bytes */
	bool failed;
};

struct pprof_label {
	uint64_t key;			/* pprof_string() */
	uint64_t text;			/* likewise; 0: it is a number */
	uint64_t number;
};

struct pprof_sample {
	const uint64_t *values;
	size_t nr_values;
	const struct pprof_label *labels;
	size_t nr_labels;
};

int pprof_init(struct pprof_message *p, FILE *out);
void pprof_release(struct pprof_message *p);

/* Ids of strings: of bytes, which are escaped, and of a STRING of the segment. */
uint64_t pprof_string(struct pprof_message *p, const char *s);
uint64_t pprof_table_string(struct pprof_message *p, uint32_t string);

/* Values of samples are in the order of these calls; the last one is shown first. */
void pprof_sample_type(struct pprof_message *p, const char *name, const char *unit);
void pprof_default_type(struct pprof_message *p, const char *name);
void pprof_period(struct pprof_message *p, const char *name, const char *unit, uint64_t period);
void pprof_time(struct pprof_message *p, uint64_t real_ns, uint64_t duration_ns);
void pprof_comment(struct pprof_message *p, const char *text);	/* "": none */

void pprof_segment(struct pprof_message *p, const struct definition_store *tables);
/* A BINARY of the segment is a program, and weighs so much more; 0: it is not known. */
void pprof_program(struct pprof_message *p, uint32_t binary, uint64_t weight);
/* A sample of this stack of the segment, or of one frame with this name. */
void pprof_sample(struct pprof_message *p, const struct path_key *stack,
		  const struct pprof_sample *s);
void pprof_named_sample(struct pprof_message *p, const char *frame, const struct pprof_sample *s);
void pprof_end_segment(struct pprof_message *p, const struct frame_style *style);
int pprof_finish(struct pprof_message *p);
