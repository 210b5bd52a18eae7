/* SPDX-License-Identifier: GPL-2.0-or-later */
/* OP_KEEP and OP_CHAIN: the frames of functions that a stack has shown before. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/frame_builder.h"
#include "unwind/frame_replay.h"
#include "tests/unit/unwind_world.h"

#define INTERPRETER (JIT + 0x8000)	/* to JIT + OTHER_BYTES */
#define OWN (JIT + 0x1000)		/* code of OWN_BYTES of the function alone */
#define OWN_BYTES 0x100
#define FRAME_AT(i) (STACK + 0x100 + 0x60 * (i))
#define FUNCTION 0x7100000001ull
#define CONTEXT 0x7200000001ull
#define KIND(k) (UNWIND_RUNTIME | (uint64_t)(k) << UNWIND_RUNTIME_KIND_SHIFT)
/* What the operations emit, not the chain. */
#define SLOW(pc) KIND(RUNTIME_FRAME_INLINED) | FUNCTION, (uint64_t)COOKIE << 32 | (uint32_t)(pc)
#define COOKIE 77
#define NUMBER(n) ((uint64_t)(n) << 32)

enum { OWN_BEGIN = 2, SHARED = 3, PC = 4, PLACE = 8, FUNCTION_REG = 9, TMP = 10, CODE = 11, IS_COMPILED = 12, SIZE = 14 };

static const struct unwind_rule by_sp = { .cfa = CFA_SP, .cfa_off = 16 }, root = { .cfa = CFA_ROOT };

static struct frame_program program;

/* Frame i, which is returned to at pc. */
static void frame_at(struct world *w, int i, uint64_t number)
{
	poke(w, FRAME_AT(i), FRAME_AT(i + 1));
	poke(w, FRAME_AT(i) - 8, CONTEXT);
	poke(w, FRAME_AT(i) - 16, FUNCTION);
	poke(w, FRAME_AT(i) - 40, number);
}

static void returns_to(struct world *w, int i, uint64_t pc)
{
	poke(w, FRAME_AT(i) + 8, pc);
}

/* is_compiled: see struct frame_keep; knows: of the code that the function has of its own */
static void build(struct world *w, int is_compiled, bool knows)
{
	const struct frame_keep keep = { FUNCTION_REG, CODE, 13, knows ? OWN_BEGIN : -1, knows ? SIZE : -1, IS_COMPILED };
	const struct frame_chain chain = { .begin = 0, .place = PLACE, .shared = SHARED, .instruction = -40, .function = -16, .context = -8, .own = 2 };
	struct frame_builder b;
	int top, next;

	frame_builder_init(&b);
	top = frame_label(&b);
	next = frame_label(&b);
	frame_place(&b, top);
	frame_walker(&b, PC);
	frame_place(&b, next);
	frame_load(&b, FUNCTION_REG, PC + 2, -16, 8 | LOAD_STACK);
	frame_set(&b, 13, COOKIE);
	frame_set(&b, IS_COMPILED, is_compiled);
	frame_set(&b, SIZE, OWN_BYTES);
	frame_set(&b, CODE, 0x4440);
	frame_emit(&b, FUNCTION_REG, PC, 13, 0, RUNTIME_FRAME_INLINED);
	frame_keep_function(&b, &keep);
	frame_load(&b, PC, PC + 2, 8, 8 | LOAD_STACK);
	frame_add(&b, PC + 1, PC + 2, 16);
	frame_load(&b, PC + 2, PC + 2, 0, 8 | LOAD_STACK);
	frame_step(&b, PC);
	frame_chain(&b, PC, &chain);
	frame_jump_if_is_not(&b, PLACE, CHAIN_ELSEWHERE, next);
	frame_yield(&b, top);
	assert_int_equal(frame_builder_finish(&b, &program), 0);
	w->program = &program;
	w->consts[0] = INTERPRETER;
	w->consts[1] = JIT + OTHER_BYTES - INTERPRETER;
	w->consts[OWN_BEGIN] = OWN;
	w->consts[SHARED] = 1ull << 50;
	w->runtime_flags = RUNTIME_OWNS_CODE;
	row(w, VADDR, by_sp);
	row(w, VADDR + 0x1000, root);
	start(w, JIT + 0x110, FRAME_AT(0) - 48, FRAME_AT(0));
}

/* Three frames, which are returned to at these; the last one is main's. */
static void three(struct world *w, uint64_t first, uint64_t second, uint64_t number)
{
	for (int i = 0; i < 3; i++)
		frame_at(w, i, number);
	returns_to(w, 0, first);
	returns_to(w, 1, second);
	returns_to(w, 2, at(VADDR + 0x1010));
}

