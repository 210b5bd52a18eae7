/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "unwind/code_window_parts.h"

#define BACKWARD_PASSES 12

/* ---- the caller's frame pointer ---- */

/* The level of the slot that an effect refers to. */
static bool slot_level(struct window *w, uint32_t i, uint8_t base, int32_t by, int32_t *level)
{
	uint32_t value = base == FROM_SLOT_AT_SP ? sp_of(i) : fp_of(i);

	if (!code_groups_level(&w->groups, value, level))
		return false;
	*level -= by;
	return true;
}

/* Sets where it is before instruction i, if that is where it is behind. */
static void step_back(struct window *w, uint32_t i, uint8_t fp, int32_t slot)
{
	struct insn *n = &w->v[i];
	const struct code_effect *e = &n->effect;
	int32_t level;

	if (e->saves_fp && fp == FP_IS_SLOT &&
	    slot_level(w, i, e->saves_fp, e->saves_at, &level) && level == slot) {
		n->fp = FP_IS_REGISTER;
		return;
	}
	n->fp = fp;
	n->fp_slot = slot;
	if (fp != FP_IS_REGISTER || e->fp.from == FROM_ITSELF)
		return;
	n->fp = FP_IS_LOST;
	if ((e->fp.from == FROM_SLOT_AT_SP || e->fp.from == FROM_SLOT_AT_FP) &&
	    slot_level(w, i, e->fp.from, e->fp.by, &level)) {
		n->fp = FP_IS_SLOT;
		n->fp_slot = level;
	}
}

static bool take_from(struct window *w, uint32_t i, uint32_t j)
{
	if (j == NO_INSN || w->v[j].fp == FP_IS_UNKNOWN)
		return false;
	step_back(w, i, w->v[j].fp, w->v[j].fp_slot);
	return true;
}

/* Where it is known at once: at returns, and at jumps to pins. */
static void begin_fp(struct window *w, uint32_t i)
{
	struct insn *n = &w->v[i];
	const struct code_pin *pin = code_levels_pin_of(w, n);
	int32_t level;

	if (n->flow == X86_RETURN && !n->after_push)
		n->fp = FP_IS_REGISTER;
	if (!pin)
		return;
	n->fp = pin->fp == FP_SAME ? FP_IS_REGISTER : pin->fp == FP_CFA ? FP_IS_SLOT : FP_IS_LOST;
	n->fp_slot = -pin->fp_off;
	/* Behind push and mov it is in the register, whatever the group's level. */
	if (n->fp == FP_IS_SLOT && !code_groups_level(&w->groups, sp_of(i), &level))
		n->fp = FP_IS_LOST;
}

static void find_fp(struct window *w)
{
	bool changed = true;

	for (uint32_t i = 0; i < w->nr; i++)
		begin_fp(w, i);
	for (int pass = 0; pass < BACKWARD_PASSES && changed; pass++) {
		changed = false;
		for (uint32_t i = (uint32_t)w->nr; i-- > 0;)
			if (w->v[i].fp == FP_IS_UNKNOWN)
				changed |= take_from(w, i, w->v[i].next) ||
					   (!is_call(&w->v[i]) && take_from(w, i, w->v[i].to));
	}
}

/*
 * What is pushed right above the return address is the caller's frame pointer, whatever is loaded
 * into the register later, and even if no path leads to a return (a loop without end). It must be
 * known where that is: a file's rule leaves some words open.
 */
static void find_pushes(struct window *w)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		const struct code_effect *e = &w->v[i].effect;
		int32_t level;

		if (e->saves_fp && slot_level(w, i, e->saves_fp, e->saves_at, &level) &&
		    level == 2 * WORD &&
		    code_groups_evidence(&w->groups, sp_of(i)) != CODE_BY_FILE)
			code_groups_mark(&w->groups, sp_of(i));
	}
}

/* ---- rows ---- */

