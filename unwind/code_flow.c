/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code_flow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "unwind/code_switch.h"

#define STUB_STEP 8			/* linkage stubs start at multiples of this */

/* One path being followed. */
struct path {
	uint64_t at, end;		/* next instruction; end of its gap */
	uint64_t next_start;		/* the next start of a function after at */
	struct code_state state;
	uint16_t id;			/* of state */
	bool in_stub;
	bool after_call;		/* nothing but padding since a call */
	const struct x86_insn *before;	/* the instruction before */
	struct code_switch sw;
};

struct state_key {
	const struct code_flow *f;
	const struct code_state *state;
};

static bool same_state(const void *ctx, uint32_t id)
{
	const struct state_key *k = ctx;

	return !memcmp(&k->f->states[id], k->state, sizeof(*k->state));
}

/* The number of a state. If there are too many states, it becomes "nothing is known". */
static int intern(struct code_flow *f, const struct code_state *s, uint16_t *id)
{
	struct state_key k = { f, s };
	uint64_t hash = hash_bytes(0, s, sizeof(*s));
	uint32_t found = ix_find(&f->index, hash, same_state, &k);
	struct code_state *slot;

	if (found == IX_NONE && f->nr_states >= CODE_INSIDE)
		found = CODE_NOTHING_KNOWN;
	if (found == IX_NONE) {
		found = (uint32_t)f->nr_states;
		slot = array_push(&f->states, &f->nr_states, &f->cap_states);
		if (!slot || ix_add(&f->index, hash, found))
			return -ENOMEM;
		*slot = *s;
	}
	*id = (uint16_t)found;
	return 0;
}

static int push_offset(uint32_t **v, size_t *nr, size_t *cap, uint64_t at)
{
	uint32_t *p = array_push(v, nr, cap);

	if (!p)
		return -ENOMEM;
	*p = (uint32_t)at;
	return 0;
}

static bool is_in_gap(const struct code_flow *f, uint64_t at)
{
	return at < f->in->len && code_range_of(f->in->gaps, f->in->nr_gaps, f->in->vaddr + at);
}

/* All changes of at[] are made here, so that a trial can be undone. */
static int set_at(struct code_flow *f, uint64_t at, uint16_t id)
{
	assert(at < f->in->len && !(id & CODE_TENTATIVE));
	if (f->trial.is_on) {
		struct code_change *c =
			array_push(&f->trial.changes, &f->trial.nr_changes, &f->trial.cap_changes);

		if (!c)
			return -ENOMEM;
		*c = (struct code_change){ (uint32_t)at, f->at[at] };
		id |= CODE_TENTATIVE;
	}
	f->at[at] = id;
	return 0;
}

/*
 * A trial reaches code that is known: checks whether both states are the same. That a trial agrees
 * with itself is no evidence.
 */
static void meet(struct code_flow *f, uint16_t old, uint16_t id, bool is_tentative)
{
	struct unwind_rule known = code_state_rule(&f->states[old]),
			   assumed = code_state_rule(&f->states[id]);

	if (known.cfa == CFA_NONE)
		return;
	if (memcmp(&known, &assumed, sizeof(known)))
		f->trial.contradicted = true;
	else if (!is_tentative)
		f->trial.confirmed = true;
}

/* The instruction at an offset is reached with state id. 1: for the first time; 0; or -ENOMEM. */
static int reach(struct code_flow *f, uint64_t at, uint16_t id)
{
	struct code_state joined;
	uint16_t old = f->at[at] & ~CODE_TENTATIVE, now = id;
	int err = 0;

	if (f->trial.is_on && old == CODE_INSIDE)
		f->trial.contradicted = true;
	if (old && old != CODE_INSIDE) {
		if (f->trial.is_on)
			meet(f, old, id, f->at[at] & CODE_TENTATIVE);
		if (old == id)
			return 0;
		joined = code_state_join(&f->states[old], &f->states[id]);
		err = intern(f, &joined, &now);
		if (err || now == old)
			return err;
		f->stats->joins_lost += !f->trial.is_on &&
					code_state_rule(&joined).cfa == CFA_NONE &&
					code_state_rule(&f->states[old]).cfa != CFA_NONE;
	}
	err = set_at(f, at, now);
	return err ? err : 1;
}

/*
 * A jump out of the code that is read, or to another function, leaves the stack as a return would.
 */
static void leave_function(struct code_flow *f, const struct path *p)
{
	if (code_state_is_entry(&p->state))
		f->trial.confirmed = true;
	else
		f->trial.contradicted = true;
}

