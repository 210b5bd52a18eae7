/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi_eh_return.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/bisect.h"
#include "unwind/cfi_code.h"

enum { RDI = 7 };		/* as instructions hold it */

struct eh_return {
	uint64_t lo, hi;		/* from the last byte of the first call to the epilogue */
	/* End of the instruction that stores the handler's address; hi: there is none. */
	uint64_t stored;
	int32_t cfa_at;			/* the context's field, from rbp */
};

bool cfi_is_eh_return(const struct cfi_program *p)
{
	return p->in->machine == CFI_X86_64 && p->state.watched.how == HOW_OFFSET &&
	       p->state.cfa.how == HOW_OFFSET && p->state.cfa.reg == p->arch->fp;
}

/* Whether this is mov N(%rbp) to a register. */
static bool is_load(const struct x86_insn *insn)
{
	return !insn->is_vex && insn->map == X86_ONE_BYTE && insn->op == 0x8b && insn->rex & 8 &&
	       insn->mod && insn->mod != 3 && insn->base == X86_BP && insn->index == X86_NO_REG;
}

/* The loads since the last call, as offsets from rbp. */
struct loads {
	int32_t cfa_at;			/* into %rdi, the first argument; 0: none */
	int32_t at[8];			/* all of them */
	unsigned nr;
};

static void add_load(struct loads *l, const struct x86_insn *insn)
{
	if (insn->reg == RDI)
		l->cfa_at = insn->disp;
	l->at[l->nr++ % 8] = insn->disp;
}

static bool has_both(const struct loads *l)
{
	for (unsigned i = 0; i < l->nr && i < 8 && l->cfa_at; i++) {
		if (l->at[i] == l->cfa_at + 8)
			return true;
	}
	return false;
}

/* Finds the two calls; sets out->lo and out->cfa_at. */
static bool find_calls(const struct cfi_code *c, struct eh_return *out)
{
	struct loads loads = { 0 };
	struct x86_insn insn;
	size_t at = 0, call = 0;

	while (cfi_code_next(c, &at, &insn)) {
		if (insn.flow == X86_CALL) {
			if (call && has_both(&loads)) {
				*out = (struct eh_return){ .lo = c->vaddr + call - 1,
							 .cfa_at = loads.cfa_at };
				return true;
			}
			call = at;
			loads = (struct loads){ 0 };
		} else if (insn.flow != X86_NEXT) {
			call = 0;
		} else if (is_load(&insn)) {
			add_load(&loads, &insn);
		}
	}
	return false;
}

static bool is_between(const struct eh_return *er, uint64_t vaddr)
{
	return vaddr > er->lo && vaddr < er->hi;
}

/* Whether this is mov %rsi, 8(%rbp,%rax), perhaps with other registers. */
static bool is_store(const struct x86_insn *insn)
{
	return !insn->is_vex && insn->map == X86_ONE_BYTE && insn->op == 0x89 && insn->rex & 8 &&
	       insn->mod == 1 && insn->base == X86_BP && insn->index != X86_NO_REG &&
	       insn->scale == 1 && insn->disp == 8;
}

/*
 * Whether no jump leads from the rest of the function into the range, and none out of it except
 * over its end. Sets er->stored.
 */
static bool is_closed(const struct cfi_code *c, struct eh_return *er)
{
	struct x86_insn insn;
	size_t at = 0;

	er->stored = er->hi;
	while (at < c->len) {
		uint64_t begin = c->vaddr + at;

		if (!cfi_code_next(c, &at, &insn))
			return false;
		if (is_between(er, begin) && is_store(&insn))
			er->stored = c->vaddr + at;
		if (is_between(er, begin) && insn.flow != X86_NEXT && insn.flow != X86_CALL &&
		    insn.flow != X86_JUMP && insn.flow != X86_BRANCH)
			return false;
		if ((insn.flow == X86_JUMP || insn.flow == X86_BRANCH) &&
		    is_between(er, begin) != is_between(er, cfi_code_target(c, at, &insn)))
			return false;
	}
	return true;
}

/*
 * Finds where the row that holds at er->lo ends; it must have the rule of a function with a frame
 * pointer. *next: the index of the row after it.
 */
static bool find_end(const struct cfi_rows *rows, struct eh_return *er, size_t *next)
{
	size_t after = bisect(rows->nr, i, rows->v[i].vaddr <= er->lo);
	const struct unwind_rule *r;

	if (!after || after == rows->nr)
		return false;
	r = &rows->v[after - 1].rule;
	er->hi = rows->v[after].vaddr;
	*next = after;
	return r->cfa == CFA_FP && r->cfa_off == 16 && r->fp == FP_CFA && r->fp_off == -16 &&
	       r->ra == RA_CFA;
}

/*
 * Patches the epilogue, row by row up to the jump through a register. Its rules are right, but the
 * address they find is the handler's, which is not a return address.
 */
static int patch_epilogue(struct cfi_patches *patches, const struct cfi_rows *rows, size_t i,
			  uint64_t end)
{
	bool is_last = false;
	int err = 0;

	for (; !err && !is_last && i + 1 < rows->nr && rows->v[i].vaddr < end; i++) {
		struct unwind_rule rule = rows->v[i].rule;

		if (rule.cfa != CFA_REG && rule.cfa != CFA_SP)
			break;
		is_last = rule.ra == RA_REG;
		rule.ra |= RULE_EXACT;
		err = cfi_patches_add(patches, rows->v[i].vaddr, rows->v[i + 1].vaddr, &rule);
	}
	return err;
}

static int patch(struct cfi_patches *patches, const struct cfi_rows *rows,
		 const struct eh_return *er, size_t next, uint64_t end)
{
	struct unwind_rule rule = { .cfa = CFA_EH_RETURN,
				    .cfa_off = er->cfa_at,
				    .fp = FP_DEREF_FP };
	int err = cfi_patches_add(patches, er->lo, er->stored, &rule);

	rule.ra = RULE_EXACT;
	if (!err && er->stored < er->hi)
		err = cfi_patches_add(patches, er->stored, er->hi, &rule);
	return err ? err : patch_epilogue(patches, rows, next, end);
}

int cfi_eh_returns_add(const struct cfi_input *in, const struct cfi_eh_returns *functions,
		       struct cfi_rows *rows)
{
	struct cfi_patches patches = { 0 };
	struct cfi_code *c = functions->nr ? malloc(sizeof(*c)) : NULL;
	struct eh_return er;
	int err = functions->nr && !c ? -ENOMEM : 0;

	for (size_t i = 0; i < functions->nr && !err; i++) {
		const struct cfi_range *f = &functions->v[i];
		size_t next;

		if (cfi_code_read(c, in, f->lo, f->hi) && find_calls(c, &er) &&
		    find_end(rows, &er, &next) && er.hi <= f->hi && is_closed(c, &er))
			err = patch(&patches, rows, &er, next, f->hi);
	}
	if (!err)
		err = cfi_patch(rows, &patches);
	cfi_patches_release(&patches);
	free(c);
	return err;
}
