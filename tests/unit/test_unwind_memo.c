/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules that are remembered from stack to stack (unwind/unwind_memo.h). unwind_world.h unwinds every
 * stack of every test with a memo, too; here is what a memo may and may not say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/unwind_world.h"
#include "unwind/frame_builder.h"

enum { KINDS = 4, DEPTH = 200, PROLOGUE = 8, FUNCTION = 0x100, ROUNDS = 100000 };

/*
 * Functions 0 .. KINDS - 1 have frames of 16, 32, ... bytes, and of 8 in their prologue. Every second table has
 * them the other way round.
 */
struct memo_world {
	struct world w;
	struct unwind_table *tables[2];
	uint64_t size[2][KINDS];
	uint64_t map_begin, map_end;	/* the mapping, as virtual addresses */
	struct unwind_memo memo;
	const struct unwind_runtimes *runtimes;
	struct frame_program program;
	uint64_t frames[2][UNWIND_MAX_FRAMES];
	uint32_t nr[2], end[2];
};

static uint64_t function(int kind)
{
	return 0x2000 + FUNCTION * (uint64_t)kind;
}

static int memo_setup(void **state)
{
	struct memo_world *m = test_calloc(1, sizeof(*m));

	for (int t = 0; t < 2; t++) {
		m->w.cfi = (struct cfi_rows){ .v = m->w.rows };
		row(&m->w, 0x1800, (struct unwind_rule){ .cfa = CFA_NONE });
		for (int k = 0; k < KINDS; k++) {
			m->size[t][k] = 16 * (uint64_t)((t ? KINDS - k : k + 1));
			row(&m->w, function(k), (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = 8 });
			row(&m->w, function(k) + PROLOGUE, (struct unwind_rule){ .cfa = CFA_SP, .cfa_off = (int32_t)m->size[t][k] });
		}
		row(&m->w, function(KINDS), (struct unwind_rule){ .cfa = CFA_ROOT });
		assert_int_equal(unwind_table_build(&m->w.cfi, VADDR, VADDR_END, &m->tables[t]), 0);
	}
	m->map_begin = VADDR;
	m->map_end = VADDR_END;
	*state = m;
	return 0;
}

static int memo_teardown(void **state)
{
	struct memo_world *m = *state;

	unwind_table_free(m->tables[0]);
	unwind_table_free(m->tables[1]);
	test_free(m);
	return 0;
}

/* Unwinds with a table (NULL: there is none yet) and, unless key is NULL, with the memo. */
static uint32_t unwind_with(struct memo_world *m, const struct unwind_table *table, const struct unwind_memo_key *key,
			    int out)
{
	struct host_mapping map = { at(m->map_begin), at(m->map_end), VADDR - TEXT, table, .is_file = 1 };
	struct host_unwind_input in = {
		.regs = m->w.regs,
		.mappings = &map,
		.nr_mappings = 1,
		.mode = UNWIND_BY_TABLES,
		.read_page = read_page,
		.ctx = &m->w,
		.memo = key ? &m->memo : NULL,
		.runtimes = m->runtimes,
		.programs = &m->program,
		.nr_programs = 1,
	};

	if (key)
		in.memo_key = *key;

	m->end[out] = host_unwind(&in, m->frames[out], &m->nr[out]);
	return m->end[out];
}

/* The same, with a version of the mappings; 0: without the memo. */
static uint32_t unwind(struct memo_world *m, const struct unwind_table *table, uint64_t version, int out)
{
	struct unwind_memo_key key = { .mappings = version, .tables = 5, .thread = 6 };

	return unwind_with(m, table, version ? &key : NULL, out);
}

/*
 * A stack of these functions below the root, the last one interrupted. calls: the bytes of the functions that
 * they return to; of the last one, where it is.
 */
static void stack_at(struct memo_world *m, int table, const uint8_t *kinds, const uint16_t *calls, int nr)
{
	uint64_t sp = STACK + STACK_BYTES - 64;

	for (int i = 0; i < nr; i++) {
		bool enters = i == nr - 1 && calls[i] < PROLOGUE;

		poke(&m->w, sp - 8, i ? at(function(kinds[i - 1]) + calls[i - 1]) : at(function(KINDS) + 0x10));
		sp -= enters ? 8 : m->size[table][kinds[i]];
		start(&m->w, at(function(kinds[i]) + calls[i]), sp, 0);
	}
}

