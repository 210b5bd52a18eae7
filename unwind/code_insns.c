/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "src/base/array.h"
#include "unwind/code_window_parts.h"

#define NEXT_TO_ZEROS 2			/* so many zeros in a row are no code */

struct piece *code_insns_piece(struct window *w, uint64_t addr)
{
	for (size_t i = 0; i < w->in->nr_pieces; i++)
		if (addr - w->in->pieces[i].addr < w->pieces[i].len)
			return &w->pieces[i];
	return NULL;
}

uint32_t code_insns_at(struct window *w, uint64_t addr)
{
	struct piece *p = code_insns_piece(w, addr);
	uint32_t n = p ? p->at[addr - p->in->addr] : 0;

	return n && n != INSIDE ? n - 1 : NO_INSN;
}

static bool has_target(const struct x86_insn *d)
{
	return d->flow == X86_JUMP || d->flow == X86_BRANCH || d->flow == X86_CALL;
}

bool code_insns_go_on(uint8_t flow)
{
	return flow == X86_NEXT || flow == X86_BRANCH || flow == X86_CALL || flow == X86_CALL_ANY;
}

static bool is_push(const struct insn *i)
{
	return i->effect.sp.from == FROM_ITSELF && i->effect.sp.by == -WORD;
}

static bool is_pop(const struct insn *i)
{
	return i->flow == X86_NEXT && i->effect.sp.from == FROM_ITSELF &&
	       i->effect.sp.by == WORD && i->effect.fp.from == FROM_ITSELF && i->len < 8;
}

/* Notes what two instructions in a row are. */
static void pair(struct insn *before, struct insn *i)
{
	i->after_push = is_push(before);
	before->is_prologue = before->effect.saves_fp == FROM_SLOT_AT_SP && is_push(before) &&
			      i->effect.fp.from == FROM_OTHER && !i->effect.fp.by;
}

static bool is_zeros(const struct piece *p, size_t at)
{
	return at + NEXT_TO_ZEROS <= p->in->len && !p->in->code[at] && !p->in->code[at + 1];
}

/* The word at an address, if a piece has it; else 0. */
static uint64_t word_at(struct window *w, uint64_t addr)
{
	const struct piece *p = code_insns_piece(w, addr);
	uint64_t word = 0;

	if (p && addr - p->in->addr + sizeof(word) <= p->in->len)
		memcpy(&word, p->in->code + (addr - p->in->addr), sizeof(word));
	return word;
}

/* Where a jump or a call goes; 0: it is not known. */
static uint64_t target_of(struct window *w, uint64_t addr, const struct x86_insn *d,
			  const struct constant *known)
{
	uint64_t next = addr + d->len;

	if (has_target(d))
		return next + (uint64_t)d->imm;
	if (d->flow != X86_JUMP_ANY && d->flow != X86_CALL_ANY)
		return 0;
	if (d->mod == 3)
		return d->rm == known->reg ? known->value : 0;
	return d->is_rip ? word_at(w, next + (uint64_t)(int64_t)d->disp) : 0;
}

/* What is known of a register behind an instruction. */
static void follow_constant(struct constant *known, uint64_t addr, const struct x86_insn *d)
{
	bool one = d->map == X86_ONE_BYTE && !d->is_vex;
	uint8_t low = (uint8_t)((d->op & 7) | (d->rex & 1) << 3);

	if (one && (d->op & 0xf8) == 0xb8 && !d->opsize)
		*known = (struct constant){
			d->rex & 8 ? (uint64_t)d->imm : (uint32_t)d->imm, low };
	else if (one && d->op == 0x8d && d->rex & 8 && d->is_rip)
		*known = (struct constant){ addr + d->len + (uint64_t)(int64_t)d->disp, d->reg };
	else if (one && d->op == 0x8d && d->rex & 8 && d->base == known->reg &&
		 d->base != X86_NO_REG && d->index == X86_NO_REG)
		*known = (struct constant){ known->value + (uint64_t)(int64_t)d->disp, d->reg };
	else if (d->flow == X86_CALL || d->flow == X86_CALL_ANY ||
		 (known->reg != X86_NO_REG && x86_may_write(d, known->reg)))
		known->reg = X86_NO_REG;
}