/* A jump's target: followed if it lies in a gap, whatever function that belongs to. */
static int reach_target(struct code_flow *f, const struct path *p, uint64_t target)
{
	int news;

	if (f->trial.is_on && (!is_in_gap(f, target) || code_starts_at(&f->starts, target)))
		leave_function(f, p);
	if (!is_in_gap(f, target))
		return 0;
	news = reach(f, target, p->id);
	return news > 0 ? push_offset(&f->todo, &f->nr_todo, &f->cap_todo, target) : news;
}

/*
 * Whether a direct call returns: looks at its target, or at the slot that a stub there jumps
 * through.
 */
static bool comes_back(const struct code_flow *f, const struct path *p, const struct x86_insn *insn)
{
	const struct code_input *in = f->in;
	uint64_t next = in->vaddr + p->at + insn->len, target = next + (uint64_t)insn->imm;
	const struct code_start *start;
	struct x86_insn stub;

	if (insn->flow == X86_CALL_ANY)
		return !insn->is_rip || !code_is_noreturn(in, next + (uint64_t)(int64_t)insn->disp);
	if (code_is_noreturn(in, target))
		return false;
	start = code_starts_at(&f->starts, target - in->vaddr);
	if (start)
		return !start->noreturn;
	/* endbr64, jmp */
	for (unsigned i = 0; i < 2 && target - in->vaddr < in->len; i++, target += stub.len) {
		if (!x86_decode(in->code + (target - in->vaddr), in->len - (target - in->vaddr),
				&stub))
			return true;
		if (stub.flow == X86_JUMP_ANY && stub.is_rip)
			return !code_is_noreturn(in,
						 target + stub.len + (uint64_t)(int64_t)stub.disp);
	}
	return true;
}

static int follow_switch(struct code_flow *f, const struct path *p, const struct x86_insn *insn)
{
	uint64_t target;
	uint32_t i = 0;
	int err = 0;

	while (!err && code_switch_target(&p->sw, f->in, insn, i, &target)) {
		if (!is_in_gap(f, target - f->in->vaddr))
			break;
		err = reach_target(f, p, target - f->in->vaddr);
		i++;
	}
	if (err || i)
		return err;
	if (code_state_is_entry(&p->state))	/* a tail call */
		return 0;
	f->stats->unknown_jumps += !f->trial.is_on;
	return push_offset(&f->unknown_jumps, &f->nr_unknown_jumps, &f->cap_unknown_jumps, p->at);
}

/*
 * A loop of stack probes runs down to an address in a register: after cmp %reg, %rsp; jne the stack
 * pointer equals the register.
 */
static void step_branch(struct path *p, const struct x86_insn *insn)
{
	const struct x86_insn *cmp = p->before;
	const struct code_state *s = &p->state;
	bool jne = (insn->map == X86_ONE_BYTE && insn->op == 0x75) ||
		   (insn->map == X86_0F && insn->op == 0x85);
	bool sp_cmp = cmp->map == X86_ONE_BYTE && cmp->mod == 3 && cmp->rex & 8 &&
		((cmp->op == 0x39 && cmp->rm == X86_SP && cmp->reg == s->copy_reg) ||
		 (cmp->op == 0x3b && cmp->reg == X86_SP && cmp->rm == s->copy_reg));

	if (jne && sp_cmp && s->has_copy && s->copy >= 8) {
		p->state.knows_sp = 1;
		p->state.sp = s->copy;
	}
}

/*
 * Whether this is a lazy stub: its slot, until it is bound, leads back to the push after the jump.
 */
static bool is_lazy_stub(const struct code_flow *f, const struct path *p,
			 const struct x86_insn *insn)
{
	uint64_t next = p->at + insn->len;

	return p->in_stub && next < p->end && f->in->code[next] == 0x68;
}

/*
 * Follows a call that does not return to where it was but leads to a part of this function: like a
 * jump, with one more word pushed.
 */
static int step_into_retpoline(struct code_flow *f, struct path *p, const struct x86_insn *insn)
{
	struct x86_insn next = *insn;
	int err;

	next.imm = 0;
	code_state_step(&p->state, &next);
	err = intern(f, &p->state, &p->id);
	return err ? err : reach_target(f, p, p->at + insn->len + (uint64_t)insn->imm);
}