static void stack_of(struct memo_world *m, int table, const uint8_t *kinds, int nr)
{
	static const uint16_t calls[KINDS] = { 0x20, 0x20, 0x20, 0x20 };

	stack_at(m, table, kinds, calls, nr);
}

/* The last stack with and without the memo. */
static void assert_same(struct memo_world *m)
{
	assert_int_equal(m->end[0], m->end[1]);
	assert_int_equal(m->nr[0], m->nr[1]);
	assert_memory_equal(m->frames[0], m->frames[1], m->nr[0] * sizeof(uint64_t));
}

static void test_rules_are_remembered(void **state)
{
	struct memo_world *m = *state;

	stack_of(m, 0, (const uint8_t[]){ 0, 1, 2, 3 }, 4);
	assert_int_equal(unwind(m, m->tables[0], 7, 0), UNWIND_ROOT);
	assert_int_equal(m->nr[0], 5);
	/* Nothing could be looked up any more. */
	assert_int_equal(unwind(m, NULL, 7, 1), UNWIND_ROOT);
	assert_int_equal(m->nr[1], 5);
	assert_memory_equal(m->frames[0], m->frames[1], 5 * sizeof(uint64_t));
}

static void test_another_key_has_other_rules(void **state)
{
	struct memo_world *m = *state;

	struct unwind_memo_key key = { 7, 7, 7 }, other;

	stack_of(m, 0, (const uint8_t[]){ 0, 1, 2, 3 }, 4);
	for (int part = 0; part < 3; part++) {
		other = key;
		*(part == 0 ? &other.mappings : part == 1 ? &other.tables : &other.thread) = 8;
		assert_int_equal(unwind_with(m, m->tables[0], &key, 0), UNWIND_ROOT);
		assert_int_equal(unwind_with(m, NULL, &key, 0), UNWIND_ROOT);
		assert_int_equal(unwind_with(m, NULL, &other, 0), UNWIND_NO_TABLE);
		assert_int_equal(unwind_with(m, NULL, &key, 0), UNWIND_NO_TABLE);
	}
}

/* A frame that no rule was found for takes no entry: what was there under another key does not come back. */
static void test_frame_without_a_rule(void **state)
{
	struct memo_world *m = *state;

	stack_of(m, 0, (const uint8_t[]){ 0 }, 1);
	assert_int_equal(unwind(m, m->tables[0], 7, 0), UNWIND_ROOT);
	assert_int_equal(unwind(m, NULL, 8, 0), UNWIND_NO_TABLE);
	assert_int_not_equal(unwind(m, m->tables[1], 8, 0), UNWIND_ROOT);
}

static void test_same_place_another_pc(void **state)
{
	struct memo_world *m = *state;

	/* Function 0 and function 3 of the other table have frames of one size. */
	stack_of(m, 0, (const uint8_t[]){ 0, 1 }, 2);
	assert_int_equal(unwind(m, m->tables[0], 7, 0), UNWIND_ROOT);
	m->w.regs[ARCH_REG_PC] = at(function(3) + 0x20);
	unwind(m, m->tables[0], 7, 0);
	unwind(m, m->tables[0], 0, 1);
	assert_same(m);
}

/* An interrupted pc anywhere in the function finds its rule, up to the rows around it. */
static void test_how_far_a_rule_goes(void **state)
{
	struct memo_world *m = *state;
	const uint8_t kinds[] = { 0, KINDS - 1 };
	uint16_t calls[] = { 0x20, 0 };

	for (calls[1] = PROLOGUE - 1; calls[1] <= FUNCTION; calls[1]++) {
		bool holds = calls[1] >= PROLOGUE && calls[1] < FUNCTION;

		stack_of(m, 0, kinds, 2);
		assert_int_equal(unwind(m, m->tables[0], 7 + calls[1], 0), UNWIND_ROOT);
		m->w.regs[ARCH_REG_PC] = at(function(KINDS - 1) + calls[1]);
		assert_int_equal(unwind(m, NULL, 7 + calls[1], 0), holds ? UNWIND_ROOT : UNWIND_NO_TABLE);
	}
}

