/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time in interrupt handlers: of interrupt lines, of soft interrupts, and of x86-64's own vectors.
 *
 * The problem. There are 100,000 of them a second on a busy machine, most take a microsecond, and
 * the stack at the end of a handler does not say where in the handler the time went.
 *
 * The idea. Two tracepoints enclose each handler, and its time is added to what is pending for its
 * vector on this CPU. A stack takes all that is pending for its weight, so the weights of a vector
 * are the time of its handlers to the nanosecond, however many stacks there are. A soft interrupt
 * can be interrupted by a timer, whose stacks show where in the handler it is. Handlers of hardware
 * interrupts cannot: theirs are taken at the end, one for each 50 us.
 *
 *	NET_RX begins                      mark = 0 us
 *	       interrupted for 3 us        nested = 3 us
 *	       a tick of the timer at 20   stack of net_rx_action ..., 17 us; mark = 20 us
 *	       ends at 24                  4 us are pending
 *
 * The timer's own handler takes longer for these ticks, so its runs with one are kept apart
 * (IRQ_OWN).
 *
 * Time in which a handler was itself interrupted belongs to the other one. User space gives what is
 * pending at the end of the recording to the last stack of the vector.
 *
 * Limits. On kernels for real-time work handlers are threads that may be preempted. One whose
 * thread is another at its end is counted as unpaired.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/sample.bpf.h"

#define IRQ_VECTORS 1024
#define IRQ_STACK_NS 50000		/* of hardware interrupts: a stack for each */
/* A soft interrupt without a tick has one stack, at the end of its handler. */
#define SOFTIRQ_STACK_NS 20000000
#define IRQ_OWN_FRAMES 2		/* of the program, and of how it is called */

enum irq_level { LEVEL_HARD, LEVEL_SOFT, LEVEL_TICK, LEVELS };

struct irq_control irq_control = {};

/* A handler that runs. */
struct irq_run {
	uint64_t mark_ns;		/* since when its time is not pending yet; 0: none runs */
	uint64_t nested_ns;		/* since then: time of others */
	uint64_t task;			/* the thread that it interrupted */
	uint32_t vector;
	uint32_t own;			/* IRQ_OWN: a tick of ours came in it; 0 */
};

struct irq_cpu {
	struct irq_run runs[2];		/* LEVEL_HARD, LEVEL_SOFT */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct irq_cpu);
} irq_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, IRQ_VECTORS);
	__type(key, uint32_t);
	__type(value, struct irq_total);
} irq_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct irq_counts);
} irq_counters SEC(".maps");

struct irq_record {
	struct wire_sample head;
	uint64_t frames[WIRE_MAX_KERNEL + 1];
};

/* One for each level, because a program of one may be interrupted by that of another. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LEVELS);
	__type(key, uint32_t);
	__type(value, struct irq_record);
} irq_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 * 1024 * 1024);	/* set by user space */
} irq_ring SEC(".maps");

static __always_inline void count_irq(enum irq_counter what)
{
	uint32_t zero = 0;
	struct irq_counts *c = bpf_map_lookup_elem(&irq_counters, &zero);

	if (c)
		__sync_fetch_and_add(&c->v[what], 1);
}

static __always_inline struct irq_run *run_at(enum irq_level level)
{
	uint32_t zero = 0;
	struct irq_cpu *cpu = bpf_map_lookup_elem(&irq_cpus, &zero);

	return cpu ? &cpu->runs[level == LEVEL_SOFT] : 0;
}

static __always_inline struct irq_total *total_of(uint32_t vector)
{
	static const struct irq_total none;
	struct irq_total *t = bpf_map_lookup_elem(&irq_totals, &vector);

	if (t)
		return t;
	bpf_map_update_elem(&irq_totals, &vector, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&irq_totals, &vector);
}

/* Where in the handler a stack is taken. */
struct irq_place {
	void *ctx;
	enum irq_level level;
	uint32_t vector;
	uint64_t handler;		/* its address; 0: the stack has it, or it is not known */
};

