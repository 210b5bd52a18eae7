/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions, strings and code of V8 in made memory: what is read, and what is refused. That real versions are read as they are is seen
 * in programs whose stacks prove themselves: tests/live/node_running.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "tests/unit/v8_world.h"
#include "src/runtimes/v8/v8_strings.h"

#define SCRIPT V8_AT(0x1000)
#define SOURCE V8_AT(0x1100)
#define FILE_NAME V8_AT(0x1200)
#define SHARED V8_AT(0x2000)
#define NAME V8_AT(0x2200)
#define BYTECODE V8_AT(0x2300)
#define POSITIONS V8_AT(0x2400)
#define INNER V8_AT(0x3000)
#define INNER_NAME V8_AT(0x3200)
#define CODE V8_AT(0x4000)
#define OFFSETS V8_AT(0x4100)
#define STREAM V8_AT(0x5030)		/* instructions begin at 0x5040 */
#define START (WORLD_BASE + 0x5040)
#define DEOPT V8_AT(0x6000)
#define LITERALS V8_AT(0x6100)
#define INLININGS V8_AT(0x6200)
#define CODE_POSITIONS V8_AT(0x6300)
#define TRANSLATIONS V8_AT(0x6400)
#define COOKIE v8_cookie(9, 4)
#define BYTECODES 53			/* offset of the first bytecode, from the tagged address */

static const char source[] = "let a;\r\nfunction outer(n) {\n  inner(n);\n  return 1;\n}\rlast\n";

struct fixture {
	struct python_world w;
	struct runtime_image image;
	struct runtime_code *c;
	struct runtime_line lines[RUNTIME_MAX_LINES];
	int nr;
};

/* offset 0: character 16 (line 2), offset 3: 31 (3), an expression at offset 5: 42 (4). */
static const uint8_t positions[] = { 0, 17 << 2 & 127, 3 << 1, 15 << 2, 2 << 1 | 1, 11 << 2 };

static int setup(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof(*f));
	struct python_world *w = &f->w;

	v8_image(&f->image);
	v8_text(w, SOURCE, 40, source, sizeof(source) - 1);
	v8_text(w, FILE_NAME, 40, "/a/x.js", 7);
	v8_text(w, NAME, 40, "outer", 5);
	v8_text(w, INNER_NAME, 32, (const uint16_t[]){ 0xe9, 0xd83d, 0xde00 }, 3);
	v8_script(w, SCRIPT, SOURCE, FILE_NAME, 9);
	v8_function(w, SHARED, SCRIPT, NAME, BYTECODE, 4, 22, 50);
	v8_function(w, INNER, SCRIPT, INNER_NAME, v8_small(77), 5, 1, 3);
	v8_object(w, BYTECODE, TYPE_BYTECODE);
	v8_word(w, BYTECODE, V8_ARRAY_LENGTH, v8_small(6));
	v8_word(w, BYTECODE, 32, POSITIONS);
	world_put(w, BYTECODE - V8_TAG + 54, (const uint8_t[]){ 6, 0, 0, 5, 0, 4 }, 6);
	v8_bytes(w, POSITIONS, positions, sizeof(positions));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_code_free(f->c);
	free(f);
	return 0;
}

static int read_code(struct fixture *f, uint64_t code, uint32_t cookie, uint32_t instruction)
{
	const struct target_memory m = { world_read, &f->w };
	int err;

	runtime_code_free(f->c);
	f->c = NULL;
	f->w.reads = 0;
	err = runtime_code_read(&f->image, 0, &m, RUNTIME_FRAME_COMPILED, code, cookie, &f->c);
	f->nr = err ? 0 : runtime_code_lines(f->c, instruction, f->lines, RUNTIME_MAX_LINES);
	return err;
}

static void line_is(struct fixture *f, uint32_t instruction, uint32_t line)
{
	assert_int_equal(runtime_code_lines(f->c, instruction, f->lines, RUNTIME_MAX_LINES), 1);
	assert_int_equal(f->lines[0].line, line);
}

