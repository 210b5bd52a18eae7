/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several runtimes in one process, as the walker of native frames runs their programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/frame_builder.h"
#include "tests/unit/unwind_world.h"

#define FIRST VADDR
#define SECOND (VADDR + 0x1000)
#define MAIN (VADDR + 0x2000)
#define OF(slot, n) (UNWIND_RUNTIME | (uint64_t)(slot) << UNWIND_RUNTIME_SLOT_SHIFT | (n)), (n)

/* At each loop the frame whose number is constant 0, and then the next, but for constant 1. */
static void build_count(struct frame_program *out)
{
	struct frame_builder b;
	int again, end;

	frame_builder_init(&b);
	again = frame_label(&b);
	end = frame_label(&b);
	frame_place(&b, again);
	frame_jump_if_equal(&b, 0, 1, end);
	frame_emit(&b, 0, 0, 12, 0, RUNTIME_FRAME_INTERPRETED);
	frame_add(&b, 0, 0, 1);
	frame_yield(&b, again);
	frame_place(&b, end);
	frame_end(&b);
	assert_int_equal(frame_builder_finish(&b, out), 0);
}

/* Frames of 16 bytes, innermost first; the last one is main's. */
static void calls(struct world *w, const uint64_t *vaddrs, size_t nr)
{
	const struct unwind_rule loop = { .cfa = CFA_SP, .cfa_off = 16, .ra = RULE_RUNTIME };

	row(w, FIRST, loop);
	row(w, SECOND, loop);
	row(w, MAIN, (struct unwind_rule){ .cfa = CFA_ROOT });
	start(w, at(vaddrs[0] + 0x10), STACK + 0x100, 0);
	for (size_t i = 1; i < nr; i++)
		poke(w, STACK + 0xf8 + 16 * i, at(vaddrs[i] + 0x10));
}

static void add(struct world *w, uint32_t slot, uint64_t vaddr, uint64_t first, uint64_t limit)
{
	w->runtimes.slots[slot] = (struct unwind_runtime){
		.program = slot, .flags = RUNTIME_IS_THERE, .lo = at(vaddr), .bytes = 0x1000,
		.consts = { first, limit },
	};
}

static struct frame_program programs[PROGRAM_SLOTS];

static int setup(void **state)
{
	struct world *w;
	int err = world_setup(state);

	w = *state;
	for (int i = 0; i < PROGRAM_SLOTS; i++)
		build_count(&programs[i]);
	w->program = programs;
	w->nr_programs = PROGRAM_SLOTS;
	return err;
}

static void each_goes_on_at_its_loops(void **state)
{
	struct world *w = *state;

	add(w, 0, SECOND, 0x100, 0);
	add(w, 3, FIRST, 0x200, 0);
	calls(w, (const uint64_t[]){ FIRST, SECOND, SECOND, FIRST, SECOND, MAIN }, 6);
	expect(w, UNWIND_ROOT, at(FIRST + 0x10), OF(3, 0x200), at(SECOND + 0x10) | RA, OF(0, 0x100),
	       at(SECOND + 0x10) | RA, OF(0, 0x101), at(FIRST + 0x10) | RA, OF(3, 0x201),
	       at(SECOND + 0x10) | RA, OF(0, 0x102), at(MAIN + 0x10) | RA);
}

static void one_ends_the_other_goes_on(void **state)
{
	struct world *w = *state;

	add(w, 1, FIRST, 0x100, 0x101);
	add(w, 2, SECOND, 0x200, 0);
	calls(w, (const uint64_t[]){ FIRST, FIRST, SECOND, FIRST, SECOND, MAIN }, 6);
	expect(w, UNWIND_ROOT, at(FIRST + 0x10), OF(1, 0x100), at(FIRST + 0x10) | RA,
	       at(SECOND + 0x10) | RA, OF(2, 0x200), at(FIRST + 0x10) | RA,
	       at(SECOND + 0x10) | RA, OF(2, 0x201), at(MAIN + 0x10) | RA);
}