/*
 * Reads the instruction at an offset. 1; 0: there is none, or it was read before; or -ENOMEM.
 */
static int read_insn(struct window *w, struct piece *p, size_t at, bool by_path,
		     struct constant *known)
{
	struct x86_insn d;
	struct insn *i;

	if (p->at[at] || is_zeros(p, at) || !x86_decode(p->in->code + at, p->in->len - at, &d))
		return 0;
	for (size_t k = 1; k < d.len; k++)
		if (p->at[at + k])
			return 0;
	i = array_push(&w->v, &w->nr, &w->cap);
	if (!i)
		return -ENOMEM;
	*i = (struct insn){ .addr = p->in->addr + at, .len = d.len, .flow = d.flow,
			    .effect = code_effect_of(&d), .next = NO_INSN, .to = NO_INSN,
			    .by_path = by_path, .is_padding = x86_is_padding(&d) };
	i->target = target_of(w, i->addr, &d, known);
	follow_constant(known, i->addr, &d);
	i->pops = is_pop(i);
	p->at[at] = (uint32_t)w->nr;
	for (size_t k = 1; k < d.len; k++)
		p->at[at + k] = INSIDE;
	return 1;
}

int code_insns_todo(struct window *w, uint64_t addr, struct constant known)
{
	struct path *t = array_push(&w->todo, &w->nr_todo, &w->cap_todo);

	if (!t)
		return -ENOMEM;
	*t = (struct path){ addr, known };
	return 0;
}

/* Reads from an address on, until control goes elsewhere. */
static int read_path(struct window *w, struct path path, bool by_path)
{
	struct piece *p = code_insns_piece(w, path.addr);
	size_t at = p ? path.addr - p->in->addr : 0;
	uint32_t before = NO_INSN;
	int err = 0;

	while (p && at < p->len && (err = read_insn(w, p, at, by_path, &path.known)) > 0) {
		uint32_t n = (uint32_t)w->nr - 1;

		if (before != NO_INSN)
			pair(&w->v[before], &w->v[n]);
		before = n;
		at += w->v[n].len;
		if (w->v[n].target && (err = code_insns_todo(w, w->v[n].target, path.known)))
			break;
		if (!code_insns_go_on(w->v[n].flow))
			break;
	}
	return err < 0 ? err : 0;
}

static int read_paths(struct window *w, uint64_t addr, bool by_path)
{
	int err = read_path(w, (struct path){ addr, { 0, X86_NO_REG } }, by_path);

	while (!err && w->nr_todo)
		err = read_path(w, w->todo[--w->nr_todo], by_path);
	return err;
}

/* Where the call begins that ends at a seed, or the seed: it may be a return address. */
static uint64_t call_before(struct window *w, uint64_t seed)
{
	static const uint8_t lengths[] = { 5, 3, 2, 6, 4, 7 };
	struct x86_insn d;

	for (size_t i = 0; i < sizeof(lengths); i++) {
		const struct piece *p = code_insns_piece(w, seed - lengths[i]);
		uint64_t at = p ? seed - lengths[i] - p->in->addr : 0;

		if (p && x86_decode(p->in->code + at, p->in->len - at, &d) == lengths[i] &&
		    (d.flow == X86_CALL || d.flow == X86_CALL_ANY))
			return seed - lengths[i];
	}
	return seed;
}

int code_insns_read(struct window *w)
{
	int err = 0;

	for (size_t i = 0; i < w->in->nr_seeds && !err; i++) {
		err = read_paths(w, call_before(w, w->in->seeds[i]), true);
		if (!err)
			err = read_paths(w, w->in->seeds[i], true);
	}
	for (size_t k = 0; k < w->in->nr_pieces; k++) {
		struct piece *p = &w->pieces[k];

		for (size_t at = 0; at < p->len && !err; at++)
			if (!p->at[at])
				err = read_paths(w, p->in->addr + at, false);
	}
	return err;
}
