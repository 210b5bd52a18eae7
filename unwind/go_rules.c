/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The depth of the stack gives the CFA. Since Go 1.7 a function with a frame keeps the caller's
 * frame pointer right below the return address. Whether it did so is seen in its first
 * instructions, which are one of
 *
 *	push %rbp; mov %rsp,%rbp; sub $depth-8,%rsp		since Go 1.21
 *	sub $depth,%rsp; mov %rbp,depth-8(%rsp); lea depth-8(%rsp),%rbp
 *
 * A function that sets the stack pointer itself (to another stack, or to align it) leaves the frame
 * pointer alone if it has such a frame. The frame pointer then leads to the caller, whatever the
 * stack pointer is.
 */
#include "unwind/go_rules.h"

#include <errno.h>
#include <string.h>

#include "src/base/array.h"

#define MAX_PADDING 31	/* between functions, which are aligned to 32 */

enum kind {
	PLAIN,
	ROOT,			/* the outermost frame of its stack */
	SIGNAL,			/* signal handlers return to here */
	RESUMES,		/* its thread has left its goroutine, and looks for the next one */
	/* These set the stack pointer: */
	SWITCHES,		/* and later set it back */
	BORROWS,		/* the same, from a goroutine's stack to that of the thread */
	PARKS,			/* to the stack of the thread, to leave the goroutine */
	GROWS,			/* to the stack of the thread, to grow the goroutine's */
	LEAVES,			/* for good: what runs next does not return to here */
	JUMPS,			/* to the stack of a goroutine, which continues; this is over */
};

/* Functions of the runtime. Those of Go before 1.17 that switch have no flag that says so. */
static const struct {
	const char *name;
	enum kind kind;
} known[] = {
	{ "runtime.goexit", ROOT },
	{ "runtime.mstart", ROOT },
	{ "runtime.rt0_go", ROOT },
	{ "_rt0_amd64", ROOT },
	{ "_rt0_amd64_linux", ROOT },
	{ "runtime.sigreturn", SIGNAL },
	{ "runtime.sigreturn__sigaction", SIGNAL },
	{ "runtime.schedule", RESUMES },
	{ "runtime.stopm", RESUMES },
	{ "runtime.execute", RESUMES },
	{ "runtime.coroswitch_m", RESUMES },
	{ "runtime.mcall", PARKS },
	{ "runtime.morestack", GROWS },
	{ "runtime.clone", LEAVES },
	{ "runtime.gogo", JUMPS },
	{ "gogo", JUMPS },
	{ "runtime.systemstack", BORROWS },
	{ "runtime.asmcgocall", SWITCHES },
	{ "runtime.cgocallback", SWITCHES },
	{ "runtime.cgocallback_gofunc", SWITCHES },
	{ "runtime.nanotime", SWITCHES },
	{ "runtime.nanotime1", SWITCHES },
	{ "runtime.walltime", SWITCHES },
	{ "runtime.walltime1", SWITCHES },
};

struct emitter {
	const struct go_function *f;
	struct cfi_rows *out;
	enum kind kind;
	/* The addresses from which on this holds; UINT64_MAX: never. */
	uint64_t saved;		/* the caller's frame pointer is on the stack */
	uint64_t has_fp;	/* the frame pointer is this function's */
	uint64_t switched;	/* the stack pointer leads to another stack */
	uint64_t back;		/* it leads to the first one again */
	int64_t depth_before;
};

static const struct unwind_rule entry_rule = { .cfa = CFA_SP, .cfa_off = 8 };
static const struct unwind_rule by_fp = {
	.cfa = CFA_OTHER_STACK, .cfa_off = 16, .fp = FP_CFA, .fp_off = -16
};

/*
 * Sets the rule from vaddr on. vaddr only goes up, except over the rule at the end of the previous
 * function.
 */
static int push(struct cfi_rows *out, uint64_t vaddr, const struct unwind_rule *rule)
{
	struct cfi_row *row;

	while (out->nr && out->v[out->nr - 1].vaddr >= vaddr)
		out->nr--;
	if (out->nr && !memcmp(&out->v[out->nr - 1].rule, rule, sizeof(*rule)))
		return 0;
	row = array_push(&out->v, &out->nr, &out->cap);
	if (!row)
		return -ENOMEM;
	*row = (struct cfi_row){ vaddr, *rule };
	return 0;
}

static enum kind kind_of(const struct go_function *f)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(f->name, known[i].name))
			return known[i].kind;
	}
	return f->flags & GO_FLAG_SPWRITE ? SWITCHES : PLAIN;
}

/*
 * The length of the instruction at vaddr if it has this displacement from the stack pointer, else
 * 0.
 */