/* What is outside of a mapping belongs to another one, even if rules of the table would hold there. */
static void test_rule_ends_with_the_mapping(void **state)
{
	struct memo_world *m = *state;
	const uint64_t begin = 0x1400, end = 0x3000;
	const uint64_t inside[] = { at(begin), at(end) - 1 }, outside[] = { at(begin) - 1, at(end) };

	m->map_begin = begin;
	m->map_end = end;
	for (int i = 0; i < 2; i++) {
		stack_of(m, 0, (const uint8_t[]){ 0 }, 1);
		m->w.regs[ARCH_REG_PC] = inside[i];
		unwind(m, m->tables[0], 7 + i, 0);
		m->w.regs[ARCH_REG_PC] = outside[i];
		assert_int_equal(unwind(m, m->tables[0], 7 + i, 0), UNWIND_NO_MAPPING);
	}
}

/*
 * Stacks that grow and shrink at random, deeper than a memo, under two tables that change: no frame
 * may come from the other table or from a memo that held before. Some frames have no rule.
 */
static void test_random_stacks(void **state)
{
	struct memo_world *m = *state;
	uint8_t kinds[DEPTH] = { 0 };
	uint16_t calls[DEPTH];
	uint64_t key = 1, frames = 0, hits = 0;
	int nr = 1, table = 0;

	srandom(12);
	for (int i = 0; i < DEPTH; i++)
		calls[i] = 0x20;
	for (int round = 0; round < ROUNDS; round++) {
		if (random() % 50 == 0) {
			table = !table;
			key++;
		}
		nr += (int)(random() % 7) - 3;
		nr = nr < 1 ? 1 : nr > DEPTH ? DEPTH : nr;
		kinds[random() % nr] = (uint8_t)(random() % KINDS);
		calls[random() % nr] = (uint16_t)(PROLOGUE + 1 + random() % (FUNCTION - PROLOGUE));
		calls[nr - 1] = (uint16_t)(random() % FUNCTION);
		stack_at(m, table, kinds, calls, nr);
		if (random() % 8 == 0)
			m->w.regs[ARCH_REG_PC] = at(0x1810);	/* no rule there */
		unwind(m, m->tables[table], 0, 0);
		unwind(m, m->tables[table], key, 1);
		assert_same(m);
		calls[nr - 1] = 0x20;
		frames += m->nr[0];
		hits += m->memo.nr != 0;
	}
	assert_true(frames > ROUNDS * 60ull);
	assert_true(hits > ROUNDS / 2);
}

/* Frames of a runtime have no rules: however many there are, the native ones are remembered. */
static void test_frames_of_runtimes_do_not_count(void **state)
{
	static const struct unwind_runtimes runtimes = { .slots = { { .flags = RUNTIME_IS_THERE, .bytes = UINT64_MAX } } };
	struct memo_world *m = *state;
	struct unwind_table *loop;
	struct frame_builder b;

	frame_builder_init(&b);
	for (int i = 0; i < 20; i++)
		frame_emit(&b, 1, 1, 1, 0, RUNTIME_FRAME_INTERPRETED);
	frame_end(&b);
	assert_int_equal(frame_builder_finish(&b, &m->program), 0);
	m->runtimes = &runtimes;
	/* The rows are still those of the second table. */
	for (size_t i = 0; i < m->w.cfi.nr; i++)
		if (m->w.rows[i].vaddr == function(0) + PROLOGUE)
			m->w.rows[i].rule.ra |= RULE_RUNTIME;
	assert_int_equal(unwind_table_build(&m->w.cfi, VADDR, VADDR_END, &loop), 0);
	stack_of(m, 1, (const uint8_t[]){ 0, 1, 2 }, 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(unwind(m, loop, 7, 0), UNWIND_ROOT);
		assert_int_equal(m->nr[0], 4 + 2 * 20);
	}
	assert_int_equal(unwind(m, NULL, 7, 1), UNWIND_ROOT);
	assert_same(m);
	unwind_table_free(loop);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, memo_setup, memo_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rules_are_remembered),
		TEST(test_another_key_has_other_rules),
		TEST(test_frame_without_a_rule),
		TEST(test_same_place_another_pc),
		TEST(test_how_far_a_rule_goes),
		TEST(test_rule_ends_with_the_mapping),
		TEST(test_frames_of_runtimes_do_not_count),
		TEST(test_random_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