static void interpreted_functions_have_names_and_lines(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, SHARED, COOKIE, BYTECODES), 0);
	assert_string_equal(f->lines[0].name, "outer");
	assert_string_equal(f->lines[0].file, "/a/x.js");
	assert_int_equal(f->lines[0].first_line, 2);
	assert_int_equal(f->lines[0].tier, TIER_INTERPRETED);
	line_is(f, BYTECODES, 2);
	line_is(f, BYTECODES + 2, 2);
	line_is(f, BYTECODES + 3, 3);
	line_is(f, BYTECODES + 5, 4);
	line_is(f, BYTECODES - 1, 0);
	line_is(f, V8_NO_OFFSET, 0);
}

static void builtins_have_names_only(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, INNER, v8_cookie(9, 5), BYTECODES), 0);
	assert_string_equal(f->lines[0].name, "\xc3\xa9\xf0\x9f\x98\x80");
	assert_int_equal(f->lines[0].tier, TIER_BUILTIN);
	assert_int_equal(f->lines[0].line, 0);
}

static void frames_of_other_kinds_have_names(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, V8_IS_CODE, V8_WASM_MARKER, V8_WASM_MARKER), 0);
	assert_string_equal(f->lines[0].name, "[wasm function]");
	assert_int_equal(read_code(f, V8_IS_CODE, 27 << 1, 27 << 1), 0);
	assert_string_equal(f->lines[0].name, "[regular expression]");
	assert_int_equal(read_code(f, V8_IS_CODE, 3 << 1, 3 << 1), -ESTALE);
}

static void others_at_the_same_address_are_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_code(f, SHARED, v8_cookie(9, 5), 0), -ESTALE);
	assert_int_equal(read_code(f, SHARED, v8_cookie(8, 4), 0), -ESTALE);
	v8_object(&f->w, SHARED, TYPE_SCOPE);
	assert_int_equal(read_code(f, SHARED, COOKIE, 0), -ESTALE);
	assert_int_equal(read_code(f, WORLD_BASE - 15, COOKIE, 0), -EFAULT);
}

static void put_baseline(struct python_world *w)
{
	v8_word(w, SHARED, 8, CODE);
	v8_object(w, CODE, TYPE_CODE);
	v8_word(w, CODE, 16, BYTECODE);
	v8_word(w, CODE, 24, OFFSETS);
	v8_word(w, CODE, 40, START);
	v8_word(w, CODE, 48, 11);
	v8_word(w, CODE, 56, 100);
	/* The prologue has 20 bytes, the bytecodes 30, 200 and 8. */
	v8_bytes(w, OFFSETS, (const uint8_t[]){ 20, 30, 0xc8, 1, 8 }, 5);
}

static void baseline_code_has_lines(void **state)
{
	struct fixture *f = *state;

	put_baseline(&f->w);
	assert_int_equal(read_code(f, SHARED | V8_IS_BASELINE, COOKIE, 0), 0);
	assert_int_equal(f->lines[0].tier, TIER_BASELINE);
	line_is(f, 19, 0);
	line_is(f, 20, 2);
	line_is(f, 49, 2);
	line_is(f, 50, 3);
	line_is(f, 249, 3);
	line_is(f, 250, 4);
	/* Its bytecodes are still known. */
	assert_int_equal(read_code(f, SHARED, COOKIE, 0), 0);
	line_is(f, BYTECODES + 3, 3);
}

/* Code of outer(), into which inner was inlined at character 31. Calls at 8: in inner; at 32: in outer, character 42. */
static void put_optimized(struct python_world *w)
{
	const uint64_t deopt[8] = { 0, 0, LITERALS, 0, 0, 0, SHARED, INLININGS };
	const uint64_t literals[1] = { INNER | 2 };
	uint8_t inlining[16] = { 0 };
	const uint64_t outside = 32ull << 1;

	put_baseline(w);
	v8_object(w, STREAM, TYPE_STREAM);
	v8_word(w, STREAM, 8, CODE);
	v8_word(w, CODE, 16, DEOPT);
	v8_word(w, CODE, 24, CODE_POSITIONS);
	v8_word(w, CODE, 48, 13);
	v8_array(w, DEOPT, deopt, 8);
	v8_array(w, LITERALS, literals, 1);
	memcpy(inlining, &outside, sizeof(outside));
	v8_bytes(w, INLININGS, inlining, 16);
	/* Offset 8, inlining id 1, character 2: raw = 3 << 1 | 1 << 31; then 24 on, back to raw = 43 << 1. */
	v8_bytes(w, CODE_POSITIONS, (const uint8_t[]){ 8 << 1, 0x8c, 0x80, 0x80, 0x80, 0x10, 24 << 1, 0xdf, 0xfe, 0xff, 0xff, 0x0f }, 12);
}