static unsigned match_sp_insn(const struct go_function *f, uint64_t vaddr, uint8_t opcode,
			      int64_t displacement)
{
	const uint8_t at_sp[] = { 0x48, opcode, 0x2c, 0x24 };
	const uint8_t short_form[] = { 0x48, opcode, 0x6c, 0x24 },
		      long_form[] = { 0x48, opcode, 0xac, 0x24 };
	struct byte_reader r = br_make(f->code, f->hi - f->lo);
	const uint8_t *insn;

	br_bytes(&r, vaddr - f->lo);
	insn = br_bytes(&r, 4);
	if (insn && !memcmp(insn, at_sp, 4))
		return displacement ? 0 : 4;
	if (insn && !memcmp(insn, short_form, 4))
		return (int8_t)br_u8(&r) == displacement && !r.bad ? 5 : 0;
	if (insn && !memcmp(insn, long_form, 4))
		return (int32_t)br_u32(&r) == displacement && !r.bad ? 8 : 0;
	return 0;
}

/* Looks for the instruction that saves the frame pointer, where the stack gets this depth. */
static void find_save(struct emitter *e, uint64_t vaddr, int64_t depth)
{
	static const uint8_t push_and_mov[] = { 0x55, 0x48, 0x89, 0xe5 };
	const struct go_function *f = e->f;
	unsigned saving, pointing;

	if (e->saved != UINT64_MAX || vaddr == f->lo || e->depth_before)
		return;
	if (depth == 8 && f->hi - vaddr >= 3 &&
	    !memcmp(f->code + (vaddr - 1 - f->lo), push_and_mov, 4)) {
		e->saved = vaddr;
		e->has_fp = vaddr + 3;
		return;
	}
	saving = match_sp_insn(f, vaddr, 0x89, depth - 8);
	pointing = saving ? match_sp_insn(f, vaddr + saving, 0x8d, depth - 8) : 0;
	if (saving)
		e->saved = vaddr + saving;
	if (pointing)
		e->has_fp = e->saved + pointing;
}

/*
 * The length of an instruction that sets the stack pointer (mov from memory or a register, or and),
 * else 0.
 */
