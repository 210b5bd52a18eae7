/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memos of kernel stacks, so that not all of them need to be unwound: of the threads that a scan
 * meets, and of those that leave a CPU (bpf/off_cpu.bpf.h).
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
 * Learning. The kernel does not say which slots the unwinder has used. An address may stand in
 * other slots, too, where earlier calls have left it. But those change from call to call, not
 * least because of the random amount, and the slot of a frame does not. So a draft keeps all slots
 * that an address was found in each time that the stack was met, and becomes a memo when each
 * address has a single slot left. Memos are grouped into sets by the system call that the thread
 * is in.
 *
 * Checking. One in MEMO_AUDIT stacks that a memo knows is unwound all the same. If that gives
 * another stack, no memo is used any more (scan_totals.misled), and user space says so.
 *
 * Where the slots are counted from. A thread that sleeps has its stack pointer in memory. One that
 * leaves a CPU just now is in the program itself: there it is the address of the program's
 * arguments, which the tracepoint has put on the stack.
 *
 * Limits. x86-64 only: on arm64 the saved return addresses may carry an authentication code, and
 * unwinding costs less. Up to MEMO_FRAMES frames on MEMO_WORDS words. At most MEMO_LEARN stacks are
 * learnt from in a scan, or on a CPU in MEMO_PERIOD_NS.
 */
#pragma once

#include "bpf/running.bpf.h"
#include "bpf/wait.bpf.h"

#define MEMO_FRAMES 32
#define MEMO_WORDS 256		/* of stack; deeper stacks are not remembered */
#define MEMO_WAYS 8		/* memos of a set */
#define MEMO_OWN 4		/* frames of this program, which are on no slot that was read */
#define MEMO_AUDIT 256		/* one known stack in so many is unwound */
#define MEMO_LEARN 64		/* attempts in one scan: each costs as much as several stacks */
#define MEMO_PERIOD_NS (100 * 1000 * 1000ull)

struct kernel_memo {
	uint64_t nr;		/* 0: empty */
	uint64_t address[MEMO_FRAMES];
	uint64_t slot[MEMO_FRAMES];	/* words from the stack pointer */
};

#define MEMO_BITS (MEMO_WORDS / 64)

/* A stack that was met, and the slots that its addresses may be in. */
struct memo_draft {
	uint64_t nr;		/* 0: empty */
	uint64_t address[MEMO_FRAMES];
	uint64_t slots[MEMO_FRAMES][MEMO_BITS];
};

struct memo_set {
	struct kernel_memo way[MEMO_WAYS];
	struct memo_draft draft;
};

/*
 * Only the first reader of a recording uses these memos: a reader that was given up may still
 * write.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MEMO_SETS);
	__type(key, uint32_t);
	__type(value, struct memo_set);
} kernel_memos SEC(".maps");

/* The kernel stack that is being looked at, and what belongs to no single stack. */
struct kernel_words {
	uint64_t period;	/* the scan, or the period, that learnt counts for */
	uint32_t learnt, met;	/* attempts to learn; stacks that a memo knew, in all periods */
	uint64_t next_way;	/* of a set: where the next memo goes */
	/* What learning looks for; the program's own stack is small. */
	uint64_t slots[MEMO_BITS];	/* those of an address */
	uint64_t address;
	uint32_t frame;			/* its number */
	uint32_t times, at;		/* how often it stands on the stack, and where last */
	uint32_t own;			/* frames in front of the first that is on a slot */
	uint32_t first;			/* of the kernel's answer in the frames */
	uint32_t open;			/* some address has more than one slot */
	struct kernel_memo found;
	uint64_t nr;
	uint64_t word[MEMO_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kernel_words);
} kernel_words SEC(".maps");

/* The memos of threads that leave a CPU, with interrupts off. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);			/* knobs.leaving_sets */
	__type(key, uint32_t);
	__type(value, struct memo_set);
} leaving_memos SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct kernel_words);
} leaving_words SEC(".maps");

/* What is known of one stack before the kernel unwinds it. */
struct kernel_recall {
	struct kernel_words *words;	/* NULL: memos are of no use for this stack */
	struct kernel_memo *known;	/* NULL: it was not met before */
	struct memo_set *set;		/* where it is remembered */
};

#if defined(__TARGET_ARCH_x86)
struct memo_loop {
	struct kernel_words *words;
	struct kernel_memo *memo;
	struct gather *g;		/* its frames from first on are the kernel's answer */
	struct memo_set *set;
	uint32_t first;
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
	struct kernel_memo *memo = &l->set->way[i & (MEMO_WAYS - 1)];
	uint32_t last;

	if (!memo->nr)
		return 1;
	last = (memo->nr - 1) & (MEMO_FRAMES - 1);
	if (memo->address[last] != l->words->word[(l->words->nr - 1) & (MEMO_WORDS - 1)])
		return 0;
	l->memo = memo;
	l->differs = false;
	bpf_loop(last, compare_slot, l, 0);
	if (!l->differs)
		return 1;
	l->memo = 0;
	return 0;
}

