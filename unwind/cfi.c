/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/cfi.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "unwind/cfi_callsite.h"
#include "unwind/cfi_entries.h"
#include "unwind/cfi_eh_return.h"
#include "unwind/cfi_program.h"
#include "unwind/cfi_rule.h"

#define MAX_PADDING 15	/* between functions, which are aligned to 16 */

static const struct unwind_rule no_rule = { .cfa = CFA_NONE };
static const struct unwind_rule unsupported = { .cfa = CFA_UNSUPPORTED };

struct builder {
	const struct cfi_input *in;
	const struct cfi_entries *entries;
	struct cfi_rows *out;
	uint64_t covered;	/* end of the previous FDE; 0: there is none */
	struct cfi_eh_returns eh_returns;
	struct cfi_program program;
};

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Appends a row unless it says what the last one says. vaddr only goes up. 0 or -ENOMEM. */
static int push(struct cfi_rows *out, uint64_t vaddr, const struct unwind_rule *rule)
{
	struct cfi_row *row;

	if (out->nr && same_rule(&out->v[out->nr - 1].rule, rule))
		return 0;
	assert(!out->nr || vaddr > out->v[out->nr - 1].vaddr);
	row = array_push(&out->v, &out->nr, &out->cap);
	if (!row)
		return -ENOMEM;
	*row = (struct cfi_row){ vaddr, *rule };
	return 0;
}

/*
 * Handles the bytes between the previous FDE and this one. Padding counts as part of the function
 * after it; the rule at that function's entry also holds in the few bytes of a leaf function
 * without CFI (a stub of one jump). This saves one row for each function.
 */
static int push_first(struct builder *b, uint64_t vaddr, const struct unwind_rule *rule)
{
	uint64_t gap = vaddr - b->covered;
	int err = 0;

	if (b->covered && gap) {
		if (gap <= MAX_PADDING && rule->cfa == CFA_SP)
			vaddr = b->covered;
		else
			err = push(b->out, b->covered, &no_rule);
	}
	return err ? err : push(b->out, vaddr, rule);
}

static int push_row(struct builder *b, const struct cfi_fde *fde, uint64_t vaddr,
		    const struct unwind_rule *rule)
{
	return vaddr == fde->lo ? push_first(b, vaddr, rule) : push(b->out, vaddr, rule);
}

/*
 * glibc's makecontext() lets a context's function return to this piece of code. It is outermost,
 * but its FDE has no instruction and so claims a caller, which would be looked for in uc_link. It
 * is recognised by its code (x86-64):
 *
 *	mov %rbx, %rsp; mov (%rsp), %rdi; test %rdi, %rdi; je; call setcontext; mov %rax, %rdi;
 *	call exit; hlt
 *
 * The row begins one byte early, in the padding, because return addresses are looked up by the
 * byte before them.
 */
static bool is_context_start(const struct cfi_input *in, const struct cfi_fde *fde)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t head[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c,
					0x24, 0x48, 0x85, 0xff, 0x74 };
	uint8_t code[sizeof(endbr) + sizeof(head)];
	struct byte_reader r = fde->instructions;
	const uint8_t *p = code;

	if (!in->read_code || in->machine != CFI_X86_64 || fde->hi - fde->lo < 24 ||
	    fde->hi - fde->lo > 48)
		return false;
	while (br_left(&r))
		if (br_u8(&r))
			return false;
	if (in->read_code(in->ctx, fde->lo, code, sizeof(code)))
		return false;
	if (!memcmp(p, endbr, sizeof(endbr)))
		p += sizeof(endbr);
	return !memcmp(p, head, sizeof(head));
}

static int push_context_start(struct builder *b, const struct cfi_fde *fde, uint64_t end)
{
	static const struct unwind_rule root = { .cfa = CFA_ROOT };
	int err = 0;

	if (b->covered && b->covered < fde->lo - 1)
		err = push(b->out, b->covered, &no_rule);
	if (!err)
		err = push(b->out, fde->lo - (b->covered < fde->lo), &root);
	b->covered = end;
	return err;
}

