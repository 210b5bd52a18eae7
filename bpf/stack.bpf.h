/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a task: unwind/unwind_step.h unwinds the user stack, the kernel's own helpers
 * unwind the kernel stack.
 *
 * struct gather is too big for the BPF stack, so it lives in a map; the callback of the frame loop
 * reaches it through struct env, which is small and on the stack. The verifier knows nothing of
 * scalars that are reloaded from a map, so it verifies the frame loop once for all frames.
 */
#pragma once

#include "bpf/rate_limit.h"
#include "bpf/task_ids.bpf.h"

struct unwinder;
struct env;

#define TRUSTED __attribute__((btf_decl_tag("arg:trusted")))

static __always_inline int unwind_load_page(void *env, struct unwinder *w, uint64_t addr,
					    uint64_t from);
static __always_inline int unwind_read_code(void *env, struct unwinder *w, uint64_t addr);
static __always_inline int unwind_thread_pointer(void *env, uint64_t *value);
static __always_inline int unwind_process_slice(void *env, uint32_t tgid, uint32_t *first,
						uint32_t *nr);

static __always_inline const struct unwind_mapping *unwind_mapping_at(void *env, uint32_t i)
{
	return bpf_map_lookup_elem(&mappings, &i);
}

static __always_inline const struct unwind_binary *unwind_binary_at(void *env, uint32_t i)
{
	return bpf_map_lookup_elem(&binaries, &i);
}

static __always_inline const struct unwind_page *unwind_page_at(void *env, uint32_t i)
{
	return bpf_map_lookup_elem(&pages, &i);
}

static __always_inline const struct unwind_row *unwind_rows_at(void *env, uint32_t first,
							       uint32_t nr)
{
	uint32_t slab = first >> UNWIND_SLAB_SHIFT, zero = 0;
	void *inner = bpf_map_lookup_elem(&slabs, &slab);

	return inner ? bpf_map_lookup_elem(inner, &zero) : 0;
}

static __always_inline const struct unwind_rule *unwind_rule_at(void *env, uint32_t i)
{
	return bpf_map_lookup_elem(&rules, &i);
}

static __always_inline uint64_t *unwind_cache_word(void *env, uint32_t i)
{
	return bpf_map_lookup_elem(&rule_cache, &i);
}

static __always_inline int unwind_load_record(void *env, struct unwinder *w, uint64_t addr);
static __always_inline int unwind_load_bytes(void *env, struct unwinder *w, uint64_t addr,
					      uint32_t n);
static __always_inline int unwind_read_word(void *env, uint64_t addr, uint64_t *value);
static __always_inline int unwind_load_object(void *env, struct unwinder *w, uint32_t i,
					      uint64_t addr);
static __always_inline int object_word(void *env, struct unwinder *w, uint64_t addr);

static __always_inline const struct unwind_runtimes *unwind_runtimes_of(void *env, uint32_t tgid)
{
	return bpf_map_lookup_elem(&runtimes, &tgid);
}

static __always_inline const struct frame_program *unwind_program_at(void *env, uint32_t i)
{
	return bpf_map_lookup_elem(&frame_programs, &i);
}

/*
 * See unwind/unwind_step.h. For the verifier the pointers that a global function gets may be NULL.
 */
