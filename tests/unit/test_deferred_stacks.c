/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that wait for a table, a mapping, a visit; and how long what they need is kept. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/array.h"
#include "src/capture/processes/lifetimes.h"
#include "src/capture/stacks/deferred_stacks.h"
#include "src/model/record.h"
#include "tests/unit/capture_world.h"

#define TEXT 0x550000000000ull
#define STACK 0x7ff000000000ull
#define ME NO_PID

/* A stack that was handed on. */
struct given {
	uint32_t tid, scan, nr_user, nr_kernel;
	uint64_t user[8], kernel;
	uint8_t end;
	bool deferred, again, guessed;
};

struct world {
	struct capture_world c;
	struct deferred_stacks *l;
	struct given v[64];
	size_t nr;
	int err;			/* what give() answers */
};

static int give(void *ctx, const struct wire_stack *stack, uint32_t scan)
{
	struct world *w = ctx;
	struct given *g = &w->v[w->nr++ % 64];

	*g = (struct given){
		.tid = stack->head->tid, .scan = scan, .nr_user = stack->head->nr_user,
		.nr_kernel = stack->head->nr_kernel, .end = stack->end,
		.deferred = stack->deferred, .again = stack->again,
		.guessed = stack->head->flags & WIRE_GUESSED,
	};
	for (uint32_t i = 0; i < g->nr_user && i < 8; i++)
		g->user[i] = stack->user[i];
	g->kernel = g->nr_kernel ? stack->kernel[0] : 0;
	assert_int_equal(stack->head->end, stack->end);
	return w->err;
}

static void add_row(struct world *w, uint64_t vaddr, struct unwind_rule rule)
{
	struct cfi_row *row = array_push(&w->c.rows.v, &w->c.rows.nr, &w->c.rows.cap);

	*row = (struct cfi_row){ vaddr, rule };
}

/*
 * Of the mapped file, from its first byte on: 0x100 a function of 16 bytes of stack, 0x200 one of
 * 32 pages, 0x300 the outermost, 0x500 Go's mcall, 0x600 an interpreter's loop of 16 bytes of stack.
 */
static void make_table(struct world *w, const struct mapping *m)
{
	uint64_t vaddr = m->start + m->to_vaddr;

	w->c.rows.nr = 0;
	add_row(w, vaddr + 0x100, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	add_row(w, vaddr + 0x200, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 32 * 4096 });
	add_row(w, vaddr + 0x300, (struct unwind_rule){ .cfa = CFA_ROOT });
	add_row(w, vaddr + 0x400, (struct unwind_rule){ .cfa = CFA_NONE });
	add_row(w, vaddr + 0x500,
		(struct unwind_rule){ .cfa = CFA_GOROUTINE, .ra = RA_REG, .reg = 1 });
	add_row(w, vaddr + 0x600,
		(struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16, .ra = RULE_RUNTIME });
}

static int setup_mode(void **state, uint32_t mode)
{
	struct world *w = test_calloc(1, sizeof(*w));
	struct deferred_stacks_deps deps = {
		.mode = mode, .max_frames = 127, .give = give, .ctx = w,
	};

	*state = w;
	capture_world_open(&w->c);
	deps.tracker = w->c.tracker;
	deps.store = w->c.store;
	deps.binaries = &w->c.binaries;
	deps.loader = w->c.loader;
	return deferred_stacks_new(&deps, &w->l);
}

static int setup(void **state)
{
	return setup_mode(state, UNWIND_BY_TABLES);
}

static int setup_fp(void **state)
{
	return setup_mode(state, UNWIND_BY_FRAME_POINTERS | UNWIND_LEAF_BY_TABLE);
}

static int teardown(void **state)
{
	struct world *w = *state;

	deferred_stacks_free(w->l);
	capture_world_close(&w->c);
	test_free(w);
	return 0;
}

/* A process that mapped the file. */
static const struct mapping *start_process(struct world *w, uint32_t tgid, uint64_t time_ns)
{
	const struct mapping *m;

	forked(&w->c, tgid, 1, time_ns);
	m = map_own_file(&w->c, tgid, TEXT, time_ns);
	assert_non_null(m);
	assert_int_not_equal(m->binary, 0);
	make_table(w, m);
	return m;
}