static void one_fails_the_other_goes_on(void **state)
{
	const uint64_t mark = UNWIND_RUNTIME |
			      (uint64_t)RUNTIME_FRAME_MARK << UNWIND_RUNTIME_KIND_SHIFT;
	struct world *w = *state;

	programs[1].ops[0].op = OP_NR;
	add(w, 1, FIRST, 0x100, 0);
	add(w, 2, SECOND, 0x200, 0);
	calls(w, (const uint64_t[]){ FIRST, SECOND, FIRST, SECOND, MAIN }, 5);
	expect(w, UNWIND_ROOT, at(FIRST + 0x10), mark, RUNTIME_FAILED_PROGRAM,
	       at(SECOND + 0x10) | RA, OF(2, 0x200), at(FIRST + 0x10) | RA,
	       at(SECOND + 0x10) | RA, OF(2, 0x201), at(MAIN + 0x10) | RA);
}

/* One that has no slot, because there are too many, has no frames, and none of another one's. */
static void a_loop_without_a_slot_is_native(void **state)
{
	struct world *w = *state;

	add(w, 0, FIRST, 0x100, 0);
	calls(w, (const uint64_t[]){ SECOND, FIRST, MAIN }, 3);
	expect(w, UNWIND_ROOT, at(SECOND + 0x10), at(FIRST + 0x10) | RA, OF(0, 0x100),
	       at(MAIN + 0x10) | RA);
}

/* Generated code is that of the runtime that owns some; a loop beside it has its own frames. */
static void generated_code_has_an_owner(void **state)
{
	struct world *w = *state;

	add(w, 0, FIRST, 0x100, 0);
	add(w, 1, 0, 0x200, 0);
	w->runtimes.slots[1].flags |= RUNTIME_OWNS_CODE;
	w->runtimes.slots[1].bytes = 0;
	calls(w, (const uint64_t[]){ FIRST, MAIN }, 2);
	start(w, JIT + 0x110, STACK + 0x80, STACK + 0xe0);
	poke(w, STACK + 0xe0, 0);
	poke(w, STACK + 0xe8, at(FIRST + 0x10));
	poke(w, STACK + 0xf8, at(MAIN + 0x10));
	expect(w, UNWIND_ROOT, OF(1, 0x200), at(FIRST + 0x10) | GUESS, OF(0, 0x100),
	       at(MAIN + 0x10) | RA);
}

/* --unwind fp: no rule is looked at, but where the loops are is known. */
static void frame_pointers_lead_past_loops(void **state)
{
	struct world *w = *state;

	w->mode = UNWIND_BY_FRAME_POINTERS;
	add(w, 0, FIRST, 0x100, 0);
	add(w, 1, SECOND, 0x200, 0);
	for (int i = 0; i < 2; i++) {
		w->runtimes.loops[7 - i].lo = w->runtimes.slots[i].lo;
		w->runtimes.loops[7 - i].bytes = w->runtimes.slots[i].bytes;
	}
	row(w, FIRST, (struct unwind_rule){ .cfa = CFA_NONE });
	start(w, at(MAIN + 0x20), STACK + 0x80, STACK + 0x100);
	for (int i = 0; i < 4; i++) {
		static const uint64_t callers[] = { FIRST, SECOND, FIRST, MAIN };

		poke(w, STACK + 0x100 + 0x40 * i, i < 3 ? STACK + 0x140 + 0x40 * i : 0);
		poke(w, STACK + 0x108 + 0x40 * i, at(callers[i] + 0x10));
	}
	expect(w, UNWIND_FP_END, at(MAIN + 0x20), at(FIRST + 0x10) | GUESS, OF(0, 0x100),
	       at(SECOND + 0x10) | RA, OF(1, 0x200), at(FIRST + 0x10) | RA, OF(0, 0x101),
	       at(MAIN + 0x10) | RA);
	w->runtimes.loops[7].bytes = 0;
	expect(w, UNWIND_FP_END, at(MAIN + 0x20), at(FIRST + 0x10) | GUESS, at(SECOND + 0x10) | RA,
	       OF(1, 0x200), at(FIRST + 0x10) | RA, at(MAIN + 0x10) | RA);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_goes_on_at_its_loops), TEST(one_ends_the_other_goes_on),
		TEST(one_fails_the_other_goes_on), TEST(a_loop_without_a_slot_is_native),
		TEST(generated_code_has_an_owner), TEST(frame_pointers_lead_past_loops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
