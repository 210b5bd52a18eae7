/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that are added to a trace after it was recorded: which frames have none, and what was found
 * out about them.
 *
 * The problem. A recording may have been made without names (--no-symbolize), without debug files,
 * or as a user who may not see the kernel's symbols. The trace has the addresses and says which
 * files they are in, so names can be looked up later, on any machine that has these files.
 *
 * The idea. The trace is read twice. The first pass keeps what names need of it, one question for
 * each frame without a name:
 *
 *	late_names_new(again)
 *	late_names_record(n, segment, rec) ...	of the first pass
 *	late_names_ask(n)			makes the questions
 *	late_lookup(n, ...)			answers them (late_lookup.h)
 *	late_copy(n, ...)			the second pass: a new trace (late_copy.h)
 *	late_names_free(n)
 *
 * Segments are the recordings in one file (cat a.pbz b.pbz). A binary is asked for once, however
 * many of them name it. Memory grows with strings, frames and names, never with samples.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"
#include "src/model/record.h"
#include "src/symbolize/lines_lack.h"

struct definition_store;
struct intern;

/* Why frames of a binary are still without a name; that of its last such frame. */
enum late_cause {
	LATE_OK,
	LATE_NO_FILE,			/* none under the given directories */
	LATE_OTHER_FILE,		/* there is one, with another build-id */
	LATE_OTHER_SIZE,		/* there is one, without a build-id, and of another size */
	LATE_OTHER_TIME,		/* of the same size, but it was written at another time */
	LATE_OTHER_INODE,		/* only the numbers are known: those are others, */
	LATE_CHANGED,			/* or it has changed since the recording began */
	LATE_STRIPPED,			/* the file does not name this address */
	LATE_UNREADABLE,
	LATE_LIMITED,			/* its parser died or took too long */
	LATE_OTHER_KERNEL,		/* another kernel than the one that runs here */
	LATE_HIDDEN_KERNEL,		/* this kernel hides its addresses from this user */
	LATE_GENERATED,			/* made at run time: only named while recording */
	LATE_CAUSES
};

struct late_binary {
	uint8_t kind;			/* enum binary_kind */
	char *path;			/* as the process saw it; owned */
	uint8_t build_id[64], build_id_len;
	uint64_t size_bytes;
	int64_t mtime_ns;		/* with a size of 0: nobody could look at the file */
	uint64_t dev, ino;
	int64_t began_ns;		/* the recording, CLOCK_REALTIME; 0: unknown */
	bool has_segments;		/* else its frames have file offsets for addresses */
	uint32_t first;			/* question, plus 1; 0: none */
	uint64_t nr_nameless;		/* frames that had no name */
	uint64_t nr_named;		/* of them: that have one now */
	enum late_cause cause;
};

/* A frame without a name, and its answer. */
struct late_question {
	uint32_t segment, frame;
	uint32_t next;			/* of the same binary, plus 1; 0: none */
	bool had_name;			/* --again */
	bool is_answered, has_offset;
	uint8_t status;			/* enum symbol_status */
	uint64_t offset;		/* as in struct rec_symbol */
	uint32_t first_line, nr_lines;	/* in late_names.lines */
};

struct late_segment {
	struct definition_store *tables;	/* without stacks, threads and processes */
	uint32_t *binaries;		/* by id: index in late_names.binaries; 0: none */
	size_t cap_binaries;
	uint32_t *questions;		/* by frame: index plus 1; 0: none */
	size_t cap_questions;
	int64_t began_ns;		/* CLOCK_REALTIME; 0: unknown */
	char boot_id[64];
	char release[128];		/* of the kernel; "": unknown, or too long */
	uint64_t nr_named;		/* frames that had no name and have one now */
	uint64_t nr_lines_lost;		/* frames whose lines were given up */
};

struct late_names {
	bool again;			/* frames that have a name are asked for, too */
	struct late_segment *segments;
	size_t nr_segments, cap_segments;
	struct late_binary *binaries;	/* [0]: code of the kernel that is in no known binary */
	size_t nr_binaries, cap_binaries;
	struct hash_index by_identity;
	struct late_question *questions;
	size_t nr_questions, cap_questions;
	struct rec_line *lines;		/* .func: index in funcs; .file: in texts */
	size_t nr_lines, cap_lines;
	struct rec_func *funcs;		/* without ids; their texts are in texts */
	size_t nr_funcs, cap_funcs;
	struct hash_index func_index;
	struct intern *texts;
	uint64_t nr_frames;		/* of all segments */
	uint64_t nr_nameless, nr_named;	/* had no name; of them: have one now */
	uint64_t nr_lines_lost;
	struct lines_lack lack;		/* frames whose lines cannot be read */
};

struct late_names *late_names_new(bool again);		/* NULL: no memory */
void late_names_free(struct late_names *n);		/* NULL is fine */

/* segment: 0, 1, 2, ...; 0 or -ENOMEM, silently. */
int late_names_record(struct late_names *n, uint32_t segment, const struct record *rec);
int late_names_ask(struct late_names *n);

/* The frame of a question. */
const struct rec_frame *late_names_frame(const struct late_names *n, const struct late_question *q);
/* An address inside the frame's instruction: a return address is behind its call. */
uint64_t late_names_address(const struct rec_frame *f);

/* The question about a frame, or NULL. */
const struct late_question *late_names_find(const struct late_names *n, uint32_t segment,
					    uint32_t frame);

/*
 * Adds a line to the answer of q; innermost first. line->file: in n->texts, 0: it is in that of f;
 * line->func does not count. All lines of a question are added before those
 * of another one. 0 or -ENOMEM, silently.
 */
int late_names_add_line(struct late_names *n, struct late_question *q, const struct rec_func *f,
			const struct rec_line *line);
/* The number of a text in n->texts, added if it is new; NULL: 0; UINT32_MAX: no memory. */
uint32_t late_names_text(struct late_names *n, const char *text);

/* Ends the answer of q, which has a name if it has lines; cause counts if it has none. */
void late_names_answer(struct late_names *n, struct late_binary *b, struct late_question *q,
		       uint8_t status, enum late_cause cause);
