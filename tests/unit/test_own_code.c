/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame programs of runtimes that own generated code, as the walker of native frames runs them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/frame_builder.h"
#include "tests/unit/unwind_world.h"

#define SP (STACK + 0x100)
#define FP (STACK + 0x140)
#define RUNTIME (UNWIND_RUNTIME | (uint64_t)RUNTIME_FRAME_COMPILED << UNWIND_RUNTIME_KIND_SHIFT)
#define MARK (UNWIND_RUNTIME | (uint64_t)RUNTIME_FRAME_MARK << UNWIND_RUNTIME_KIND_SHIFT)

static const struct unwind_rule by_sp = { .cfa = CFA_SP, .cfa_off = 16 }, root = { .cfa = CFA_ROOT };

struct own {
	struct world *w;
	struct frame_builder b;
	struct frame_program program;
};

/* Native main, which calls generated code at JIT + 0x100; a frame of it has a frame pointer. */
static void set_up(struct own *o, struct world *w)
{
	o->w = w;
	frame_builder_init(&o->b);
	w->runtime_flags = RUNTIME_OWNS_CODE;
	row(w, VADDR, by_sp);
	row(w, VADDR + 0x1000, root);
	start(w, JIT + 0x110, SP, FP);
	poke(w, FP, FP + 0x40);
	poke(w, FP + 8, JIT + 0x210);
	poke(w, FP + 0x40, 0);
	poke(w, FP + 0x48, at(VADDR + 0x1010));
}

static void finish(struct own *o)
{
	assert_int_equal(frame_builder_finish(&o->b, &o->program), 0);
	o->w->program = &o->program;
}

/* Emits each frame whose pc is from JIT to constant 0 - 1, and steps by its frame pointer. */
static void build_steps(struct own *o)
{
	struct frame_builder *b = &o->b;
	int top = frame_label(b), known = frame_label(b), other = frame_label(b);

	o->w->consts[2] = JIT;
	frame_place(b, top);
	frame_walker(b, 8);
	frame_jump_if_less(b, 8, 2, other);
	frame_jump_if_less(b, 8, 0, known);
	frame_place(b, other);
	frame_yield(b, top);
	frame_place(b, known);
	frame_emit(b, 1, 8, 12, 0, RUNTIME_FRAME_COMPILED);
	frame_load(b, 8, 10, 8, 8 | LOAD_STACK);
	frame_add(b, 9, 10, 16);
	frame_load(b, 10, 10, 0, 8 | LOAD_STACK);
	frame_step(b, 8);
	frame_jump(b, top);
	finish(o);
}

static void the_program_steps(void **state)
{
	struct own o;

	set_up(&o, *state);
	o.w->consts[0] = JIT + OTHER_BYTES;
	o.w->consts[1] = 0x7000;
	build_steps(&o);
	expect(o.w, UNWIND_ROOT, RUNTIME | 0x7000, (uint32_t)(JIT + 0x110), RUNTIME | 0x7000,
	       (uint32_t)(JIT + 0x210), at(VADDR + 0x1010) | RA);
}

static void unknown_code_is_native(void **state)
{
	struct own o;

	set_up(&o, *state);
	o.w->consts[0] = JIT + 0x200;
	build_steps(&o);
	expect(o.w, UNWIND_ROOT, RUNTIME, (uint32_t)(JIT + 0x110), (JIT + 0x210) | RA,
	       at(VADDR + 0x1010) | GUESS);
}

static void another_runtime_is_not_asked(void **state)
{
	struct own o;

	set_up(&o, *state);
	o.w->consts[0] = JIT + OTHER_BYTES;
	o.w->runtime_flags = 0;
	build_steps(&o);
	expect(o.w, UNWIND_ROOT, JIT + 0x110, (JIT + 0x210) | GUESS, at(VADDR + 0x1010) | GUESS);
}

/* A frame is emitted, and the walker steps: the native frame is not shown as well. */
static void emitted_frames_replace_the_native_one(void **state)
{
	struct own o;
	int top;

	set_up(&o, *state);
	top = frame_label(&o.b);
	frame_place(&o.b, top);
	frame_walker(&o.b, 8);
	frame_emit(&o.b, 8, 9, 12, 0, RUNTIME_FRAME_COMPILED);
	frame_yield(&o.b, top);
	finish(&o);
	expect(o.w, UNWIND_ROOT, RUNTIME | (JIT + 0x110), (uint32_t)SP, RUNTIME | (JIT + 0x210),
	       (uint32_t)FP + 16, at(VADDR + 0x1010) | GUESS);
}

/* After a failure the native frame appears beside the mark, and the program is left alone. */
static void a_failure_leaves_native_frames(void **state)
{
	struct own o;

	set_up(&o, *state);
	frame_load(&o.b, 8, 0, 0, 8);
	frame_end(&o.b);
	finish(&o);
	expect(o.w, UNWIND_ROOT, MARK, RUNTIME_FAILED_READ, JIT + 0x110, (JIT + 0x210) | GUESS,
	       at(VADDR + 0x1010) | GUESS);
}

