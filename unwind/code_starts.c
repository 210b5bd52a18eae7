/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "unwind/x86_insn.h"

#define ALIGNMENT 16		/* of functions, but for those compiled for size */
#define MIN_FIXED_ADDRESS 0x10000	/* of position-dependent code: vm.mmap_min_addr */

struct offsets {
	uint32_t *v;
	size_t nr, cap;
};

struct sweep {
	const struct code_input *in;
	uint8_t *boundaries;		/* a bit per byte: an instruction begins here */
	uint8_t *targets;		/* a bit per byte: some jump leads here */
	struct offsets called;		/* targets of calls */
	struct offsets taken;		/* addresses that instructions make */
	struct offsets exits;		/* returns, indirect jumps, ascending, with BEHIND_STOP */
};

/*
 * Flag of an exit that control does not reach from above. It counts only if some jump leads there,
 * as over the hlt of an assertion.
 */
#define BEHIND_STOP (1u << 31)

_Static_assert(CODE_MAX_BYTES <= BEHIND_STOP, "offsets leave room for a flag");

const struct code_range *code_range_of(const struct code_range *v, size_t nr, uint64_t vaddr)
{
	size_t after = bisect(nr, i, v[i].begin <= vaddr);

	return after && vaddr < v[after - 1].end ? &v[after - 1] : NULL;
}

bool code_is_noreturn(const struct code_input *in, uint64_t vaddr)
{
	size_t at = bisect(in->nr_noreturn, i, in->noreturn[i] < vaddr);

	return at < in->nr_noreturn && in->noreturn[at] == vaddr;
}

size_t code_starts_after(const struct code_starts *s, uint64_t at)
{
	return bisect(s->nr, i, s->v[i].at <= at);
}

const struct code_start *code_starts_at(const struct code_starts *s, uint64_t at)
{
	size_t i = code_starts_after(s, at);

	return i && s->v[i - 1].at == at ? &s->v[i - 1] : NULL;
}

uint64_t code_behind_zeros(const struct code_input *in, uint64_t at, uint64_t end)
{
	uint64_t first = at;

	while (at < end && !in->code[at])
		at++;
	return at - first > 1 || (in->vaddr + at) % ALIGNMENT == 0 ? at : first;
}

bool code_is_retpoline(const struct code_input *in, uint64_t at)
{
	static const uint8_t trap[] = { 0xf3, 0x90, 0x0f, 0xae, 0xe8, 0xeb, 0xf9 };

	return at < in->len && in->len - at >= sizeof(trap) &&
	       !memcmp(in->code + at, trap, sizeof(trap));
}

bool code_is_frame_setup(const struct code_input *in, uint64_t at, uint64_t end)
{
	/* push %rbp; mov %rsp,%rbp */
	static const uint8_t setup[] = { 0x55, 0x48, 0x89, 0xe5 };

	return end - at > sizeof(setup) && !memcmp(in->code + at, setup, sizeof(setup));
}