static __always_inline void fill_irq_head(struct wire_sample *h, const struct irq_place *p,
					  uint64_t now)
{
	__builtin_memset(h, 0, sizeof(*h));
	h->time_ns = now;
	h->cpu = bpf_get_smp_processor_id();
	h->end = UNWIND_KTHREAD;
	h->event = irq_control.event;
	h->flags = WIRE_KTHREAD | WIRE_ON_CPU | WIRE_INTERRUPT;
	/* The first frame is an instruction that runs, or the handler's first. */
	if (p->level == LEVEL_TICK || p->handler)
		h->flags |= WIRE_IN_KERNEL;
	__builtin_memcpy(h->comm, INTERRUPT_COMM, sizeof(INTERRUPT_COMM));
}

/* Hands out a stack that weighs all that is pending. */
static __always_inline void put_irq(const struct irq_place *p, struct irq_total *t, uint64_t now)
{
	uint32_t level = p->level, n = 0, bytes;
	struct irq_record *r = bpf_map_lookup_elem(&irq_scratch, &level);
	long got;

	if (!r)
		return;
	fill_irq_head(&r->head, p, now);
	if (p->handler)
		r->frames[n++] = p->handler;
	got = bpf_get_stack(p->ctx, &r->frames[n], (WIRE_MAX_KERNEL - 2) * 8,
			    level == LEVEL_TICK ? 0 : IRQ_OWN_FRAMES);
	if (got < 0)
		r->head.flags |= WIRE_KERNEL_FAILED;
	else
		n += (uint64_t)got / 8;
	if (n >= WIRE_MAX_KERNEL)
		return;
	r->frames[n++] = WIRE_VECTOR_FRAME | p->vector;
	r->head.nr_kernel = n;
	r->head.weight = t->pending_ns;
	bytes = sizeof(r->head) + n * 8;
	if (bpf_ringbuf_output(&irq_ring, r, bytes & 2047, 0)) {
		count_irq(IRQ_REFUSED);
	} else {
		t->pending_ns = 0;
		count_irq(IRQ_STACKS);
	}
}

/* Without -p all handlers are counted, whichever thread they have interrupted. */
static __always_inline bool irq_wanted(struct task_struct *task)
{
	if (!knobs.only_targets && !knobs.only_tids)
		return true;
	return task->pid && task_wanted(task, ids_of(task));
}