static void a_step_leads_outwards(void **state)
{
	struct own o;

	set_up(&o, *state);
	frame_walker(&o.b, 8);
	frame_step(&o.b, 8);
	frame_end(&o.b);
	finish(&o);
	expect(o.w, UNWIND_ROOT, MARK, RUNTIME_FAILED_STACK, JIT + 0x110, (JIT + 0x210) | GUESS,
	       at(VADDR + 0x1010) | GUESS);
}

/* Rows of a file may be of code that the runtime has made, too (builtins). */
static void rows_of_files_are_asked(void **state)
{
	static const struct unwind_rule marked = { .cfa = CFA_NONE, .ra = RULE_RUNTIME };
	struct own o;
	int top;

	set_up(&o, *state);
	top = frame_label(&o.b);
	row(o.w, VADDR + 0x2000, marked);
	start(o.w, at(VADDR + 0x2010), SP, FP + 0x40);
	frame_place(&o.b, top);
	frame_walker(&o.b, 8);
	frame_emit(&o.b, 1, 11, 12, 0, RUNTIME_FRAME_COMPILED);
	frame_yield(&o.b, top);
	o.w->consts[1] = 0x7000;
	finish(&o);
	expect(o.w, UNWIND_ROOT, RUNTIME | 0x7000, 1, at(VADDR + 0x1010) | GUESS);
}

/* Which of both it is the walker tells, of each frame. The first is in a file, its caller is not. */
static void the_walker_tells_files_from_generated_code(void **state)
{
	static const struct unwind_rule marked = { .cfa = CFA_NONE, .ra = RULE_RUNTIME };
	struct own o;
	int top;

	set_up(&o, *state);
	top = frame_label(&o.b);
	row(o.w, VADDR + 0x2000, marked);
	start(o.w, at(VADDR + 0x2010), SP, FP);
	o.w->consts[0] = 7;
	frame_place(&o.b, top);
	frame_walker_place(&o.b, 8, 0);
	frame_emit(&o.b, 1, 0, 12, 0, RUNTIME_FRAME_COMPILED);
	frame_yield(&o.b, top);
	o.w->consts[1] = 0x7000;
	finish(&o);
	expect(o.w, UNWIND_ROOT, RUNTIME | 0x7000, 0, RUNTIME | 0x7000, 1, at(VADDR + 0x1010) | GUESS);
}

/* A block of 600 segments of 128 bytes, the first of which is segment 2. */
static void segments_lead_to_their_block(void **state)
{
	struct own o;
	uint8_t *map;
	int top;

	set_up(&o, *state);
	map = (uint8_t *)o.w->stack + 0x1000;
	memset(map, 255, 1024);
	for (int i = 0; i < 600; i++)
		map[2 + i] = (uint8_t)(i <= 254 ? i : (i - 1) % 254 + 1);
	o.w->heaps[0] = (struct unwind_heap){ 0x1000, 0x1000, STACK, 7 };
	o.w->heaps[2] = (struct unwind_heap){ 0x900000, 1000 * 128, STACK + 0x1000, 7 };
	top = frame_label(&o.b);
	frame_place(&o.b, top);
	frame_segmap(&o.b, 8, 0, 16);
	frame_segmap(&o.b, 9, 1, 0);
	frame_segmap(&o.b, 10, 2, 0);
	frame_emit(&o.b, 8, 9, 10, 0, RUNTIME_FRAME_COMPILED);
	frame_end(&o.b);
	o.w->consts[0] = 0x900000 + 601 * 128 + 5;	/* the last bytes of the block */
	o.w->consts[1] = 0x900000 + 602 * 128;	/* free */
	o.w->consts[2] = 0x5;			/* of no heap */
	finish(&o);
	expect(o.w, UNWIND_ROOT, RUNTIME | (0x900000 + 2 * 128 + 16), 0, (JIT + 0x210) | GUESS,
	       at(VADDR + 0x1010) | GUESS);
}

static void values_and_registers(void **state)
{
	struct own o;
	int right;

	set_up(&o, *state);
	right = frame_label(&o.b);
	o.w->consts[0] = 0x1274656d6eull;
	o.w->regs[arch_dwarf_to_reg[13]] = 0x1313;
	frame_jump_if_value(&o.b, 0, 0x74656d6e, right);
	frame_end(&o.b);
	frame_place(&o.b, right);
	frame_register(&o.b, 9, 13);
	frame_emit(&o.b, 9, 9, 12, 0, RUNTIME_FRAME_COMPILED);
	frame_end(&o.b);
	finish(&o);
	expect(o.w, UNWIND_ROOT, RUNTIME | 0x1313, 0x1313, (JIT + 0x210) | GUESS,
	       at(VADDR + 0x1010) | GUESS);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_program_steps),
		TEST(unknown_code_is_native),
		TEST(another_runtime_is_not_asked),
		TEST(emitted_frames_replace_the_native_one),
		TEST(a_failure_leaves_native_frames),
		TEST(a_step_leads_outwards),
		TEST(rows_of_files_are_asked),
		TEST(the_walker_tells_files_from_generated_code),
		TEST(segments_lead_to_their_block),
		TEST(values_and_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
