/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread that is not on a CPU waits for, and since when: when it last ran, the system call
 * it is in; for a futex the address and a possible holder, for a descriptor what it is, for a child
 * which one. Part of a scan's row, taken while the thread stands still.
 *
 * The scheduler's clock is not CLOCK_MONOTONIC: it starts elsewhere and is not corrected by NTP.
 * Each scan reads how far the two are apart (look_at_clocks()). The time of a thread that has slept
 * for T is therefore wrong by the clock's drift in T (some 10 ppm: 36 ms in an hour), and all times
 * are wrong by the age of the CPU's own copy of the clock, at most a tick.
 */
#pragma once

#include "bpf/futex_owner.h"
#include "bpf/wait_object.bpf.h"

#if defined(__TARGET_ARCH_x86)
enum { NR_FUTEX = 202 };
/* words of struct pt_regs */
enum { ARG_0 = 14, ARG_1 = 13, ARG_2 = 12, ARG_3 = 7, ARG_4 = 9, ARG_5 = 8 };
enum { REG_AX = 10, REG_ORIG_AX = 15 };
#else
enum { NR_FUTEX = 98 };
enum { ARG_1 = 1, ARG_2, ARG_3, ARG_4, ARG_5 };
#endif
enum { NR_FUTEX_WAITV = 449, NR_FUTEX_WAIT = 455 };

#define MAX_SYSCALL 0xffff
#define AT_CWD ((uint32_t)-100)	/* uapi: AT_FDCWD */
#define FUTEX2_PRIVATE 128
#define ANY_CHILD 0		/* waitid: P_ALL */
#define CHILD_BY_PID 1		/* P_PID */

const volatile uint8_t wait_calls[WAIT_CALLS] = {};	/* enum wait_call; set by user space */

/*
 * Holds the clocks of the CPU that this runs on, as of its last tick or switch. NULL: nothing in
 * this kernel leads there.
 */
static __always_inline const struct rq *this_rq(void)
{
	struct task_struct *self = bpf_get_current_task_btf();

	if (!bpf_core_field_exists(self->se.cfs_rq) ||
	    !bpf_core_field_exists(((struct cfs_rq *)0)->rq))
		return 0;
	return self->se.cfs_rq->rq;
}

/*
 * Finds what to add to the scheduler's clock. The least value of a scan is the nearest, because the
 * CPU's copy of the clock can only be old.
 */
static __always_inline void look_at_clocks(struct scan_totals *t, uint64_t now_ns)
{
	const struct rq *rq = this_rq();
	uint64_t behind;

	if (!rq)
		return;
	behind = now_ns - rq->clock;
	if (!t->has_clocks || (int64_t)(behind - t->sched_behind_ns) < 0) {
		t->sched_behind_ns = behind;
		t->task_behind_ns = rq->clock - rq->clock_task;
	}
	t->has_clocks = 1;
}

/*
 * SCHED_NORMAL, SCHED_BATCH, SCHED_IDLE. Only their scheduler keeps where a stint on the CPU began.
 */
static __always_inline bool is_fair(struct task_struct *task)
{
	return task->policy == 0 || task->policy == 3 || task->policy == 5;
}

/*
 * When the thread left the CPU, by the scheduler's clock: when it came there, plus how long it
 * stayed. A kernel without CONFIG_SCHED_INFO does not keep the first. Then it is the end of the
 * last stint by the clock of tasks, which leaves out interrupts and stolen time: too early by what
 * there was of them since.
 */
static __always_inline uint64_t last_on_cpu(struct task_struct *task, const struct scan_totals *t)
{
	uint64_t left = 0, start = task->se.exec_start;

	if (!bpf_core_field_exists(task->sched_info.last_arrival))
		return start ? start + t->task_behind_ns : 0;
	left = task->sched_info.last_arrival;
	if (left && is_fair(task))
		left += task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;
	return left > start ? left : start;
}

#if defined(__TARGET_ARCH_x86)
/*
 * The number of the system call + 1, or 0. Inside the call rax is -ENOSYS, which the kernel's entry
 * puts there. Without that test the error code of a page fault, which the processor leaves where
 * the number would be, would be taken for a number.
 */
static __always_inline uint32_t syscall_of(const struct unwinder *w, struct task_struct *task)
{
	uint64_t nr = w->regs[REG_ORIG_AX];

	if ((uint16_t)w->regs[ARCH_REG_CS] == ARCH_CS_COMPAT)
		return 0;
	return nr < MAX_SYSCALL && w->regs[REG_AX] == (uint64_t)-38 /* ENOSYS */ ? nr + 1 : 0;
}

static __always_inline uint64_t first_argument(const struct unwinder *w, struct task_struct *task)
{
	return w->regs[ARG_0];
}
#else
static __always_inline uint32_t syscall_of(const struct unwinder *w, struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	uint32_t nr = BPF_CORE_READ(regs, syscallno);

	return nr < MAX_SYSCALL ? nr + 1 : 0;
}

