/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time that threads do not spend on a CPU, by the stack at which they left it.
 *
 * The problem. How long a thread was away is known when it comes back, but then its memory is not
 * mapped yet, so its stack must be taken when it leaves. Most stays away are short or happen at the
 * same places again, and a whole stack for each of them would be more than a busy machine can hand
 * out: it has 100,000 switches a second.
 *
 * The idea. A stack is handed out once, under a number (its id), and from then on a stay away
 * refers to it. The id of a stack is a hash of it, and known_stacks holds the ids that user space
 * has. For each thread there is one entry that says when it left, at which stack, in which state,
 * and what for.
 *
 *	thread 4711 leaves: its stack hashes to 0x51.., which is not known: STACK 0x51.. (20 frames)
 *	       is woken 3.1 ms later: the entry keeps the time
 *	       is back 0.2 ms after that: STAY 0x51.., 3.1 ms asleep, 0.2 ms waiting for a CPU
 *	thread 4712 leaves at the same stack and is back: STAY 0x51..
 *
 * A stack that cannot be unwound yet is handed out with registers and memory, as that of a sample,
 * and belongs to one stay alone: its id is a number that does not come again. So does a stack for
 * which known_stacks has no room.
 *
 * The budget. Each CPU measures how much of its time goes into this. If that is more than the user
 * allows, one stay in two is recorded there from then on, then one in four, and so on; each weighs
 * as much more. Which ones is left to chance, so the sums remain right.
 *
 * Limits. A stay that began before the recording is not seen here; user space enters it into
 * off_cpu_threads (sleepers.h). One that has not ended when the recording ends is completed there.
 * Threads that exit do not come back.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/interrupt.bpf.h"
#include "bpf/kernel_memo.bpf.h"
#include "bpf/stack_dump.bpf.h"
#include "bpf/stack_hash.bpf.h"
#include "bpf/wait.bpf.h"

#define OWN_FRAMES 3			/* of the program, and of how it is called */
#define KNOWN_STACKS 32768
#define TASK_DEAD_BIT 0x80

/* Written by user space before the programs are attached. */
struct off_cpu_control off_cpu = {};

/* By the thread's number in the initial PID namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);		/* set by user space */
	__type(key, uint32_t);
	__type(value, struct off_cpu_thread);
} off_cpu_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KNOWN_STACKS);
	__type(key, uint64_t);
	__type(value, uint32_t);
} known_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct gather);
} off_cpu_scratch SEC(".maps");

/* A map memos for these programs alone: a tick may interrupt one of them. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);			/* knobs.memos */
	__type(key, uint32_t);
	__type(value, struct unwind_memo);
} off_cpu_memos SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 * 1024 * 1024);	/* set by user space */
} off_cpu_ring SEC(".maps");

/* ---- handing out ---- */

