/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_callsite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"
#include "unwind/cfi_code.h"

#define RETURN_ADDRESS 8	/* bytes below the CFA: the first push goes right below them */
#define NEVER_STORED INT32_MIN	/* below every stack pointer */
#define MAX_CALLS 1024		/* looked at in a file; none of 2797 files has more than 40 */

struct builder {
	const struct cfi_input *in;
	const struct cfi_entries *entries;
	struct cfi_patches sites;	/* one for each call that is understood */
	unsigned nr_calls;
	struct cfi_code caller, callee;
	struct cfi_program program;
};

/* The number that instructions use, by DWARF register number. */
static const uint8_t insn_regs[16] = { 0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };

static bool is_callee_saved(unsigned dwarf)
{
	return dwarf == 3 || dwarf >= 12;	/* rbx, r12 to r15; rbp has rules of its own */
}

static bool is_one_byte(const struct x86_insn *insn, uint8_t op)
{
	return !insn->is_vex && insn->map == X86_ONE_BYTE && (insn->op & 0xf8) == op;
}

static bool is_push(const struct x86_insn *insn) { return is_one_byte(insn, 0x50); }
static bool is_pop(const struct x86_insn *insn) { return is_one_byte(insn, 0x58); }

static unsigned reg_of_push(const struct x86_insn *insn)
{
	return (insn->op & 7u) | (insn->rex & 1u) << 3;
}

static bool is_inside(const struct cfi_code *c, uint64_t vaddr)
{
	return vaddr - c->vaddr < c->len;
}

/*
 * Whether control stays in this function or returns to its caller after the instruction that ends
 * at end.
 */
static bool stays(const struct cfi_code *c, size_t end, const struct x86_insn *insn)
{
	switch ((enum x86_flow)insn->flow) {
	case X86_NEXT: case X86_RETURN: case X86_STOP:
		return true;
	case X86_JUMP: case X86_BRANCH:
		return is_inside(c, cfi_code_target(c, end, insn));
	case X86_CALL: case X86_JUMP_ANY: case X86_CALL_ANY:
		return false;
	}
	return false;
}

/* ---- what becomes of a register in a function ---- */

static bool is_untouched(const struct cfi_code *c, unsigned reg)
{
	struct x86_insn insn;
	size_t at = 0;

	while (at < c->len) {
		if (!cfi_code_next(c, &at, &insn) || x86_may_write(&insn, reg) ||
		    !stays(c, at, &insn))
			return false;
	}
	return true;
}

/*
 * Finds the push of reg in the prologue, where other instructions may change neither the register
 * nor the stack pointer. *end: bytes up to the end of that push; *slot: where it stores reg, from
 * the CFA.
 */
static bool find_push(const struct cfi_code *c, unsigned reg, size_t *end, int32_t *slot)
{
	struct x86_insn insn;
	size_t at = 0;

	*slot = -RETURN_ADDRESS;
	while (cfi_code_next(c, &at, &insn)) {
		if (is_push(&insn)) {
			*slot -= 8;
			if (reg_of_push(&insn) == reg) {
				*end = at;
				return true;
			}
		} else if (x86_may_write(&insn, reg) || x86_may_write(&insn, X86_SP) ||
			   (insn.flow != X86_NEXT && insn.flow != X86_BRANCH)) {
			return false;
		}
	}
	return false;
}

/* How the function that is looked at saves a register. */
struct save {
	unsigned reg;		/* as instructions hold it */
	size_t push_end;
	int32_t slot;		/* from the CFA */
	bool is_stored;		/* the CFI has said so by now */
	bool is_popped;		/* and not returned yet */
};

/* Whether the stack pointer is above the slot, which then holds nothing. */
static bool is_above_slot(const struct save *s, size_t begin, const struct cfi_program *p,
			  const struct cfi_value *cfa)
{
	if (begin < s->push_end || s->is_popped)
		return true;
	return cfa->how == HOW_OFFSET && cfa->reg == p->arch->sp && cfa->off < -(int64_t)s->slot;
}

/*
 * Checks one instruction from begin to end under the CFI's state: whether the value is where
 * CFA_CALLEE_SAVED looks for it.
 */
