/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what the definition records of one segment of a trace say, to be looked up by id.
 *
 *	definition_store_new()
 *	definition_store_record(t, rec) ...	a record_fn: keeps definitions, ignores all other
 *						records
 *	definition_store_find_thread(t, id) ...	borrowed until definition_store_free() or the next
 *						definition_store_record(); NULL: not there
 *	definition_store_free(t)
 *
 * A damaged trace lacks definitions, and a hostile one invents them. So every lookup is checked and
 * accepts any id, gaps between ids are limited, and so is the memory; refused definitions are
 * counted. Names come after the samples in a trace, so read all of it before asking for names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/record.h"

struct definition_store;

struct definition_store *definition_store_new(void);			/* NULL: out of memory */
/*
 * Frames that are left out, from now on: their nodes are the same stacks as their parents. The
 * loop of an interpreter is the native function that an interpreted one calls; trampolines of it
 * (FRAME_TRAMPOLINE) go with it.
 */
enum frame_folding { FOLD_NOTHING, FOLD_LOOPS, FOLD_RUNTIMES };
void definition_store_fold(struct definition_store *t, enum frame_folding folding);
void definition_store_free(struct definition_store *t);			/* NULL is fine */
int definition_store_record(void *tables, const struct record *rec);	/* 0 or -ENOMEM, silently */

/*
 * Strings in these are ids for definition_store_string(). The .segments of a binary are not kept.
 */
const struct rec_binary *definition_store_find_binary(const struct definition_store *t,
						      uint32_t id);
const struct rec_process *definition_store_find_process(const struct definition_store *t,
							uint32_t id);
const struct rec_thread *definition_store_find_thread(const struct definition_store *t,
						      uint32_t id);
const struct rec_frame *definition_store_find_frame(const struct definition_store *t, uint32_t id);
const struct rec_func *definition_store_find_func(const struct definition_store *t, uint32_t id);
const struct rec_event *definition_store_find_event(const struct definition_store *t, uint32_t id);

#define TABLES_MAX_DEPTH 8192		/* deeper nodes are refused; a recording stops at 1024 */

struct table_node {
	uint32_t parent;		/* < the node's id; 0: none */
	uint32_t frame;
	uint32_t outermost;		/* the outermost frame of this stack */
	uint32_t depth : 29;		/* its number of frames, 1 .. TABLES_MAX_DEPTH */
	uint32_t is_folded : 1;		/* definition_store_fold() */
	uint32_t is_hidden : 1;		/* definition_store_hide() */
	uint32_t is_blank : 1;		/* one of both, as are all of its callers */
};
/* The node; for one that is left out, the next that is not. */
const struct table_node *definition_store_find_node(const struct definition_store *t, uint32_t id);
/* The same, but hidden frames count: for what is said of the quality of stacks. */
const struct table_node *definition_store_whole_node(const struct definition_store *t, uint32_t id);
/* The node as its record has it, though it may be left out. */
const struct table_node *definition_store_node_row(const struct definition_store *t, uint32_t id);

struct table_symbol {
	bool known;			/* a SYMBOL record came */
	uint8_t status;			/* enum symbol_status */
	bool lacks_outer;		/* its outermost function is hidden */
	uint32_t first_line, nr_lines;
	uint64_t offset;
};
const struct table_symbol *definition_store_find_symbol(const struct definition_store *t,
							uint32_t frame);

/* Line i of a symbol, i < nr_lines. */
const struct rec_line *definition_store_line(const struct definition_store *t,
					     const struct table_symbol *s, uint32_t i);

/* "" for id 0, "[missing]" for an id without a string. Ends with NUL; len may be NULL. */
const char *definition_store_string(const struct definition_store *t, uint32_t id, size_t *len);
bool definition_store_has_string(const struct definition_store *t, uint32_t id);

/* How a report shows one function of a frame. */
struct frame_view {
	/* "read", "[libc.so.6+0x1234]" or "[jit]"; lives in the store or in buf. */
	const char *name;
	size_t len;
	uint32_t string;		/* the name's id; 0: it is not a string of the store */
	uint32_t func;			/* FUNC; 0: none has it */
	uint32_t file;			/* that has the function: string id, 0 unknown */
	uint32_t line_file, line;	/* source line, 0 unknown; line_file: string id */
	uint32_t start_line;		/* where the function begins; 0 unknown */
	/* The address's offset in the function; the address itself where there is no file. */
	uint64_t offset;
	bool has_offset;		/* offset is valid */
	uint8_t tier;			/* enum func_tier */
	bool inlined;
	bool named;			/* false: only the address is known */
};

#define FRAME_TEXT_MAX 320

/*
 * Hides functions, once all names are there: what they did is their callers' from then on. A frame
 * whose functions are all hidden is left out as folded ones are. text is what stands for a stack of
 * hidden frames alone, "[hidden]"; it is borrowed for as long as the store lives. 0 or -ENOMEM,
 * silently.
 */
typedef bool (*hides_fn)(void *ctx, const struct rec_frame *frame, const struct frame_view *view);
int definition_store_hide(struct definition_store *t, hides_fn hides, void *ctx, const char *text);
/*
 * What stands for a stack all of whose frames are left out: the text of definition_store_hide() or,
 * for folded ones, "[hidden]". NULL: some frame is shown, or there is no such stack.
 */
const char *definition_store_hidden(const struct definition_store *t, uint32_t stack);

/* How many functions a frame stands for: 1 plus those inlined at its address. */
uint32_t definition_store_frame_depth(const struct definition_store *t, uint32_t frame);

/* The i-th of these functions; 0 is the innermost. Any frame id gives a name. */
void definition_store_frame_view(const struct definition_store *t, uint32_t frame, uint32_t i,
				 char buf[FRAME_TEXT_MAX], struct frame_view *v);

/*
 * What a name with its line has behind it: ":12", or ":macros.h:12" if the line is in another file
 * than the function. Returns its length; 0: the line is not known.
 */
#define FRAME_LINE_MAX 160
int definition_store_line_text(const struct definition_store *t, const struct frame_view *v,
			       char buf[FRAME_LINE_MAX]);

/*
 * The number of definitions of a type, the highest id plus 1, and the number of definitions that
 * were refused for their id or size.
 */
uint64_t tables_count(const struct definition_store *t, enum record_tag tag);
uint32_t definition_store_id_end(const struct definition_store *t, enum record_tag tag);
/* Another part of the recording follows: where it has lines for a name, they are taken. */
void definition_store_join(struct definition_store *t);
size_t definition_store_memory(const struct definition_store *t);	/* bytes, about */
uint64_t definition_store_refused(const struct definition_store *t);
/* The memory that all definitions take, in bytes. */
size_t definition_store_bytes(const struct definition_store *t);