static void inlined_functions_come_first(void **state)
{
	struct fixture *f = *state;

	put_optimized(&f->w);
	assert_int_equal(read_code(f, (START + 12) | V8_IS_CODE, COOKIE, 0), 0);
	assert_int_equal(f->nr, 2);
	assert_string_equal(f->lines[0].name, "\xc3\xa9\xf0\x9f\x98\x80");
	assert_int_equal(f->lines[0].line, 1);
	assert_string_equal(f->lines[1].name, "outer");
	assert_int_equal(f->lines[1].line, 3);
	assert_int_equal(f->lines[1].tier, TIER_OPTIMIZED);
	assert_int_equal(read_code(f, (START + 40) | V8_IS_CODE, COOKIE, 0), 0);
	assert_int_equal(f->nr, 1);
	assert_int_equal(f->lines[0].line, 4);
}

/* Between two calls, and behind the last, it is not known which of the functions the instruction is of. */
static void interrupted_code_tells_what_is_sure(void **state)
{
	struct fixture *f = *state;

	put_optimized(&f->w);
	assert_int_equal(read_code(f, (START + 12) | V8_IS_CODE | V8_IS_INTERRUPTED, COOKIE, 0), 0);
	assert_int_equal(f->nr, 1);
	assert_string_equal(f->lines[0].name, "outer");
	assert_int_equal(f->lines[0].line, 0);
}

/* Code without positions: others may have been inlined, and it is said so. */
static void inlined_functions_may_be_unknown(void **state)
{
	struct fixture *f = *state;

	put_optimized(&f->w);
	v8_bytes(&f->w, CODE_POSITIONS, "", 0);
	assert_int_equal(read_code(f, (START + 12) | V8_IS_CODE, COOKIE, 0), 0);
	assert_int_equal(f->nr, 2);
	assert_string_equal(f->lines[0].name, "[inlined functions, if any]");
	assert_string_equal(f->lines[1].name, "outer");
	v8_bytes(&f->w, INLININGS, "", 0);
	assert_int_equal(read_code(f, (START + 12) | V8_IS_CODE, COOKIE, 0), 0);
	assert_int_equal(f->nr, 1);
}

/*
 * Maglev's code, as V8 12.4 writes it, of outer() with inner() inlined. Translations: at 0 of outer's bytecode 0 and inner's 3; at 14 the
 * same but for inner's bytecode 5, with what is before taken from the first; at 25 of outer's bytecode 3 alone.
 */
static const uint8_t translations[] = {
	12, 0, 4, 4, 1, 0, 2, 0, 35, 10, 1, 6, 0, 0,
	12, 14, 4, 4, 42, 0, 10, 0, 0, 0, 2,
	12, 0, 2, 2, 1, 6, 2, 0,
};

/* Checks end at 8 (in inner) and 25 (in outer), their exits are at 80 and 84; a call in inner returns to 32, a call that has no entry to 40. */
static void put_maglev(struct fixture *f)
{
	const uint64_t deopt[] = { TRANSLATIONS, v8_small(1), LITERALS, 0, 0, 0, SHARED, INLININGS, v8_small(80), v8_small(2), v8_small(1),
				   v8_small(3), v8_small(0), v8_small(80), v8_small(3), v8_small(25), v8_small(84), v8_small(5), v8_small(14),
				   v8_small(88) };
	const uint8_t table[] = { 2, 0, 0, 0, 1 | 1 << 4 | 1 << 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 3, 89, 0, 40, 0, 0, 0 };
	const uint8_t check[] = { 0x0f, 0x84, 72, 0, 0, 0 }, jump[] = { 0xe9, 59, 0, 0, 0 };

	put_optimized(&f->w);
	OWN(v8_layout, f->image)->translations = 1;
	OWN(v8_layout, f->image)->deopt_exits = 8;
	v8_word(&f->w, CODE, 48, 12);
	v8_array(&f->w, DEOPT, deopt, sizeof(deopt) / sizeof(deopt[0]));
	v8_array(&f->w, LITERALS, (const uint64_t[]){ INNER | 2, SHARED | 2 }, 2);
	v8_bytes(&f->w, TRANSLATIONS, translations, sizeof(translations));
	v8_bytes(&f->w, CODE_POSITIONS, "", 0);
	v8_word(&f->w, SHARED, 8, BYTECODE);
	v8_word(&f->w, INNER, 8, BYTECODE);
	world_put(&f->w, START + 2, check, sizeof(check));
	world_put(&f->w, START + 20, jump, sizeof(jump));
	world_put(&f->w, START + 100, table, sizeof(table));
}