/* As the kernel hands it out: it knew one frame. The caller frees it. */
static struct wire_dump *make_dump(uint32_t tgid, uint64_t time_ns, uint64_t pc, uint8_t end)
{
	struct wire_dump *d = calloc(1, sizeof(*d) + CW_PAGE);

	assert_non_null(d);
	d->head = (struct wire_sample){
		.time_ns = time_ns, .tgid = tgid, .tid = tgid, .nr_user = 1, .nr_kernel = 1,
		.flags = WIRE_DUMP | WIRE_GUESSED, .end = end,
	};
	d->frames[0] = pc;
	d->frames[1] = 0xffffffff81000000ull;
	d->regs[ARCH_REG_PC] = pc;
	d->regs[ARCH_REG_SP] = STACK + 0x100;
	d->start = STACK;
	d->bytes = CW_PAGE;
	/* The function of 16 bytes was called by the outermost one. */
	((uint64_t *)(d + 1))[(0x100 + 8) / 8] = TEXT + 0x310;
	return d;
}

static int add_dump(struct world *w, struct wire_dump *d, uint32_t scan)
{
	struct wire_stack s;
	int err;

	assert_true(wire_decode(d, sizeof(*d) + d->bytes, &s) > 0);
	err = deferred_stacks_add(w->l, &s, scan);
	free(d);
	return err;
}

static void add(struct world *w, uint64_t time_ns, uint64_t pc, uint32_t scan)
{
	assert_int_equal(add_dump(w, make_dump(ME, time_ns, pc, UNWIND_NO_TABLE), scan), 0);
}

static uint64_t ago(uint64_t seconds)
{
	return now_ns() - seconds * NSEC_PER_SEC;
}

static void assert_stats(const struct world *w, uint64_t added, uint64_t solved, uint64_t gave_up)
{
	struct deferred_stacks_stats st;

	deferred_stacks_stats(w->l, &st);
	assert_int_equal(st.added, added);
	assert_int_equal(st.solved, solved);
	assert_int_equal(st.gave_up, gave_up);
	assert_int_equal(st.refused, 0);
}

static void try(struct world *w)
{
	assert_int_equal(deferred_stacks_try(w->l), 0);
}

/* ---- tables ---- */

static void test_whose_end_may_change(void **state)
{
	static const uint8_t ends[] = { UNWIND_NO_PROCESS, UNWIND_NO_MAPPING, UNWIND_NO_TABLE };
	static struct wire_dump dump;
	struct wire_stack s = { .regs = dump.regs, .head = &dump.head };
	unsigned nr = 0;

	(void)state;
	for (s.end = 0; s.end < UNWIND_ENDS; s.end++)
		nr += deferred_stacks_wants(&s);
	assert_int_equal(nr, 3);
	for (size_t i = 0; i < 3; i++) {
		s.end = ends[i];
		s.regs = dump.regs;
		assert_true(deferred_stacks_wants(&s));
		s.regs = NULL;			/* there is nothing to unwind */
		assert_false(deferred_stacks_wants(&s));
	}
}

/* It gets the frames that are found now, and keeps the rest. */
static void test_waits_for_a_table(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();

	start_process(w, ME, now);
	add(w, now, TEXT + 0x110, 0);
	add(w, now + 1, TEXT + 0x310, 5);
	assert_true(deferred_stacks_waiting(w->l, 0));
	assert_true(deferred_stacks_waiting(w->l, 5));
	assert_false(deferred_stacks_waiting(w->l, 6));
	assert_true(deferred_stacks_bytes(w->l) > 2 * CW_PAGE);
	try(w);
	assert_int_equal(w->nr, 0);
	tables_are_built(&w->c);
	assert_int_equal(w->c.nr_tables, 1);
	try(w);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->v[0].nr_user, 2);
	assert_int_equal(w->v[0].user[0], TEXT + 0x110);
	assert_int_equal(w->v[0].user[1], (TEXT + 0x310) | UNWIND_RETURN_ADDRESS);
	assert_int_equal(w->v[0].nr_kernel, 1);
	assert_int_equal(w->v[0].kernel, 0xffffffff81000000ull);
	assert_int_equal(w->v[0].end, UNWIND_ROOT);
	assert_true(w->v[0].deferred);
	assert_false(w->v[0].guessed);
	assert_int_equal(w->v[1].scan, 5);	/* in the order in which they came */
	assert_int_equal(w->v[1].nr_user, 1);
	assert_false(deferred_stacks_waiting(w->l, 0));
	assert_int_equal(deferred_stacks_bytes(w->l), 0);
	assert_stats(w, 2, 2, 0);
	/* The next one need not wait. */
	add(w, now, TEXT + 0x110, 0);
	assert_int_equal(w->nr, 3);
}