static unsigned match_sp_write(const uint8_t *insn, size_t left)
{
	static const uint8_t and_sp[] = { 0x48, 0x83, 0xe4 };
	uint8_t modrm, mod;

	if (left < 8)
		return 0;
	if (!memcmp(insn, and_sp, 3))
		return 4;
	modrm = insn[2];
	mod = modrm >> 6;
	if ((insn[0] == 0x48 || insn[0] == 0x4c) && insn[1] == 0x89)
		return (modrm & 0xc7) == 0xc4 ? 3 : 0;
	if ((insn[0] != 0x48 && insn[0] != 0x49) || insn[1] != 0x8b || (modrm & 0x38) != 0x20)
		return 0;
	return 3 + (mod != 3 && (modrm & 7) == 4) + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/*
 * A wrapper has the name of the function that it calls, so the name alone is not enough: a function
 * with neither the flag nor the instruction is a wrapper.
 */
static void find_switch(struct emitter *e)
{
	const struct go_function *f = e->f;
	size_t size = f->hi - f->lo;

	for (size_t i = 0; i < size && e->back == UINT64_MAX; i++) {
		unsigned n = match_sp_write(f->code + i, size - i);

		if (n && e->switched == UINT64_MAX)
			e->switched = f->lo + i + n;
		else if (n)
			e->back = f->lo + i + n;
	}
	if (e->switched == UINT64_MAX && (f->flags & GO_FLAG_SPWRITE))
		e->switched = f->lo;
	else if (e->switched == UINT64_MAX)
		e->kind = PLAIN;
}

/*
 * The rule where the return address has been popped off the stack into a register. vfork does so,
 * because the child will overwrite the stack.
 */
static struct unwind_rule popped_rule(const struct go_function *f, uint64_t vaddr)
{
	const uint8_t *pop = f->code + (vaddr - f->lo) - 2;

	if (vaddr < f->lo + 2 || pop[0] != 0x41 || pop[1] < 0x58 || pop[1] > 0x5f)
		return (struct unwind_rule){ .cfa = CFA_UNSUPPORTED };
	return (struct unwind_rule){ .cfa = CFA_SP,
				     .ra = RA_REG,
				     .reg = (uint8_t)(8 + pop[1] - 0x58) };
}

/* The rule on a thread's stack that was called from a goroutine's: unwind_goroutine.h. */
static struct unwind_rule goroutine_rule(const struct go_runtime *runtime, enum kind kind)
{
	return (struct unwind_rule){ .cfa = CFA_GOROUTINE,
				     .ra = kind == BORROWS ? RA_CFA : RA_REG,
				     .reg = kind == PARKS,
				     .cfa_off = runtime->tls,
				     .fp_off = runtime->bp,
				     .aux = runtime->curg };
}

/* The rule of a function that has gone to another stack. */
static struct unwind_rule switched_rule(const struct emitter *e)
{
	bool is_known = e->f->runtime->is_known && e->kind >= BORROWS && e->kind <= GROWS;
	struct unwind_rule rule = by_fp;

	if (is_known)
		return goroutine_rule(e->f->runtime, e->kind);
	/* Behind LEAVES and JUMPS nothing returns: the stack of the thread is empty here. */
	if (e->kind >= PARKS)
		return (struct unwind_rule){ .cfa = CFA_ROOT };
	/*
	 * The frame pointer still belongs to the caller, so unwinding finds the caller's caller and
	 * leaves the caller out.
	 */
	rule.ra |= RULE_GUESSED;
	return rule;
}

static struct unwind_rule rule_at(const struct emitter *e, uint64_t vaddr, int64_t depth)
{
	bool switched = vaddr >= e->switched, saved = vaddr >= e->saved && depth >= 8;
	bool may_return = e->kind == SWITCHES || e->kind == BORROWS;

	if (e->kind == ROOT)
		return (struct unwind_rule){ .cfa = CFA_ROOT };
	if (e->kind == SIGNAL)
		return (struct unwind_rule){ .cfa = CFA_SIGNAL };
	if (may_return && vaddr >= e->has_fp && depth >= 8)
		return by_fp;
	if (e->kind == BORROWS && vaddr >= e->back)
		switched = false;
	if (switched && (!may_return || e->has_fp == UINT64_MAX))
		return switched_rule(e);
	if (depth < 0)
		return popped_rule(e->f, vaddr);
	return (struct unwind_rule){ .cfa = CFA_SP,
				     .cfa_off = (int32_t)depth + 8,
				     .fp = saved ? FP_CFA : FP_SAME,
				     .fp_off = saved ? -16 : 0,
				     .ra = e->kind == RESUMES ? RULE_NEXT_GOROUTINE : 0 };
}

/* Adds the rules of the code from lo to hi - 1, where the stack has one depth. */
static int add_stretch(struct emitter *e, uint64_t lo, uint64_t hi, int64_t depth)
{
	const uint64_t changes[] = { e->saved, e->has_fp, e->switched, e->back };
	struct unwind_rule rule = rule_at(e, lo, depth);
	int err = push(e->out, lo, &rule);

	for (uint64_t at = lo; !err && at < hi;) {
		uint64_t next = hi;

		for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
			next = changes[i] > at && changes[i] < next ? changes[i] : next;
		at = next;
		rule = rule_at(e, at, depth);
		if (at < hi)
			err = push(e->out, at, &rule);
	}
	return err;
}

static int add_depths(struct emitter *e, uint64_t *end)
{
	struct byte_reader r = e->f->depths;
	const struct go_function *f = e->f;
	uint64_t vaddr = f->lo;
	int64_t depth = -1;
	int err = 0;

	while (vaddr < f->hi && !err) {
		int64_t change = br_sv(&r);
		uint64_t size;

		if (!change && vaddr > f->lo)
			break;
		size = br_uv(&r);
		if (r.bad || !size || size > f->hi - vaddr || change < -INT32_MAX ||
		    change > INT32_MAX)
			return -EBADMSG;
		depth += change;
		if ((depth < 0 && depth != -8) || depth > INT32_MAX - 8)
			return -EBADMSG;
		find_save(e, vaddr, depth);
		err = add_stretch(e, vaddr, vaddr + size, depth);
		e->depth_before = depth;
		vaddr += size;
		*end = vaddr;
	}
	return err;
}

int go_rules_add(const struct go_function *f, struct cfi_rows *out)
{
	static const struct unwind_rule none = { .cfa = CFA_NONE }, signal = { .cfa = CFA_SIGNAL };
	struct emitter e = { .f = f,
			     .out = out,
			     .kind = kind_of(f),
			     .saved = UINT64_MAX,
			     .has_fp = UINT64_MAX,
			     .switched = UINT64_MAX,
			     .back = UINT64_MAX };
	uint64_t end = f->lo;
	int err, pushed = 0;

	if (e.kind >= SWITCHES)
		find_switch(&e);
	/*
	 * Handlers return to its first byte, and the rule of a caller is looked up one byte before
	 * the return address.
	 */
	if (e.kind == SIGNAL)
		pushed = push(out, f->lo - 1, &signal);
	err = add_depths(&e, &end);
	/* Padding belongs to the function after it. */
	if (!pushed && err != -ENOMEM)
		pushed = push(out, end, f->hi - end <= MAX_PADDING && !err ? &entry_rule : &none);
	if (!pushed && err != -ENOMEM)
		pushed = push(out, f->hi, &none);
	return pushed ? pushed : err;
}
