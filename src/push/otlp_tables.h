/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of one OTLP request that its profiles share: strings, functions, mappings, locations,
 * stacks, attributes.
 *
 *	otlp_tables_init(&t)			0 or -ENOMEM
 *	otlp_tables_segment(&t, definitions)	whose ids the next calls mean
 *	otlp_stack(&t, &row, style) ...		indexes, given once for equal contents
 *	otlp_tables_clear(&t)			begins those of the next request
 *	otlp_tables_release(&t)
 *
 * Each table is a struct intern, whose keys are the contents of the elements, as the structs below
 * with what follows them. Its id 0, which has no bytes, is the zero element that each table must
 * begin with. So no table has an element twice.
 *
 * Strings are made valid UTF-8 without control characters, as in all of probee's reports.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/bytes.h"
#include "src/base/hash_index.h"

struct definition_store;
struct frame_style;
struct intern;
struct push_row;

struct otlp_function {
	uint32_t name, system_name, file;	/* strings */
	uint32_t start_line;
};

struct otlp_mapping {
	uint32_t file;			/* string */
	uint32_t build_id;		/* attribute; 0: unknown */
};

struct otlp_line {
	uint32_t function, line, column;
};

struct otlp_location {			/* followed by its lines, the innermost first */
	uint64_t address;
	uint32_t mapping;
	uint32_t frame_type;		/* attribute; 0: it is no code */
};

struct otlp_attribute {			/* followed by its text, if it is no number */
	uint32_t key;			/* string */
	uint32_t is_number;
	int64_t number;
};

/* A stack is the locations, uint32_t, the innermost first; a set the attributes, ascending. */

struct otlp_stack_seen {
	uint32_t kstack, ustack, end;
	uint32_t stack;
};

struct otlp_stack_size {
	uint32_t depth, mappings;	/* numbers of locations, and of different mappings */
};

struct otlp_tables {
	struct intern *strings, *functions, *mappings, *locations, *attributes, *stacks, *sets;
	size_t bytes;			/* of all tables when they are encoded, about */
	bool addresses;			/* of frames with names, too; set by the caller */
	bool failed;			/* out of memory */
	/* What is known of the segment's ids, each plus 1. */
	const struct definition_store *definitions;
	uint32_t *string_ids, *frame_ids;
	size_t cap_string_ids, cap_frame_ids;
	struct otlp_stack_seen *seen;
	size_t nr_seen, cap_seen;
	struct hash_index seen_index;
	struct otlp_stack_size *sizes;	/* by stack */
	size_t cap_sizes;
	/* By location and function: the profile whose size has it. */
	uint32_t *location_marks, *function_marks;
	size_t cap_location_marks, cap_function_marks;
	uint32_t mark;
	struct byte_buf part, path;
	FILE *escaped;
	char *text;
	size_t text_len;
};

int otlp_tables_init(struct otlp_tables *t);
int otlp_tables_clear(struct otlp_tables *t);	/* 0 or -ENOMEM */
void otlp_tables_release(struct otlp_tables *t);
void otlp_tables_segment(struct otlp_tables *t, const struct definition_store *definitions);

uint32_t otlp_string(struct otlp_tables *t, const char *s);
/* One of an attribute that is no number: escaped, or known to be fit. */
uint32_t otlp_text_attribute(struct otlp_tables *t, const char *key, const char *text, size_t len);
uint32_t otlp_number_attribute(struct otlp_tables *t, const char *key, int64_t number);
/* A text of the segment's, escaped; 0: it is "". */
uint32_t otlp_named_attribute(struct otlp_tables *t, const char *key, uint32_t string);
uint32_t otlp_set(struct otlp_tables *t, const uint32_t *attributes, size_t nr);

/* The stack of a row. */
uint32_t otlp_stack(struct otlp_tables *t, const struct push_row *row,
		    const struct frame_style *style);
/* A stack of one frame that is no code. */
uint32_t otlp_named_stack(struct otlp_tables *t, const char *name);

/*
 * About how much larger the profile becomes by a sample of this stack when a receiver keeps it by
 * itself, with tables of its own. Begins another profile: otlp_tables_mark().
 */
size_t otlp_stack_cost(struct otlp_tables *t, uint32_t stack);
void otlp_tables_mark(struct otlp_tables *t);
