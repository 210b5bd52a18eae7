/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/inspect/rule_text.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 24
#define CALL_BYTES 8		/* x86-64: a call pushes the return address right below the CFA */

/*
 * DWARF numbers: System V ABI x86-64, figure 3.36; DWARF for the Arm 64-bit architecture, table 1.
 */
static const char *const x86_64_regs[] = {
	"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
};

static const struct {
	const char *name, *help;
} cfa_kinds[] = {
	[CFA_NONE] = { "none", "no unwind information" },
	[CFA_UNSUPPORTED] = { "unsupported", "a rule that probee cannot follow" },
	[CFA_SP] = { "sp", "CFA from the stack pointer" },
	[CFA_FP] = { "fp", "CFA from the frame pointer" },
	[CFA_REG] = { "reg", "CFA from another register: innermost frame only" },
	[CFA_DEREF_SP] = { "deref-sp", "CFA stored at the stack pointer" },
	[CFA_DEREF_FP] = { "deref-fp", "CFA stored at the frame pointer" },
	[CFA_DEREF_REG] = { "deref-reg", "CFA stored at another register: innermost frame only" },
	[CFA_PLT] = { "plt", "PLT stub" },
	[CFA_SIGNAL] = { "signal", "signal trampoline" },
	[CFA_ROOT] = { "root", "outermost frame" },
	[CFA_OTHER_STACK] = { "other-stack", "CFA from the frame pointer, on another stack" },
	[CFA_CALLEE_SAVED] = { "kept-reg",
			       "CFA from a register that the function called here keeps" },
	[CFA_EH_RETURN] = { "handler",
			    "CFA of the function with the handler, while an exception is "
			    "handed over" },
	[CFA_GOROUTINE] = { "goroutine",
			    "the goroutine that a thread of Go works for, on its own stack" },
};

#define NR_CFA_KINDS (sizeof(cfa_kinds) / sizeof(cfa_kinds[0]))

const char *rule_cfa_kind(unsigned cfa)
{
	return cfa < NR_CFA_KINDS ? cfa_kinds[cfa].name : NULL;
}

const char *rule_cfa_kind_help(unsigned cfa)
{
	return cfa < NR_CFA_KINDS ? cfa_kinds[cfa].help : "";
}

const char *rule_fp_name(uint16_t machine)
{
	return machine == EM_AARCH64 ? "x29" : "rbp";
}

static const char *sp_name(uint16_t machine)
{
	return machine == EM_AARCH64 ? "sp" : "rsp";
}

static const char *reg_name(uint16_t machine, unsigned reg, char buf[TEXT_MAX])
{
	if (machine == EM_X86_64 && reg < sizeof(x86_64_regs) / sizeof(x86_64_regs[0]))
		return x86_64_regs[reg];
	if (machine == EM_AARCH64 && reg == 31)
		return "sp";
	snprintf(buf, TEXT_MAX, machine == EM_AARCH64 ? "x%u" : "r%u", reg);
	return buf;
}

static void put_cfa(const struct unwind_rule *r, uint16_t machine, char *out, size_t size)
{
	char buf[TEXT_MAX], sum[TEXT_MAX] = "";
	const char *base = reg_name(machine, r->reg, buf);

	if (r->cfa == CFA_SP || r->cfa == CFA_DEREF_SP)
		base = sp_name(machine);
	if (r->cfa == CFA_FP || r->cfa == CFA_DEREF_FP || r->cfa == CFA_OTHER_STACK ||
	    r->cfa == CFA_EH_RETURN)
		base = rule_fp_name(machine);
	if (r->cfa == CFA_SP || r->cfa == CFA_FP || r->cfa == CFA_REG ||
	    r->cfa == CFA_CALLEE_SAVED || r->cfa == CFA_OTHER_STACK) {
		snprintf(out, size, "%s%+d", base, r->cfa_off);
		return;
	}
	if (r->aux)
		snprintf(sum, sizeof(sum), "%+d", r->aux);
	snprintf(out, size, "*(%s%+d)%s", base, r->cfa_off, sum);
}

static void put_fp(const struct unwind_rule *r, uint16_t machine, char *out, size_t size)
{
	switch ((enum unwind_fp)r->fp) {
	case FP_SAME:
		snprintf(out, size, "u");
		return;
	case FP_CFA:
		snprintf(out, size, "c%+d", r->fp_off);
		return;
	case FP_UNDEFINED:
		snprintf(out, size, "lost");
		return;
	case FP_DEREF_FP:
		snprintf(out, size, "*(%s%+d)", rule_fp_name(machine), r->fp_off);
		return;
	}
	snprintf(out, size, "?");
}

static void put_ra(const struct unwind_rule *r, uint16_t machine, char *out, size_t size)
{
	char buf[TEXT_MAX];

	switch ((enum unwind_ra)RULE_RA(r)) {
	case RA_CFA:
		snprintf(out, size, "c%+d", -CALL_BYTES);
		return;
	case RA_CFA_OFF:
		snprintf(out, size, "c%+d", r->aux);
		return;
	case RA_REG:
		snprintf(out, size, "%s", reg_name(machine, r->reg, buf));
		return;
	}
	snprintf(out, size, "?");
}

void rule_text(const struct unwind_rule *r, uint16_t machine, struct rule_text *out)
{
	memset(out, 0, sizeof(*out));
	switch ((enum unwind_cfa)r->cfa) {
	case CFA_NONE: case CFA_UNSUPPORTED: case CFA_ROOT:
		strcpy(out->cfa, cfa_kinds[r->cfa].name);
		return;
	case CFA_SIGNAL:
		strcpy(out->cfa, "signal frame");
		return;
	case CFA_GOROUTINE:
		strcpy(out->cfa, "goroutine");
		return;
	case CFA_PLT:
		snprintf(out->cfa, sizeof(out->cfa), "rsp+8+8*((rip&15)>=%d)", r->aux);
		break;
	case CFA_SP:
	case CFA_FP:
	case CFA_REG:
	case CFA_DEREF_SP:
	case CFA_DEREF_FP:
	case CFA_DEREF_REG:
	case CFA_OTHER_STACK: case CFA_CALLEE_SAVED: case CFA_EH_RETURN:
		put_cfa(r, machine, out->cfa, sizeof(out->cfa));
		break;
	default:
		strcpy(out->cfa, "?");
		return;
	}
	put_fp(r, machine, out->fp, sizeof(out->fp));
	put_ra(r, machine, out->ra, sizeof(out->ra));
}