/* --unwind fp: all frames came, but the second one is a guess that a table can put right. */
static void add_leaf(struct world *w, uint64_t time_ns, uint64_t pc)
{
	struct wire_dump *d = make_dump(ME, time_ns, pc, UNWIND_FP_END);

	d->head.flags |= WIRE_LEAF;
	d->head.nr_user = 2;
	d->frames[2] = d->frames[1];
	d->frames[1] = (TEXT + 0x318) | UNWIND_RETURN_ADDRESS | UNWIND_GUESSED;
	assert_int_equal(add_dump(w, d, 0), 0);
}

static void test_leaf_waits_for_a_table(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();

	start_process(w, ME, now);
	add_leaf(w, now, TEXT + 0x110);
	add_leaf(w, now, TEXT + 0x410);		/* of this one the table says nothing */
	add_leaf(w, now, TEXT + 0x210);		/* and this one's caller is not in the memory */
	assert_int_equal(w->nr, 0);
	tables_are_built(&w->c);
	try(w);
	assert_int_equal(w->nr, 3);
	assert_int_equal(w->v[0].nr_user, 2);
	assert_int_equal(w->v[0].user[1], (TEXT + 0x310) | UNWIND_RETURN_ADDRESS);
	assert_int_equal(w->v[0].kernel, 0xffffffff81000000ull);
	assert_int_equal(w->v[0].end, UNWIND_FP_END);
	assert_false(w->v[0].guessed);
	for (int i = 1; i < 3; i++) {		/* as they came */
		assert_int_equal(w->v[i].nr_user, 2);
		assert_int_equal(w->v[i].user[1],
				 (TEXT + 0x318) | UNWIND_RETURN_ADDRESS | UNWIND_GUESSED);
		assert_int_equal(w->v[i].end, UNWIND_FP_END);
		assert_true(w->v[i].guessed);
	}
	assert_stats(w, 3, 1, 2);
}

#define OF_RUNTIME(kind, code) (UNWIND_RUNTIME | (uint64_t)(kind) << UNWIND_RUNTIME_KIND_SHIFT | (code))

/*
 * Frames of a runtime are in memory that did not come. Those that the kernel's side has found are
 * kept, and a mark stands for others.
 */
static void test_keeps_frames_of_runtimes(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();
	struct wire_dump *d = make_dump(ME, now, TEXT + 0x610, UNWIND_NO_TABLE);

	start_process(w, ME, now);
	d->head.nr_user = 3;
	d->frames[3] = d->frames[1];
	d->frames[1] = OF_RUNTIME(RUNTIME_FRAME_INTERPRETED, 0x7000);
	d->frames[2] = 0x123400000018;
	assert_int_equal(add_dump(w, d, 0), 0);
	add(w, now, TEXT + 0x610, 0);		/* of this one it has found none */
	tables_are_built(&w->c);
	try(w);
	assert_int_equal(w->nr, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(w->v[i].nr_user, 4);
		assert_int_equal(w->v[i].user[0], TEXT + 0x610);
		assert_int_equal(w->v[i].user[3], (TEXT + 0x310) | UNWIND_RETURN_ADDRESS);
		assert_int_equal(w->v[i].kernel, 0xffffffff81000000ull);
	}
	assert_int_equal(w->v[0].user[1], OF_RUNTIME(RUNTIME_FRAME_INTERPRETED, 0x7000));
	assert_int_equal(w->v[0].user[2], 0x123400000018);
	assert_int_equal(w->v[1].user[1], OF_RUNTIME(RUNTIME_FRAME_MARK, 0));
	assert_int_equal(w->v[1].user[2], RUNTIME_FAILED_READ);
}