int look_up_mapping(struct unwinder *w, uint64_t pc);
uint32_t search_page(struct unwinder *w, uint32_t page, uint32_t key);
int guess_nofault(struct unwinder *w);
int replaced_return(struct unwinder *w);
static __always_inline int fetch(void *env, struct unwinder *w, uint64_t page, uint64_t in_page);
static __always_inline int guess_on(void *env, struct unwinder *w);
static __always_inline int step_plain(void *env);
struct gather;
int frame_turns_nofault(struct gather *g);
static __always_inline void frame_turn_on(void *env);
int select_runtime(struct unwinder *w, uint32_t owns_code);
int is_loop(struct unwinder *w, uint64_t pc);
uint32_t place_of_walker(struct unwinder *w, uint64_t begin, uint64_t bytes);
uint64_t prologue_mask(uint64_t code, uint64_t next);
#define UNWIND_FETCH fetch
#define UNWIND_GUESS_ON guess_on
#define UNWIND_STEP_PLAIN(env, w, frames) step_plain(env)
#define UNWIND_RUNTIMES
#define UNWIND_MAY_RUN knobs.runtimes
#define UNWIND_KNOWS_RARE knobs.rare
#define FRAME_TURN(env, w, frames) frame_turn_on(env)
#define FRAME_OBJECT_WORD(env, w, addr) object_word(env, w, addr)
#define FRAME_PLACE(env, w, begin, bytes) place_of_walker(w, begin, bytes)
#define FRAME_SELECT(env, w, owns_code) select_runtime(w, owns_code)
#define FRAME_IS_LOOP(env, w, frames, pc) is_loop(w, pc)
#define UNWIND_LOOK_UP(env, w, pc) look_up_mapping(w, pc)
#define UNWIND_SEARCH_PAGE(env, w, page, key) search_page(w, page, key)
#define UNWIND_PROLOGUE_MASK prologue_mask
#define UNWIND_REPLACED_RETURN(w) replaced_return(w)
static __always_inline struct unwind_memo *memo_at(void *env, struct unwinder *w);
#define UNWIND_MEMO_AT(env, w) memo_at(env, w)

#include "unwind/unwind_step.h"

/*
 * Memos of the sampler, by tid. No two programs use one at a time: only a single perf_event program
 * runs on a CPU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);			/* knobs.memos */
	__type(key, uint32_t);
	__type(value, struct unwind_memo);
} memos SEC(".maps");

/*
 * Scratch of one stack. The record that goes out begins at head. The counters stand beside the head
 * because a tick finds nothing in the caches: each page touched costs as much as ten frames.
 */
struct gather {
	uint64_t counters[COUNTERS];
	struct rate_window window;
	/*
	 * The task's memory is not read. The callback does not ask the knobs for this itself: 6.18
	 * refuses a program whose callback is dead code.
	 */
	uint64_t no_reads;
	uint64_t faulted;		/* pages that were faulted in by reading */
	uint64_t row_weight;		/* of a row of a scan, for some users; 0: as usual */
	uint64_t pages_read;		/* of user memory, for this stack */
	uint64_t woken_ns;		/* when the reader was last woken at once */
	uint64_t word;			/* of another task's memory */
	uint64_t new_code;		/* the stack has code that is to be read at once */
	uint64_t in_frame;		/* new_code.bpf.h: the next word is the second of a frame */
	struct wire_sample head;
	uint64_t frames[WIRE_DUMP_FRAMES];
	struct wire_wait wait;		/* is copied behind the frames, like object */
	union {
		struct wire_object object;
		struct wire_stay stay;		/* off_cpu.bpf.h: has no frames */
	};
	uint64_t shadow_pc;		/* shadow.bpf.h: of the frame whose caller is looked for */
	uint64_t first_frame;		/* shadow.bpf.h: one that is the innermost; or 0 */
	uint64_t returned;		/* the function that returns here, behind that one; or 0 */
	struct unwinder unwinder;
};

struct env {
	struct gather *g;
	struct task_struct *task;	/* when sleepable: whose memory is read */
	uint64_t switches;		/* of task, when its registers were read */
	struct unwind_memo *memo;	/* of the thread: step_memo, step_sampler */
	bool on_lock;			/* the holder it waits for may change while it sleeps */
	bool sleepable;			/* a constant in each callback, so one branch is left */
	bool recalls;			/* likewise: step_memo, step_sampler */
	bool samples;			/* likewise: there is stack for one function call more */
};

static __always_inline struct unwind_memo *memo_of(struct gather *g)
{
	uint32_t slot = g->head.tid % knobs.memos;

	return bpf_map_lookup_elem(&memos, &slot);
}

