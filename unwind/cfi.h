/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DWARF call frame information (.eh_frame, LSB 5 and DWARF 5 6.4) -> flat rows of unwind rules.
 *
 * An FDE is a small program that says, instruction by instruction, where the caller's registers
 * are. It is run once, and each stretch of code with one state becomes a row:
 *
 *	code			program				rows: from	rule
 *	push %rbp		def_cfa rsp+8; advance 1	begin		CFA = rsp+8
 *	mov %rsp, %rbp		def_cfa_offset 16;		begin+1		CFA = rsp+16,
 *				offset rbp at CFA-16; advance 3			rbp at CFA-16
 *	...			def_cfa_register rbp		begin+4		CFA = rbp+16, same
 *
 * The input is bytes, not files. They are foreign: nothing is read outside them, no loop runs
 * without consuming input, memory is bounded by a multiple of the input's size. Fuzzed
 * (tests/fuzz/fuzz_cfi.c).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "unwind/row.h"

enum cfi_machine { CFI_X86_64, CFI_AARCH64 };

struct cfi_input {
	const uint8_t *eh_frame;
	size_t len;
	uint64_t vaddr;			/* of the first byte */
	uint64_t text_vaddr;		/* base for DW_EH_PE_textrel; 0 usually */
	uint64_t got_vaddr;		/* base for DW_EH_PE_datarel; 0 usually */
	enum cfi_machine machine;
	/*
	 * Copies code; returns 0 unless it cannot be read. NULL: rules that come from code are not
	 * looked for (cfi_callsite.h, cfi_eh_return.h).
	 */
	int (*read_code)(void *ctx, uint64_t vaddr, uint8_t *buf, size_t len);
	/*
	 * A part of the section: the offsets of the FDEs that are wanted, ascending. load() fills
	 * in bytes of eh_frame before they are read, so it need not hold any before. It returns 0
	 * unless they cannot be read. NULL: all FDEs are wanted, and eh_frame holds the section.
	 */
	const uint64_t *fdes;
	size_t nr_fdes;
	int (*load)(void *ctx, uint64_t offset, uint64_t len);
	void *ctx;
};

/* The rule in force from vaddr to the vaddr of the next row. */
struct cfi_row {
	uint64_t vaddr;
	struct unwind_rule rule;
};

struct cfi_stats {
	size_t nr_fdes, nr_cies;
	size_t bad_entries;		/* entries skipped because damaged */
	size_t unsupported;		/* rows whose rule became CFA_UNSUPPORTED */
	size_t overlaps;		/* FDEs dropped or cut because they overlap another */
};

struct cfi_rows {
	struct cfi_row *v;		/* strictly ascending vaddr; neighbours' rules differ */
	size_t nr, cap;
	struct cfi_stats stats;
};

/*
 * Replaces *out, which must be all zero before. Gaps between FDEs become CFA_NONE rows, but padding
 * of up to 15 bytes belongs to the function after it. 0, or -ENOMEM. Damaged entries are skipped
 * and counted, never an error. Release with cfi_rows_release().
 */
int cfi_parse(const struct cfi_input *in, struct cfi_rows *out);
void cfi_rows_release(struct cfi_rows *rows);

/* Adds a row, by ascending vaddr, unless its rule is that of the row before. 0 or -ENOMEM. */
int cfi_rows_append(struct cfi_rows *out, uint64_t vaddr, const struct unwind_rule *rule);

/* The rule in force at vaddr; CFA_NONE outside. */
struct unwind_rule cfi_rows_find(const struct cfi_rows *rows, uint64_t vaddr);

/*
 * For files without section headers. The header (PT_GNU_EH_FRAME) says where .eh_frame begins: 0 or
 * -EBADMSG. Nothing says how long it is: it ends, terminator included, cfi_terminated_len() bytes
 * from there.
 */
int cfi_find_by_header(const uint8_t *hdr, size_t len, uint64_t hdr_vaddr, uint64_t *vaddr);
size_t cfi_terminated_len(const uint8_t *eh_frame, size_t len);