/* Puts the state after insn into p. 1: control continues there; 0: it does not; or -ENOMEM. */
static int step(struct code_flow *f, struct path *p, const struct x86_insn *insn)
{
	uint64_t target = p->at + insn->len + (uint64_t)insn->imm;
	bool goes_on = true;
	int err = 0;

	if (insn->flow == X86_CALL && code_is_retpoline(f->in, p->at + insn->len))
		return step_into_retpoline(f, p, insn);
	code_switch_step(&p->sw, insn, f->in->vaddr + p->at);
	switch ((enum x86_flow)insn->flow) {
	case X86_NEXT:
		break;
	case X86_JUMP:
	case X86_BRANCH:
		err = reach_target(f, p, target);
		goes_on = insn->flow == X86_BRANCH;
		step_branch(p, insn);
		break;
	case X86_CALL:
	case X86_CALL_ANY:
		goes_on = comes_back(f, p, insn);
		break;
	case X86_JUMP_ANY:
		goes_on = is_lazy_stub(f, p, insn);
		err = goes_on || p->in_stub ? 0 : follow_switch(f, p, insn);
		break;
	case X86_RETURN:
		leave_function(f, p);
		goes_on = false;
		break;
	case X86_STOP:
		goes_on = false;
	}
	code_state_step(&p->state, insn);
	return err ? err : goes_on;
}

/* Control does not fall through into the next function; so the call before it does not return. */
static bool falls_into_function(const struct code_flow *f, const struct path *p)
{
	if (code_state_is_entry(&p->state))
		return false;
	if (p->at == p->next_start)
		return true;
	/* Without padding in between, the push may be one of arguments. */
	return p->after_call &&
	       (x86_is_padding(p->before) ? code_is_prologue(f->in, p->at, p->end)
					  : code_is_frame_setup(f->in, p->at, p->end));
}

/* Moves to the next instruction. 1: it must be looked at. */
static int advance(struct code_flow *f, struct path *p, const struct x86_insn *insn)
{
	int err = 0;

	p->at += insn->len;
	p->before = insn;
	p->after_call = insn->flow == X86_CALL || insn->flow == X86_CALL_ANY ||
			(p->after_call && x86_is_padding(insn));
	if (p->at >= p->end || falls_into_function(f, p))
		return 0;
	if (memcmp(&p->state, &f->states[p->id], sizeof(p->state)))
		err = intern(f, &p->state, &p->id);
	if (err)
		return err;
	if (p->at >= p->next_start)
		p->next_start = UINT64_MAX;
	return reach(f, p->at, p->id);
}

static int mark_inside(struct code_flow *f, uint64_t at, unsigned len)
{
	int err = 0;

	if (f->at[at + len - 1])	/* seen before */
		return 0;
	for (unsigned i = 1; i < len && !err; i++) {
		if (f->at[at + i])
			continue;
		if (f->trial.is_on)
			err = set_at(f, at + i, CODE_INSIDE);
		else
			f->at[at + i] = CODE_INSIDE;
	}
	return err;
}

static bool may_go_on(struct code_trial *trial)
{
	if (!trial->is_on)
		return true;
	if (!trial->steps_left)
		trial->contradicted = true;
	else
		trial->steps_left--;
	return !trial->contradicted;
}

static int follow(struct code_flow *f, uint64_t at)
{
	const struct code_range *gap =
		code_range_of(f->in->gaps, f->in->nr_gaps, f->in->vaddr + at);
	struct x86_insn two[2], *insn = &two[0];	/* this one and the one before */
	size_t next = code_starts_after(&f->starts, at);
	struct path p;
	int more = 1;

	p.at = at;
	p.end = gap->end - f->in->vaddr;
	p.next_start = UINT64_MAX;
	p.before = memset(&two[1], 0, sizeof(two[1]));
	p.after_call = false;
	code_switch_reset(&p.sw);
	p.in_stub = code_range_of(f->in->stubs, f->in->nr_stubs, f->in->vaddr + at);
	while (more > 0 && may_go_on(&f->trial)) {
		if (p.next_start == UINT64_MAX) {
			while (next < f->starts.nr && f->starts.v[next].at <= p.at)
				next++;
			p.next_start = next < f->starts.nr ? f->starts.v[next].at : UINT64_MAX - 1;
		}
		p.id = f->at[p.at] & ~CODE_TENTATIVE;
		p.state = f->states[p.id];
		if (!x86_decode(f->in->code + p.at, p.end - p.at, insn)) {
			f->trial.contradicted = true;
			return 0;
		}
		more = mark_inside(f, p.at, insn->len);
		if (!more)
			more = step(f, &p, insn);
		if (more > 0)
			more = advance(f, &p, insn);
		insn = insn == two ? two + 1 : two;
	}
	return more < 0 ? more : 0;
}

