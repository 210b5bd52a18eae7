/* Stacks that wait: for a table, for a mapping, for a visit; and how long what they need is kept. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/array.h"
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
	bool deferred, again;
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
 * Of the mapped file, from its first octet on: 0x100 a function of 16 octets of stack, 0x200 one of
 * 32 pages, 0x300 the outermost.
 */
static void make_table(struct world *w, const struct mapping *m)
{
	uint64_t vaddr = m->start + m->to_vaddr;

	w->c.rows.nr = 0;
	add_row(w, vaddr + 0x100, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 16 });
	add_row(w, vaddr + 0x200, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 32 * 4096 });
	add_row(w, vaddr + 0x300, (struct unwind_rule){ .cfa = CFA_ROOT });
	add_row(w, vaddr + 0x400, (struct unwind_rule){ .cfa = CFA_NONE });
}

static int setup(void **state)
{
	struct world *w = test_calloc(1, sizeof(*w));
	struct deferred_stacks_deps deps = {
		.mode = UNWIND_BY_TABLES, .max_frames = 127, .give = give, .ctx = w,
	};

	*state = w;
	capture_world_open(&w->c);
	deps.tracker = w->c.tracker;
	deps.store = w->c.store;
	deps.binaries = &w->c.binaries;
	deps.loader = w->c.loader;
	return deferred_stacks_new(&deps, &w->l);
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
	/* The function of 16 octets was called by the outermost one. */
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
	uint64_t seen = ago(9);

	start_process(w, ME, ago(10));
	exited(&w->c, ME, ago(8));
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
		T(test_process_that_ended_while_its_stack_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