static __always_inline uint64_t off_cpu_wake_flags(struct gather *g)
{
	return bpf_ringbuf_query(&off_cpu_ring, BPF_RB_AVAIL_DATA) > knobs.wakeup_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* Hands out the stack as that of one stay, with its memory. 0: there is no room. */
static __always_inline uint64_t put_deferred(struct gather *g, struct env *e)
{
	uint32_t slot = knobs.off_cpu_slot + shared_slot(bpf_get_smp_processor_id()), bytes;
	struct stack_dump *dump = bpf_map_lookup_elem(&dump_scratch, &slot);
	bool done;

	if (!dump || bpf_ringbuf_query(&off_cpu_ring, BPF_RB_AVAIL_DATA) > knobs.ring_room ||
	    !CLAIM(&dump->busy))
		return 1;
	g->head.flags |= WIRE_DUMP;
	bytes = gather_dump(g, e, dump, WIRE_DUMP_PAGES, copy_page_nofault);
	done = bytes && bytes <= STACK_DUMP_BYTES &&
	       !bpf_ringbuf_output(&off_cpu_ring, &dump->w, bytes, BPF_RB_FORCE_WAKEUP);
	LEAVE(&dump->busy);
	if (!done)
		g->head.flags &= ~WIRE_DUMP;
	return !done;
}

static __always_inline bool put_stack(struct gather *g)
{
	uint32_t bytes = gather_bytes(g);

	return bytes && !bpf_ringbuf_output(&off_cpu_ring, &g->head, bytes, off_cpu_wake_flags(g));
}

/* An id that comes once: the CPU and how many of them there were. */
static __always_inline uint64_t next_single_id(struct gather *g)
{
	return STACK_OF_ONE_STAY | (uint64_t)bpf_get_smp_processor_id() << 40 |
	       g->counters[COUNTER_STACKS];
}

/* The id under which user space has the stack in g; 0: it could not be handed out. */
static __always_inline uint64_t id_of_stack(struct gather *g, struct env *e)
{
	uint32_t one = 1;
	uint64_t id;

	g->counters[COUNTER_STACKS]++;
	if (is_deferred(g)) {
		g->head.weight = next_single_id(g);
		if (!put_deferred(g, e))
			return g->head.weight;
	}
	id = stack_hash(g);
	if (bpf_map_lookup_elem(&known_stacks, &id))
		return id;
	g->head.weight = id;
	if (is_early(g->head.end)) {
		/* The next stack of this kind is another one as soon as a table is there. */
		g->head.weight = next_single_id(g);
		return put_stack(g) ? g->head.weight : 0;
	}
	if (bpf_map_update_elem(&known_stacks, &id, &one, BPF_NOEXIST))
		g->head.weight = next_single_id(g);
	if (put_stack(g))
		return g->head.weight;
	bpf_map_delete_elem(&known_stacks, &id);
	return 0;
}

/* ---- leaving ---- */

/* false: there is none, although memos are used. */
static __always_inline bool find_memo(struct env *e, uint32_t tid)
{
	uint32_t slot;

	if (!knobs.memos)
		return true;
	slot = tid % knobs.memos;
	e->memo = bpf_map_lookup_elem(&off_cpu_memos, &slot);
	return e->memo;
}

static __always_inline void gather_kernel_leaving(void *ctx, struct gather *g,
						  struct task_struct *task)
{
	struct kernel_recall r = {};
	bool in_user = g->head.end != UNWIND_KTHREAD && g->head.end != UNWIND_NO_MM;

	if (!READ_NOW(off_cpu.misled) && recall_leaving(&r, ctx, task, g, in_user))
		return;
	gather_kernel_here(ctx, g);
	if (is_other_or_learn(&r, g))
		READ_NOW(off_cpu.misled) = 1;
}

/* The user stack of the running thread. */
static __always_inline void gather_user_here(struct env *e, struct task_struct *task)
{
	struct gather *g = e->g;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) {
		g->head.end = UNWIND_KTHREAD;
		g->head.flags |= WIRE_KTHREAD;
	} else if (!task->mm) {
		g->head.end = UNWIND_NO_MM;
	} else if (knobs.want_user && in_exec(task)) {
		g->head.end = UNWIND_EXEC;
	} else if (load_user_regs(&g->unwinder, task)) {
		g->head.end = UNWIND_BUG;
	} else if (knobs.want_user) {
		gather_user(g, e, step_memo);
	}
}

static __always_inline void gather_leaving(void *ctx, struct env *e, struct task_struct *task)
{
	gather_user_here(e, task);
	if (knobs.want_kernel)
		gather_kernel_leaving(ctx, e->g, task);
}

/* The call that the thread waits in. What its memory says of locks is not looked at. */
static __always_inline void wait_of(struct wire_wait *wait, const struct gather *g,
				    struct task_struct *task)
{
	const struct unwinder *w = &g->unwinder;
	uint32_t call;

