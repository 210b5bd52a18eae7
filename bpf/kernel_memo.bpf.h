/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memos of kernel stacks, so that a scan need not have all of them unwound.
 *
 * The problem. The kernel's own unwinder takes 2 us for a sleeping thread, a third of what the
 * thread's row costs. Yet sleeping threads have few different kernel stacks.
 *
 * The idea. The way that the unwinder goes is a function of the words on the stack. The code that a
 * frame is in determines where on the stack its return address is, and this address determines the
 * code of the next frame. So if every slot in which the unwinder has once found a return address
 * holds the same return address again, it would go the same way again. A memo keeps these slots,
 * counted from the stack pointer, and their addresses. For a stack that was unwound to A, B, C, D:
 *
 *	slot		0-5	6	7-18	19	20-36	37	38-	last
 *	memo			A		B		C		D
 *	another stack	any	A	any	B	any	C	any	D	known
 *	another stack	any	A	any	E	any	C	any	D	unknown
 *
 * The outermost return address (D) is looked for from the other end, in the last word before the
 * saved user registers, because the function before it may have moved the stack by a random amount
 * (randomize_kstack_offset).
 *
 * Learning. The kernel does not say which slots the unwinder has used. They are certain only if
 * each address stands on the stack exactly once, so no memo is made of other stacks. Memos are
 * grouped into sets by the system call that the thread is in.
 *
 * Checking. One in MEMO_AUDIT stacks that a memo knows is unwound all the same. If that gives
 * another stack, no memo is used any more (scan_totals.misled), and user space says so.
 *
 * Limits. x86-64 only: on arm64 the saved return addresses may carry an authentication code, and
 * unwinding costs less. Up to MEMO_FRAMES frames on MEMO_WORDS words. At most MEMO_LEARN stacks are
 * learnt from in a scan.
 */
#pragma once

#include "bpf/running.bpf.h"
#include "bpf/wait.bpf.h"

#define MEMO_FRAMES 32
#define MEMO_WORDS 256		/* of stack; deeper stacks are not remembered */
#define MEMO_SETS 64		/* of memos, by system call */
#define MEMO_WAYS 8		/* memos of a set */
#define MEMO_AUDIT 256		/* one known stack in so many is unwound */
#define MEMO_LEARN 64		/* attempts in one scan: each costs as much as several stacks */

struct kernel_memo {
	uint64_t nr;		/* 0: empty */
	uint64_t address[MEMO_FRAMES];
	uint64_t slot[MEMO_FRAMES];	/* words from the stack pointer */
};

/*
 * Only the first reader of a recording uses the memos: a reader that was given up may still write.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MEMO_SETS * MEMO_WAYS);
	__type(key, uint32_t);
	__type(value, struct kernel_memo);
} kernel_memos SEC(".maps");

/* The kernel stack that is being looked at, and what belongs to no single stack. */
struct kernel_words {
	uint64_t scan_ns;	/* begin of the scan that learnt counts for */
	uint32_t learnt, met;	/* attempts to learn; stacks that a memo knew, in all scans */
	struct kernel_memo draft;
	uint64_t nr;
	uint64_t word[MEMO_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kernel_words);
} kernel_words SEC(".maps");

/* What is known of one stack before the kernel unwinds it. */
struct kernel_recall {
	struct kernel_words *words;	/* NULL: memos are of no use for this stack */
	struct kernel_memo *known;	/* NULL: it was not met before */
	uint32_t set;			/* number of its first memo */
};

#if defined(__TARGET_ARCH_x86)
struct memo_loop {
	struct kernel_words *words;
	struct kernel_memo *memo;
	const struct gather *g;		/* its frames from first on are the kernel's answer */
	uint64_t address;
	uint32_t first;
	uint32_t set;			/* number of its first memo */
	uint32_t times, at;		/* how often address stands on the stack, and where last */
	bool differs;
};

static long compare_slot(uint32_t i, struct memo_loop *l)
{
	uint32_t slot;

	i &= MEMO_FRAMES - 1;
	slot = l->memo->slot[i] & (MEMO_WORDS - 1);
	l->differs = l->words->word[slot] != l->memo->address[i];
	return l->differs;
}

static long compare_way(uint32_t i, struct memo_loop *l)
{
	uint32_t at = l->set + i, last;
	struct kernel_memo *memo = bpf_map_lookup_elem(&kernel_memos, &at);

	if (!memo || !memo->nr)
		return 1;
	last = (memo->nr - 1) & (MEMO_FRAMES - 1);
	if (memo->address[last] != l->words->word[(l->words->nr - 1) & (MEMO_WORDS - 1)])
		return 0;
	l->memo = memo;
	l->differs = false;
	bpf_loop(last, compare_slot, l, 0);
	if (l->differs)
		l->memo = 0;
	return !l->differs;
}

/* The memo that knows this stack, or NULL. */
static __always_inline struct kernel_memo *known_stack(struct kernel_words *words, uint32_t set)
{
	struct memo_loop l = { .words = words, .set = set };

	bpf_loop(MEMO_WAYS, compare_way, &l, 0);
	return l.memo;
}

static long compare_frame(uint32_t i, struct memo_loop *l)
{
	uint32_t at = l->first + i;

	l->differs = at >= WIRE_DUMP_FRAMES ||
		     l->g->frames[at] != l->memo->address[i & (MEMO_FRAMES - 1)];
	return l->differs;
}

