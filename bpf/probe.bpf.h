/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes: a stack each time that a function is entered or left, or a tracepoint is passed. One body
 * serves all kinds; the number of the event comes as the attach cookie.
 *
 * A program on a uprobe may be preempted, and an interrupt may bring another one in the middle of
 * any of them. So scratch is not for each CPU but for each run: a CPU has PROBE_SLOTS of them, and
 * a run takes one that is free. If none is, that is counted.
 *
 * Conditions (--if) are a small table for each event; all must hold. They compare a word that the
 * probe has (an argument, a result, a field of the tracepoint) with a constant.
 *
 * A timed event (--min-latency) is the return of a function that took long. Its entries are probed
 * too, and kept by thread and by where on the stack the return address is, so that calls within
 * calls are kept apart. Entries whose calls never return, because of longjmp or an exception, are
 * replaced in the end.
 *
 * Each run ends in exactly one counter beside PROBE_FIRED; runs at entries are not counted.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/probe_argument.bpf.h"
#include "bpf/probe_sums.bpf.h"
#include "bpf/stack_dump.bpf.h"
#include "bpf/wait.bpf.h"

#ifdef __TARGET_ARCH_x86
#define SP_WORD 19			/* of struct pt_regs */
#else
#define SP_WORD 31
#endif

/* Stacks of a program that has just begun come by the hundred, and all must find room. */
#define PROBE_DUMP_PAGES 4

struct probe_control probe_control = {};

struct probe_slot {
	uint64_t busy;			/* 1: a run has it */
	struct gather gather;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* PROBE_SLOTS for each CPU; set by user space */
	__type(key, uint32_t);
	__type(value, struct probe_slot);
} probe_slots SEC(".maps");

/*
 * Like the map memos, for all CPUs together. One run at a time takes a thread's memo; another one
 * that interrupts it uses the memo of its slot. Those of the slots are the last.
 */
struct probe_memo {
	uint64_t busy;
	struct unwind_memo memo;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* PROBE_MEMOS and the slots; set by user space */
	__type(key, uint32_t);
	__type(value, struct probe_memo);
} probe_memos SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MAX_EVENTS + 1);
	__type(key, uint32_t);
	__type(value, struct probe_filter);
} probe_filters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_MAX_EVENTS + 1);
	__type(key, uint32_t);
	__type(value, struct probe_counts);
} probe_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 * 1024 * 1024);	/* set by user space */
} probe_ring SEC(".maps");

struct probe_entry {
	uint64_t sp;			/* at the entry */
	uint32_t tid, event;
};

struct probe_call {
	uint64_t begin_ns;
	uint64_t function;		/* its address */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);		/* set by user space */
	__type(key, struct probe_entry);
	__type(value, struct probe_call);
} probe_entries SEC(".maps");

#include "bpf/shadow_probe.bpf.h"

/* What a run knows of where it is. */
struct probe_place {
	void *ctx;
	uint32_t event;
	uint32_t place;		/* of a USDT probe: in usdt_places; 0: it is none */
	bool in_user;		/* ctx holds the registers of the user, who hit the probe */
	bool has_regs;		/* ctx holds registers */
	uint32_t own_frames;	/* of the kernel stack, which are of this program */
	uint64_t returned;	/* the function whose return this is; 0: none, or not known */
};

static __always_inline void probe_count(struct probe_counts *c, enum probe_counter what)
{
	__sync_fetch_and_add(&c->v[what], 1);
}

static __always_inline struct probe_slot *take_slot(uint32_t *number)
{
	uint32_t first = bpf_get_smp_processor_id() * PROBE_SLOTS;

	for (uint32_t i = 0; i < PROBE_SLOTS; i++) {
		uint32_t at = first + i;
		struct probe_slot *s = bpf_map_lookup_elem(&probe_slots, &at);

		if (s && CLAIM(&s->busy)) {
			*number = at;
			return s;
		}
	}
	return 0;
}

static __always_inline void release_slot(struct probe_slot *s)
{
	LEAVE(&s->busy);
}

static __always_inline struct probe_memo *take_memo(uint32_t tid, uint32_t slot)
{
	uint32_t at = tid % PROBE_MEMOS;
	struct probe_memo *m = bpf_map_lookup_elem(&probe_memos, &at);

	if (m && CLAIM(&m->busy))
		return m;
	at = PROBE_MEMOS + slot;
	return bpf_map_lookup_elem(&probe_memos, &at);
}

/* ---- conditions ---- */

/*
 * The context's address as a number. It goes through memory, because the verifier allows no
 * calculation with it.
 */
static __always_inline uint64_t regs_address(const struct probe_place *p)
{
	void *volatile kept = p->ctx;
	uint64_t regs = 0;

	bpf_probe_read_kernel(&regs, sizeof(regs), (void *)&kept);
	return regs;
}