/* A push of such a register begins a function: in its middle only arguments are pushed. */
bool code_is_prologue(const struct code_input *in, uint64_t at, uint64_t end)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint16_t callee_saved = 0xf028;	/* rbx, rbp, r12 to r15 */
	struct x86_insn insn;

	if ((in->vaddr + at) % ALIGNMENT)
		return false;
	if (end - at > sizeof(endbr) && !memcmp(in->code + at, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	if (!x86_decode(in->code + at, end - at, &insn) || insn.map != X86_ONE_BYTE || insn.is_vex)
		return false;
	if ((insn.op & 0xf8) == 0x50)
		return callee_saved >> ((insn.op & 7) | (insn.rex & 1) << 3) & 1;
	return (insn.op == 0x81 || insn.op == 0x83) && insn.mod == 3 && insn.rm == X86_SP &&
	       (insn.reg & 7) == 5;
}

static int add(struct offsets *o, uint64_t at)
{
	uint32_t *p = array_push(&o->v, &o->nr, &o->cap);

	if (!p)
		return -ENOMEM;
	*p = (uint32_t)at;
	return 0;
}

static void set_bit(uint8_t *bits, uint64_t at)
{
	bits[at / 8] |= (uint8_t)(1 << at % 8);
}

static bool has_bit(const uint8_t *bits, uint64_t at)
{
	return bits[at / 8] >> at % 8 & 1;
}

/*
 * Notes the target of a call, unless it is the next instruction (the code only wants the program
 * counter) or part of a retpoline (control stays in the function).
 */
static int note_call(struct sweep *s, const struct x86_insn *insn, uint64_t next)
{
	uint64_t target = s->in->vaddr + next + (uint64_t)insn->imm;

	if (!insn->imm || code_is_retpoline(s->in, next) ||
	    !code_range_of(s->in->gaps, s->in->nr_gaps, target))
		return 0;
	return add(&s->called, target - s->in->vaddr);
}

/*
 * Notes an address that is made by lea or, where addresses are constants, by mov or push. A small
 * constant may be anything.
 */
static int note_address(struct sweep *s, const struct x86_insn *insn, uint64_t next)
{
	uint64_t target = s->in->vaddr + next + (uint64_t)(int64_t)insn->disp;
	bool is_lea = insn->op == 0x8d && insn->is_rip, is_push = insn->op == 0x68;
	bool is_mov = (insn->op & 0xf8) == 0xb8 || (insn->op == 0xc7 && insn->mod != 0);

	if (!is_lea && (is_mov || is_push))
		target = (uint64_t)insn->imm < MIN_FIXED_ADDRESS ? 0 : (uint64_t)insn->imm;
	else if (!is_lea)
		return 0;
	if (insn->map != X86_ONE_BYTE || insn->is_vex || !target ||
	    !code_range_of(s->in->gaps, s->in->nr_gaps, target))
		return 0;
	return add(&s->taken, target - s->in->vaddr);
}

static void note_jump(struct sweep *s, const struct x86_insn *insn, uint64_t next)
{
	uint64_t target = next + (uint64_t)insn->imm;

	if (target < s->in->len)
		set_bit(s->targets, target);
}

static int sweep_stretch(struct sweep *s, uint64_t at, uint64_t end)
{
	const struct code_input *in = s->in;
	uint8_t before = X86_NEXT;
	struct x86_insn insn;
	int err = 0;

	while (at < end && !err) {
		uint64_t zeros = code_behind_zeros(in, at, end) - at;

		if (zeros || !x86_decode(in->code + at, end - at, &insn)) {
			at += zeros ? zeros : 1;
			continue;
		}
		set_bit(s->boundaries, at);
		if (insn.flow == X86_CALL)
			err = note_call(s, &insn, at + insn.len);
		else if (insn.flow == X86_RETURN || insn.flow == X86_JUMP_ANY)
			err = add(&s->exits, at | (before == X86_STOP ? BEHIND_STOP : 0));
		else if (insn.flow == X86_JUMP || insn.flow == X86_BRANCH)
			note_jump(s, &insn, at + insn.len);
		else
			err = note_address(s, &insn, at + insn.len);
		before = insn.flow;
		at += insn.len;
	}
	return err;
}

/* Decodes from one known start to the next, so that data in between does little harm. */
static int sweep_gap(struct sweep *s, const struct code_range *gap)
{
	const struct code_input *in = s->in;
	uint64_t at = gap->begin;
	size_t next;	/* the first known start after it */
	int err = 0;

	next = bisect(in->nr_starts, i, in->starts[i] <= at);
	while (at < gap->end && !err) {
		bool is_inside = next < in->nr_starts && in->starts[next] < gap->end;
		uint64_t end = is_inside ? in->starts[next] : gap->end;

		err = sweep_stretch(s, at - in->vaddr, end - in->vaddr);
		at = end;
		next++;
	}
	return err;
}

static int push_start(struct code_starts *out, uint64_t at)
{
	struct code_start *p = array_push(&out->v, &out->nr, &out->cap);

	if (!p)
		return -ENOMEM;
	*p = (struct code_start){ .at = (uint32_t)at };
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct code_start *x = a, *y = b;

	return COMPARE(x->at, y->at);
}

bool code_is_taken(const struct code_starts *s, uint64_t at)
{
	size_t found = bisect(s->nr_taken, i, s->taken[i] < at);

	return found < s->nr_taken && s->taken[found] == at;
}

static int collect(const struct sweep *s, struct code_starts *out)
{
	const struct code_input *in = s->in;
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < in->nr_starts && !err; i++)
		if (code_range_of(in->gaps, in->nr_gaps, in->starts[i]))
			err = push_start(out, in->starts[i] - in->vaddr);
	for (size_t i = 0; i < s->called.nr && !err; i++)
		if (has_bit(s->boundaries, s->called.v[i]) &&
		    !code_range_of(in->stubs, in->nr_stubs, in->vaddr + s->called.v[i]))
			err = push_start(out, s->called.v[i]);
	if (err || !out->nr)
		return err;
	qsort(out->v, out->nr, sizeof(*out->v), by_offset);
	for (size_t i = 0; i < out->nr; i++)
		if (!nr || out->v[i].at != out->v[nr - 1].at)
			out->v[nr++] = out->v[i];
	out->nr = nr;
	return 0;
}

