/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of one binary, and what was found out about them. The questions and answers are plain
 * bytes without pointers, so a batch can be answered in another process.
 *
 *	batch.v, batch.nr		addresses in; the other fields are filled in
 *	symbol_batch_elf(&batch, table, variables)	or one of the others
 *	symbol_batch_lines(&batch, d, table, until)	adds lines, if they are wanted
 *	batch.text			the names; answers have offsets in it
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

#define SYMBOL_NO_NAME UINT32_MAX
#define SYMBOL_MAX_DEPTH 64

struct debug_lines;
struct elf_symbols;
struct elf_symbols_source;
struct kernel_symbols;
struct symbol_line;

struct symbol_answer {
	uint64_t addr, func_addr;
	uint32_t cookie;		/* the owner's */
	uint32_t name, sysname;		/* offsets in text, or SYMBOL_NO_NAME */
	uint8_t status, lang, func_flags;	/* as in struct symbol */
	uint8_t has_func_addr;		/* 0 or 1 */
	uint8_t is_return;		/* 1: addr is the byte before a return address */
	/* 1: there was no time for its lines, so that it is worth asking again. */
	uint8_t is_late;
	uint8_t is_variable;		/* 1: addr is that of a variable, not of code */
	uint8_t pad;
	uint32_t lack;			/* why lines are missing: lines_lack.h; 0: no such reason */
	uint32_t first_line, nr_lines;	/* in the lines of the batch, innermost first */
};

/* One of the functions at an address. Names and paths are offsets in text, or SYMBOL_NO_NAME. */
struct symbol_place {
	uint32_t name, sysname;
	uint32_t file, line, column;	/* of what is executed, or of the call; 0: unknown */
	uint32_t decl_file, decl_line;	/* of the function */
	uint8_t lang, pad[3];
};

struct symbol_batch {
	struct symbol_answer *v;
	size_t nr;
	struct byte_buf text;		/* NUL-terminated names */
	struct symbol_place *lines;
	size_t nr_lines, cap_lines;
	unsigned max_depth;		/* functions at one address that are wanted */
	bool no_demangle;
};

/* Adds a difference to all addresses, those of functions that were found included. */
void symbol_batch_move(struct symbol_batch *b, uint64_t by);
/*
 * variables: as of symbol_batch_load_variables(). That loads those of the file, if they are not
 * loaded yet and any is asked for. They are the caller's to free; NULL: none.
 */
void symbol_batch_elf(struct symbol_batch *b, const struct elf_symbols *table,
		      const struct elf_symbols *variables);
void symbol_batch_load_variables(const struct symbol_batch *b, const struct elf_symbols_source *src,
				 struct elf_symbols **variables);
/* Answers that have lines keep them, with the kernel's own name for the outermost function. */
void symbol_batch_kernel(struct symbol_batch *b, const struct kernel_symbols *k);
/*
 * Adds inlined functions and source lines to answers that were made before, until this thread has
 * had until_ns of CPU time. max_depth 0 stands for SYMBOL_MAX_DEPTH.
 */
void symbol_batch_lines(struct symbol_batch *b, struct debug_lines *d,
			const struct elf_symbols *table, uint64_t until_ns);
/* Makes a batch of those answers of b that are late. 0 or -ENOMEM; the caller frees late->v. */
int symbol_batch_take_late(const struct symbol_batch *b, struct symbol_batch *late);
/* Puts the answers of such a batch in the place of the late ones. 0, -ENOMEM, or -E2BIG. */
int symbol_batch_join(struct symbol_batch *b, const struct symbol_batch *late);
/* A place with its texts, which are borrowed from b. */
void symbol_batch_line(const struct symbol_batch *b, const struct symbol_place *p,
		       struct symbol_line *out);
void symbol_batch_release(struct symbol_batch *b);	/* all but v */
/* No answers, because of err. */
void symbol_batch_fail(struct symbol_batch *b, int err);