/* Innermost first; inner 0: outer alone. */
static void maglev_is(struct fixture *f, uint64_t code, uint32_t inner, uint32_t outer)
{
	assert_int_equal(read_code(f, (START + code) | V8_IS_CODE, COOKIE, 0), 0);
	assert_int_equal(f->nr, inner ? 2 : 1);
	if (inner) {
		assert_string_equal(f->lines[0].name, "\xc3\xa9\xf0\x9f\x98\x80");
		assert_int_equal(f->lines[0].line, inner);
	}
	assert_string_equal(f->lines[f->nr - 1].name, "outer");
	assert_int_equal(f->lines[f->nr - 1].line, outer);
}

static void calls_of_maglev_code_have_all_frames(void **state)
{
	struct fixture *f = *state;

	put_maglev(f);
	maglev_is(f, 32, 4, 2);
	/* The code is to be left: the return address is that of the exit. */
	maglev_is(f, 88, 4, 2);
}

static void calls_without_an_entry_are_told_apart(void **state)
{
	struct fixture *f = *state;

	put_maglev(f);
	assert_int_equal(read_code(f, (START + 40) | V8_IS_CODE, COOKIE, 0), 0);
	assert_int_equal(f->nr, 2);
	assert_string_equal(f->lines[0].name, "[inlined functions, if any]");
	assert_string_equal(f->lines[1].name, "outer");
	assert_int_equal(f->lines[1].line, 0);
	v8_word(&f->w, DEOPT, V8_ARRAY_DATA + 8, v8_small(0));
	maglev_is(f, 40, 0, 0);
}

static void interrupted_maglev_code_tells_what_is_sure(void **state)
{
	struct fixture *f = *state;

	put_maglev(f);
	maglev_is(f, 4 | V8_IS_INTERRUPTED, 0, 0);
	maglev_is(f, 10 | V8_IS_INTERRUPTED, 0, 0);
	maglev_is(f, 28 | V8_IS_INTERRUPTED, 0, 0);
	/* The second check is one of inner, too. */
	v8_word(&f->w, DEOPT, V8_ARRAY_DATA + 8 * 15, v8_small(14));
	maglev_is(f, 10 | V8_IS_INTERRUPTED, 3, 2);
	maglev_is(f, 26 | V8_IS_INTERRUPTED, 4, 2);
}

/* What is no translation is as if there were none. */
static void translations_that_are_none_are_refused(void **state)
{
	struct fixture *f = *state;
	static const uint8_t bad[][8] = { { 13, 0, 4, 4, 1, 0 }, { 12, 9, 4, 4, 42 }, { 12, 0, 4, 4, 42 }, { 12, 0, 0, 0 }, { 39, 0 },
					  { 12, 0, 4, 4, 40 }, { 1, 0, 0, 0 } };

	put_maglev(f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		v8_bytes(&f->w, TRANSLATIONS, bad[i], 7);
		v8_word(&f->w, DEOPT, V8_ARRAY_DATA + 8 * 18, 0);
		assert_int_equal(read_code(f, (START + 32) | V8_IS_CODE, COOKIE, 0), 0);
		assert_string_equal(f->lines[0].name, "[inlined functions, if any]");
	}
}

static void code_of_others_is_refused(void **state)
{
	struct fixture *f = *state;

	put_optimized(&f->w);
	assert_int_equal(read_code(f, (START + 12) | V8_IS_CODE, v8_cookie(9, 5), 0), -ESTALE);
	assert_int_equal(read_code(f, (START + 101) | V8_IS_CODE, COOKIE, 0), -ESTALE);
	assert_int_equal(read_code(f, (START - 1) | V8_IS_CODE, COOKIE, 0), -ESTALE);
	v8_word(&f->w, CODE, 48, 11);
	assert_int_equal(read_code(f, (START + 12) | V8_IS_CODE, COOKIE, 0), -ESTALE);
	v8_word(&f->w, CODE, 48, 13);
	/* An inlining position that is in itself. */
	world_u64(&f->w, INLININGS - V8_TAG + V8_ARRAY_DATA, 1ull << 31);
	assert_int_equal(read_code(f, (START + 12) | V8_IS_CODE, COOKIE, 0), -ESTALE);
}

