/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Methods and compiled code of HotSpot in made memory: what is read, and what is refused. That all versions are read as they are is
 * compared with the JVMs themselves: tests/long/java_stacks.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/runtimes/hotspot/hotspot_program.h"
#include "tests/unit/hotspot_layout_17.h"
#include "tests/unit/python_world.h"
#include "tests/unit/runtime_own.h"

#define OUTER WORLD_BASE			/* methods; their parts follow */
#define INNER (WORLD_BASE + 0x1000)
#define NMETHOD (WORLD_BASE + 0x4000)
#define CODE_AT (NMETHOD + 0x400)
#define SCOPES_AT (NMETHOD + 0x800)
#define PCS_AT (NMETHOD + 0x880)
#define METADATA_AT (NMETHOD + 0x900)
#define COMPILE_ID 77
#define BLOCK_USED 8			/* in front of the nmethod: its block is in use */

struct fixture {
	struct python_world w;
	struct runtime_image image;
	struct runtime_code *c;
};

static void put_u16(struct python_world *w, uint64_t at, uint16_t v)
{
	world_put(w, at, &v, sizeof(v));
}

static void put_symbol(struct python_world *w, uint64_t at, const char *text)
{
	put_u16(w, at + 4, (uint16_t)strlen(text));
	world_put(w, at + 6, text, strlen(text));
}

/* A method whose parts are behind it: ConstMethod, pool, class, symbols. */
static void put_method(struct python_world *w, uint64_t at, const char *class, const char *name, const uint8_t *lines, size_t nr)
{
	uint64_t cm = at + 0x100, pool = at + 0x400, klass = at + 0x600, symbols = at + 0x700;

	world_u64(w, at + 8, cm);
	world_u64(w, cm + 8, pool);
	put_u16(w, cm + 28, nr ? 1 : 0);
	put_u16(w, cm + 32, 40);		/* bytes of bytecodes */
	put_u16(w, cm + 34, 1);
	world_put(w, cm + CONST_BYTES + 40, lines, nr);
	world_u64(w, pool + 24, klass);
	put_u16(w, pool + 54, 2);
	world_u32(w, pool + 60, 3);
	world_u64(w, pool + 72 + 8, symbols);
	world_u64(w, pool + 72 + 16, symbols + 0x40);
	world_u64(w, klass + 24, symbols + 0x80);
	put_symbol(w, symbols, name);
	put_symbol(w, symbols + 0x40, "Shop.java");
	put_symbol(w, symbols + 0x80, class);
}

/* Bytecode 0: line 10; 5: 11; 20: 300, in the long form (255, 15 and 289, with the sign lowest). */
static const uint8_t lines_17[] = { 255, 0, 20, 5 << 3 | 1, 255, 30, 194, 6, 0 };

static void put_desc(struct python_world *w, unsigned i, int32_t pc, uint32_t scope)
{
	world_u32(w, PCS_AT + 16 * i, (uint32_t)pc);
	world_u32(w, PCS_AT + 16 * i + 4, scope);
}

static void put_nmethod(struct python_world *w)
{
	/* Scope 1: metadata 2 (outer) at bytecode 5. Scope 4: metadata 1 (inner) at 20, called by scope 7: outer at 7. */
	static const uint8_t v[] = { 0, 0, 2, 6, 7, 1, 21, 0, 2, 8 };

	world_u64(w, NMETHOD - BLOCK_USED, 1);
	world_u32(w, NMETHOD + 12, 0xa00);
	world_u32(w, NMETHOD + 16, 352);
	world_u64(w, NMETHOD + 32, CODE_AT);
	world_u64(w, NMETHOD + 112, OUTER);
	world_u64(w, NMETHOD + 120, SCOPES_AT);
	world_u32(w, NMETHOD + 260, METADATA_AT - NMETHOD);
	world_u32(w, NMETHOD + 268, PCS_AT - NMETHOD);
	world_u32(w, NMETHOD + 272, PCS_AT - NMETHOD + 4 * 16);
	world_u32(w, NMETHOD + 304, COMPILE_ID);
	world_u32(w, NMETHOD + 308, 4);
	world_put(w, SCOPES_AT, v, sizeof(v));
	put_desc(w, 0, -1, 0);
	put_desc(w, 1, 100, 1);
	put_desc(w, 2, 120, 4);
	put_desc(w, 3, 500, 0);
	world_u64(w, METADATA_AT, INNER);
	world_u64(w, METADATA_AT + 8, OUTER);
}

static int setup(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof(*f));

	f->image = (struct runtime_image){ .kind = RUNTIME_HOTSPOT, .version = 0x11000f00, .is_known = 1 };
	OWN(hotspot_image, f->image)->layout = layout_17();
	put_method(&f->w, OUTER, "org/shop/Cart", "total", lines_17, sizeof(lines_17));
	put_u16(&f->w, OUTER + 0x782, 0xabcd);
	put_method(&f->w, INNER, "Tax", "of", lines_17, sizeof(lines_17));
	put_nmethod(&f->w);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_code_free(f->c);
	free(f);
	return 0;
}