/* The memo that knows this stack, or NULL. */
static __always_inline struct kernel_memo *known_stack(struct kernel_words *words,
						       struct memo_set *set)
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
static __always_inline bool is_misled(struct kernel_memo *memo, struct gather *g)
{
	uint32_t own = g->head.nr_kernel - memo->nr;
	struct memo_loop l = { .memo = memo, .g = g, .first = g->head.nr_user + own };

	if (own > MEMO_OWN)
		return true;
	bpf_loop(memo->nr, compare_frame, &l, 0);
	return l.differs;
}

static long count_word(uint32_t i, struct memo_loop *l)
{
	struct kernel_words *words = l->words;
	uint64_t bit = 1ull << (i & 63);
	uint32_t at = i / 64 & (MEMO_BITS - 1);

	i &= MEMO_WORDS - 1;
	if (words->word[i] == words->address &&
	    l->set->draft.slots[words->frame & (MEMO_FRAMES - 1)][at] & bit) {
		words->times++;
		words->at = i;
		words->slots[at] |= bit;
	}
	return 0;
}

/*
 * Leaves the slots in the draft in which the address of frame i was found now, too. 1: the draft
 * does not fit. A global function, which the verifier goes through once.
 */
__noinline int find_slot(struct kernel_words *words, struct gather *g, struct memo_set *set,
			 uint32_t i)
{
	struct memo_loop l = { .words = words, .set = set };
	uint32_t at, below;

	if (!(WITH_SCANS || WITH_PROBES) || !words || !g || !set)
		return 1;
	at = words->first + i;
	below = words->at;
	if (at >= WIRE_DUMP_FRAMES || i >= MEMO_FRAMES)
		return 1;
	words->address = g->frames[at];
	words->frame = i;
	words->times = 0;
	for (int k = 0; k < MEMO_BITS; k++)
		words->slots[k] = 0;
	bpf_loop(words->nr, count_word, &l, 0);
	if (!words->times && i == words->own && i < MEMO_OWN) {
		words->own++;
		return 0;
	}
	for (int k = 0; k < MEMO_BITS; k++)
		set->draft.slots[i][k] = words->slots[k];
	if (words->times > 1)
		words->open = true;
	at = (i - words->own) & (MEMO_FRAMES - 1);
	words->found.address[at] = words->address;
	words->found.slot[at] = words->at;
	return !words->times || (words->times == 1 && i > words->own && words->at <= below);
}

static long next_frame(uint32_t i, struct memo_loop *l)
{
	l->differs = find_slot(l->words, l->g, l->set, i) != 0;
	return l->differs;
}

static long compare_draft(uint32_t i, struct memo_loop *l)
{
	uint32_t at = l->first + i;

	l->differs = at >= WIRE_DUMP_FRAMES ||
		     l->g->frames[at] != l->set->draft.address[i & (MEMO_FRAMES - 1)];
	return l->differs;
}

static long begin_frame(uint32_t i, struct memo_loop *l)
{
	struct memo_draft *draft = &l->set->draft;
	uint32_t at = l->first + i;

	if (at >= WIRE_DUMP_FRAMES || i >= MEMO_FRAMES)
		return 1;
	draft->address[i] = l->g->frames[at];
	for (int k = 0; k < MEMO_BITS; k++)
		draft->slots[i][k] = ~0ull;
	return 0;
}

/*
 * Learns from a stack that the kernel has unwound. The thread must not have run since the words
 * were read. The outermost address must be the very last word. A function of its own for the
 * verifier, which keeps less in memory at a time then.
 */
__noinline int learn(struct kernel_words *words, struct gather *g, struct memo_set *set)
{
	if (!(WITH_SCANS || WITH_PROBES) || !words || !g || !set)
		return 0;

	struct memo_loop l = { .words = words, .g = g, .first = g->head.nr_user, .set = set };
	uint32_t nr = g->head.nr_kernel, way;

	words->learnt++;
	if (!nr || nr > MEMO_FRAMES)
		return 0;
	l.differs = set->draft.nr != nr;
	if (!l.differs)
		bpf_loop(nr, compare_draft, &l, 0);
	if (l.differs)
		bpf_loop(nr, begin_frame, &l, 0);
	set->draft.nr = nr;
	l.differs = false;
	words->first = l.first;
	words->own = words->at = words->open = 0;
	bpf_loop(nr, next_frame, &l, 0);
	if (l.differs || words->at + 1 != words->nr)
		set->draft.nr = 0;
	if (l.differs || words->open || words->own >= nr || words->at + 1 != words->nr)
		return 0;
	words->found.nr = nr - words->own;
	way = words->next_way++ & (MEMO_WAYS - 1);
	set->way[way] = words->found;
	set->draft.nr = 0;
	return 1;
}

/*
 * Reads the stack from sp on, up to the user registers that were saved when the thread entered the
 * kernel. false: it is too deep or cannot be read. A sleeping thread may run meanwhile; the caller
 * finds out by the number of its switches.
 */