/* A file without unwind information: nothing to wait for. */
static void test_no_table_ever(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();

	start_process(w, ME, now);
	w->c.rows.nr = 0;
	add(w, now, TEXT + 0x110, 0);
	tables_are_built(&w->c);
	try(w);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_NO_FDE);
	add(w, now, TEXT + 0x110, 0);
	assert_int_equal(w->nr, 2);
}

/* The table finds no room: it is asked for again, until the stack has waited long enough. */
static void test_waits_no_longer_than_it_may(void **state)
{
	struct world *w = *state;
	uint64_t seen = now_ns() - STACK_WAITS_NS + NSEC_PER_SEC / 2;

	start_process(w, ME, ago(20));
	w->c.refuse = -EAGAIN;
	add(w, seen, TEXT + 0x110, 0);
	tables_are_built(&w->c);
	while (!w->nr)
		try(w);
	assert_true(now_ns() >= seen + STACK_WAITS_NS);
	assert_int_equal(w->v[0].end, UNWIND_NO_TABLE);
	assert_stats(w, 1, 0, 1);
	/* One that is older is not kept at all. */
	add(w, now_ns() - STACK_WAITS_NS - 1, TEXT + 0x110, 0);
	assert_int_equal(w->nr, 2);
}

/* Memory has a limit; what does not fit is handed on as it came, and counted. */
static void test_too_many(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();
	struct deferred_stacks_stats st;
	size_t nr = 0;

	start_process(w, ME, now);
	for (; !w->nr && nr < 20000; nr++)
		add(w, now, TEXT + 0x110, 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_NO_TABLE);
	assert_false(w->v[0].deferred);
	assert_true(deferred_stacks_bytes(w->l) <= 48 << 20);
	assert_true(deferred_stacks_bytes(w->l) > 47 << 20);
	deferred_stacks_stats(w->l, &st);
	assert_int_equal(st.refused, 1);
	assert_int_equal(st.added, nr);
	tables_are_built(&w->c);
	try(w);
	assert_int_equal(w->nr, nr);
}

/* ---- mappings ---- */

/* A mapping came without an event: /proc is asked, once. */
static void test_looks_for_a_mapping(void **state)
{
	struct world *w = *state;
	struct process *p;
	uint64_t page;

	w->c.real = (uint32_t)getpid();
	p = process_tracker_find(w->c.tracker, w->c.real, ago(1));
	assert_non_null(p);
	page = (uintptr_t)mmap(NULL, CW_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
	usleep(110000);			/* it is not read again at once */
	add_dump(w, make_dump(w->c.real, now_ns(), page + 16, UNWIND_NO_MAPPING), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_JIT);
	munmap((void *)(uintptr_t)page, CW_PAGE);
	tables_are_built(&w->c);
}

/* What the process was at that time counts, not what it has become. */
static void test_from_before_an_exec(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();

	start_process(w, ME, now - 100);
	told(&w->c, &(struct task_event){ .kind = TASK_EVENT_EXEC, .tgid = ME, .text = "new",
					  .time_ns = now });
	add(w, now - 50, TEXT + 0x310, 0);
	tables_are_built(&w->c);
	try(w);
	assert_int_equal(w->v[0].end, UNWIND_ROOT);
	add(w, now, TEXT + 0x310, 0);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->v[1].end, UNWIND_NO_MAPPING);
	/* A process that is not known gives no more. */
	add_dump(w, make_dump(ME + 1, now, TEXT + 0x310, UNWIND_NO_PROCESS), 0);
	assert_int_equal(w->nr, 3);
	assert_int_equal(w->v[2].end, UNWIND_NO_MAPPING);
}

/* ---- stacks that are longer than the memory that came with them ---- */

/* A visit of the kernel, as the test wants it to be. */
struct visits {
	struct world *w;
	unsigned nr;
	uint32_t tid;			/* of the row that comes; 0: none does */
	uint8_t end;
	bool is_dump;
	int err;
};