/* x0 becomes the result; the kernel keeps the argument in orig_x0. */
static __always_inline uint64_t first_argument(const struct unwinder *w, struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	return BPF_CORE_READ(regs, orig_x0);
}
#endif

/*
 * Whether the words at addr may be read: the rule is that of stacks (load_task_page()). The static
 * variables of a program are pages of its file, copied when they were written to. A thread waits
 * for a lock there only after that.
 */
static __always_inline bool may_read_words(struct task_struct *task, uint64_t addr, uint64_t *end)
{
	struct vma_probe probe = {};

	if (bpf_find_vma(task, addr, probe_vma, &probe, 0))
		return false;
	*end = probe.end;
	return !may_read(&probe, 0, knobs.faults);
}

/*
 * Reads what a thread waits for. A hostile process may exchange the page between the check and the
 * read, for one that never comes. Then the reader hangs here as with a stack, is left behind, and
 * this process's memory is not read again (no_reads): src/capture/collectors/task_reader.h.
 */
static __always_inline bool load_words(struct env *e, void *to, uint32_t bytes, uint64_t addr)
{
	uint64_t end;

	if (e->g->no_reads || !may_read_words(e->task, addr, &end))
		return false;
	if (addr + bytes > end && !may_read_words(e->task, addr + bytes - 1, &end))
		return false;
	return !bpf_copy_from_user_task(to, bytes, (void *)addr, e->task, 0);
}

static __always_inline void find_futex_owner(struct wire_wait *wait, struct env *e)
{
	uint32_t words[FUTEX_OWNER_WORDS];

	if (load_words(e, words, sizeof(words), wait->what))
		wait->owner = futex_owner(wait->futex_op, wait->futex_val, words);
}

struct futex_waitv {		/* uapi */
	uint64_t val, uaddr;
	uint32_t flags, reserved;
};

/* Takes the first futex of several; the others are not looked at. */
static __always_inline void load_waitv(struct wire_wait *wait, struct env *e)
{
	struct futex_waitv v;
	uint64_t list = wait->what;

	wait->what = 0;
	if (load_words(e, &v, sizeof(v), list)) {
		wait->what = v.uaddr;
		wait->futex_val = v.val;
		wait->futex_op = FUTEX_OP_WAIT | (v.flags & FUTEX2_PRIVATE);
	}
}

static __always_inline void gather_futex(struct wire_wait *wait, const struct unwinder *w,
					 struct env *e, uint32_t nr)
{
	if (nr == NR_FUTEX) {
		wait->futex_op = w->regs[ARG_1];
		wait->futex_val = w->regs[ARG_2];
	} else if (nr == NR_FUTEX_WAIT) {
		wait->futex_op = FUTEX_OP_WAIT | FUTEX_OP_PRIVATE;
		wait->futex_val = w->regs[ARG_1];
	} else {
		load_waitv(wait, e);
	}
	if (wait->what && futex_has_owner(wait->futex_op, wait->futex_val)) {
		e->on_lock = true;
		find_futex_owner(wait, e);
	}
}

/* poll() with a single struct pollfd (uapi) is a wait for its descriptor. */
static __always_inline void gather_poll(struct wire_wait *wait, struct wire_object *o,
					const struct unwinder *w, struct env *e)
{
	struct {
		uint32_t fd;
		uint16_t events, revents;
	} p;
	uint64_t list = wait->what;

	wait->what = UINT32_MAX;
	if (w->regs[ARG_1] != 1 || !load_words(e, &p, sizeof(p), list))
		return;
	wait->what = p.fd;
	look_at_file(o, (uint64_t)file_of(e->task, p.fd), !(p.events & EVENT_IN));
}

/*
 * The path that a call looks up while the thread waits for a disk, for a file server, or for a lock
 * of the file system. The kernel has read it, so it is in memory. Of a longer
 * path the beginning is kept. Where the mapping ends with the page, what is in it is read.
 */
static __always_inline void gather_path(struct wire_object *o, struct env *e, uint64_t from,
					uint64_t path)
{
	uint32_t room = UNWIND_MEMORY_PAGE - (path & (UNWIND_MEMORY_PAGE - 1));
	uint32_t n = sizeof(o->name) - 1;
	uint64_t end;

	if (!e->g->head.state ||	/* it is running, or ready to */
	    e->g->no_reads || !may_read_words(e->task, path, &end))
		return;
	if (room < n && end <= path + room)
		n = room;
	if (bpf_copy_from_user_task(o->name, n & 127, (void *)path, e->task, 0))
		return;
	o->kind = OBJECT_PATH;
	o->file = from;
}

static __always_inline struct task_struct *task_of_sibling(struct list_head *sibling)
{
	return (void *)sibling - bpf_core_field_offset(struct task_struct, sibling);
}

/*
 * 0: unknown. A child belongs to the thread that made it, but every thread of the process may wait
 * for it. So all children are known only if there is a single thread.
 */
