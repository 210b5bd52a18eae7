/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scan of all tasks. The program runs once for each task of the machine and writes one row into
 * the iterator's own file. The kernel keeps a 32 KiB buffer. A row that does not fit is rolled
 * back, and the program runs again for that task at the next read(). So no row is lost, but the
 * program must not count a task before its row is written.
 */
#pragma once

#include "bpf/filter.bpf.h"
#include "bpf/kernel_memo.bpf.h"
#include "bpf/stack_dump.bpf.h"
#include "bpf/unchanged.bpf.h"
#include "bpf/user_rates.bpf.h"
#include "bpf/wait.bpf.h"

/* TASK_UNINTERRUPTIBLE | TASK_NOLOAD: only both mean idle, threads in D state must be shown. */
#define TASK_IDLE_BITS 0x402
/* The kernel hands out 32 KiB at once, and a row must fit. */
#define SNAPSHOT_DUMP_PAGES 5

/* The program may sleep, and per-CPU scratch would be shared then: each reader has its own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCAN_SLOTS);
	__type(key, uint32_t);
	__type(value, struct gather);
} snapshot_scratch SEC(".maps");

/*
 * Thread groups in whose memory a reader hung or died, and users (HUNG_USER) with many such. Their
 * memory is not read.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64 * SCAN_SLOTS);
	__type(key, uint64_t);
	__type(value, uint32_t);
} hung SEC(".maps");

struct scan_totals totals = {};
struct scan_place place = {};

static __always_inline void unwind_kernel(struct task_struct *task, struct gather *g, uint32_t n)
{
	long bytes = bpf_get_task_stack(task, &g->frames[n], WIRE_MAX_KERNEL * 8, 0);

	if (bytes < 0)
		g->head.flags |= WIRE_KERNEL_FAILED;
	else
		g->head.nr_kernel = bytes / 8;
}

static __noinline void gather_kernel_of(struct task_struct *task, struct gather *g, struct env *e,
					bool in_user)
{
	bool memo = !READ_NOW(control.slot) && !READ_NOW(control.no_memo) && !totals.misled;
	struct kernel_recall r = {};
	uint32_t n = g->head.nr_user;

	if (n > UNWIND_MAX_FRAMES ||
	    (memo && recall_kernel(&r, task, g, in_user, READ_NOW(control.begin_ns))))
		return;
	unwind_kernel(task, g, n);
	if (memo && compare_or_learn(&r, task, g, e))
		totals.misled = 1;
}

static __always_inline void drop_stacks(struct gather *g, uint32_t end)
{
	g->head.nr_user = 0;
	g->head.nr_kernel = 0;
	g->head.flags &= ~(WIRE_GUESSED | WIRE_KERNEL_FAILED | WIRE_WAIT | WIRE_OBJECT |
			   WIRE_LEAF);
	g->head.end = end;
}

static __always_inline void mark_torn(struct gather *g, struct task_struct *task)
{
	drop_stacks(g, UNWIND_TORN);
	request_at_switch(task);
}

/*
 * Page faults of the reader so far. It does nothing but read the memory of other tasks, so that is
 * what all of them are for.
 */
static __always_inline uint64_t faults_here(void)
{
	struct task_struct *reader = bpf_get_current_task_btf();

	return READ_NOW(reader->min_flt) + READ_NOW(reader->maj_flt);
}

static __always_inline void gather_task(struct gather *g, struct env *e)
{
	struct task_struct *task = e->task;
	bool in_user = false;

	if (g->head.flags & WIRE_KTHREAD)
		g->head.end = UNWIND_KTHREAD;
	else if (!BPF_CORE_READ(task, mm) || task->flags & PF_EXITING)
		g->head.end = UNWIND_NO_MM;
	else if (knobs.want_user && in_exec(task))
		g->head.end = UNWIND_EXEC;
	else if (!load_user_regs(&g->unwinder, task))
		in_user = true;
	if (in_user && knobs.want_user) {
		uint64_t before = faults_here();

		gather_user(g, e, step_sleepable);
		g->faulted = faults_here() - before;
	}
	if (knobs.want_kernel)
		gather_kernel_of(task, g, e, in_user);
	g->head.flags |= gather_wait(g, e, &totals, in_user);
}

/*
 * The registers of a thread are in memory only while it does not run, so {on_cpu, switches} are
 * read before and after, as with a seqlock. A thread on a CPU is marked and requested there. A
 * thread that has run meanwhile is marked and requested wherever it is, and if that is of no avail
 * user space has it visited again: with a loop here the verifier would look at all of the unwinding
 * several times.
 */
static __always_inline void gather_stable(struct gather *g, struct env *e, struct task_ids ids)
{
	struct task_struct *task = e->task;

	e->switches = switches(task);
	g->pages_read = 0;
	init_head(&g->head, task, ids, bpf_ktime_get_ns(), control.event);
	g->head.weight = 0;
	g->head.cpu = UINT32_MAX;
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		g->head.flags |= WIRE_KTHREAD;
	if (READ_NOW(task->on_cpu)) {
		g->head.cpu = READ_NOW(task->thread_info.cpu);
		g->head.flags |= WIRE_ON_CPU;
		drop_stacks(g, g->head.flags & WIRE_KTHREAD ? UNWIND_KTHREAD : UNWIND_RUNNING);
		if (request_oncpu(task, g->head.cpu) &&
		    !still_there(task, e->switches, g->head.cpu) &&
		    cancel_request(task, g->head.cpu))
			mark_torn(g, task);
		return;
	}
	gather_task(g, e);
	if (READ_NOW(task->on_cpu) || e->switches != switches(task))
		mark_torn(g, task);
}