/* Keeps the exits that control can reach. */
static void choose_exits(struct sweep *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->exits.nr; i++) {
		uint32_t at = s->exits.v[i] & ~BEHIND_STOP;

		if (at == s->exits.v[i] || has_bit(s->targets, at))
			s->exits.v[nr++] = at;
	}
	s->exits.nr = nr;
}

/*
 * Whether at .. end - 1, a range without returns and indirect jumps, has no other way out either.
 */
static bool is_closed(const struct code_input *in, uint64_t at, uint64_t end)
{
	uint64_t begin = at, target;
	bool falls_out = true;
	struct x86_insn insn;

	for (; at < end; at += insn.len) {
		at = code_behind_zeros(in, at, end);
		if (at == end)
			break;
		if (!x86_decode(in->code + at, end - at, &insn))
			return false;
		if (x86_is_padding(&insn))
			continue;
		falls_out = insn.flow == X86_NEXT || insn.flow == X86_BRANCH;
		if (insn.flow != X86_JUMP && insn.flow != X86_BRANCH)
			continue;
		target = at + insn.len + (uint64_t)insn.imm;
		if ((target < begin || target >= end) && !code_is_noreturn(in, in->vaddr + target))
			return false;
	}
	return !falls_out;
}

static void find_noreturn(const struct sweep *s, struct code_starts *out)
{
	size_t e = 0;

	for (size_t i = 0; i < out->nr; i++) {
		uint64_t vaddr = s->in->vaddr + out->v[i].at;
		const struct code_range *gap = code_range_of(s->in->gaps, s->in->nr_gaps, vaddr);
		uint64_t end = gap->end - s->in->vaddr;

		if (i + 1 < out->nr && out->v[i + 1].at < end)
			end = out->v[i + 1].at;
		while (e < s->exits.nr && s->exits.v[e] < out->v[i].at)
			e++;
		out->v[i].noreturn = code_is_noreturn(s->in, vaddr) ||
				     ((e == s->exits.nr || s->exits.v[e] >= end) &&
				      is_closed(s->in, out->v[i].at, end));
	}
}

int code_starts_find(const struct code_input *in, struct code_starts *out)
{
	struct sweep s = {
		.in = in,
		.boundaries = calloc(in->len / 8 + 1, 1),
		.targets = calloc(in->len / 8 + 1, 1),
	};
	int err = s.boundaries && s.targets ? 0 : -ENOMEM;

	for (size_t i = 0; i < in->nr_gaps && !err; i++)
		err = sweep_gap(&s, &in->gaps[i]);
	if (!err)
		err = collect(&s, out);
	choose_exits(&s);
	if (!err)
		find_noreturn(&s, out);
	out->taken = s.taken.v;
	out->nr_taken = s.taken.nr;
	if (out->nr_taken)
		qsort(out->taken, out->nr_taken, sizeof(*out->taken), compare_u32);
	free(s.boundaries);
	free(s.targets);
	free(s.called.v);
	free(s.exits.v);
	return err;
}

void code_starts_release(struct code_starts *s)
{
	free(s->v);
	free(s->taken);
	memset(s, 0, sizeof(*s));
}