static __always_inline uint32_t only_child(struct task_struct *task)
{
	struct list_head *head = (void *)task + bpf_core_field_offset(struct task_struct, children);
	struct list_head *first = BPF_CORE_READ(task, children.next);

	if (BPF_CORE_READ(task, signal, nr_threads) != 1 || first == head ||
	    first != BPF_CORE_READ(task, children.prev))
		return 0;
	return tid_of(task_of_sibling(first));
}

/* The youngest child, if it has its parent's memory and has not given it back; else 0. */
static __always_inline uint32_t vfork_child(struct task_struct *task)
{
	struct list_head *head = (void *)task + bpf_core_field_offset(struct task_struct, children);
	struct list_head *last = BPF_CORE_READ(task, children.prev);

	if (last == head || !BPF_CORE_READ(task_of_sibling(last), vfork_done))
		return 0;
	return tid_of(task_of_sibling(last));
}

static __always_inline void gather_child(struct wire_wait *wait, const struct unwinder *w,
					 struct env *e, uint32_t call)
{
	int32_t pid = wait->what;

	if (call == CALL_WAITID) {
		uint32_t type = wait->what;

		pid = type == CHILD_BY_PID ? w->regs[ARG_1] : type == ANY_CHILD ? -1 : 0;
		wait->what = pid;
	}
	if (call == CALL_CLONE)
		wait->child = vfork_child(e->task);
	else if (pid == -1)
		wait->child = only_child(e->task);
	e->on_lock |= wait->child != 0;		/* another may be made before it wakes up */
}

/*
 * The index is masked behind the compiler's back: the verifier of 6.1 forgets that a copy of nr was
 * compared.
 */
static __always_inline uint32_t call_of(uint32_t nr)
{
	uint32_t i = nr & (WAIT_CALLS - 1);

	asm volatile("" : "+r"(i));
	return nr < WAIT_CALLS ? wait_calls[i] : CALL_OTHER;
}

static __always_inline void gather_syscall(struct wire_wait *wait, struct wire_object *o,
					   struct env *e)
{
	const struct unwinder *w = &e->g->unwinder;
	uint32_t nr, call;

	wait->syscall = syscall_of(w, e->task);
	nr = wait->syscall - 1;
	if (!wait->syscall)
		return;
	wait->what = first_argument(w, e->task);
	call = call_of(nr);
	if (call == CALL_FUTEX)
		gather_futex(wait, w, e, nr);
	else if (call == CALL_READ || call == CALL_WRITE || call == CALL_FILE_LOCK ||
		 call == CALL_FD)
		look_at_file(o, (uint64_t)file_of(e->task, wait->what), call == CALL_WRITE);
	else if (call == CALL_EPOLL)
		look_at_epoll(o, file_of(e->task, wait->what));
	else if (call == CALL_POLL)
		gather_poll(wait, o, w, e);
	else if (call == CALL_PATH || call == CALL_PATH_AT)
		gather_path(o, e, call == CALL_PATH ? AT_CWD : wait->what,
			    call == CALL_PATH ? wait->what : w->regs[ARG_1]);
	else if (call == CALL_WAIT4 || call == CALL_WAITID || call == CALL_CLONE)
		gather_child(wait, w, e, call);
	if (call == CALL_FD)
		o->other.end = PEER_NONE;
	/* The connection is not accepted yet. That may happen while the thread sleeps. */
	if (o->kind == OBJECT_UNIX && !o->other.end)
		e->on_lock = true;
}

static __always_inline void load_arguments(uint64_t args[WIRE_ARGS], const struct unwinder *w,
					   struct task_struct *task)
{
	args[0] = first_argument(w, task);
	args[1] = w->regs[ARG_1];
	args[2] = w->regs[ARG_2];
	args[3] = w->regs[ARG_3];
	args[4] = w->regs[ARG_4];
	args[5] = w->regs[ARG_5];
}

/*
 * Puts struct wire_wait and struct wire_object behind the frames, and returns the flags of those
 * that are there. in_user: g->unwinder.regs are the thread's own. A function of its own, because
 * the stack of a chain of calls is short.
 */
static __noinline uint32_t gather_wait(struct gather *g, struct env *e, struct scan_totals *t,
				       bool in_user)
{
	uint32_t n = g->head.nr_user + g->head.nr_kernel;
	struct wire_wait *wait = &g->wait;
	uint64_t ran;

	if (n > UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL)
		return 0;
	__builtin_memset(wait, 0, sizeof(*wait));
	look_at_clocks(t, g->head.time_ns);
	ran = last_on_cpu(e->task, t);
	if (ran && t->has_clocks)
		wait->ran_ns = ran + t->sched_behind_ns;
	e->on_lock = false;
	__builtin_memset(&g->object, 0, sizeof(g->object));
	if (in_user)
		gather_syscall(wait, &g->object, e);
	if (knobs.want_args && wait->syscall)
		load_arguments(wait->args, &e->g->unwinder, e->task);
	*(struct wire_wait *)&g->frames[n] = *wait;
	if (!g->object.kind)
		return WIRE_WAIT;
	*(struct wire_object *)&g->frames[n + WIRE_WAIT_WORDS] = g->object;
	return WIRE_WAIT | WIRE_OBJECT;
}