int code_flow_from(struct code_flow *f, uint64_t at, const struct code_state *s)
{
	uint16_t id;
	int err = intern(f, s, &id);

	if (!err)
		err = reach(f, at, id);
	if (err > 0)
		err = push_offset(&f->todo, &f->nr_todo, &f->cap_todo, at);
	while (f->nr_todo && !err && may_go_on(&f->trial))
		err = follow(f, f->todo[--f->nr_todo]);
	f->nr_todo = 0;
	return err;
}

/*
 * Whether it clears the frame pointer or, as in the dynamic linker, copies the stack pointer as the
 * address of the arguments.
 */
static bool begins_a_program(const struct x86_insn *insn)
{
	if (insn->map != X86_ONE_BYTE || insn->mod != 3)
		return false;
	return (insn->op == 0x31 && insn->reg == X86_BP && insn->rm == X86_BP) ||
	       (insn->op == 0x89 && insn->reg == X86_SP && insn->rm != X86_BP);
}

/* Whether the program's first instructions are here; they have no caller. */
static bool is_entry_point(const struct code_input *in, uint64_t at)
{
	struct x86_insn insn;

	if (!in->entry || in->vaddr + at != in->entry)
		return false;
	for (unsigned i = 0; i < 2 && x86_decode(in->code + at, in->len - at, &insn);
	     i++, at += insn.len)
		if (begins_a_program(&insn))
			return true;
	return false;
}

/*
 * Linkage stubs are called, except the first one of a lazy .plt, to which all others jump after
 * they have pushed their number. They are 16 bytes long, or 8 if all they do is jump.
 */
static int run_stubs(struct code_flow *f, const struct code_range *stubs)
{
	struct code_state entry = code_state_at_entry(), pushed = entry;
	uint64_t begin = stubs->begin - f->in->vaddr, end = stubs->end - f->in->vaddr;
	int err = 0;

	pushed.sp += 8;
	for (uint64_t at = begin; at < end && !err; at += STUB_STEP) {
		struct x86_insn insn;
		bool is_jump, is_push;

		if (!is_in_gap(f, at) || !x86_decode(f->in->code + at, end - at, &insn))
			continue;
		is_jump = insn.flow == X86_JUMP_ANY;
		is_push = insn.op == 0xff && (insn.reg & 7) == 6;
		if (at == begin && is_push)
			err = code_flow_from(f, at, &pushed);
		else if (is_jump || (at - begin) % 16 == 0)
			err = code_flow_from(f, at, &entry);
	}
	return err;
}

bool code_flow_is_unwanted(const struct code_flow *f)
{
	return f->in->unwanted && atomic_load_explicit(f->in->unwanted, memory_order_relaxed);
}

int code_flow_starts(struct code_flow *f)
{
	struct code_state entry = code_state_at_entry(), root = code_state_root(CODE_ROOT);
	int err = 0;

	for (size_t i = 0; i < f->in->nr_stubs && !err; i++)
		err = run_stubs(f, &f->in->stubs[i]);
	for (size_t i = 0; i < f->starts.nr && !err; i++) {
		uint32_t at = f->starts.v[i].at;

		if (code_flow_is_unwanted(f))
			return -ECANCELED;
		err = code_flow_from(f, at, is_entry_point(f->in, at) ? &root : &entry);
	}
	f->stats->functions += f->starts.nr;
	return err;
}

int code_flow_begin(struct code_flow *f, const struct code_input *in, struct code_stats *stats)
{
	struct code_state nothing = code_state_nothing();
	uint16_t id;
	int err;

	memset(f, 0, sizeof(*f));
	f->in = in;
	f->stats = stats;
	f->at = calloc(in->len + 1, sizeof(*f->at));
	err = f->at && array_push(&f->states, &f->nr_states, &f->cap_states) ? 0 : -ENOMEM;
	if (!err)
		err = intern(f, &nothing, &id);		/* CODE_NOTHING_KNOWN */
	return err ? err : code_starts_find(in, &f->starts);
}

void code_flow_release(struct code_flow *f)
{
	free(f->at);
	free(f->states);
	ix_release(&f->index);
	free(f->todo);
	free(f->unknown_jumps);
	free(f->trial.changes);
	code_starts_release(&f->starts);
	memset(f, 0, sizeof(*f));
}