static __always_inline struct unwind_memo *memo_at(void *env, struct unwinder *w)
{
	struct env *e = env;

	return e->memo && w->recall.use ? e->memo : 0;
}

static __always_inline int unwind_process_slice(void *env, uint32_t tgid, uint32_t *first,
						uint32_t *nr)
{
	struct unwind_process *p = bpf_map_lookup_elem(&processes, &tgid);
	uint64_t v;

	if (!p)
		return 1;
	v = *(volatile uint64_t *)&p->slice;
	*first = (uint32_t)v;
	*nr = v >> 32;
	return 0;
}

__noinline int look_up_mapping(struct unwinder *w, uint64_t pc)
{
	return w ? unwind_find_other_mapping(0, w, pc) : UNWIND_BUG;
}

__noinline uint32_t search_page(struct unwinder *w, uint32_t page, uint32_t key)
{
	return w ? unwind_search_page(0, w, page, key) : UNWIND_BUG;
}

__noinline int select_runtime(struct unwinder *w, uint32_t owns_code)
{
	return w ? frame_select(0, w, owns_code) : 0;
}

__noinline int is_loop(struct unwinder *w, uint64_t pc)
{
	return w ? frame_is_loop(0, w, pc) : 0;
}

__noinline uint32_t place_of_walker(struct unwinder *w, uint64_t begin, uint64_t bytes)
{
	struct env e = {};

	return w ? frame_place(&e, w, begin, bytes) : CHAIN_ELSEWHERE;
}

__noinline uint64_t prologue_mask(uint64_t code, uint64_t next)
{
	return arch_prologue_mask(code, next);
}

#include "bpf/task_memory.bpf.h"

__noinline int fetch_sleepable(struct gather *g, struct task_struct *task TRUSTED, uint64_t page,
			       uint64_t in_page)
{
	struct env e = { .g = g, .task = task, .sleepable = true };

	return WITH_SCANS && g ? unwind_fetch(&e, &g->unwinder, page, in_page) : 1;
}

__noinline int fetch_nofault(struct unwinder *w, uint64_t page, uint64_t in_page)
{
	struct env e = {};

	return w ? unwind_fetch(&e, w, page, in_page & (UNWIND_MEMORY_PAGE - 8)) : 1;
}

static __always_inline int fetch(void *env, struct unwinder *w, uint64_t page, uint64_t in_page)
{
	struct env *e = env;

	return e->sleepable ? fetch_sleepable(e->g, e->task, page, in_page)
			    : fetch_nofault(w, page, in_page);
}

/*
 * The kernel's copy is that of the last system call that set it, or of the last time that the task
 * was taken off its CPU. On arm64 clone() is the only such call: the first thread of a program sets
 * the register itself, so the copy is 0 from exec until that thread leaves its CPU for the first
 * time. After that it is current, as libc never sets the register again.
 */
static __always_inline int unwind_thread_pointer(void *env, uint64_t *value)
{
	struct env *e = env;
	struct task_struct *task = e->sleepable ? e->task : bpf_get_current_task_btf();

#if defined(__TARGET_ARCH_x86)
	*value = BPF_CORE_READ(task, thread.fsbase);
	return 0;
#else
	*value = BPF_CORE_READ(task, thread.uw.tp_value);
	return !*value;
#endif
}

#include "bpf/step_parts.bpf.h"

/* ---- pending uretprobes ---- */

#define PENDING_RETURNS 64		/* the kernel allows as many (MAX_URETPROBE_DEPTH) */

#ifdef __TARGET_ARCH_x86
#define RETURN_ADDRESS_BYTES 8		/* that a return takes off the stack */
#else
#define RETURN_ADDRESS_BYTES 0
#endif

struct pending_returns {
	uint64_t sp;
	struct return_instance *at;	/* the next one to look at */
	uint64_t pc;			/* where the one that was found leads */
	uint64_t found;
};

