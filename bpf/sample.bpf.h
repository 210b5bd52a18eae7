/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampler. It runs at each overflow of a CPU's perf event, gathers the stack of the thread that
 * was interrupted, and puts it into the ring buffer. One program serves all events of a recording:
 * the event's number comes as the attach cookie. A record that the ring refuses is counted.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/new_code.bpf.h"
#include "bpf/stack_delta.bpf.h"
#include "bpf/user_rates.bpf.h"

/* struct bpf_perf_event_data with the registers as words, as the unwinder has them. */
struct perf_context {
	uint64_t regs[ARCH_NR_REGS];
	uint64_t sample_period;
	uint64_t addr;
};

/*
 * The kernel runs only one perf_event program at a time on a CPU (bpf_prog_active), so one scratch
 * for each CPU is enough.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct gather);
} sample_scratch SEC(".maps");

/*
 * The reader drains the ring ten times a second anyway. It is woken if the ring fills up, which
 * every 16th run checks, and at once by a record with memory, because all stacks that follow need
 * the same tables, and by one with new code of a runtime (new_code.bpf.h). This is not done more
 * often than user space can do something about it.
 */
#define WAKE_EVERY_NS 500000

static __always_inline uint64_t wake_flags(struct gather *g, bool has_memory)
{
	if ((has_memory || g->new_code) && g->head.time_ns - g->woken_ns >= WAKE_EVERY_NS) {
		g->woken_ns = g->head.time_ns;
		return BPF_RB_FORCE_WAKEUP;
	}
	if ((has_memory || !(g->counters[COUNTER_FIRED] & 15)) &&
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > knobs.wakeup_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/*
 * Submits the stack with its registers and memory, for --audit. false: there is no room to spare
 * for them, or they cannot be read. So does submit_delta().
 */
static __always_inline bool submit_dump(struct gather *g, struct env *e, uint16_t dump_flags)
{
	uint32_t slot = shared_slot(bpf_get_smp_processor_id()), bytes;
	struct stack_dump *dump = bpf_map_lookup_elem(&dump_scratch, &slot);
	bool done;

	if (!dump || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > knobs.ring_room ||
	    !CLAIM(&dump->busy))
		return false;
	g->head.flags |= dump_flags;
	bytes = gather_dump(g, e, dump, WIRE_DUMP_PAGES, copy_page_nofault);
	done = bytes && bytes <= STACK_DUMP_BYTES &&
	       !bpf_ringbuf_output(&ring, &dump->w, bytes, wake_flags(g, true));
	LEAVE(&dump->busy);
	if (!done)
		g->head.flags &= ~dump_flags;
	return done;
}

/* The mirror is left only when the record is in the ring: there they come in its order. */
static __always_inline bool submit_delta(struct gather *g)
{
	uint32_t mirror = shared_slot(bpf_get_smp_processor_id()), bytes;
	struct delta_state *d = bpf_map_lookup_elem(&delta_states, &mirror);
	uint64_t waiting = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	bool done;

	if (!d || waiting > knobs.ring_room || !CLAIM(&d->busy))
		return false;
	g->head.flags |= WIRE_DELTA;
	bytes = gather_delta(g, d, mirror, waiting);
	done = bytes && bytes <= sizeof(d->record) + DELTA_MIRROR_BYTES + DELTA_FRAMES_BYTES &&
	       !bpf_ringbuf_output(&ring, &d->record, bytes, wake_flags(g, true));
	if (!done)
		delta_was_lost(d);
	LEAVE(&d->busy);
	if (!done)
		g->head.flags &= ~WIRE_DELTA;
	return done;
}

static __always_inline void submit(struct gather *g, struct env *e)
{
	uint32_t bytes = gather_bytes(g);
	uint16_t dump = dump_flags(g, g->counters[COUNTER_STACKS]);

	if (!bytes)
		return;
	if (dump & WIRE_AUDIT ? submit_dump(g, e, dump) : dump && submit_delta(g)) {
		g->counters[COUNTER_SUBMITTED]++;
		return;
	}
	if (bpf_ringbuf_output(&ring, &g->head, bytes, wake_flags(g, false)))
		g->counters[COUNTER_RING_FULL]++;
	else
		g->counters[COUNTER_SUBMITTED]++;
}

struct rate_limit rate_limit = {};

/* Called as a tick begins, for those of others, too: they cost time as well. */
static __always_inline struct rate_share begin_tick(struct gather *g, uint32_t event, uint64_t now)
{
	struct rate_share one = { 1, 1 };

	if (!knobs.limit_rate)
		return one;
	rate_limit_tick(&rate_limit, &g->window, now);
	if (rate_limit_due(&g->window, now))
		rate_limit_look(&rate_limit, &g->window, now,
				bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >
					knobs.ring_room / 4 * 3);
	return rate_limit_share(&rate_limit, event);
}

/* Called when a tick that was taken ends. */
static __always_inline void end_tick(struct gather *g)
{
	if (knobs.limit_rate)
		g->window.busy_ns += bpf_ktime_get_ns() - g->window.last_ns;
}

/*
 * Counts a tick as all the ticks that were asked for which it stands for. 0: it is not taken; else
 * how many ticks that meet threads of the same user it stands for.
 */
static __always_inline uint32_t is_taken(struct gather *g, struct task_struct *task,
					 struct task_ids ids, struct rate_share share,
					 uint32_t event)
{
	uint32_t times;

	g->counters[COUNTER_FIRED] += share.done;
	g->counters[COUNTER_FIRED_BY + event] += share.done;
	if (!task->pid && !knobs.include_idle) {
		g->counters[COUNTER_IDLE] += share.done;
		return 0;
	}
	if (is_outside(task, ids)) {
		g->counters[COUNTER_OUTSIDE] += share.done;
		return 0;
	}
	if (!task_wanted(task, ids)) {
		g->counters[COUNTER_FILTERED] += share.done;
		return 0;
	}
	if (knobs.limit_rate && rate_limit_passes(&g->window, share)) {
		g->counters[COUNTER_PASSED_OVER] += share.done;
		return 0;
	}
	times = user_times(task);
	if (times > 1 && bpf_get_prandom_u32() & (times - 1)) {
		g->counters[COUNTER_OF_SLOWED] += share.done;
		return 0;
	}
	g->counters[COUNTER_PASSED_OVER] += share.done - 1;
	return times;
}

SEC("?perf_event")
int on_tick(struct perf_context *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t pc = ctx->regs[ARCH_REG_PC], weight = ctx->sample_period;
	uint64_t now = knobs.limit_rate ? bpf_ktime_get_ns() : 0;
	uint32_t zero = 0, event = bpf_get_attach_cookie(ctx), times;
	struct rate_share share;
	struct task_ids ids;
	struct gather *g;
	struct env e = {};

	g = bpf_map_lookup_elem(&sample_scratch, &zero);
	if (!g || event > WIRE_MAX_EVENTS)
		return 0;
	share = begin_tick(g, event, now);
	ids = ids_of(task);
	times = is_taken(g, task, ids, share, event);
	if (!times)
		return 0;
	init_head(&g->head, task, ids, now ? now : bpf_ktime_get_ns(), event);
	if (knobs.limit_rate)
		weight = rate_limit_weight(&rate_limit, share, event, weight);
	g->head.weight = weight * times;
	g->head.cpu = bpf_get_smp_processor_id();
	g->head.flags |= WIRE_ON_CPU;
	g->new_code = 0;
	e.g = g;
	if (knobs.memos) {
		e.memo = memo_of(g);
		if (!e.memo)
			return 0;
	}
	if (task->flags & PF_KTHREAD || !task->mm) {
		g->head.end = UNWIND_KTHREAD;
		g->head.flags |= WIRE_KTHREAD;
	} else if (knobs.want_user && (int64_t)pc < 0 && in_exec(task)) {
		g->head.end = UNWIND_EXEC;
	} else if (knobs.want_user) {
		if (load_user_regs(&g->unwinder, task))
			g->head.end = UNWIND_BUG;
		else
			gather_user(g, &e, step_sampler);
		g->counters[COUNTER_STACKS]++;
		g->new_code = has_new_code(g);
	}
	/*
	 * The register is read again. The tests above have told the verifier on which side of 0 pc
	 * is, so a test of pc here would make it go through all of the unwinding twice.
	 */
	if ((int64_t)READ_NOW(ctx->regs[ARCH_REG_PC]) < 0) {
		g->head.flags |= WIRE_IN_KERNEL;
		if (knobs.want_kernel)
			gather_kernel_here(ctx, g);
	}
	submit(g, &e);
	end_tick(g);
	return 0;
}