static const struct unwind_rule not_read = { .cfa = CFA_NONE },
				tells_nothing = { .cfa = CFA_UNSUPPORTED, .ra = RULE_GUESSED };

static struct unwind_rule rule_of(struct window *w, uint32_t i)
{
	const struct insn *n = &w->v[i];
	struct unwind_rule r = { .cfa = CFA_SP, .ra = RULE_GUESSED };
	int32_t sp, fp = 0;
	bool knows_sp = code_groups_level(&w->groups, sp_of(i), &sp) && sp >= 0,
	     knows_fp = code_groups_level(&w->groups, fp_of(i), &fp) && fp >= 2 * WORD;

	if (!knows_sp && !knows_fp)
		return tells_nothing;
	r.cfa = knows_sp ? CFA_SP : CFA_FP;
	r.cfa_off = knows_sp ? sp : fp;
	/* What a file's rule means may be a little further out: the way there pushed something. */
	r.aux = knows_sp && code_groups_evidence(&w->groups, sp_of(i)) == CODE_BY_FILE
			? CODE_SEARCH_WORDS
			: 0;
	if (knows_sp && sp >= 2 * WORD && code_groups_is_marked(&w->groups, sp_of(i))) {
		r.fp = FP_CFA;
		r.fp_off = -2 * WORD;
		return r;
	}
	r.fp = n->fp == FP_IS_REGISTER ? FP_SAME : n->fp == FP_IS_SLOT ? FP_CFA : FP_UNDEFINED;
	r.fp_off = r.fp == FP_CFA ? -n->fp_slot : 0;
	if (r.fp == FP_UNDEFINED && n->fp != FP_IS_LOST && knows_fp && fp == 2 * WORD) {
		r.fp = FP_CFA;
		r.fp_off = -2 * WORD;
	}
	/* The slot of a caller's register lies in the frame. */
	if (r.fp == FP_CFA && (r.fp_off >= 0 || r.fp_off < -(1 << 20)))
		r.fp = FP_UNDEFINED, r.fp_off = 0;
	return r;
}

/* Bytes that belong to no instruction count as not read: code may come there later. */
static int put_rows(struct window *w, struct cfi_rows *out)
{
	const struct piece *p = &w->pieces[0];
	int err = 0;

	for (size_t at = 0; at < p->len && !err; at++) {
		struct unwind_rule r;

		if (p->at[at] == INSIDE)
			continue;
		r = p->at[at] ? rule_of(w, p->at[at] - 1) : not_read;
		err = cfi_rows_append(out, p->in->addr + at, &r);
	}
	if (!err)
		err = cfi_rows_append(out, p->in->addr + p->len, &not_read);
	return err;
}

/* ---- wants ---- */

struct want {
	uint64_t addr;
	uint64_t times;
};

static int by_addr(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_times(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	return x->times != y->times ? (x->times > y->times ? -1 : 1) : by_addr(a, b);
}

/* Where control goes from i that no piece and no pin tells of; 0: nowhere. */
static uint64_t way_out(struct window *w, const struct insn *n)
{
	uint64_t next = n->addr + n->len;

	if (is_call(n))
		return 0;
	if (code_insns_go_on(n->flow) && n->next == NO_INSN && !code_insns_piece(w, next))
		return next;
	if (code_insns_piece(w, n->target) || code_levels_pin(w, n->target))
		return 0;
	return n->target;
}

/* Groups of seeds come first, then what they lead to, because it is certainly code. */
static uint32_t worth(struct window *w, uint32_t i, const bool *has_seed)
{
	int32_t by;

	if (has_seed[code_groups_root(&w->groups, sp_of(i), &by)])
		return 1u << 16;
	return w->v[i].by_path ? 1u << 8 : 1;
}

/* By root of a group: whether a seed of the window is in it. */
static bool *find_seeds(struct window *w)
{
	bool *has_seed = calloc(w->groups.nr + 1, sizeof(*has_seed));
	int32_t by;

	for (size_t i = 0; has_seed && i < w->in->nr_seeds; i++) {
		uint32_t n = code_insns_at(w, w->in->seeds[i]);

		if (n != NO_INSN && code_insns_piece(w, w->in->seeds[i]) == &w->pieces[0])
			has_seed[code_groups_root(&w->groups, sp_of(n), &by)] = true;
	}
	return has_seed;
}

static int collect_wants(struct window *w, struct want **v, size_t *nr)
{
	bool *has_seed = find_seeds(w);
	size_t cap = 0;
	int err = has_seed ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < w->nr && !err; i++) {
		uint64_t addr = code_groups_is_open(&w->groups, sp_of(i)) ? way_out(w, &w->v[i])
									  : 0;
		struct want *x = addr ? array_push(v, nr, &cap) : NULL;

		if (x)
			*x = (struct want){ addr, worth(w, i, has_seed) };
		else if (addr)
			err = -ENOMEM;
	}
	free(has_seed);
	return err;
}