	__builtin_memset(wait, 0, sizeof(*wait));
	if (g->head.end == UNWIND_KTHREAD || g->head.end == UNWIND_NO_MM)
		return;
	wait->syscall = syscall_of(w, task);
	if (!wait->syscall)
		return;
	wait->what = first_argument(w, task);
	call = call_of(wait->syscall - 1);
	if (call == CALL_FUTEX && wait->syscall - 1 == NR_FUTEX) {
		wait->futex_op = w->regs[ARG_1];
		wait->futex_val = w->regs[ARG_2];
	} else if (call == CALL_POLL || call == CALL_WAITID) {
		wait->what = call == CALL_POLL ? UINT32_MAX : 0;
	}
}

/* ---- the budget ---- */

#define BUDGET_WINDOW_NS (10 * 1000 * 1000ull)
#define MEASURE_EVERY 8		/* one stay in so many is timed */
#define MOST_HALVINGS 16

/* The share of intervals that is recorded, in 2^-32. window.passed: how often it was halved. */
static __always_inline uint64_t share_now(const struct gather *g)
{
	uint64_t share = READ_NOW(off_cpu.share);

	return (share ? share : 1ull << 32) >> (g->window.passed & 31);
}

/* At the end of each window: lowers the share of this CPU, or raises it again. */
static __always_inline void look_at_budget(struct gather *g, uint64_t now)
{
	struct rate_window *w = &g->window;
	uint64_t passed = now - w->begin_ns;
	uint32_t budget = READ_NOW(off_cpu.budget);

	if (!budget || passed < BUDGET_WINDOW_NS)
		return;
	if (w->busy_ns * 1000 > passed * budget) {
		if (w->passed < MOST_HALVINGS)
			w->passed++;
	} else if (w->busy_ns * 4000 < passed * budget && w->passed) {
		w->passed--;
	}
	w->begin_ns = now;
	w->busy_ns = 0;
}

static __always_inline void end_measure(struct gather *g, uint64_t begin_ns)
{
	if (!(g->counters[COUNTER_STACKS] % MEASURE_EVERY))
		g->window.busy_ns += (bpf_ktime_get_ns() - begin_ns) * MEASURE_EVERY;
}

/* Whether chance lets this stay be recorded. */
static __always_inline bool is_chosen(struct gather *g, uint64_t share)
{
	uint32_t wanted = READ_NOW(off_cpu.share), chance;

	if (share >> 32)
		return true;
	chance = bpf_get_prandom_u32();
	if (chance < share)
		return true;
	if (wanted && chance >= wanted)
		g->counters[COUNTER_NOT_CHOSEN]++;
	else
		g->counters[COUNTER_PASSED_OVER]++;
	return false;
}

/* ---- which stays ---- */

#define IDLE_BITS 0x402		/* TASK_UNINTERRUPTIBLE | TASK_NOLOAD */

static __always_inline bool wants_state(uint32_t state, bool preempted)
{
	uint32_t wanted = READ_NOW(off_cpu.states);

	if (!wanted)
		return true;
	if (preempted || !state)
		return wanted & OFF_CPU_RUNNABLE;
	return state & wanted;
}

static __always_inline bool is_recorded(struct gather *g, struct task_struct *task,
					struct task_ids ids, uint32_t state, bool preempted)
{
	g->counters[COUNTER_FIRED]++;
	if (is_outside(task, ids)) {
		g->counters[COUNTER_OUTSIDE]++;
		return false;
	}
	if (task->flags & PF_KTHREAD && (state & IDLE_BITS) == IDLE_BITS && !preempted &&
	    !knobs.include_idle) {
		g->counters[COUNTER_IDLE]++;
		return false;
	}
	if (!wants_state(state, preempted) || !task_wanted(task, ids)) {
		g->counters[COUNTER_FILTERED]++;
		return false;
	}
	return true;
}

static __always_inline struct off_cpu_thread *entry_of(struct gather *g, struct task_struct *task)
{
	static const struct off_cpu_thread none;
	uint32_t tid = task->pid;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&off_cpu_threads, &tid);

	if (t)
		return t;
	bpf_map_update_elem(&off_cpu_threads, &tid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&off_cpu_threads, &tid);
}

