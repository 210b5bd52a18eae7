/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that probee knows of how to unwind the code of one ELF file: the table that a recording would
 * use, what it was made from, and what is missing in it.
 *
 *	unwind_facts_open(fd, &f)		the fd is taken, also when it fails
 *	unwind_facts_open_memory(data, len, &f)	the vdso; data is borrowed
 *	f->rows, f->gaps, ...
 *	unwind_facts_symbol(f, vaddr, &name)	names
 *	unwind_facts_close(f)
 *
 * Nothing here prints: -ENOEXEC: no ELF file, -EBADMSG: damaged, -ENOTSUP: unwind_facts_refusal()
 * says why, -errno. A file without any unwind information is no error: nr of rows is 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/elf/elf_image.h"
#include "src/inspect/code_gaps.h"
#include "src/inspect/unwind_rows.h"
#include "src/symbolize/elf_symbols.h"

#define FACTS_CFA_KINDS (CFA_EH_RETURN + 1)

struct unwind_facts {
	int fd;				/* -1: in memory */
	struct elf_image *img;		/* machine, type, build_id, segments */
	struct elf_symbols *symbols;	/* NULL: none */
	bool has_symtab;		/* names of all functions, not only of exported ones */
	struct elf_section eh_frame;	/* size 0: there is none, or it was found without section
					   headers */
	struct cfi_stats cfi;
	struct unwind_rows rows;
	uint64_t nr_pages, nr_rules, table_bytes;	/* as a recording keeps them in the
							   kernel */
	uint64_t by_cfa[FACTS_CFA_KINDS];	/* rows by enum unwind_cfa */
	uint64_t by_source[ROW_SOURCES];
	uint64_t fp_lost;		/* rows that lose the frame pointer */
	struct code_gaps gaps;
};

int unwind_facts_open(int fd, struct unwind_facts **fp);
int unwind_facts_open_memory(const void *data, size_t len, struct unwind_facts **fp);
void unwind_facts_close(struct unwind_facts *f);	/* NULL is fine */

/* Why a file that is a good ELF file has no unwind facts; NULL when it has. */
const char *unwind_facts_refusal(const struct elf_image *img);
int unwind_facts_refusal_of(int fd, const char **why);	/* the same for a file: 0, or -errno when it
							   is no ELF file */

bool unwind_facts_is_code(const struct unwind_facts *f, uint64_t vaddr);

/* "main+0x10", or "main+0x123 (behind its end)"; "" when nothing is known. Names are foreign. */
#define FACTS_SYMBOL_MAX (ELF_SYMBOL_NAME_MAX + 64)
void unwind_facts_symbol(const struct unwind_facts *f, uint64_t vaddr, char buf[FACTS_SYMBOL_MAX]);

/*
 * The address that a word means: "0x1234", "main", "main+0x10", "1234" in hex when no function has
 * this name. How many functions have the name (static ones of several source files may share it),
 * at most max of them in out; 0: there is none.
 */
size_t unwind_facts_places(const struct unwind_facts *f, const char *word, uint64_t *out,
			   size_t max);

/* The same, but only by name. */
size_t unwind_facts_named(const struct unwind_facts *f, const char *word, uint64_t *out,
			  size_t max);

/* A number in hex with or without 0x, and nothing behind it. */
bool parse_hex(const char *word, uint64_t *out);