static bool keeps(struct save *s, const struct cfi_code *c, size_t begin, size_t end,
		  const struct x86_insn *insn, const struct cfi_program *p,
		  const struct cfi_state *state)
{
	bool stored = state->watched.how == HOW_OFFSET && state->watched.off == s->slot;

	if (begin >= s->push_end && stored)
		s->is_stored = true;
	if (is_above_slot(s, begin, p, &state->cfa)) {
		if (insn->flow == X86_RETURN || insn->flow == X86_JUMP)
			s->is_popped = false;
		if (is_push(insn) && end == s->push_end)
			return true;
		return !x86_may_write(insn, s->reg) && stays(c, end, insn);
	}
	if (is_pop(insn) && reg_of_push(insn) == s->reg)
		s->is_popped = true;
	if (stored)
		return true;
	/* Some compilers write the CFI of a push some instructions later. */
	return !s->is_stored && !x86_may_write(insn, s->reg) && insn->flow == X86_NEXT;
}

static bool is_pushed(struct builder *b, const struct cfi_fde *fde, unsigned dwarf, int32_t *slot)
{
	struct cfi_program *p = &b->program;
	struct save s = { .reg = insn_regs[dwarf] };
	const struct cfi_code *c = &b->callee;
	uint64_t next = fde->lo;
	struct cfi_state state = { 0 };
	struct x86_insn insn;
	bool more = true;
	size_t at = 0;

	if (!find_push(c, s.reg, &s.push_end, &s.slot))
		return false;
	cfi_program_begin(p, b->in, &b->entries->cies[fde->cie], fde->instructions, fde->lo);
	p->watched = dwarf;
	more = cfi_program_next(p, &next);
	while (at < c->len) {
		size_t begin = at;

		while (more && next <= c->vaddr + begin) {
			state = p->state;
			more = cfi_program_next(p, &next);
		}
		if (!cfi_code_next(c, &at, &insn) || !keeps(&s, c, begin, at, &insn, p, &state))
			return false;
	}
	*slot = s.slot;
	return !p->bad && s.is_stored;
}

/* The last FDE that begins at or before vaddr, if it covers vaddr. */
static const struct cfi_fde *find_fde(const struct cfi_entries *e, uint64_t vaddr)
{
	size_t after = bisect(e->nr_fdes, i, e->fdes[i].lo <= vaddr);

	return after && vaddr < e->fdes[after - 1].hi ? &e->fdes[after - 1] : NULL;
}

/*
 * Finds where the function called at target keeps its caller's register, from its CFA. False:
 * unknown.
 */
static bool find_slot(struct builder *b, uint64_t target, unsigned dwarf, int32_t *slot)
{
	const struct cfi_fde *fde = find_fde(b->entries, target);

	if (!fde || !cfi_code_read(&b->callee, b->in, fde->lo, fde->hi))
		return false;
	*slot = NEVER_STORED;
	if (is_untouched(&b->callee, insn_regs[dwarf]))
		return true;
	return is_callee_saved(dwarf) && fde->lo == target && is_pushed(b, fde, dwarf, slot);
}

/* ---- the calls ---- */

static bool is_wanted(const struct unwind_rule *r)
{
	return r->cfa == CFA_REG && r->ra == RA_CFA && r->reg < sizeof(insn_regs);
}

/* Looks at the calls of the stretch from vaddr to end, where r holds. 0 or -ENOMEM. */
static int add_sites(struct builder *b, uint64_t vaddr, uint64_t end, const struct unwind_rule *r)
{
	const struct cfi_code *c = &b->caller;
	struct x86_insn insn;
	size_t at = 0;
	int err = 0;

	if (!cfi_code_read(&b->caller, b->in, vaddr, end))
		return 0;
	while (!err && cfi_code_next(c, &at, &insn)) {
		struct unwind_rule rule = *r;

		if (insn.flow != X86_CALL)
			continue;
		if (++b->nr_calls > MAX_CALLS)
			return 0;
		rule.cfa = CFA_CALLEE_SAVED;
		if (find_slot(b, cfi_code_target(c, at, &insn), r->reg, &rule.aux))
			err = cfi_patches_add(&b->sites, c->vaddr + at - 1, c->vaddr + at, &rule);
	}
	return err;
}

bool cfi_callsite_wants(const struct cfi_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		if (is_wanted(&rows->v[i].rule))
			return true;
	}
	return false;
}

int cfi_callsite_add(const struct cfi_input *in, const struct cfi_entries *entries,
		     struct cfi_rows *rows)
{
	struct builder *b;
	int err = 0;

	if (in->machine != CFI_X86_64 || !cfi_callsite_wants(rows))
		return 0;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->in = in;
	b->entries = entries;
	for (size_t i = 0; i + 1 < rows->nr && !err; i++) {
		if (is_wanted(&rows->v[i].rule))
			err = add_sites(b, rows->v[i].vaddr, rows->v[i + 1].vaddr,
					&rows->v[i].rule);
	}
	if (!err)
		err = cfi_patch(rows, &b->sites);
	cfi_patches_release(&b->sites);
	free(b);
	return err;
}