/* Fills the entry of the thread whose stack is in g. */
static __always_inline void note_leaving(struct off_cpu_thread *t, struct gather *g, struct env *e,
					 struct task_struct *task, uint64_t share)
{
	t->start_boottime = g->head.start_boottime_ns;
	t->tgid = g->head.tgid;
	t->tid = g->head.tid;
	t->state = g->head.state;
	t->end = g->head.end;
	__builtin_memcpy(t->comm, g->head.comm, WIRE_COMM);
	wait_of(&t->wait, g, task);
	t->share = share;	/* 2^32 becomes 0 */
	t->woken_ns = g->head.state ? 0 : g->head.time_ns;
	t->stack = id_of_stack(g, e);
	if (!t->stack)
		g->counters[COUNTER_RING_FULL]++;
	t->left_ns = t->stack ? g->head.time_ns : 0;
}

static __always_inline void leave(void *ctx, struct gather *g, struct task_struct *task,
				  uint32_t state, bool preempted)
{
	uint32_t tid = task->pid;
	struct task_ids ids = ids_of(task);
	struct env e = { .g = g };
	struct off_cpu_thread *t;
	uint64_t now, share;

	if (state & TASK_DEAD_BIT) {
		bpf_map_delete_elem(&off_cpu_threads, &tid);
		return;
	}
	if (!is_recorded(g, task, ids, state, preempted))
		return;
	now = bpf_ktime_get_ns();
	look_at_budget(g, now);
	share = share_now(g);
	if (!is_chosen(g, share))
		return;
	t = entry_of(g, task);
	if (!t) {
		g->counters[COUNTER_NO_ENTRY]++;
		return;
	}
	init_head(&g->head, task, ids, now, 0);
	g->head.state = preempted ? 0 : state;
	g->head.cpu = bpf_get_smp_processor_id();
	g->head.flags |= WIRE_ON_ITS_CPU;
	if (!find_memo(&e, ids.tid))
		return;
	gather_leaving(ctx, &e, task);
	note_leaving(t, g, &e, task, share);
	end_measure(g, now);
}

/* ---- coming back ---- */

static __always_inline void come_back(struct gather *g, struct task_struct *task)
{
	uint32_t tid = task->pid;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&off_cpu_threads, &tid);
	/* Not on the program's own stack, which would be too large for Linux 6.1. */
	struct wire_stay *stay = &g->stay;
	uint64_t left, away;

	if (!t || !t->left_ns || t->start_boottime != task->start_boottime)
		return;
	__builtin_memset(stay, 0, sizeof(*stay));
	left = t->left_ns;
	t->left_ns = 0;
	init_head(&stay->head, task, (struct task_ids){ t->tgid, t->tid }, bpf_ktime_get_ns(),
		  OFF_CPU_STAY);
	away = stay->head.time_ns - left;
	if (away < off_cpu.min_ns || (off_cpu.max_ns && away > off_cpu.max_ns)) {
		g->counters[COUNTER_SHORT]++;
		return;
	}
	stay->head.cpu = bpf_get_smp_processor_id();
	stay->head.state = t->state;
	stay->head.end = t->end;
	stay->stack = t->stack;
	stay->left_ns = left;
	stay->woken_ns = t->woken_ns;
	stay->share = t->share;
	stay->wait = t->wait;
	if (bpf_ringbuf_output(&off_cpu_ring, stay, sizeof(*stay), off_cpu_wake_flags(g)))
		g->counters[COUNTER_RING_FULL]++;
	else
		g->counters[COUNTER_SUBMITTED]++;
}

/* ---- waking ---- */

/* Hands out the record of a waker whose head and stack are in g. false: there is no room. */
static __always_inline bool put_waker(struct gather *g, const struct off_cpu_thread *t, uint64_t id)
{
	struct wire_stay *stay = &g->stay;

	if (!id)
		return false;
	__builtin_memset(stay, 0, sizeof(*stay));
	stay->head = g->head;
	stay->head.event = OFF_CPU_WAKER;
	stay->head.weight = 0;
	stay->stack = id;
	stay->left_ns = t->left_ns;
	stay->woken_ns = t->woken_ns;
	stay->share = t->share;
	return !bpf_ringbuf_output(&off_cpu_ring, stay, sizeof(*stay), off_cpu_wake_flags(g));
}