/* The word at regs, the context's address, that a condition is about. */
static __always_inline uint64_t word_of(uint64_t regs, const struct probe_condition *c)
{
	uint64_t value = 0;
	uint32_t size = c->size;
	void *from = (void *)(regs + c->offset);

	if (size == 8)
		bpf_probe_read_kernel(&value, 8, from);
	else if (size == 4)
		bpf_probe_read_kernel(&value, 4, from);
	else if (size == 2)
		bpf_probe_read_kernel(&value, 2, from);
	else
		bpf_probe_read_kernel(&value, 1, from);
	if (c->is_signed && size < 8) {
		uint32_t shift = 64 - 8 * size;

		value = (uint64_t)((int64_t)(value << (shift & 63)) >> (shift & 63));
	}
	return value;
}

static __always_inline bool compares(const struct probe_condition *c, uint64_t a)
{
	uint64_t b = c->value;
	bool less = c->is_signed ? (int64_t)a < (int64_t)b : a < b;

	switch (c->op) {
	case PROBE_EQ: return a == b;
	case PROBE_NE: return a != b;
	case PROBE_LT: return less;
	case PROBE_LE: return less || a == b;
	case PROBE_GT: return !less && a != b;
	case PROBE_GE: return !less;
	case PROBE_AND: return a & b;
	}
	return false;
}

/* An argument that cannot be read fits no condition. */
static __always_inline bool condition_holds(uint64_t regs, uint32_t place,
					    const struct probe_condition *c)
{
	uint64_t value = 0;

	if (!c->argument)
		return compares(c, word_of(regs, c));
	return !usdt_argument_at(regs, place, c->argument - 1, &value) && compares(c, value);
}

/* 1 or 0. A function of its own, so that what follows is verified once for all ways out of it. */
__noinline int conditions_hold(uint64_t regs, uint32_t event, uint32_t place)
{
	struct probe_filter *f = bpf_map_lookup_elem(&probe_filters, &event);

	if (!WITH_PROBES || !f)
		return 0;
	for (uint32_t i = 0; i < PROBE_CONDITIONS; i++) {
		if (i >= f->nr)
			break;
		if (!condition_holds(regs, place, &f->v[i]))
			return 0;
	}
	return 1;
}

/* ---- the stack ---- */

static __always_inline void gather_probe_user(const struct probe_place *p, struct gather *g,
					      struct env *e, struct task_struct *task)
{
	bool failed;

	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) {
		g->head.end = UNWIND_KTHREAD;
		g->head.flags |= WIRE_KTHREAD;
		return;
	}
	if (!task->mm || !knobs.want_user) {
		g->head.end = task->mm ? UNWIND_NOT_DONE : UNWIND_NO_MM;
		return;
	}
	if (in_exec(task)) {
		g->head.end = UNWIND_EXEC;
		return;
	}
	if (p->in_user)
		failed = bpf_probe_read_kernel(g->unwinder.regs, sizeof(g->unwinder.regs), p->ctx);
	else
		failed = load_user_regs(&g->unwinder, task);
	if (failed)
		g->head.end = UNWIND_BUG;
	else
		gather_user(g, e, step_memo);
}

static __always_inline void gather_probe_kernel(const struct probe_place *p, struct gather *g)
{
	uint32_t n = g->head.nr_user, first;
	long bytes;

	if (p->in_user || !knobs.want_kernel || n > UNWIND_MAX_FRAMES)
		return;
	g->frames[n] = p->returned;
	first = p->returned ? 1 : 0;
	bytes = bpf_get_stack(p->ctx, &g->frames[n + first], (WIRE_MAX_KERNEL - 1) * 8,
			      p->own_frames);
	if (bytes < 0)
		g->head.flags |= WIRE_KERNEL_FAILED;
	else
		g->head.nr_kernel = first + bytes / 8;
	/* With registers the first frame is the function itself, else a return address. */
	g->head.flags |= p->has_regs ? WIRE_IN_KERNEL : WIRE_TRACEPOINT;
}

