/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules for the functions of libgcc that end with __builtin_eh_return: _Unwind_RaiseException,
 * _Unwind_Resume and two more. Every C++ exception and every Rust panic that is caught leaves
 * through one of them.
 *
 * Before they leave they call uw_install_context_1(), which overwrites the registers that they had
 * saved for their caller with those of the function that has the handler. From that call on their
 * unwind information is wrong, because nothing leads back to the caller any more. But the function
 * with the handler can be found: its stack pointer and the address of the handler are the fields
 * cfa and ra, side by side, of a context in the frame.
 *
 *	call uw_install_context_1
 *	mov A+8(%rbp), ...; mov A(%rbp), %rdi; ... call _Unwind_DebugHook	in any order, %rsi
 *										from the former
 *	mov %rsi, 8(%rbp,%rax)			stores the handler's address as return address
 *	... no other way in or out ...
 *	the epilogue, whose rules are right again (rcx + 8)
 *
 * From the call on the rule is CFA_EH_RETURN: CFA = *(rbp + A). The return address is that of the
 * call which the function with the handler had made, until the handler's address is stored; from
 * there to the end of the epilogue it is the handler's (RULE_EXACT). rbp is what lies at rbp.
 *
 * What it is worth: the share of user stacks that are whole, without and with it, at 997 Hz:
 *
 *	tests/workloads/throws.cc		96.7 -> 100 %
 *	std::stoi() of words, in a loop		97.1 -> 100 %
 *	a recursive parser that rethrows	94.7 -> 100 %
 *	gdb, evaluating unknown symbols		98.0 -> 99.5 %
 *	cmake, apt-cache search			100 % both: they do not throw
 *
 * and what it costs: 114 of 25,085 instructions that the verifier looks at in on_task, 67 of 9,559
 * in on_tick, 57 bytes of machine code.
 *
 * Limits: x86-64 only. Other code (another compiler's libgcc) keeps the rules of its unwind
 * information.
 *
 * Internal to the reading of CFI.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi_input.h"
#include "unwind/cfi_rows.h"
#include "unwind/cfi_program.h"

/*
 * Only these functions save rax (it tells a handler what it has caught), so the rule for rax is
 * watched while the program of an FDE runs. cfi_is_eh_return() looks at the state of that program.
 */
#define CFI_EH_RETURN_REG 0
bool cfi_is_eh_return(const struct cfi_program *p);

/* These functions, ascending. All zero: there are none. */
struct cfi_eh_returns {
	struct cfi_range { uint64_t lo, hi; } *v;
	size_t nr, cap;
};

/* Changes the rows of these functions. in->read_code must be set. 0 or -ENOMEM. */
int cfi_eh_returns_add(const struct cfi_input *in, const struct cfi_eh_returns *functions,
		       struct cfi_rows *rows);
