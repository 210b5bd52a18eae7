/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that probee knows about unwinding the code of one ELF file: the table that a recording would
 * use, its sources, and what it lacks.
 *
 *	unwind_facts_open(fd, &f)		takes the fd, also if it fails
 *	unwind_facts_open_memory(data, len, &f)	the vdso; data is borrowed
 *	f->rows, f->gaps, ...
 *	unwind_facts_symbol(f, vaddr, &name)	names
 *	unwind_facts_close(f)
 *
 * Nothing here prints. -ENOEXEC: no ELF file; -EBADMSG: damaged; -ENOTSUP: unwind_facts_refusal()
 * says why; other -errno. A file without any unwind information is no error: it has no rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/elf/elf_image.h"
#include "src/foreign/debug_files.h"
#include "src/inspect/code_gaps.h"
#include "src/inspect/unwind_rows.h"
#include "src/symbolize/elf_symbols.h"

#define FACTS_CFA_KINDS (CFA_GOROUTINE + 1)

struct unwind_facts {
	int fd;				/* -1: in memory */
	struct elf_image *img;		/* machine, type, build_id, segments of the file */
	struct elf_symbols *symbols;	/* NULL: none */
	int debug_fds[DEBUG_FILES_MAX];	/* files that may be its debug file */
	size_t nr_debug_fds;
	bool has_symtab;		/* names of all functions, not only of exported ones */
	struct elf_section eh_frame;	/* size 0: none, or found without section headers */
	struct cfi_stats cfi;
	struct unwind_rows rows;
	/* Size of the table that a recording has in the kernel. */
	uint64_t nr_pages, nr_rules, table_bytes;
	uint64_t by_cfa[FACTS_CFA_KINDS];	/* number of rows by enum unwind_cfa */
	uint64_t by_source[ROW_SOURCES];
	uint64_t fp_lost;		/* rows that lose the frame pointer */
	struct code_gaps gaps;
};

int unwind_facts_open(int fd, struct unwind_facts **fp);
int unwind_facts_open_memory(const void *data, size_t len, struct unwind_facts **fp);
void unwind_facts_close(struct unwind_facts *f);	/* NULL is fine */

/* Why a good ELF file has no unwind facts; NULL if it has some. */
const char *unwind_facts_refusal(const struct elf_image *img);
/* Tells unwind_facts_refusal() of a file. 0, or -errno if it is no ELF file. */
int unwind_facts_refusal_of(int fd, const char **why);

bool unwind_facts_is_code(const struct unwind_facts *f, uint64_t vaddr);

/* "main+0x10", "main+0x123 (behind its end)"; "" if nothing is known there. Names are foreign. */
#define FACTS_SYMBOL_MAX (ELF_SYMBOL_NAME_MAX + 64)
void unwind_facts_symbol(const struct unwind_facts *f, uint64_t vaddr, char buf[FACTS_SYMBOL_MAX]);

/*
 * The addresses that a word means: "0x1234", "main", "main+0x10", or "1234" in hex if no function
 * has this name. Returns how many there are (static functions of several source files may share a
 * name) and puts at most max of them into out; 0: none.
 */
size_t unwind_facts_places(const struct unwind_facts *f, const char *word, uint64_t *out,
			   size_t max);

/* Finds places like unwind_facts_places(), but by name only. */
size_t unwind_facts_named(const struct unwind_facts *f, const char *word, uint64_t *out,
			  size_t max);

/* A number in hex, with or without 0x. False if it is something else. */
bool parse_hex(const char *word, uint64_t *out);
