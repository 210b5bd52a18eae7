/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of one binary, and what was found out about them. The questions and answers are plain
 * bytes without pointers, so a batch can be answered in another process.
 *
 *	batch.v, batch.nr		addresses in; the other fields are filled in
 *	symbol_batch_elf(&batch, table)	or one of the others
 *	batch.text			the names; answers have offsets in it
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/bytes.h"

#define SYMBOL_NO_NAME UINT32_MAX

struct elf_symbols;
struct kernel_symbols;

struct symbol_answer {
	uint64_t addr, func_addr;
	uint32_t cookie;		/* the owner's */
	uint32_t name, sysname;		/* offsets in text, or SYMBOL_NO_NAME */
	uint8_t status, lang, func_flags;	/* as in struct symbol */
	uint8_t has_func_addr;		/* 0 or 1 */
	uint8_t is_return;		/* 1: addr is the octet before a return address */
	uint8_t pad[7];
};

struct symbol_batch {
	struct symbol_answer *v;
	size_t nr;
	struct byte_buf text;		/* NUL-terminated names */
	bool no_demangle;
};

void symbol_batch_elf(struct symbol_batch *b, const struct elf_symbols *table);
void symbol_batch_kernel(struct symbol_batch *b, const struct kernel_symbols *k);
/* No answers, because of err. */
void symbol_batch_fail(struct symbol_batch *b, int err);