static long look_at_return(uint32_t i, struct pending_returns *p)
{
	struct return_instance *at = p->at, *next = 0;
	unsigned long stack = 0, pc = 0;

	if (!at || BPF_CORE_READ_INTO(&stack, at, stack) ||
	    BPF_CORE_READ_INTO(&pc, at, orig_ret_vaddr) || BPF_CORE_READ_INTO(&next, at, next))
		return 1;
	p->at = next;
	p->pc = pc;
	p->found = stack + RETURN_ADDRESS_BYTES >= p->sp;
	return p->found;
}

/*
 * A uretprobe replaces the return address of each call by that of its trampoline. The kernel keeps
 * the real ones in a list, the innermost call first; w has used those of inner frames.
 */
__noinline int replaced_return(struct unwinder *w)
{
	struct pending_returns p = { .sp = w ? w->sp : 0,
				     .at = (struct return_instance *)(w ? w->return_instance : 0) };

	if (!w)
		return 1;
	bpf_loop(PENDING_RETURNS, look_at_return, &p, 0);
	if (!p.found)
		return 1;
	w->return_instance = (uint64_t)p.at;
	w->pc = p.pc;
	return 0;
}

/* Called after unwind_begin(): whether returns of the task are pending, and where they lead. */
static __always_inline void look_for_pending_returns(struct unwinder *w, struct task_struct *task)
{
	struct uprobe_task *utask;
	struct return_instance *first;

	if (!bpf_core_field_exists(task->utask) ||
	    !bpf_core_field_exists(task->mm->uprobes_state.xol_area))
		return;
	utask = BPF_CORE_READ(task, utask);
	if (!utask)
		return;
	first = BPF_CORE_READ(utask, return_instances);
	if (!first)
		return;
	w->return_instance = (uint64_t)first;
	w->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

#include "bpf/shadow.bpf.h"

static long step_nofault(uint32_t i, struct env *ctx)
{
	struct env e = { .g = ctx->g };

	return shadow_step(&e, e.g);
}

static long step_memo(uint32_t i, struct env *ctx)
{
	struct env e = { .g = ctx->g, .memo = knobs.memos ? ctx->memo : 0, .recalls = true };

	return shadow_step(&e, e.g);
}

static long step_sampler(uint32_t i, struct env *ctx)
{
	struct env e = {
		.g = ctx->g, .memo = knobs.memos ? ctx->memo : 0, .samples = true, .recalls = true
	};

	return shadow_step(&e, e.g);
}

static long step_sleepable(uint32_t i, struct env *ctx)
{
	struct env e = { .g = ctx->g, .task = ctx->task, .sleepable = true };

	return shadow_step(&e, e.g);
}

/* Loads the user registers that the kernel saved at its entry. 0, or 1 if they cannot be read. */
static __always_inline int load_user_regs(struct unwinder *w, struct task_struct *task)
{
	return bpf_probe_read_kernel(w->regs, sizeof(w->regs), (void *)bpf_task_pt_regs(task)) != 0;
}

/*
 * Whether the task is between an old program and the new one. Its saved registers then belong to
 * memory that is gone.
 */
static __always_inline bool in_exec(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

static __always_inline void init_head(struct wire_sample *h, struct task_struct *task,
				      struct task_ids ids, uint64_t time_ns, uint16_t event)
{
	h->time_ns = time_ns;
	h->start_boottime_ns = task->start_boottime;
	h->tgid = ids.tgid;
	h->tid = ids.tid;
	h->state = task->__state | (uint32_t)task->exit_state << 16;
	h->nr_user = 0;
	h->nr_kernel = 0;
	h->end = UNWIND_NOT_DONE;
	h->flags = 0;
	h->event = event;
	bpf_probe_read_kernel(h->comm, sizeof(h->comm), task->comm);
}

/* Whether unwinding a user stack was tried; g then holds its registers. */
static __always_inline bool stack_was_unwound(const struct gather *g)
{
	uint8_t end = g->head.end;

	return g->head.nr_user && end != UNWIND_KTHREAD && end != UNWIND_COMPAT32;
}

/* Whether unwinding ended for want of knowledge that user space may get. */
static __always_inline bool is_early(uint32_t end)
{
	return end == UNWIND_NO_PROCESS || end == UNWIND_NO_MAPPING || end == UNWIND_NO_TABLE;
}

/* Finds out whether what the thread's memo holds is still true. */
static __always_inline void begin_recall(struct gather *g, struct env *e)
{
	struct unwind_memo_key key = { .thread = g->head.start_boottime_ns };
	uint32_t of_tables = UNWIND_TABLES_VERSION, of_process = unwind_version_of(g->head.tgid);
	uint64_t *tables = bpf_map_lookup_elem(&pages, &of_tables);
	uint64_t *process = bpf_map_lookup_elem(&pages, &of_process);

	if (!tables || !process)
		return;
	key.tables = READ_NOW(*tables);
	key.mappings = READ_NOW(*process);
	unwind_begin_memo(&g->unwinder, e->memo, &key);
}

/* The caller names the callback, so that the verifier goes through one of them only. */
typedef long (*step_fn)(uint32_t i, struct env *ctx);

/*
 * Unwinds the user stack from g->unwinder.regs. step says how memory is read: step_sampler,
 * step_memo, step_nofault or step_sleepable.
 */
static __always_inline void gather_user(struct gather *g, struct env *e, step_fn step)
{
	struct unwinder *w = &g->unwinder;
	const bool recalls = (step == step_sampler || step == step_memo) && knobs.memos &&
			     knobs.mode & UNWIND_BY_TABLES;

#ifdef ARCH_CS_COMPAT
	if ((uint16_t)w->regs[ARCH_REG_CS] == ARCH_CS_COMPAT) {
		g->head.end = UNWIND_COMPAT32;
		return;
	}
#endif
	unwind_begin(w, g->head.tgid, knobs.mode, knobs.max_frames);
	look_for_pending_returns(w, e->sleepable ? e->task : bpf_get_current_task_btf());
	if (recalls)
		begin_recall(g, e);
	bpf_loop(UNWIND_MAX_STEPS, step, e, 0);
	if (recalls)
		unwind_end_memo(w, e->memo);
	g->head.nr_user = w->nr;
	g->head.end = w->end;
	g->pages_read = w->pages_read;
	if (w->saw_guess)
		g->head.flags |= WIRE_GUESSED;
	if (is_early(w->leaf_end))
		g->head.flags |= WIRE_LEAF;
	if (w->wants_code)
		g->head.flags |= WIRE_WANTS_CODE;
}

/* Gathers the kernel stack of the running thread without its innermost frames. */
static __always_inline void gather_kernel_behind(void *ctx, struct gather *g, uint32_t skip)
{
	uint32_t n = g->head.nr_user;
	long bytes;

	if (n > UNWIND_MAX_FRAMES)
		return;
	bytes = bpf_get_stack(ctx, &g->frames[n], WIRE_MAX_KERNEL * 8, skip);
	if (bytes < 0) {
		g->head.flags |= WIRE_KERNEL_FAILED;
		g->counters[COUNTER_KERNEL_STACK]++;
		return;
	}
	g->head.nr_kernel = bytes / 8;
}

/* Gathers the kernel stack with all its frames; the program may be called anywhere in it. */
static __always_inline void gather_kernel_here(void *ctx, struct gather *g)
{
	gather_kernel_behind(ctx, g, 0);
}

/* Size of the record, bounded for the verifier; 0: it cannot be handed out. */
static __always_inline uint32_t gather_bytes(const struct gather *g)
{
	uint32_t n = g->head.nr_user + g->head.nr_kernel;

	if (n > UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL)
		return 0;
	n *= 8;
	if (g->head.flags & WIRE_WAIT)
		n += sizeof(struct wire_wait);
	if (g->head.flags & WIRE_OBJECT)
		n += sizeof(struct wire_object);
	return sizeof(g->head) + n;
}