static int push_eh_return(struct builder *b, uint64_t lo, uint64_t hi)
{
	struct cfi_range *range =
		array_push(&b->eh_returns.v, &b->eh_returns.nr, &b->eh_returns.cap);

	if (!range)
		return -ENOMEM;
	*range = (struct cfi_range){ lo, hi };
	return 0;
}

/* The rows of one FDE up to end, where the next FDE begins if that is before its own end. */
static int push_fde(struct builder *b, const struct cfi_fde *fde, uint64_t end)
{
	const struct cfi_cie *cie = &b->entries->cies[fde->cie];
	struct cfi_program *p = &b->program;
	bool is_eh_return = false;
	uint64_t vaddr;
	int err = 0;

	if (is_context_start(b->in, fde))
		return push_context_start(b, fde, end);
	cfi_program_begin(p, b->in, cie, fde->instructions, fde->lo);
	p->watched = CFI_EH_RETURN_REG;
	while (!err && cfi_program_next(p, &vaddr) && vaddr < end) {
		struct unwind_rule rule = cfi_rule(&p->state, cie, p->arch);

		is_eh_return |= cfi_is_eh_return(p);
		err = push_row(b, fde, vaddr, &rule);
	}
	if (is_eh_return && !err)
		err = push_eh_return(b, fde->lo, end);
	if (p->bad) {
		b->out->stats.bad_entries++;
		if (!err && p->vaddr < end)
			err = push_row(b, fde, p->vaddr, &unsupported);
	}
	b->covered = end;
	return err;
}

/*
 * Where FDEs overlap, the one that starts later counts from its start on, as in the C++ runtime's
 * binary search by start. If two FDEs have the same start, the first one in the section counts.
 */
static int push_fdes(struct builder *b)
{
	const struct cfi_fde *fdes = b->entries->fdes;
	size_t nr = b->entries->nr_fdes, i = 0;
	int err = 0;

	while (i < nr && !err) {
		const struct cfi_fde *fde = &fdes[i];
		uint64_t end = fde->hi;

		while (++i < nr && fdes[i].lo == fde->lo)
			b->out->stats.overlaps++;
		if (i < nr && fdes[i].lo < end) {
			b->out->stats.overlaps++;
			end = fdes[i].lo;
		}
		err = push_fde(b, fde, end);
	}
	if (b->covered && !err)
		err = push(b->out, b->covered, &no_rule);
	return err;
}

/*
 * The functions that are called may be outside of the part that is read, so all of the section is
 * read for the few parts that have such calls.
 */
static int add_callsites(const struct cfi_input *in, const struct cfi_entries *entries,
			 struct cfi_rows *out)
{
	struct cfi_input whole = *in;
	struct cfi_entries all = { 0 };
	struct cfi_stats unused = { 0 };
	int err;

	if (!in->fdes || !cfi_callsite_wants(out))
		return cfi_callsite_add(in, entries, out);
	whole.fdes = NULL;
	err = in->load(in->ctx, 0, in->len) ? 0 : cfi_entries_read(&whole, &all, &unused);
	if (!err)
		err = cfi_callsite_add(&whole, &all, out);
	cfi_entries_release(&all);
	return err;
}

int cfi_parse(const struct cfi_input *in, struct cfi_rows *out)
{
	struct cfi_entries entries = { 0 };
	struct builder b = { .in = in, .entries = &entries, .out = out };
	int err;

	cfi_rows_release(out);
	err = cfi_entries_read(in, &entries, &out->stats);
	if (!err)
		err = push_fdes(&b);
	if (!err && in->read_code)
		err = cfi_eh_returns_add(in, &b.eh_returns, out);
	if (!err && in->read_code)
		err = add_callsites(in, &entries, out);
	free(b.eh_returns.v);
	for (size_t i = 0; i < out->nr; i++)
		out->stats.unsupported += out->v[i].rule.cfa == CFA_UNSUPPORTED;
	cfi_entries_release(&entries);
	if (err)
		cfi_rows_release(out);
	return err;
}