static __always_inline bool load_kernel_words(struct kernel_words *words, struct task_struct *task,
					      uint64_t sp, uint64_t period)
{
	uint64_t bytes;

	/*
	 * The address goes through memory, because the verifier refuses to calculate with the
	 * address of an object of the kernel.
	 */
	READ_NOW(words->nr) = (uint64_t)bpf_task_pt_regs(task);
	bytes = READ_NOW(words->nr) - sp;
	if (bytes < 8 || bytes > sizeof(words->word) || bytes & 7)
		return false;
	if (words->period != period)
		words->learnt = 0;
	words->period = period;
	words->nr = bytes / 8;
	return !bpf_probe_read_kernel(words->word, bytes, (void *)sp);
}

/*
 * The set in which the stack would be remembered: threads in the same call are in few different
 * functions. Threads in no call are told apart by the depth of their stack.
 */
static __always_inline uint32_t memo_set(const struct kernel_words *words, uint32_t call,
					 uint32_t sets)
{
	return (call ? call : words->nr) % sets;
}

/* true: the memo's addresses are behind the user frames now. */
static __always_inline bool use_memo(struct kernel_recall *r, struct gather *g)
{
	uint64_t n, nr, *to;

	r->known = known_stack(r->words, r->set);
	if (!r->known || !(++r->words->met % MEMO_AUDIT))
		return false;
	/* Each number is used where it was compared: 6.1 forgets about copies of it. */
	n = READ_NOW(g->head.nr_user);
	if (n > UNWIND_MAX_FRAMES)
		return false;
	to = &g->frames[n];
	asm volatile("" : "+r"(to));
	nr = READ_NOW(r->known->nr);
	if (nr > MEMO_FRAMES)
		return false;
	asm volatile("" : "+r"(nr));
	nr &= 2 * MEMO_FRAMES - 1;
	if (bpf_probe_read_kernel(to, nr * 8, r->known->address))
		return false;
	g->head.nr_kernel = nr;
	return true;
}

/* true: a memo knows the stack, which is now behind the user frames. false: it must be unwound. */
static __always_inline bool recall_kernel(struct kernel_recall *r, struct task_struct *task,
					  struct gather *g, bool in_user, uint64_t scan_ns)
{
	uint32_t zero = 0, set;
	struct kernel_words *words = bpf_map_lookup_elem(&kernel_words, &zero);

	if (!words || !load_kernel_words(words, task, task->thread.sp, scan_ns))
		return false;
	set = memo_set(words, in_user ? syscall_of(&g->unwinder, task) : 0, MEMO_SETS);
	r->set = bpf_map_lookup_elem(&kernel_memos, &set);
	if (!r->set)
		return false;
	r->words = words;
	return use_memo(r, g);
}

/* Recalls the stack of the thread that leaves this CPU; ctx: the arguments of the tracepoint. */
static __always_inline bool recall_leaving(struct kernel_recall *r, void *ctx,
					   struct task_struct *task, struct gather *g, bool in_user)
{
	uint32_t zero = 0, set;
	struct kernel_words *words = bpf_map_lookup_elem(&leaving_words, &zero);

	if (!words)
		return false;
	READ_NOW(words->nr) = (uint64_t)ctx;
	if (!load_kernel_words(words, task, READ_NOW(words->nr), g->head.time_ns / MEMO_PERIOD_NS))
		return false;
	set = memo_set(words, in_user ? syscall_of(&g->unwinder, task) : 0, knobs.leaving_sets);
	r->set = bpf_map_lookup_elem(&leaving_memos, &set);
	if (!r->set)
		return false;
	r->words = words;
	return use_memo(r, g);
}

/* After the kernel has unwound the stack. true: the memo knew another one. */
static __always_inline bool is_other_or_learn(struct kernel_recall *r, struct gather *g)
{
	if (r->known)
		return is_misled(r->known, g);
	if (r->words && r->set && r->words->learnt < MEMO_LEARN)
		learn(r->words, g, r->set);
	return false;
}

/*
 * Compares or learns the stack of a sleeping thread. One that has run since its words were read has
 * another stack than they say, and that is no fault of a memo.
 */
static __always_inline bool compare_or_learn(struct kernel_recall *r, struct task_struct *task,
					     struct gather *g, const struct env *e)
{
	if (READ_NOW(task->on_cpu) || e->switches != switches(task))
		return false;
	return is_other_or_learn(r, g);
}
#else
static __always_inline bool recall_kernel(struct kernel_recall *r, struct task_struct *task,
					  struct gather *g, bool in_user, uint64_t scan_ns)
{
	return false;
}

static __always_inline bool recall_leaving(struct kernel_recall *r, void *ctx,
					   struct task_struct *task, struct gather *g, bool in_user)
{
	return false;
}

static __always_inline bool is_other_or_learn(struct kernel_recall *r, struct gather *g)
{
	return false;
}

static __always_inline bool compare_or_learn(struct kernel_recall *r, struct task_struct *task,
					     const struct gather *g, const struct env *e)
{
	return false;
}
#endif
