/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What probee and its parser processes say to each other (src/helpers/helper_message.h). Internal
 * to src/parse.
 *
 *	op			request			answer
 *	PARSE_IDENTITY		fd			struct elf_identity, struct rec_segment[]
 *	PARSE_TABLE		fd, uint32_t[] pages	struct table_head, pages, rows, rules
 *				that are wanted, ascending; none: all
 *	PARSE_NAMES		fd, struct names_head,	struct names_answer, struct symbol_answer[],
 *				struct symbol_answer[]	text, struct symbol_place[], records for the
 *							cache file, struct beside_names
 *				without the table of symbols: status -EAGAIN, struct debug_name,
 *				struct names_answer with BINARY_HAS_DEBUGINFO alone
 *	  with load		more fds: debug files; the last one may be the cache file
 *	PARSE_PERF_MAP		fd, struct perf_map_query[],	the same array, text,
 *				struct map_head		struct perf_map_mark
 *	PARSE_JITDUMP		the same			the same
 *	PARSE_CODE		struct code_head, pieces, their bytes, pins and seeds
 *							struct code_answer, pages, rows, rules
 *
 * Each fd is a sealed file (src/foreign/sealed_file.h) or a copy in memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/helpers/helper.h"
#include "src/symbolize/perf_map.h"
#include "unwind/code_window.h"

enum parse_op { PARSE_IDENTITY, PARSE_TABLE, PARSE_NAMES, PARSE_PERF_MAP, PARSE_CODE,
		PARSE_JITDUMP, PARSE_OPS };

#define PARSE_MAX_REQUEST (256u << 20)
/*
 * What an answer may take of the recorder's memory. A table of 64 MiB has 16 million rows; the
 * largest programs of distributions have 2 million. Names are limited in symbol_batch.c.
 */
#define PARSE_MAX_IDENTITY (1u << 20)
#define PARSE_MAX_TABLE (64u << 20)
#define PARSE_MAX_CODE (4u << 20)
#define PARSE_MAX_NAMES (160u << 20)	/* and lines, and records for the cache file */

struct table_head {
	uint64_t vaddr_lo;
	uint32_t nr_pages;
};

/* With the pages that are wanted. */
struct table_wants {
	uint32_t runtime;		/* 1: a struct runtime_image, if there is one */
};

/* The pieces are struct code_piece, of which len and addr count; pins come before seeds. */
struct code_head {
	uint32_t nr_pins, nr_seeds;
};

struct code_answer {
	struct table_head head;
	struct code_wants wants;
};

struct map_head {
	uint64_t size;			/* of the file */
	struct perf_map_mark mark;
	uint32_t is_growing;
	uint32_t pad;
};

struct names_head {
	uint32_t binary;		/* its symbols are kept under this number */
	uint32_t load;			/* 1: load them, if they are not kept */
	uint32_t no_demangle;
	uint32_t max_depth;		/* functions at one address; 0: no lines are wanted */
	uint32_t has_cache;		/* 1: the last fd is the cache file of its lines */
	uint32_t keeps_cache;		/* 1: records for the cache file are wanted */
	/*
	 * So many fds, the last ones, answer names of the last answer; part 2 says which ones
	 * (uint32_t[]).
	 */
	uint32_t nr_beside;
	uint32_t is_kernel;		/* 1: addresses count as in struct symbol_file */
	uint64_t text_start;
};

struct names_answer {
	uint32_t flags;			/* BINARY_... */
	uint32_t nr_late;		/* answers that would have lines if they were asked again */
};

struct beside_names;
struct debug_name;
struct elf_identity;
struct runtime_image;
struct symbol_batch;
struct symbol_file;
struct unwind_table;

/*
 * Take over what a parser has answered, if it is sound. It is as foreign as the bytes that the
 * parser has read. 0, -ENOMEM, or -EPROTO: it is not sound.
 *
 * parse_take_status(): the answer's own -errno counts, too. What no parser says is -EPROTO.
 * parse_take_table(): *tp is the caller's to free in any case. parse_take_queries(): v is sorted as
 * it was sent, and the names are appended; size: of the file.
 */
int parse_take_status(const struct helper_message *answer);
int parse_take_identity(struct helper_message *answer, struct elf_identity *out);
/* runtime: NULL, or it gets the runtime that the file is. */
int parse_take_table(struct helper_message *answer, struct unwind_table **tp,
		     struct runtime_image *runtime);
int parse_take_code(struct helper_message *answer, const struct code_window *in,
		    struct unwind_table **tp, struct code_wants *wants);
/* *nr_late: the answers that are worth asking again. */
int parse_take_names(struct helper_message *answer, struct symbol_file *file,
		     struct symbol_batch *b, uint32_t *nr_late);
int parse_take_queries(struct helper_message *answer, struct perf_map_query *v, size_t nr,
		       uint64_t size, struct perf_map_mark *mark, struct byte_buf *names);
/* The files that answers wait for. false: there are none. */
bool parse_take_beside(const struct helper_message *answer, struct beside_names *out);
int parse_take_debug_name(const struct helper_message *answer, struct debug_name *out);

/* serve() of the helper. */
void parse_serve(void *state, struct helper_message *request,
		 struct helper_message *answer);