/*
 * The kernel stack of a waker, which begins behind the function that wakes. Where others have
 * programs at the same tracepoint, the kernel calls them all from one more function.
 */
static __always_inline void gather_kernel_waker(void *ctx, struct gather *g)
{
	uint32_t n = g->head.nr_user;

	if (!g->head.nr_kernel)
		gather_kernel_behind(ctx, g, OWN_FRAMES);
	if (n <= UNWIND_MAX_FRAMES && g->head.nr_kernel &&
	    is_inside(&off_cpu.entries.wake, g->frames[n]))
		gather_kernel_behind(ctx, g, OWN_FRAMES + 1);
}

/*
 * Hands out who ends the sleep of t, and at which stack. The kernel has interrupts off here, as
 * where threads leave, so the scratch is free. What an interrupt wakes has no waker: the thread
 * that it interrupted has nothing to do with it.
 */
static __always_inline void give_waker(void *ctx, struct gather *g, const struct off_cpu_thread *t,
				       uint64_t now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_ids ids = {};
	struct env e = { .g = g };
	bool interrupt;

	init_head(&g->head, task, ids, now, 0);
	interrupt = is_interrupt(ctx, g, task, &off_cpu.entries, OWN_FRAMES);
	if (!interrupt)
		ids = ids_of(task);
	g->head.tgid = ids.tgid;
	g->head.tid = ids.tid;
	g->head.cpu = bpf_get_smp_processor_id();
	g->head.flags |= WIRE_TRACEPOINT;
	if (interrupt || on_interrupt_stack(ctx, task))
		g->head.flags |= WIRE_INTERRUPT;
	if (!find_memo(&e, ids.tid))
		return;
	if (interrupt) {
		__builtin_memcpy(g->head.comm, INTERRUPT_COMM, sizeof(INTERRUPT_COMM));
		g->head.start_boottime_ns = 0;
		g->head.end = UNWIND_KTHREAD;
		g->head.flags |= WIRE_KTHREAD;
	} else {
		gather_user_here(&e, task);
	}
	if (knobs.want_kernel)
		gather_kernel_waker(ctx, g);
	g->counters[COUNTER_WAKERS]++;
	if (!put_waker(g, t, id_of_stack(g, &e)))
		g->counters[COUNTER_RING_FULL]++;
}

/*
 * The kernel calls this with interrupts off, in the thread that leaves. The state is that with
 * which it decided: the thread's own may have changed by now.
 */
SEC("?tp_btf/sched_switch")
int on_switch(uint64_t *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	uint32_t zero = 0;
	struct gather *g = bpf_map_lookup_elem(&off_cpu_scratch, &zero);
	bool preempted = ctx[0];

	if (!WITH_PROBES || !g)
		return 0;
	if (next->pid)
		come_back(g, next);
	if (prev->pid)
		leave(ctx, g, prev, ctx[3], preempted);
	return 0;
}

/* From here on the thread waits for a CPU. */
SEC("?tp_btf/sched_waking")
int on_waking(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	uint32_t tid = task->pid, zero = 0;
	struct off_cpu_thread *t = bpf_map_lookup_elem(&off_cpu_threads, &tid);
	uint64_t now = bpf_ktime_get_ns();
	struct gather *g;

	if (!WITH_PROBES || !t || !t->left_ns || t->woken_ns)
		return 0;
	t->woken_ns = now;
	if (!READ_NOW(off_cpu.wakers) || now - t->left_ns < off_cpu.min_ns ||
	    (off_cpu.max_ns && now - t->left_ns > off_cpu.max_ns))
		return 0;
	g = bpf_map_lookup_elem(&off_cpu_scratch, &zero);
	if (g)
		give_waker(ctx, g, t, now);
	return 0;
}