#define PARTS V8_AT(0x7000)

static void string_is(struct fixture *f, uint64_t string, const char *want)
{
	const struct target_memory m = { world_read, &f->w };
	char *text = NULL;

	assert_int_equal(v8_string_read(&m, string, 20, &text), 0);
	assert_string_equal(text, want);
	free(text);
}

static void put_pair(struct fixture *f, uint64_t at, uint32_t type, uint32_t length, uint64_t first, uint64_t second)
{
	v8_object(&f->w, at, type);
	world_u32(&f->w, at - V8_TAG + V8_STRING_LENGTH, length);
	v8_word(&f->w, at, 16, first);
	v8_word(&f->w, at, 24, second);
}

static void strings_are_put_together(void **state)
{
	struct fixture *f = *state;
	const struct target_memory m = { world_read, &f->w };
	char *text = NULL;

	v8_text(&f->w, PARTS, 40, "0123456789", 10);
	put_pair(f, PARTS + 0x40, 43, 4, PARTS, v8_small(3));			/* sliced */
	put_pair(f, PARTS + 0x80, 33, 7, PARTS + 0x40, INNER_NAME);		/* cons */
	put_pair(f, PARTS + 0xc0, 45, 7, PARTS + 0x80, 0);			/* thin */
	put_pair(f, PARTS + 0x100, 42, 3, 0, PARTS - V8_TAG + V8_STRING_DATA + 5);	/* external */
	string_is(f, PARTS + 0x40, "3456");
	string_is(f, PARTS + 0xc0, "3456\xc3\xa9\xf0\x9f\x98\x80");
	string_is(f, PARTS + 0x100, "567");
	put_pair(f, PARTS + 0x140, 33, 20, PARTS, PARTS);
	string_is(f, PARTS + 0x140, "012345678901234");				/* cut */
	/* One that consists of itself. */
	put_pair(f, PARTS + 0x180, 33, 20, PARTS + 0x180, PARTS + 0x180);
	assert_int_not_equal(v8_string_read(&m, PARTS + 0x180, 20, &text), 0);
	assert_int_equal(v8_string_read(&m, SHARED, 20, &text), -ESTALE);
}

/*
 * A parser that was taken over answers a layout that is sound and wrong: every field is anywhere up to the limit. What is read stays
 * within what was copied, which sanitizers tell.
 */
static void layouts_that_lie(void **state)
{
	static const uint32_t places[] = { 0, 1, 4, 8, 15, 16, 56, 57, 60, 61, 63, 64, 65, 68, 71, 72, 73, 200, 248, 255, 256 };
	struct fixture *f = *state;
	const struct v8_layout good = *OWN(v8_layout, f->image);
	const size_t nr = sizeof(places) / sizeof(places[0]), fields = offsetof(struct v8_layout, type_shared) / sizeof(uint32_t);

	put_optimized(&f->w);
	for (size_t i = 0; i < fields * nr; i++) {
		*OWN(v8_layout, f->image) = good;
		((uint32_t *)OWN(v8_layout, f->image))[i / nr] = places[i % nr];
		if (!runtime_image_is_sound(&f->image))
			continue;
		read_code(f, SHARED, COOKIE, BYTECODES);
		read_code(f, SHARED | V8_IS_BASELINE, COOKIE, 20);
		read_code(f, (START + 12) | V8_IS_CODE, COOKIE, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(interpreted_functions_have_names_and_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(builtins_have_names_only, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_of_other_kinds_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(others_at_the_same_address_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(baseline_code_has_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(inlined_functions_come_first, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupted_code_tells_what_is_sure, setup, teardown),
		cmocka_unit_test_setup_teardown(inlined_functions_may_be_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_of_maglev_code_have_all_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_without_an_entry_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupted_maglev_code_tells_what_is_sure, setup, teardown),
		cmocka_unit_test_setup_teardown(translations_that_are_none_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(code_of_others_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(strings_are_put_together, setup, teardown),
		cmocka_unit_test_setup_teardown(layouts_that_lie, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
