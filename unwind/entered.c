/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/entered.h"

#include <elf.h>
#include <stdbool.h>

#include "src/base/call_before.h"
#include "unwind/cfi_code.h"

#define MAX_LOOKS 10000		/* at code, for one file */
#define RET 0xc3

/* Whether code gets here by a call or a jump alone, as to other functions. */
static bool is_plain_entry(const struct unwind_rule *r)
{
	return r->cfa == CFA_SP && r->cfa_off == 8 && r->fp == FP_SAME && RULE_RA(r) == RA_CFA;
}

static bool ends_a_stack(const struct unwind_rule *r)
{
	return r->cfa == CFA_SIGNAL || r->cfa == CFA_ROOT;
}

/* The rule for the byte before a row; false: it keeps its own. last: that byte. */
static bool rule_before(const struct cfi_input *in, const struct unwind_rule *before,
			const struct unwind_rule *r, uint8_t last, struct unwind_rule *out)
{
	*out = *r;
	if (in->machine != CFI_X86_64 || before->cfa == CFA_NONE || last != RET)
		return true;
	if (!is_plain_entry(before))
		return false;
	out->cfa_off = 8;
	out->ra |= RULE_ENTERED | (before->ra & RULE_GUESSED);
	return true;
}

/* row[-1] is the row before. Most rows just begin earlier, so that not all rows are copied. */
static int look(const struct cfi_input *in, struct cfi_row *row, struct cfi_patches *patches)
{
	uint8_t code[CALL_BYTES_MAX];
	struct unwind_rule rule;

	if (row->vaddr < sizeof(code) ||
	    in->read_code(in->ctx, row->vaddr - sizeof(code), code, sizeof(code)) ||
	    code_ends_in_call(in->machine == CFI_X86_64 ? EM_X86_64 : EM_AARCH64, code) ||
	    !rule_before(in, &row[-1].rule, &row->rule, code[sizeof(code) - 1], &rule))
		return 0;
	if (!(rule.ra & RULE_ENTERED) && row[-1].vaddr < row->vaddr - 1) {
		row->vaddr--;
		return 0;
	}
	return cfi_patches_add(patches, row->vaddr - 1, row->vaddr, &rule);
}

int entered_rows_add(const struct cfi_input *in, struct cfi_rows *rows)
{
	struct cfi_patches patches = { 0 };
	size_t looks = 0;
	int err = 0;

	for (size_t i = 1; i < rows->nr && looks < MAX_LOOKS && !err; i++) {
		if (!ends_a_stack(&rows->v[i].rule))
			continue;
		looks++;
		err = look(in, &rows->v[i], &patches);
	}
	if (!err)
		err = cfi_patch(rows, &patches);
	cfi_patches_release(&patches);
	return err;
}
