/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What probee and its parser processes say to each other (src/helpers/helper_message.h). Internal
 * to src/parse.
 *
 *	op			request			answer
 *	PARSE_IDENTITY		fd			struct elf_identity, struct rec_segment[]
 *	PARSE_TABLE		fd			struct table_head, pages, rows, rules
 *	PARSE_NAMES		fd, struct names_head,	struct names_answer, struct symbol_answer[],
 *				struct symbol_answer[]	text
 *				without the table of symbols: status -EAGAIN, struct debug_name
 *	  with NAMES_LOAD	more fds: debug files
 *	PARSE_PERF_MAP		fd, struct perf_map_query[],	the same array, text
 *				size of the file
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/helpers/helper.h"

enum parse_op { PARSE_IDENTITY, PARSE_TABLE, PARSE_NAMES, PARSE_PERF_MAP, PARSE_OPS };

#define PARSE_MAX_REQUEST (256u << 20)
#define PARSE_MAX_ANSWER (1u << 30)

struct table_head {
	uint64_t vaddr_lo;
	uint32_t nr_pages;
};

struct names_head {
	uint32_t binary;		/* its symbols are kept under this number */
	uint32_t load;			/* 1: load them, if they are not kept */
	uint32_t no_demangle;
};

struct names_answer {
	uint32_t flags;			/* BINARY_... */
};

/* serve() of the helper. */
void parse_serve(void *state, struct helper_message *request,
		 struct helper_message *answer);
