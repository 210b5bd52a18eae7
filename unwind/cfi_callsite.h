/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for calls in functions whose CFA counts from a register other than the stack and the frame
 * pointer. Such a rule is useful if the function itself was interrupted. If it has called another
 * function, the register holds what the called functions have put there. Most of these functions
 * are glibc's _dl_runtime_resolve (rbx; every program that starts goes through it some hundred
 * times) and ciphers in assembler (r11, rax).
 *
 * If the call is direct, the code of the called function and its FDE say what happens to the
 * register (x86-64 only):
 *
 *	it is pushed before anything else happens to it: the caller's value lies at a constant place
 *	below the caller's stack pointer, once the interrupted stack pointer is not above it; before
 *	and after that it is in the register
 *	it is not touched, and nothing is called from there: it is in the register
 *
 * CFA_CALLEE_SAVED says both. A return address is looked up by the byte before it, which is the
 * last one of the call instruction. No interrupted instruction begins at that byte, so a row of
 * this one byte is met by callers only.
 *
 * Limits: x86-64; direct calls; MAX_CALLS calls in a file. Internal to the reading of CFI.
 */
#pragma once

#include <stdbool.h>

#include "unwind/cfi_input.h"
#include "unwind/cfi_rows.h"
#include "unwind/cfi_entries.h"

/*
 * Adds these rows to rows. in->read_code must be set. Code that cannot be read or followed adds no
 * row. 0 or -ENOMEM.
 */
int cfi_callsite_add(const struct cfi_input *in, const struct cfi_entries *entries,
		     struct cfi_rows *rows);

/* Whether there are such functions among rows. */
bool cfi_callsite_wants(const struct cfi_rows *rows);
