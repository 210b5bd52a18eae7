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

#include "unwind/cfi_input.h"
#include "unwind/cfi_rows.h"

/*
 * Replaces *out, which must be all zero before. Gaps between FDEs become CFA_NONE rows, but padding
 * of up to 15 bytes belongs to the function after it. 0, or -ENOMEM. Damaged entries are skipped
 * and counted, never an error. Release with cfi_rows_release().
 */
int cfi_parse(const struct cfi_input *in, struct cfi_rows *out);