static int visit(void *ctx, uint32_t tid, wire_stack_fn fn, void *fn_ctx)
{
	struct visits *v = ctx;
	struct wire_dump *d = make_dump(ME, now_ns(), TEXT + 0x310, v->end);
	struct wire_stack s;
	int err = 0;

	assert_int_equal(tid, ME);
	v->nr++;
	d->head.tid = v->tid;
	d->regs[ARCH_REG_PC] = TEXT + 0x210;
	assert_true(wire_decode(d, sizeof(*d) + d->bytes, &s) > 0);
	if (!v->is_dump)
		s.regs = NULL;
	if (v->tid)
		err = fn(fn_ctx, &s);
	free(d);
	return err ? err : v->err;
}

/* Its table is there, and it goes on above the page that was kept. */
static void add_cut(struct world *w, uint32_t scan)
{
	uint64_t now = now_ns();

	if (!w->c.nr_tables)
		start_process(w, ME, now);
	add(w, now, TEXT + 0x210, scan);
	tables_are_built(&w->c);
	try(w);
}

static void again(struct world *w, uint32_t scan, struct visits *v)
{
	assert_int_equal(deferred_stacks_again(w->l, scan, visit, v), 0);
}

/* A sample cannot be visited again: it ends for the reason for which it came. */
static void test_cut_sample(void **state)
{
	struct world *w = *state;

	add_cut(w, 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_NO_TABLE);
	assert_int_equal(w->v[0].nr_user, 1);
	assert_stats(w, 1, 0, 1);
}

static void test_visited_again(void **state)
{
	struct world *w = *state;
	struct visits v = { .w = w, .tid = ME, .end = UNWIND_ROOT };

	add_cut(w, 3);
	assert_int_equal(w->nr, 0);
	again(w, 4, &v);			/* of another walk */
	assert_int_equal(v.nr, 0);
	again(w, 3, &v);
	assert_int_equal(v.nr, 1);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_ROOT);
	assert_true(w->v[0].again);
	assert_int_equal(w->v[0].scan, 3);
	assert_false(deferred_stacks_waiting(w->l, 0));
	assert_stats(w, 1, 1, 0);
	assert_int_equal(deferred_stacks_again(w->l, 3, NULL, NULL), 0);
}

/* Whether mcall() works for a goroutine is not in the thread's memory. */
static void test_visited_for_its_goroutine(void **state)
{
	struct world *w = *state;
	struct visits v = { .w = w, .tid = ME, .end = UNWIND_ROOT };

	start_process(w, ME, now_ns());
	add(w, now_ns(), TEXT + 0x510, 3);
	tables_are_built(&w->c);
	try(w);
	assert_int_equal(w->nr, 0);
	again(w, 3, &v);
	assert_int_equal(v.nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_ROOT);
	/* A sample ends as its thread's own stack does. */
	add(w, now_ns(), TEXT + 0x510, 0);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->v[1].end, UNWIND_ROOT_GUESS);
}

/* The part that is there is better than a row without a stack. */
static void test_visit_finds_it_running(void **state)
{
	struct world *w = *state;
	struct visits v = { .w = w, .tid = ME, .end = UNWIND_RUNNING };

	add_cut(w, 3);
	again(w, 3, &v);
	assert_int_equal(w->nr, 0);
	assert_int_equal(deferred_stacks_flush(w->l, 3), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].user[0], TEXT + 0x210);
	assert_false(w->v[0].again);
	assert_int_equal(v.nr, 1);
}

/* Each visit may get as far as the next table; not for ever. */
static void test_visits_end(void **state)
{
	struct world *w = *state;
	struct visits v = { .w = w, .tid = ME, .end = UNWIND_NO_TABLE, .is_dump = true };

	add_cut(w, 3);
	again(w, 3, &v);
	/* One that comes behind the row that has taken the place of the first. */
	add(w, now_ns(), TEXT + 0x210, 4);
	for (int i = 0; i < 20; i++) {
		again(w, 3, &v);
		try(w);
	}
	assert_int_equal(v.nr, 8);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_NO_TABLE);
	assert_int_equal(deferred_stacks_flush(w->l, 0), 0);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->v[1].scan, 4);
	assert_int_equal(deferred_stacks_bytes(w->l), 0);
}