static int find_wants(struct window *w, struct code_wants *out)
{
	struct want *v = NULL;
	size_t nr = 0, kept = 0;
	int err = collect_wants(w, &v, &nr);

	if (err) {
		free(v);
		return err;
	}
	if (nr)
		qsort(v, nr, sizeof(*v), by_addr);
	for (size_t i = 0; i < nr; i++) {
		if (kept && v[kept - 1].addr == v[i].addr)
			v[kept - 1].times += v[i].times;
		else
			v[kept++] = v[i];
	}
	if (kept)
		qsort(v, kept, sizeof(*v), by_times);
	for (out->nr = 0; out->nr < kept && out->nr < CODE_MAX_WANTS; out->nr++)
		out->v[out->nr] = v[out->nr].addr;
	free(v);
	return 0;
}

/* ---- all ---- */

static bool is_sound(const struct code_window *in)
{
	if (!in->nr_pieces || in->nr_pieces > CODE_MAX_PIECES || in->nr_pins > CODE_MAX_PINS ||
	    in->nr_seeds > CODE_MAX_SEEDS)
		return false;
	for (size_t i = 0; i < in->nr_pieces; i++)
		if (in->pieces[i].len > (i ? CODE_PIECE_BYTES : CODE_WINDOW_BYTES + CODE_BEHIND) ||
		    in->pieces[i].addr + in->pieces[i].len < in->pieces[i].addr)
			return false;
	return true;
}

static int open_pieces(struct window *w)
{
	size_t room = code_window_base(w->in) + CODE_WINDOW_BYTES - w->in->pieces[0].addr;

	for (size_t i = 0; i < w->in->nr_pieces; i++) {
		w->pieces[i].in = &w->in->pieces[i];
		w->pieces[i].len = w->in->pieces[i].len;
		w->pieces[i].at = calloc(w->in->pieces[i].len + 1, sizeof(uint32_t));
		if (!w->pieces[i].at)
			return -ENOMEM;
	}
	if (w->pieces[0].len > room)
		w->pieces[0].len = room;
	return 0;
}

static void release(struct window *w)
{
	for (size_t i = 0; i < w->in->nr_pieces; i++)
		free(w->pieces[i].at);
	free(w->v);
	free(w->todo);
	code_groups_release(&w->groups);
}

int code_window_rows(const struct code_window *in, struct cfi_rows *out, struct code_wants *wants)
{
	struct window w = { .in = in };
	int err = is_sound(in) ? 0 : -EINVAL;

	*wants = (struct code_wants){ 0 };
	if (err)
		return err;
	err = open_pieces(&w);
	if (!err)
		err = code_insns_read(&w);
	if (!err)
		err = code_levels_find(&w);
	if (!err) {
		find_fp(&w);
		find_pushes(&w);
		err = put_rows(&w, out);
	}
	if (!err)
		err = find_wants(&w, wants);
	release(&w);
	return err;
}