static __always_inline int begin_irq(enum irq_level level, uint32_t vector)
{
	struct irq_run *run = run_at(level);

	if (!run)
		return 0;
	run->vector = vector;
	run->own = 0;
	run->task = (uint64_t)bpf_get_current_task();
	run->nested_ns = 0;
	run->mark_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * Ends the run at this level, and returns its time that is not pending yet; 0: it is not known. A
 * tick may come at any moment, so the mark is taken away before the clock is read.
 */
static __always_inline uint64_t end_run(struct irq_run *run, const struct irq_place *p,
					uint64_t *now)
{
	struct irq_run *soft = run_at(LEVEL_SOFT);
	uint64_t mark = __sync_lock_test_and_set(&run->mark_ns, 0), nested = run->nested_ns, all;

	*now = bpf_ktime_get_ns();
	all = *now - mark;
	if (!mark || run->vector != p->vector || run->task != (uint64_t)bpf_get_current_task()) {
		count_irq(IRQ_UNPAIRED);
		return 0;
	}
	if (p->level == LEVEL_HARD && soft && soft->mark_ns)
		soft->nested_ns += all;
	return all > nested ? all - nested : 1;
}

static __always_inline int end_irq(struct irq_place *p)
{
	struct irq_run *run = run_at(p->level);
	uint64_t now, own = run ? end_run(run, p, &now) : 0;
	struct irq_total *t;

	if (!own)
		return 0;
	count_irq(IRQ_RUNS);
	if (!irq_wanted(bpf_get_current_task_btf())) {
		count_irq(IRQ_OF_OTHERS);
		return 0;
	}
	count_irq(IRQ_COUNTED);
	p->vector |= run->own;
	t = total_of(p->vector);
	if (!t) {
		count_irq(IRQ_NO_ROOM);
		return 0;
	}
	t->ns += own;
	t->pending_ns += own;
	if (!t->runs++ ||
	    t->pending_ns >= (p->level == LEVEL_SOFT ? SOFTIRQ_STACK_NS : IRQ_STACK_NS))
		put_irq(p, t, now);
	return 0;
}

SEC("?raw_tp/irq_handler_entry")
int on_irq_entry(struct bpf_raw_tracepoint_args *ctx)
{
	return WITH_PROBES ? begin_irq(LEVEL_HARD, IRQ_VECTOR(IRQ_LINE, (uint32_t)ctx->args[0]))
			   : 0;
}

SEC("?raw_tp/irq_handler_exit")
int on_irq_exit(struct bpf_raw_tracepoint_args *ctx)
{
	const struct irqaction *action = (void *)ctx->args[1];
	struct irq_place p = { .ctx = ctx, .level = LEVEL_HARD };

	if (!WITH_PROBES)
		return 0;
	p.vector = IRQ_VECTOR(IRQ_LINE, (uint32_t)ctx->args[0]);
	p.handler = (uint64_t)BPF_CORE_READ(action, handler);
	return end_irq(&p);
}

SEC("?raw_tp/softirq_entry")
int on_softirq_entry(struct bpf_raw_tracepoint_args *ctx)
{
	return WITH_PROBES ? begin_irq(LEVEL_SOFT, IRQ_VECTOR(IRQ_SOFT, (uint32_t)ctx->args[0]))
			   : 0;
}

SEC("?raw_tp/softirq_exit")
int on_softirq_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct irq_place p = { .ctx = ctx, .level = LEVEL_SOFT };

	if (!WITH_PROBES)
		return 0;
	p.vector = IRQ_VECTOR(IRQ_SOFT, (uint32_t)ctx->args[0]);
	return end_irq(&p);
}

/* Handles x86-64's own vectors. User space attaches it to each one's tracepoint. */
SEC("?raw_tp")
int on_vector_entry(struct bpf_raw_tracepoint_args *ctx)
{
	return WITH_PROBES ? begin_irq(LEVEL_HARD, IRQ_VECTOR(IRQ_LOCAL, (uint32_t)ctx->args[0]))
			   : 0;
}

SEC("?raw_tp")
int on_vector_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct irq_place p = { .ctx = ctx, .level = LEVEL_HARD };

	if (!WITH_PROBES)
		return 0;
	p.vector = IRQ_VECTOR(IRQ_LOCAL, (uint32_t)ctx->args[0]);
	return end_irq(&p);
}

/*
 * A tick of a timer. The timer's own interrupt is a run at LEVEL_HARD, and began when the soft
 * interrupt was interrupted.
 */
SEC("?perf_event")
int on_irq_tick(struct perf_context *ctx)
{
	struct irq_run *soft = run_at(LEVEL_SOFT), *hard = run_at(LEVEL_HARD);
	struct irq_place p = { .ctx = ctx, .level = LEVEL_TICK };
	uint64_t now, at, own;
	struct irq_total *t;

	if (WITH_PROBES && hard && hard->mark_ns)
		hard->own = IRQ_OWN;
	if (!WITH_PROBES || !soft || !hard || !soft->mark_ns ||
	    !irq_wanted(bpf_get_current_task_btf()))
		return 0;
	now = bpf_ktime_get_ns();
	at = hard->mark_ns > soft->mark_ns ? hard->mark_ns : now;
	own = at - soft->mark_ns - soft->nested_ns;
	p.vector = soft->vector;
	t = total_of(p.vector);
	if (!t || (int64_t)own <= 0)
		return 0;
	t->ns += own;
	t->pending_ns += own;
	soft->mark_ns = at;
	soft->nested_ns = 0;
	put_irq(&p, t, now);
	return 0;
}