static void known_functions_are_not_looked_at(void **state)
{
	struct world *w = *state;

	build(w, 0, true);
	three(w, INTERPRETER + 0x20, INTERPRETER + 0x40, NUMBER(55));
	expect(w, UNWIND_ROOT, SLOW(JIT + 0x110), KIND(RUNTIME_FRAME_INTERPRETED) | 0x4440, (uint64_t)COOKIE << 32 | 55,
	       KIND(RUNTIME_FRAME_INTERPRETED) | 0x4440, (uint64_t)COOKIE << 32 | 55, at(VADDR + 0x1010) | RA);
}

static void compiled_code_is_told_apart(void **state)
{
	struct world *w = *state;

	build(w, 0, true);
	three(w, OWN + OWN_BYTES, JIT + 0x300, CONTEXT);
	expect(w, UNWIND_ROOT, SLOW(JIT + 0x110), KIND(RUNTIME_FRAME_COMPILED) | 0x4442, (uint64_t)COOKIE << 32 | (OWN_BYTES - 1),
	       KIND(RUNTIME_FRAME_COMPILED) | 1ull << 50 | (JIT + 0x300), (uint64_t)COOKIE << 32 | COOKIE, at(VADDR + 0x1010) | RA);
}

/* A number where interpreted frames have their instruction: compiled code has it only if the function is never interpreted there. */
static void numbers_in_generated_code(void **state)
{
	struct world *w = *state;

	build(w, 0, true);
	three(w, OWN + 0x20, JIT + 0x300, NUMBER(55));
	expect(w, UNWIND_ROOT, SLOW(JIT + 0x110), SLOW(OWN + 0x20), SLOW(JIT + 0x300), at(VADDR + 0x1010) | RA);
	w->cfi.nr = 0;
	build(w, 1, true);
	expect(w, UNWIND_ROOT, SLOW(JIT + 0x110), KIND(RUNTIME_FRAME_COMPILED) | 0x4442, (uint64_t)COOKIE << 32 | 0x1f,
	       KIND(RUNTIME_FRAME_COMPILED) | 1ull << 50 | (JIT + 0x300), (uint64_t)COOKIE << 32 | COOKIE, at(VADDR + 0x1010) | RA);
}

/* Frame 1 is left to the operations, and frame 2, which is plain, follows it. */
static void expect_slow(struct world *w)
{
	expect(w, UNWIND_ROOT, SLOW(JIT + 0x110), SLOW(INTERPRETER + 0x20), KIND(RUNTIME_FRAME_INTERPRETED) | 0x4440,
	       (uint64_t)COOKIE << 32 | 55, at(VADDR + 0x1010) | RA);
}

static void other_frames_are_left_to_operations(void **state)
{
	struct world *w = *state;

	build(w, 0, true);
	three(w, INTERPRETER + 0x20, INTERPRETER + 0x40, NUMBER(55));
	poke(w, FRAME_AT(1) - 40, NUMBER(55) | 1);
	expect_slow(w);
	poke(w, FRAME_AT(1) - 40, NUMBER(55));
	poke(w, FRAME_AT(1) - 8, 10);
	expect_slow(w);
}

static void nothing_is_known_of_code_that_was_not_looked_for(void **state)
{
	struct world *w = *state;

	build(w, 1, false);
	three(w, OWN + 0x20, INTERPRETER + 0x40, NUMBER(55));
	expect(w, UNWIND_ROOT, SLOW(JIT + 0x110), SLOW(OWN + 0x20), KIND(RUNTIME_FRAME_INTERPRETED) | 0x4440,
	       (uint64_t)COOKIE << 32 | 55, at(VADDR + 0x1010) | RA);
}

/* Another function at the same place of the memo, and then the first one again. */
static void functions_are_told_apart(void **state)
{
	struct world *w = *state;
	const uint64_t other = FUNCTION + (1ull << 32);

	build(w, 0, true);
	three(w, INTERPRETER + 0x20, INTERPRETER + 0x40, NUMBER(55));
	poke(w, FRAME_AT(1) - 16, other);
	expect(w, UNWIND_ROOT, SLOW(JIT + 0x110), KIND(RUNTIME_FRAME_INLINED) | other, (uint64_t)COOKIE << 32 | (uint32_t)(INTERPRETER + 0x20),
	       SLOW(INTERPRETER + 0x40), at(VADDR + 0x1010) | RA);
}

/* The frame pointer of frame 1 leads inwards; a return address of 0. */
static void chains_lead_outwards(void **state)
{
	struct world *w = *state;

	build(w, 0, true);
	three(w, INTERPRETER + 0x20, INTERPRETER + 0x40, NUMBER(55));
	poke(w, FRAME_AT(0), FRAME_AT(0) - 0x40);
	go(w);
	assert_int_not_equal(w->end, UNWIND_ROOT);
	poke(w, FRAME_AT(0), FRAME_AT(1));
	poke(w, FRAME_AT(1) + 8, 0);
	go(w);
	assert_int_not_equal(w->end, UNWIND_ROOT);
	assert_true(w->nr < 10);
}

