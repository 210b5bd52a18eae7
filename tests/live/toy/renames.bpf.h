/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stack each time that a thread gets another name. This is the kind of capture that new_kind.sh
 * plants, and about the least that one can have: a ring, scratch for each CPU, and counters. What
 * user space needs to know stands first.
 */
#pragma once

#include <stdint.h>

/* Each renaming ends in one of those behind the first. */
enum renames_counter {
	RENAMES_FIRED, RENAMES_OF_OTHERS, RENAMES_SHORT, RENAMES_TAKEN, RENAMES_REFUSED,
	RENAMES_COUNTERS
};

#ifdef __bpf__
#include "bpf/filter.bpf.h"
#include "bpf/stack_dump.bpf.h"

#define RENAMES_OWN_FRAMES 2		/* of the program, and of what calls it */

uint32_t renames_event = 0;		/* its number in the recording */
uint32_t renames_shortest = 0;		/* names that are shorter are left out */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 * 1024 * 1024);
} renames_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct gather);
} renames_scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct unwind_memo);
} renames_memos SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct stack_dump);
} renames_dumps SEC(".maps");

struct renames_counts {
	uint64_t v[RENAMES_COUNTERS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct renames_counts);
} renames_counters SEC(".maps");

static __always_inline void renames_count(enum renames_counter what)
{
	uint32_t zero = 0;
	struct renames_counts *c = bpf_map_lookup_elem(&renames_counters, &zero);

	if (c)
		c->v[what]++;
}

/* A stack that cannot be unwound yet goes out with its registers and memory. */
static __always_inline bool renames_put(struct gather *g, struct env *e, uint32_t cpu)
{
	struct stack_dump *dump = is_deferred(g) ? bpf_map_lookup_elem(&renames_dumps, &cpu) : 0;
	uint32_t bytes;

	if (dump) {
		g->head.flags |= WIRE_DUMP;
		bytes = gather_dump(g, e, dump, WIRE_DUMP_PAGES, copy_page_nofault);
		if (bytes && bytes <= STACK_DUMP_BYTES &&
		    !bpf_ringbuf_output(&renames_ring, &dump->w, bytes, BPF_RB_FORCE_WAKEUP))
			return true;
		g->head.flags &= ~WIRE_DUMP;
	}
	bytes = gather_bytes(g);
	return bytes && !bpf_ringbuf_output(&renames_ring, &g->head, bytes, 0);
}

static __always_inline int renames_take(void *ctx, struct task_struct *task, struct task_ids ids)
{
	uint32_t zero = 0, cpu = bpf_get_smp_processor_id();
	struct gather *g = bpf_map_lookup_elem(&renames_scratch, &zero);
	struct env e = { .g = g };

	if (!g)
		return 0;
	init_head(&g->head, task, ids, bpf_ktime_get_ns(), renames_event);
	g->head.weight = 1;
	g->head.cpu = cpu;
	g->head.flags |= WIRE_ON_CPU | WIRE_TRACEPOINT;
	if (knobs.memos) {
		e.memo = bpf_map_lookup_elem(&renames_memos, &cpu);
		if (!e.memo)
			return 0;
	}
	if (task->flags & PF_KTHREAD || !task->mm) {
		g->head.end = UNWIND_KTHREAD;
		g->head.flags |= WIRE_KTHREAD;
	} else if (in_exec(task)) {
		g->head.end = UNWIND_EXEC;
	} else if (knobs.want_user && !load_user_regs(&g->unwinder, task)) {
		gather_user(g, &e, step_sampler);
	}
	if (knobs.want_kernel)
		gather_kernel_behind(ctx, g, RENAMES_OWN_FRAMES);
	renames_count(renames_put(g, &e, cpu) ? RENAMES_TAKEN : RENAMES_REFUSED);
	return 0;
}

SEC("?raw_tp/task_rename")
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_ids ids = ids_of(task);
	char name[16] = {};
	long length;

	if (!WITH_PROBES)
		return 0;
	renames_count(RENAMES_FIRED);
	if (is_outside(task, ids) || !task_wanted(task, ids)) {
		renames_count(RENAMES_OF_OTHERS);
		return 0;
	}
	length = bpf_probe_read_kernel_str(name, sizeof(name), (void *)ctx->args[1]);
	if (length <= (long)renames_shortest) {	/* it has the NUL in it */
		renames_count(RENAMES_SHORT);
		return 0;
	}
	return renames_take(ctx, task, ids);
}
#endif
