/*
 * The last moments of the functions that an exception goes through: _Unwind_RaiseException,
 * _Unwind_Resume and the others of libgcc that end with __builtin_eh_return. Before they leave they
 * call uw_install_context_1(), which puts the registers of the function with the handler where
 * their own caller's were saved. From then on their unwind information is wrong for everybody:
 * there is no way back to the caller any more, only to the handler's function, whose stack pointer
 * and address are the fields cfa and ra, side by side, of the context in their frame.
 *
 *	call uw_install_context_1
 *	mov A+8(%rbp), ...; mov A(%rbp), %rdi; ... call _Unwind_DebugHook	in any order, %rsi
 *										from the former
 *	... no other way in or out ...
 *	the epilogue, whose rules are right again (rcx + 8)
 *
 * From the call on the rule is: CFA = *(rbp + A), where the handler's function had called
 * something; the return address of that call is still below it, or, once that was stored, the
 * handler's (RULE_EXACT, to the end of the epilogue); rbp is what lies at rbp.
 *
 * Internal to the reading of CFI.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/cfi_program.h"

/*
 * Only functions of this kind save rax, which tells a handler what it has caught: to be watched
 * while an FDE is run.
 */
#define CFI_LANDING_REG 0
bool cfi_is_landing(const struct cfi_program *p);

struct cfi_landings {			/* such functions, ascending; may be empty, all zero */
	struct cfi_range { uint64_t lo, hi; } *v;
	size_t nr, cap;
};

/*
 * Changes their rows. in->read_code is set. Code that is not as above is left alone. 0 or -ENOMEM.
 */
int cfi_landings_add(const struct cfi_input *in, const struct cfi_landings *functions,
		     struct cfi_rows *rows);
