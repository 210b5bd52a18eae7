/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_rows.h"

#include <errno.h>
#include <string.h>

#include "unwind/code_flow.h"

#define MAX_PADDING 15		/* bytes between functions; they count to the next one */

static const struct unwind_rule no_rule = { .cfa = CFA_NONE };

/* Counts the code among at .. end - 1 that no path reached. */
static uint64_t unreached_bytes(const struct code_flow *f, uint64_t at, uint64_t end)
{
	struct x86_insn insn;
	uint64_t bytes = 0;

	for (; at < end; at += insn.len) {
		at = code_behind_zeros(f->in, at, end);
		if (at == end)
			break;
		if (!x86_decode(f->in->code + at, end - at, &insn))
			insn.len = 1;
		else if (!x86_is_padding(&insn))
			bytes += insn.len;
	}
	return bytes;
}

/* Adds a row for the instruction at an offset; row_at: where the padding before it begins. */
static int push_insn(struct code_flow *f, uint64_t at, uint64_t end, uint64_t row_at,
		     struct cfi_rows *out, uint64_t *next)
{
	struct unwind_rule rule = code_state_rule(&f->states[f->at[at]]);

	for (*next = at + 1; *next < end && f->at[*next] == CODE_INSIDE; ++*next)
		;
	f->stats->bytes += *next - at;
	f->stats->known_bytes += rule.cfa == CFA_NONE ? 0 : *next - at;
	return cfi_rows_append(out, f->in->vaddr + (rule.cfa == CFA_SP ? row_at : at), &rule);
}

/* The length of mov $15,%eax (or %rax); syscall: rt_sigreturn. 0: it is not at this place. */
static unsigned restorer_bytes(const uint8_t *p, uint64_t left)
{
	static const uint8_t by_eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 },
			     by_rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

	if (left >= sizeof(by_eax) && !memcmp(p, by_eax, sizeof(by_eax)))
		return sizeof(by_eax);
	return left >= sizeof(by_rax) && !memcmp(p, by_rax, sizeof(by_rax)) ? sizeof(by_rax) : 0;
}

/*
 * Whether the code at an offset returns from a signal, by the stack pointer that the handler left:
 * no path leads there that pushed anything.
 */
static unsigned is_restorer(const struct code_flow *f, uint64_t at, uint64_t end)
{
	unsigned bytes = restorer_bytes(f->in->code + at, end - at);
	struct unwind_rule rule;

	if (!bytes || (at + bytes < end && f->at[at + bytes] == CODE_INSIDE))
		return 0;
	if (!f->at[at])
		return bytes;
	rule = code_state_rule(&f->states[f->at[at]]);
	return rule.cfa == CFA_NONE || (rule.cfa == CFA_SP && rule.cfa_off == 8) ? bytes : 0;
}

/* Adds the rows of code that no path reached, from at to *next - 1; a restorer may be behind it. */
static int push_unreached(struct code_flow *f, uint64_t *at, uint64_t end, uint64_t *next,
			  struct cfi_rows *out)
{
	static const struct unwind_rule signal = { .cfa = CFA_SIGNAL };
	unsigned restorer = 0;
	uint64_t code;
	int err = 0;

	for (*next = *at; *next < end; ++*next)
		if ((restorer = is_restorer(f, *next, end)) || f->at[*next])
			break;
	code = *next > *at ? unreached_bytes(f, *at, *next) : 0;
	f->stats->bytes += code;
	if (code || restorer || *next - *at > MAX_PADDING) {
		err = cfi_rows_append(out, f->in->vaddr + *at, &no_rule);
		*at = *next;
	}
	if (!restorer || err)
		return err;
	f->stats->bytes += restorer;
	f->stats->known_bytes += restorer;
	err = cfi_rows_append(out, f->in->vaddr + *next, &signal);
	*at = *next += restorer;
	return err ? err : 1;
}

static int push_gap(struct code_flow *f, const struct code_range *gap, struct cfi_rows *out)
{
	uint64_t at = gap->begin - f->in->vaddr, end = gap->end - f->in->vaddr, next;
	int err = 0;

	while (at < end && err >= 0) {
		err = push_unreached(f, &at, end, &next, out);
		if (!err && next < end)
			err = push_insn(f, next, end, at, out, &next);
		at = next;
	}
	return err < 0 ? err : cfi_rows_append(out, gap->end, &no_rule);
}

static bool ranges_are_good(const struct code_input *in, const struct code_range *v, size_t nr)
{
	uint64_t least = in->vaddr, end = in->vaddr + in->len;

	for (size_t i = 0; i < nr; i++) {
		if (v[i].begin < least || v[i].begin >= v[i].end || v[i].end > end)
			return false;
		least = v[i].end;
	}
	return true;
}

static bool ascends(const uint64_t *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (v[i] < v[i - 1])
			return false;
	return true;
}

static int check(const struct code_input *in)
{
	if (in->len > CODE_MAX_BYTES)
		return -EFBIG;
	if (in->vaddr + in->len < in->vaddr || !ranges_are_good(in, in->gaps, in->nr_gaps) ||
	    !ranges_are_good(in, in->stubs, in->nr_stubs) || !ascends(in->starts, in->nr_starts) ||
	    !ascends(in->noreturn, in->nr_noreturn))
		return -EINVAL;
	return 0;
}

int code_rows_build(const struct code_input *in, struct cfi_rows *out, struct code_stats *stats)
{
	struct code_flow f = { 0 };
	int err = check(in);

	if (err || !in->nr_gaps)
		return err;
	err = code_flow_begin(&f, in, stats);
	if (!err)
		err = code_flow_starts(&f);
	if (!err)
		err = code_trial_run(&f);
	for (size_t i = 0; i < in->nr_gaps && !err; i++)
		err = push_gap(&f, &in->gaps[i], out);
	code_flow_release(&f);
	return err;
}