static int read_code(struct fixture *f, enum runtime_frame_kind kind, uint64_t at, uint32_t cookie)
{
	const struct target_memory m = { world_read, &f->w };

	runtime_code_free(f->c);
	f->c = NULL;
	return runtime_code_read(&f->image, 0, &m, kind, at, cookie, &f->c);
}

#define NUMBER 0xabcd			/* of the class's symbol */
#define CLASS_SYMBOL (OUTER + 0x780)
#define METHOD_COOKIE HOTSPOT_METHOD_COOKIE(OUTER + 0x100, CLASS_SYMBOL, NUMBER)

static uint32_t line_at(struct fixture *f, uint32_t bci)
{
	struct runtime_line l[RUNTIME_MAX_LINES];

	assert_int_equal(runtime_code_lines(f->c, CONST_BYTES + bci, l, RUNTIME_MAX_LINES), 1);
	assert_int_equal(l[0].tier, TIER_INTERPRETED);
	return l[0].line;
}

static void a_method_has_its_names_and_lines(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, METHOD_COOKIE), 0);
	assert_string_equal(f->c->name, "org.shop.Cart.total");
	assert_string_equal(f->c->file, "org/shop/Shop.java");
	assert_int_equal(line_at(f, 0), 10);
	assert_int_equal(line_at(f, 4), 10);
	assert_int_equal(line_at(f, 5), 11);
	assert_int_equal(line_at(f, 19), 11);
	assert_int_equal(line_at(f, 39), 300);
	assert_int_equal(line_at(f, 40), 0);		/* it has no such bytecode */
	assert_int_equal(line_at(f, (uint32_t)-CONST_BYTES), 0);
}

/* Since 19 no byte of a number is 0. */
static void numbers_of_19_are_others(void **state)
{
	static const uint8_t lines[] = { 255, 1, 21, 5 << 3 | 1, 0 };
	struct fixture *f = *state;

	OWN(hotspot_image, f->image)->layout.version = 0x15000800;
	put_method(&f->w, OUTER, "A", "b", lines, sizeof(lines));
	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, METHOD_COOKIE), 0);
	assert_int_equal(line_at(f, 0), 10);
	assert_int_equal(line_at(f, 7), 11);
}

/* A class that was unloaded has left all of its places to one of another name. */
static void a_class_of_another_name_is_another(void **state)
{
	struct fixture *f = *state;

	put_u16(&f->w, CLASS_SYMBOL + 2, NUMBER);
	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, METHOD_COOKIE), 0);
	/* The cookies of a method whose class's name or number could not be read. */
	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, HOTSPOT_METHOD_COOKIE(OUTER + 0x100, 0, 0)), 0);
	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, HOTSPOT_METHOD_COOKIE(OUTER + 0x100, CLASS_SYMBOL, 0)), 0);
	/* Another symbol with the same number. */
	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, METHOD_COOKIE + 0x40), -ESTALE);
	put_u16(&f->w, CLASS_SYMBOL + 2, NUMBER + 1);
	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, METHOD_COOKIE), -ESTALE);
}

static void another_method_there_is_gone(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, METHOD_COOKIE + 1), -ESTALE);
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID + 1), -ESTALE);
	world_u64(&f->w, OUTER + 8, 0);
	assert_int_equal(read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, 0), -ESTALE);
}

/* Memory is read page by page, so that what changes is seen only by the look at the end. */
static void code_that_is_exchanged_meanwhile_is_gone(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), 0);
	f->w.change_before = f->w.reads;
	f->w.reads = 0;
	f->w.change_at = NMETHOD + 304;
	f->w.change_to = COMPILE_ID + 5;
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), -ESTALE);
}

/* A freed block keeps the nmethod's number, but its method may be another by now. */
static void freed_code_is_gone(void **state)
{
	struct fixture *f = *state;

	world_u64(&f->w, NMETHOD - BLOCK_USED, 0);
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), -ESTALE);
	OWN(hotspot_image, f->image)->layout.block_used = HOTSPOT_ABSENT;
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), 0);
}

static void code_that_is_freed_meanwhile_is_gone(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), 0);
	f->w.change_before = f->w.reads - 1;	/* the last one reads the number */
	f->w.reads = 0;
	f->w.change_at = NMETHOD - BLOCK_USED;
	f->w.change_to = 0;
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), -ESTALE);
}