/* Whether the kernel has unwound another stack than the memo knows. */
static __always_inline bool is_misled(struct kernel_memo *memo, const struct gather *g)
{
	struct memo_loop l = { .memo = memo, .g = g, .first = g->head.nr_user };

	if (g->head.nr_kernel != memo->nr)
		return true;
	bpf_loop(memo->nr, compare_frame, &l, 0);
	return l.differs;
}

static long count_word(uint32_t i, struct memo_loop *l)
{
	i &= MEMO_WORDS - 1;
	if (l->words->word[i] == l->address) {
		l->times++;
		l->at = i;
	}
	return 0;
}

static long find_slot(uint32_t i, struct memo_loop *l)
{
	struct kernel_memo *draft = &l->words->draft;
	uint32_t at = l->first + i, below = l->at;

	if (at >= WIRE_DUMP_FRAMES || i >= MEMO_FRAMES)
		return 1;
	l->address = l->g->frames[at];
	l->times = 0;
	bpf_loop(l->words->nr, count_word, l, 0);
	l->differs = l->times != 1 || (i && l->at <= below);
	draft->address[i] = l->address;
	draft->slot[i] = l->at;
	return l->differs;
}

/*
 * Makes a memo of the stack that the kernel has unwound. The thread must not have run since the
 * words were read. The outermost address must be the very last word.
 */
static __always_inline void learn(struct kernel_words *words, const struct gather *g, uint32_t set)
{
	struct memo_loop l = { .words = words, .g = g, .first = g->head.nr_user };
	uint32_t nr = g->head.nr_kernel, at = set + words->learnt++ % MEMO_WAYS;
	struct kernel_memo *memo;

	if (!nr || nr > MEMO_FRAMES)
		return;
	bpf_loop(nr, find_slot, &l, 0);
	memo = bpf_map_lookup_elem(&kernel_memos, &at);
	if (l.differs || l.at + 1 != words->nr || !memo)
		return;
	words->draft.nr = nr;
	*memo = words->draft;
}

/*
 * Reads the stack of a sleeping thread, up to the user registers that were saved when it entered
 * the kernel. NULL: it is too deep or cannot be read. The thread may run meanwhile; the caller
 * finds out by the number of its switches.
 */
static __always_inline struct kernel_words *load_kernel_words(struct task_struct *task,
							      uint64_t scan_ns)
{
	uint32_t zero = 0;
	struct kernel_words *words = bpf_map_lookup_elem(&kernel_words, &zero);
	uint64_t sp = task->thread.sp, bytes;

	if (!words)
		return 0;
	/*
	 * The address goes through memory, because the verifier refuses to calculate with the
	 * address of an object of the kernel.
	 */
	READ_NOW(words->nr) = (uint64_t)bpf_task_pt_regs(task);
	bytes = READ_NOW(words->nr) - sp;
	if (bytes < 8 || bytes > sizeof(words->word) || bytes & 7)
		return 0;
	if (words->scan_ns != scan_ns)
		words->learnt = 0;
	words->scan_ns = scan_ns;
	words->nr = bytes / 8;
	return bpf_probe_read_kernel(words->word, bytes, (void *)sp) ? 0 : words;
}

/*
 * The set in which the stack would be remembered: threads in the same call are in few different
 * functions. Threads in no call are told apart by the depth of their stack.
 */
static __always_inline uint32_t memo_set(const struct kernel_words *words, uint32_t call)
{
	return (call ? call : words->nr) % MEMO_SETS * MEMO_WAYS;
}

/* true: a memo knows the stack, which is now behind the user frames. false: it must be unwound. */
static __always_inline bool recall_kernel(struct kernel_recall *r, struct task_struct *task,
					  struct gather *g, bool in_user, uint64_t scan_ns)
{
	uint32_t n = g->head.nr_user;
	uint64_t nr;

	r->words = load_kernel_words(task, scan_ns);
	if (!r->words || n > UNWIND_MAX_FRAMES)
		return false;
	r->set = memo_set(r->words, in_user ? syscall_of(&g->unwinder, task) : 0);
	r->known = known_stack(r->words, r->set);
	if (!r->known || !(++r->words->met % MEMO_AUDIT))
		return false;
	nr = r->known->nr;
	if (nr > MEMO_FRAMES || bpf_probe_read_kernel(&g->frames[n], nr * 8, r->known->address))
		return false;
	g->head.nr_kernel = nr;
	return true;
}

/*
 * After the kernel has unwound the stack: compares the result with the memo, or learns from it. A
 * thread that has run since its words were read has another stack than they say, and that is no
 * fault of a memo. true: the memo knew another stack.
 */
static __always_inline bool compare_or_learn(struct kernel_recall *r, struct task_struct *task,
					     const struct gather *g, const struct env *e)
{
	if (READ_NOW(task->on_cpu) || e->switches != switches(task))
		return false;
	if (r->known)
		return is_misled(r->known, g);
	if (r->words && r->words->learnt < MEMO_LEARN)
		learn(r->words, g, r->set);
	return false;
}
#else
static __always_inline bool recall_kernel(struct kernel_recall *r, struct task_struct *task,
					  struct gather *g, bool in_user, uint64_t scan_ns)
{
	return false;
}

static __always_inline bool compare_or_learn(struct kernel_recall *r, struct task_struct *task,
					     const struct gather *g, const struct env *e)
{
	return false;
}
#endif
