#include "unwind/code_starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "unwind/x86_insn.h"

#define ALIGNMENT 16		/* of functions, but for those compiled for size */

struct offsets {
	uint32_t *v;
	size_t nr, cap;
};

struct sweep {
	const struct code_input *in;
	uint8_t *boundaries;		/* a bit per byte: an instruction begins here */
	struct offsets called;		/* targets of calls */
	struct offsets taken;		/* targets of lea */
	struct offsets exits;		/* returns and indirect jumps, ascending */
};

const struct code_range *code_range_of(const struct code_range *v, size_t nr, uint64_t vaddr)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].begin <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < v[lo - 1].end ? &v[lo - 1] : NULL;
}

bool code_is_noreturn(const struct code_input *in, uint64_t vaddr)
{
	size_t lo = 0, hi = in->nr_noreturn;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (in->noreturn[mid] < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < in->nr_noreturn && in->noreturn[lo] == vaddr;
}

size_t code_starts_after(const struct code_starts *s, uint64_t at)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->v[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct code_start *code_starts_at(const struct code_starts *s, uint64_t at)
{
	size_t i = code_starts_after(s, at);

	return i && s->v[i - 1].at == at ? &s->v[i - 1] : NULL;
}

/* In the middle of a function nothing is pushed but arguments. */
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
	return (insn.op == 0x81 || insn.op == 0x83) && insn.mod == 3 && insn.rm == X86_SP && (insn.reg & 7) == 5;
}

static int add(struct offsets *o, uint64_t at)
{
	uint32_t *p = array_push(&o->v, &o->nr, &o->cap);

	if (!p)
		return -ENOMEM;
	*p = (uint32_t)at;
	return 0;
}

static bool is_boundary(const struct sweep *s, uint64_t at)
{
	return s->boundaries[at / 8] >> at % 8 & 1;
}

/* A call of the next instruction only wants the program counter. */
static int note_call(struct sweep *s, const struct x86_insn *insn, uint64_t next)
{
	uint64_t target = s->in->vaddr + next + (uint64_t)insn->imm;

	if (!insn->imm || !code_range_of(s->in->gaps, s->in->nr_gaps, target))
		return 0;
	return add(&s->called, target - s->in->vaddr);
}

static int note_lea(struct sweep *s, const struct x86_insn *insn, uint64_t next)
{
	uint64_t target = s->in->vaddr + next + (uint64_t)(int64_t)insn->disp;

	if (insn->op != 0x8d || insn->map != X86_ONE_BYTE || insn->is_vex ||
	    !code_range_of(s->in->gaps, s->in->nr_gaps, target))
		return 0;
	return add(&s->taken, target - s->in->vaddr);
}

static int sweep_stretch(struct sweep *s, uint64_t at, uint64_t end)
{
	const struct code_input *in = s->in;
	uint8_t before = X86_NEXT;
	struct x86_insn insn;
	int err = 0;

	while (at < end && !err) {
		if (!x86_decode(in->code + at, end - at, &insn)) {
			at++;
			continue;
		}
		s->boundaries[at / 8] |= (uint8_t)(1 << at % 8);
		if (insn.flow == X86_CALL)
			err = note_call(s, &insn, at + insn.len);
		else if ((insn.flow == X86_RETURN || insn.flow == X86_JUMP_ANY) && before != X86_STOP)
			err = add(&s->exits, at);
		else if (insn.is_rip)
			err = note_lea(s, &insn, at + insn.len);
		before = insn.flow;
		at += insn.len;
	}
	return err;
}

/* From one known start to the next, so that data in between cannot do much harm. */
static int sweep_gap(struct sweep *s, const struct code_range *gap)
{
	const struct code_input *in = s->in;
	uint64_t at = gap->begin;
	size_t lo = 0, hi = in->nr_starts;
	int err = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (in->starts[mid] <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (at < gap->end && !err) {
		uint64_t end = lo < in->nr_starts && in->starts[lo] < gap->end ? in->starts[lo] : gap->end;

		err = sweep_stretch(s, at - in->vaddr, end - in->vaddr);
		at = end;
		lo++;
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

	return (x->at > y->at) - (x->at < y->at);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

bool code_is_taken(const struct code_starts *s, uint64_t at)
{
	size_t lo = 0, hi = s->nr_taken;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->taken[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nr_taken && s->taken[lo] == at;
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
		if (is_boundary(s, s->called.v[i]) &&
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

/* Without returns and indirect jumps in at .. end - 1: is there no other way out either? */
static bool is_closed(const struct code_input *in, uint64_t at, uint64_t end)
{
	uint64_t begin = at, target;
	bool falls_out = true;
	struct x86_insn insn;

	for (; at < end; at += insn.len) {
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
			((e == s->exits.nr || s->exits.v[e] >= end) && is_closed(s->in, out->v[i].at, end));
	}
}

int code_starts_find(const struct code_input *in, struct code_starts *out)
{
	struct sweep s = { .in = in, .boundaries = calloc(in->len / 8 + 1, 1) };
	int err = s.boundaries ? 0 : -ENOMEM;

	for (size_t i = 0; i < in->nr_gaps && !err; i++)
		err = sweep_gap(&s, &in->gaps[i]);
	if (!err)
		err = collect(&s, out);
	if (!err)
		find_noreturn(&s, out);
	out->taken = s.taken.v;
	out->nr_taken = s.taken.nr;
	if (out->nr_taken)
		qsort(out->taken, out->nr_taken, sizeof(*out->taken), by_number);
	free(s.boundaries);
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