static __always_inline uint64_t probe_wake_flags(void)
{
	return bpf_ringbuf_query(&probe_ring, BPF_RB_AVAIL_DATA) > knobs.wakeup_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

static __always_inline bool submit_probe_dump(struct gather *g, struct env *e, uint32_t number)
{
	uint32_t slot = knobs.probe_slot + number % (PROBE_SLOTS * knobs.shared_slots), bytes;
	struct stack_dump *dump = bpf_map_lookup_elem(&dump_scratch, &slot);
	bool done;

	if (!dump || bpf_ringbuf_query(&probe_ring, BPF_RB_AVAIL_DATA) > 2 * knobs.ring_room ||
	    !CLAIM(&dump->busy))
		return false;
	g->head.flags |= WIRE_DUMP;
	bytes = gather_dump(g, e, dump, PROBE_DUMP_PAGES, copy_page_nofault);
	done = bytes && bytes <= sizeof(dump->w) + PROBE_DUMP_PAGES * UNWIND_MEMORY_PAGE &&
	       !bpf_ringbuf_output(&probe_ring, &dump->w, bytes, BPF_RB_FORCE_WAKEUP);
	LEAVE(&dump->busy);
	if (!done)
		g->head.flags &= ~WIRE_DUMP;
	return done;
}

static __always_inline bool submit_probe(struct gather *g, struct env *e, uint32_t number)
{
	uint32_t bytes;

	if (is_deferred(g) && submit_probe_dump(g, e, number))
		return true;
	bytes = gather_bytes(g);
	return bytes && !bpf_ringbuf_output(&probe_ring, &g->head, bytes, probe_wake_flags());
}

/* Hands the stack in g out, or adds the event to what was handed out before. */
static __always_inline enum probe_counter give_probe(struct gather *g, struct env *e,
						     uint32_t number)
{
	uint64_t id = 0;

	if (bpf_ringbuf_query(&probe_ring, BPF_RB_AVAIL_DATA) > knobs.wakeup_bytes &&
	    !is_early(g->head.end) && !is_deferred(g)) {
		id = sum_id(g);
		if (add_to_sum(g, id))
			return PROBE_SUMMED;
		if (!mark_stack(g, id))
			id = 0;
	}
	if (!submit_probe(g, e, number))
		return PROBE_RING_FULL;
	if (id)
		begin_sum(id);
	return PROBE_SUBMITTED;
}

static __always_inline void take_probe_stack(const struct probe_place *p, struct probe_counts *c,
					     struct task_struct *task, struct task_ids ids,
					     uint64_t weight)
{
	uint32_t number = 0;
	struct probe_slot *s = take_slot(&number);
	struct probe_memo *memo = 0;
	struct env e = {};

	if (!s) {
		probe_count(c, PROBE_NESTED);
		return;
	}
	e.g = &s->gather;
	init_head(&e.g->head, task, ids, bpf_ktime_get_ns(), p->event);
	e.g->head.weight = weight;
	e.g->head.cpu = bpf_get_smp_processor_id();
	e.g->head.flags |= WIRE_ON_CPU;
	if (knobs.memos) {
		memo = take_memo(ids.tid, number);
		if (!memo) {
			release_slot(s);
			return;
		}
		e.memo = &memo->memo;
	}
	if (knobs.shadow)
		e.g->first_frame = p->place ? values_id(regs_address(p), p->place, p->event) : 0;
	e.g->returned = p->in_user ? p->returned : 0;
	gather_probe_user(p, e.g, &e, task);
	if (memo)
		LEAVE(&memo->busy);
	gather_probe_kernel(p, e.g);
	probe_count(c, give_probe(e.g, &e, number));
	release_slot(s);
}

/* ---- how long calls take ---- */

static __always_inline uint64_t instruction(const struct probe_place *p)
{
	const uint64_t *regs = p->ctx;

	return p->has_regs ? regs[ARCH_REG_PC] : 0;
}

static __always_inline uint64_t stack_pointer(const struct probe_place *p)
{
	const uint64_t *regs = p->ctx;

	return p->has_regs ? regs[SP_WORD] : 0;
}

static __always_inline int note_entry(const struct probe_place *p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct probe_entry key = { .event = p->event & (PROBE_ENTRY - 1), .tid = task->pid };
	struct task_ids ids = ids_of(task);
	struct probe_call call = { bpf_ktime_get_ns(), instruction(p) };

	key.sp = stack_pointer(p);
	if (!is_outside(task, ids) && task_wanted(task, ids))
		bpf_map_update_elem(&probe_entries, &key, &call, BPF_ANY);
	return 0;
}

/*
 * Since when a call has lasted that returns now; 0: that is not known. Before Linux 6.6 the kernel
 * does not tell which function of a program returns, and its entry does. On x86-64 the return has
 * taken its address off the stack; of kretprobes some kernels tell the stack pointer of before.
 */
static __always_inline uint64_t entered_at(struct probe_place *p, const struct task_struct *task)
{
	struct probe_entry key = { .event = p->event, .tid = task->pid };
	struct probe_call *then;
	uint64_t at;

	key.sp = stack_pointer(p) - RETURN_ADDRESS_BYTES;
	then = bpf_map_lookup_elem(&probe_entries, &key);
	if (!then && !p->in_user && RETURN_ADDRESS_BYTES > 0) {
		key.sp += RETURN_ADDRESS_BYTES;
		then = bpf_map_lookup_elem(&probe_entries, &key);
	}
	if (!then)
		return 0;
	at = then->begin_ns;
	if (!p->returned && p->in_user)
		p->returned = then->function;
	bpf_map_delete_elem(&probe_entries, &key);
	return at;
}

/* What the event weighs: if it is timed, nanoseconds; else 1. 0: it was counted as left out. */
static __always_inline uint64_t probe_weight(struct probe_place *p, struct probe_counts *c,
					     const struct task_struct *task)
{
	uint32_t event = p->event;
	struct probe_filter *f = bpf_map_lookup_elem(&probe_filters, &event);
	uint64_t then, took;

	if (!f || !f->is_timed)
		return 1;
	then = entered_at(p, task);
	took = bpf_ktime_get_ns() - then;
	if (then && took >= f->min_latency_ns)
		return took ? took : 1;
	probe_count(c, then ? PROBE_QUICK : PROBE_UNPAIRED);
	return 0;
}

static __always_inline int probe(struct probe_place *p)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_ids ids = ids_of(task);
	uint32_t event = p->event & 0xffff;
	struct probe_counts *c = bpf_map_lookup_elem(&probe_counters, &event);
	uint64_t weight;

	if (p->event & PROBE_ENTRY)
		return note_entry(p);
	if (!c || READ_NOW(probe_control.stopped))
		return 0;
	probe_count(c, PROBE_FIRED);
	if (!task->pid && !knobs.include_idle)
		probe_count(c, PROBE_IDLE);
	else if (is_outside(task, ids))
		probe_count(c, PROBE_OUTSIDE);
	else if (!task_wanted(task, ids))
		probe_count(c, PROBE_OF_OTHERS);
	else if (!conditions_hold(regs_address(p), p->event, p->place))
		probe_count(c, PROBE_UNFIT);
	else if ((weight = probe_weight(p, c, task)))
		take_probe_stack(p, c, task, ids, weight);
	return 0;
}