static void builder_refuses(void **state)
{
	struct frame_chain good = { .begin = 0, .place = PLACE, .shared = SHARED, .instruction = -40, .function = -16, .context = -8 }, bad[6];
	const struct frame_keep no_register = { 1, 2, 16, -1, -1, 3 };
	struct frame_builder b;

	(void)state;
	for (int i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].begin = 15;
	bad[1].place = 16;
	bad[2].instruction = -8;
	bad[3].function = 8;
	bad[4].context = -12;
	bad[5].flags = 1;
	for (int i = 0; i < 8; i++) {
		frame_builder_init(&b);
		if (i < 7)
			frame_chain(&b, PC, i < 6 ? &bad[i] : &good);
		else
			frame_keep_function(&b, &no_register);
		frame_end(&b);
		assert_int_equal(frame_builder_finish(&b, &program), i == 6 ? 0 : -EINVAL);
	}
}

/* ---- words of objects (frame_objects.h) ---- */

#define OBJECTS 0x50000ull
#define RECORDS 0x40000ull

static struct {
	int words, pages, refuses_pages;
} reads;

/* Record i is at RECORDS + 32 * i; code objects have their own address as their cookie. */
static int read_objects(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const uint64_t *codes = ctx;
	uint64_t word;

	if (addr >= OBJECTS) {
		reads.words += len == 8;
		reads.pages += len == 4096;
		if (len == 4096 && reads.refuses_pages)
			return 1;
	}
	for (size_t i = 0; i < len; i += 8) {
		uint64_t at = addr + i, n = (at - RECORDS) / 32;

		word = at >= OBJECTS	  ? at & 0xfffffff8
		       : at % 32 == 0	  ? codes[n]
		       : at % 32 == 16 && codes[n + 1] ? RECORDS + 32 * (n + 1)
						       : 0;
		memcpy((uint8_t *)buf + i, &word, sizeof(word));
	}
	return 0;
}

/* Walks frames of these codes, and checks their cookies. */
static void walk_codes(const uint64_t codes[129], int nr)
{
	static const struct frame_list list = {
		.fields = { { 0, 8 }, { 8, 8 }, { 16, 8 }, { 24, 1 } }, .special = 255, .cookie = 0, .kind = RUNTIME_FRAME_INTERPRETED,
	};
	struct frame_replay_input in = { .program = &program, .read = read_objects, .ctx = (void *)codes, .consts = { RECORDS } };
	static struct frame_replay_result out;
	struct frame_builder b;
	int end;

	frame_builder_init(&b);
	end = frame_label(&b);
	frame_list(&b, 4, 0, &list, end, end);
	frame_place(&b, end);
	frame_end(&b);
	assert_int_equal(frame_builder_finish(&b, &program), 0);
	frame_replay(&in, &out);
	assert_int_equal(out.nr, 2 * nr);
	for (int i = 0; i < nr; i++) {
		assert_int_equal(out.words[2 * i] & UNWIND_ADDRESS_MASK, codes[i]);
		assert_int_equal(out.words[2 * i + 1] >> 32, codes[i]);
	}
}

static void pages_of_objects_are_read_once(void **state)
{
	uint64_t codes[129] = { 0 };

	(void)state;
	for (int i = 0; i < 16; i++)
		codes[i] = OBJECTS + 240 * i;
	memset(&reads, 0, sizeof(reads));
	walk_codes(codes, 16);
	assert_int_equal(reads.words, 1);
	assert_int_equal(reads.pages, 1);
	memset(&reads, 0, sizeof(reads));
	reads.refuses_pages = 1;
	walk_codes(codes, 16);
	assert_int_equal(reads.words, 16);
}

static void scattered_objects_are_read_alone(void **state)
{
	uint64_t codes[129] = { 0 };

	(void)state;
	for (int i = 0; i < 16; i++)
		codes[i] = OBJECTS + 4096 * 3 * i + 240 * i;
	memset(&reads, 0, sizeof(reads));
	walk_codes(codes, 16);
	assert_int_equal(reads.words, 16);
	assert_int_equal(reads.pages, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(known_functions_are_not_looked_at),
		TEST(compiled_code_is_told_apart),
		TEST(numbers_in_generated_code),
		TEST(other_frames_are_left_to_operations),
		TEST(nothing_is_known_of_code_that_was_not_looked_for),
		TEST(functions_are_told_apart),
		TEST(chains_lead_outwards),
		cmocka_unit_test(builder_refuses),
		cmocka_unit_test(pages_of_objects_are_read_once),
		cmocka_unit_test(scattered_objects_are_read_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