static void compiled_code_tells_inlined_methods(void **state)
{
	const uint32_t begin = CODE_AT - NMETHOD;
	struct runtime_line l[RUNTIME_MAX_LINES];
	struct fixture *f = *state;

	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), 0);
	assert_int_equal(runtime_code_lines(f->c, begin + 100, l, RUNTIME_MAX_LINES), 1);
	assert_string_equal(l[0].name, "org.shop.Cart.total");
	assert_int_equal(l[0].line, 11);
	assert_int_equal(l[0].tier, TIER_OPTIMIZED);
	assert_int_equal(runtime_code_lines(f->c, begin + 120, l, RUNTIME_MAX_LINES), 2);
	assert_string_equal(l[0].name, "Tax.of");
	assert_int_equal(l[0].line, 300);
	assert_string_equal(l[1].name, "org.shop.Cart.total");
	assert_int_equal(l[1].line, 11);
	/* No call is there: only the method is known. */
	assert_int_equal(runtime_code_lines(f->c, begin + 110, l, RUNTIME_MAX_LINES), 1);
	assert_string_equal(l[0].name, "org.shop.Cart.total");
	assert_int_equal(l[0].line, 0);
	/* Interrupted: the next place behind it. */
	assert_int_equal(runtime_code_lines(f->c, (begin + 110) | HOTSPOT_INTERRUPTED, l, RUNTIME_MAX_LINES), 2);
	assert_int_equal(runtime_code_lines(f->c, (begin + 120) | HOTSPOT_INTERRUPTED, l, RUNTIME_MAX_LINES), 1);
	assert_int_equal(l[0].line, 0);
	assert_int_equal(runtime_code_lines(f->c, 0xa00, l, RUNTIME_MAX_LINES), -ESTALE);
}

static void damaged_scopes_leave_the_method(void **state)
{
	struct runtime_line l[RUNTIME_MAX_LINES];
	struct fixture *f = *state;
	const uint8_t circle = 4;

	world_put(&f->w, SCOPES_AT + 4, &circle, 1);	/* its own caller */
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), 0);
	assert_int_equal(runtime_code_lines(f->c, CODE_AT - NMETHOD + 120, l, RUNTIME_MAX_LINES), RUNTIME_MAX_LINES);
	world_u64(&f->w, METADATA_AT, 0);
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), 0);
	assert_int_equal(runtime_code_lines(f->c, CODE_AT - NMETHOD + 120, l, RUNTIME_MAX_LINES), 1);
	assert_string_equal(l[0].name, "org.shop.Cart.total");
}

/* What is called in a block of stubs, or interrupted there. */
static void check_stub(struct fixture *f, const char *block, uint32_t interrupted, const char *name)
{
	struct runtime_line l[RUNTIME_MAX_LINES];

	world_put(&f->w, WORLD_BASE + 0x3000, block, strlen(block) + 1);
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, 12345), 0);
	assert_int_equal(runtime_code_lines(f->c, 99 | interrupted, l, RUNTIME_MAX_LINES), 1);
	assert_string_equal(l[0].name, name);
	assert_int_equal(l[0].tier, TIER_BUILTIN);
}

static void a_stub_says_what_it_is_for(void **state)
{
	struct fixture *f = *state;

	world_u32(&f->w, NMETHOD + 16, 104);
	world_u64(&f->w, NMETHOD + 96, WORLD_BASE + 0x3000);
	check_stub(f, "StubRoutines (1)", 0, "call stub");
	check_stub(f, "StubRoutines (initialstubs)", 0, "call stub");
	check_stub(f, "StubRoutines (1)", HOTSPOT_INTERRUPTED, "intrinsic stub");
	check_stub(f, "StubRoutines (2)", HOTSPOT_INTERRUPTED, "arraycopy or intrinsic stub");
	check_stub(f, "StubRoutines (finalstubs)", 0, "arraycopy or intrinsic stub");
	check_stub(f, "vtable stub", 0, "vtable stub");
}

static void each_read_may_fail(void **state)
{
	struct fixture *f = *state;
	unsigned nr;

	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), 0);
	nr = f->w.reads;
	f->w.error = -EAGAIN;
	for (unsigned i = 1; i <= nr; i++) {
		f->w.reads = 0;
		f->w.fail_at = i;
		read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID);
		f->w.reads = 0;
		read_code(f, RUNTIME_FRAME_INTERPRETED, OUTER, METHOD_COOKIE);
	}
	f->w.reads = 0;
	f->w.fail_at = 1;
	assert_int_equal(read_code(f, RUNTIME_FRAME_COMPILED, NMETHOD, COMPILE_ID), -EAGAIN);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_method_has_its_names_and_lines),
		TEST(numbers_of_19_are_others),
		TEST(a_class_of_another_name_is_another), TEST(another_method_there_is_gone),
		TEST(code_that_is_exchanged_meanwhile_is_gone),
		TEST(freed_code_is_gone),
		TEST(code_that_is_freed_meanwhile_is_gone),
		TEST(compiled_code_tells_inlined_methods),
		TEST(damaged_scopes_leave_the_method),
		TEST(a_stub_says_what_it_is_for),
		TEST(each_read_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