static __always_inline bool is_idle_kthread(struct task_struct *task)
{
	return task->flags & PF_KTHREAD && !task->exit_state &&
	       (task->__state & TASK_IDLE_BITS) == TASK_IDLE_BITS;
}

/*
 * Writes the row, with memory if that is wanted and the thread has not run meanwhile. Not 0: the
 * row does not fit any more.
 */
static __always_inline long write_row(struct seq_file *seq, struct gather *g, struct env *e,
				      uint32_t slot)
{
	uint16_t flags = dump_flags(g, totals.stacks + 1);
	uint32_t dump_slot = knobs.snapshot_slot + slot, bytes = 0;
	struct stack_dump *dump = flags ? bpf_map_lookup_elem(&dump_scratch, &dump_slot) : 0;

	if (dump) {
		g->head.flags |= flags;
		bytes = gather_dump(g, e, dump, SNAPSHOT_DUMP_PAGES, copy_page_sleepable);
		if (bytes && bytes <= sizeof(dump->w) + SNAPSHOT_DUMP_PAGES * UNWIND_MEMORY_PAGE &&
		    !READ_NOW(e->task->on_cpu) && e->switches == switches(e->task))
			return bpf_seq_write(seq, &dump->w, bytes);
		g->head.flags &= ~flags;
	}
	bytes = gather_bytes(g);
	return bytes ? bpf_seq_write(seq, &g->head, bytes) : 1;
}

/*
 * Whether user space has given this reader up. Its rows are not read any more, and it may touch
 * nothing but its own scratch.
 */
static __always_inline bool is_given_up(struct task_struct *reader)
{
	return reader->start_boottime <= READ_NOW(control.given_up);
}

/* Whether the memory of this process is not read, because readers hung there. */
static __always_inline bool is_left_alone(uint32_t tgid, uint32_t uid)
{
	uint64_t process = tgid, user = HUNG_USER | uid;

	return bpf_map_lookup_elem(&hung, &process) ||
	       (READ_NOW(control.hung_users) && bpf_map_lookup_elem(&hung, &user));
}

static __always_inline void say_where(struct task_struct *task, struct task_ids ids,
				      struct task_struct *reader)
{
	place.tgid = ids.tgid;
	place.tid = ids.tid;
	place.uid = BPF_CORE_READ(task, real_cred, uid.val);
	place.reader = reader->start_boottime;
	bpf_probe_read_kernel(place.comm, sizeof(place.comm), task->comm);
	READ_NOW(place.visits)++;
}

SEC("?iter.s/task")
int on_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *reader = bpf_get_current_task_btf();
	struct env e = { .sleepable = true };
	uint32_t slot = READ_NOW(control.slot), times;
	struct seq_file *seq = ctx->meta->seq;	/* once: see stack_top() */
	struct task_ids ids;
	struct gather *g;

	if (!WITH_SCANS || !task || is_given_up(reader))
		return 0;
	if (totals.last_seen != (uint64_t)task)
		totals.seen++;
	totals.last_seen = (uint64_t)task;
	ids = ids_of(task);
	if (task->tgid == reader->tgid || is_outside(task, ids) || !task_wanted(task, ids)) {
		totals.filtered++;
		return 0;
	}
	if (is_idle_kthread(task) && !knobs.include_idle) {
		totals.idle_kthreads++;
		return 0;
	}
	times = READ_NOW(control.aside) ? 1 : user_times(task);
	if ((READ_NOW(control.scan) + (uint32_t)task->pid) & (times - 1)) {
		totals.filtered++;
		totals.of_slowed++;
		return 0;
	}
	g = bpf_map_lookup_elem(&snapshot_scratch, &slot);
	if (!g)
		return 0;
	e.g = g;
	e.task = task;
	if (knobs.skip_same && times == 1 && !READ_NOW(control.all_anew) &&
	    !READ_NOW(control.aside) && has_not_run(task)) {
		gather_same(g, task, ids, READ_NOW(control.begin_ns));
		if (bpf_seq_write(seq, &g->head, sizeof(g->head)))
			return 0;
		totals.rows++;
		totals.same++;
		return 0;
	}
	say_where(task, ids, reader);
	g->no_reads = knobs.faults == FAULTS_NEVER || READ_NOW(control.no_reads) ||
		      is_left_alone(ids.tgid, place.uid);
	g->faulted = 0;
	/* Kept there, the verifier does not go through all that follows for each of its values. */
	g->row_weight = times > 1 ? times * READ_NOW(control.interval_ns) : 0;
	gather_stable(g, &e, ids);
	g->head.weight = g->row_weight;
	totals.faulted += g->faulted;
	if (is_given_up(reader) || write_row(seq, g, &e, slot))
		return 0;
	/* The last row of a thread of a slowed user may be forgotten when the next one comes. */
	if (knobs.skip_same && !g->row_weight && !READ_NOW(control.aside))
		remember(task, g, &e);
	totals.rows++;
	totals.stacks += stack_was_unwound(g);
	totals.reads += g->pages_read;
	if (g->head.flags & WIRE_ON_CPU)
		totals.on_cpu++;
	return 0;
}