SEC("?uprobe")
int on_uprobe(struct pt_regs *ctx)
{
	struct probe_place p = { .ctx = ctx, .in_user = true, .has_regs = true };
	uint64_t cookie;

	if (!WITH_PROBES)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	p.event = cookie & ~(PROBE_SHADOW_ENTRY | PROBE_SHADOW_RETURN | PROBE_RETURN);
	p.place = cookie >> 32;
	if (knobs.shadow && cookie & (PROBE_SHADOW_ENTRY | PROBE_SHADOW_RETURN)) {
		shadow_probe((PROBE_CONTEXT *)ctx, cookie);
		if (!p.event)
			return 0;
	}
	if (knobs.returns && cookie & PROBE_RETURN)
		p.returned = bpf_get_func_ip(ctx);
	return probe(&p);
}

SEC("?kprobe")
int on_kprobe(struct pt_regs *ctx)
{
	struct probe_place p = { .ctx = ctx, .has_regs = true };
	uint64_t cookie;

	if (!WITH_PROBES)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	p.event = cookie & ~PROBE_RETURN;
	if (knobs.returns && cookie & PROBE_RETURN)
		p.returned = bpf_get_func_ip(ctx);
	return probe(&p);
}

SEC("?tracepoint")
int on_tracepoint(void *ctx)
{
	struct probe_place p = { .ctx = ctx };

	p.event = bpf_get_attach_cookie(ctx);
	return WITH_PROBES ? probe(&p) : 0;
}

/* Before Linux 6.10 there is no cookie here, and so one event of this kind at most. */
SEC("?raw_tp")
int on_raw_tracepoint(struct bpf_raw_tracepoint_args *ctx)
{
	struct probe_place p = { .ctx = ctx, .own_frames = 2 };

	p.event = knobs.raw_tp_cookies ? bpf_get_attach_cookie(ctx) : probe_control.raw_tp_event;
	return WITH_PROBES ? probe(&p) : 0;
}

#define TRAMPOLINE_FRAMES 2		/* of the program, and of what calls it at the function */

/* Loaded once for each function, in objects that share these maps (traced_function.h). */
SEC("?fentry")
int on_fentry(uint64_t *ctx)
{
	struct probe_place p = { .ctx = ctx, .own_frames = TRAMPOLINE_FRAMES };

	p.event = bpf_get_attach_cookie(ctx);
	return WITH_PROBES ? probe(&p) : 0;
}

SEC("?fexit")
int on_fexit(uint64_t *ctx)
{
	struct probe_place p = { .ctx = ctx, .own_frames = TRAMPOLINE_FRAMES };

	p.event = bpf_get_attach_cookie(ctx);
	return WITH_PROBES ? probe(&p) : 0;
}