/* The thread is gone, or the kernel cannot visit one alone: no second visit. */
static void test_visit_finds_nothing(void **state)
{
	static const int errors[] = { 0, -ESRCH, -ENOTSUP, -EAGAIN };
	struct world *w = *state;

	for (size_t i = 0; i < 4; i++) {
		struct visits v = { .w = w, .err = errors[i] };

		add_cut(w, 3);
		again(w, 3, &v);
		try(w);
		assert_int_equal(w->nr, i + 1);
		assert_int_equal(w->v[i].end, UNWIND_NO_TABLE);
		again(w, 3, &v);
		assert_int_equal(v.nr, 1);
	}
}

static void test_visit_fails(void **state)
{
	struct world *w = *state;
	struct visits v = { .w = w, .err = -EPIPE };

	add_cut(w, 3);
	assert_int_equal(deferred_stacks_again(w->l, 3, visit, &v), -EPIPE);
}

/* ---- the end of a walk, and errors ---- */

static void test_flush(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();

	start_process(w, ME, now);
	add(w, now, TEXT + 0x110, 1);
	add(w, now, TEXT + 0x110, 2);
	add(w, now, TEXT + 0x110, 1);
	assert_int_equal(deferred_stacks_flush(w->l, 1), 0);
	assert_int_equal(w->nr, 2);
	assert_int_equal(w->v[0].end, UNWIND_NO_TABLE);
	assert_int_equal(w->v[0].nr_user, 1);
	assert_false(deferred_stacks_waiting(w->l, 1));
	assert_true(deferred_stacks_waiting(w->l, 2));
	add(w, now, TEXT + 0x110, 3);
	assert_int_equal(deferred_stacks_flush(w->l, 0), 0);
	assert_int_equal(w->nr, 4);
	assert_int_equal(deferred_stacks_bytes(w->l), 0);
	assert_stats(w, 4, 0, 4);
	tables_are_built(&w->c);
}

static void test_errors_of_the_sink(void **state)
{
	struct world *w = *state;
	uint64_t now = now_ns();

	start_process(w, ME, now);
	add(w, now, TEXT + 0x110, 1);
	add(w, now, TEXT + 0x110, 1);
	tables_are_built(&w->c);
	w->err = -EPIPE;
	assert_int_equal(deferred_stacks_try(w->l), -EPIPE);
	assert_int_equal(w->nr, 1);
	assert_int_equal(add_dump(w, make_dump(ME, now, TEXT + 0x310, UNWIND_NO_TABLE), 1),
			 -EPIPE);
	assert_int_equal(deferred_stacks_flush(w->l, 0), -EPIPE);
}

/* ---- how long what they need is kept ---- */

/* What a recorder does each second. */
static void serve(struct world *w)
{
	deferred_stacks_await(w->l);
	process_tracker_prune(w->c.tracker, now_ns());
}

static void test_process_that_ended_while_its_stack_waits(void **state)
{
	struct world *w = *state;
	uint64_t seen = ago(7);

	start_process(w, ME, ago(8));
	exited(&w->c, ME, ago(6));
	add(w, seen, TEXT + 0x110, 0);
	assert_int_equal(w->nr, 0);
	serve(w);
	tables_are_built(&w->c);
	assert_int_equal(deferred_stacks_try(w->l), 0);
	assert_int_equal(w->nr, 1);
	assert_int_equal(w->v[0].end, UNWIND_ROOT);
	assert_int_equal(w->v[0].nr_user, 2);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose_end_may_change),
		T(test_waits_for_a_table),
		cmocka_unit_test_setup_teardown(test_leaf_waits_for_a_table, setup_fp, teardown),
		T(test_keeps_frames_of_runtimes),
		T(test_no_table_ever),
		T(test_waits_no_longer_than_it_may),
		T(test_too_many),
		T(test_looks_for_a_mapping),
		T(test_from_before_an_exec),
		T(test_cut_sample),
		T(test_visited_again),
		T(test_visited_for_its_goroutine),
		T(test_visit_finds_it_running),
		T(test_visits_end),
		T(test_visit_finds_nothing),
		T(test_visit_fails),
		T(test_flush),
		T(test_errors_of_the_sink),
		T(test_process_that_ended_while_its_stack_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
