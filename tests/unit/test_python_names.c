/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code objects in made memory: what is read, and what is refused. That all versions are read as they are is compared with the
 * interpreters themselves: tests/oracle/python_codes.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/runtimes/python/python_layout.h"
#include "tests/unit/python_world.h"
#include "tests/unit/runtime_own.h"

#define BIAS 0x1000
#define TYPE 0x5000			/* PyCode_Type in the file */
#define CODE (WORLD_BASE + 0x1000)
#define FILE_AT (WORLD_BASE + 0x2000)
#define NAME_AT (WORLD_BASE + 0x3000)
#define QUALNAME_AT (WORLD_BASE + 0x5000)
#define LINES_AT (WORLD_BASE + 0x9000)
#define COOKIE ((uint32_t)LINES_AT)

struct fixture {
	struct python_world w;
	struct runtime_image image;
	struct runtime_code *c;
};

/* Two instructions on line 7, one without a line. */
static const uint8_t table[] = { 0x80 | 13 << 3 | 1, 4, 0x80 | 15 << 3 | 0 };

static void put_code(struct python_world *w)
{
	world_u64(w, CODE, 3);				/* references */
	world_u64(w, CODE + 8, TYPE + BIAS);
	world_u64(w, CODE + 16, 3);			/* instructions */
	world_u32(w, CODE + 72, 5);			/* first line */
	world_u64(w, CODE + 112, FILE_AT);
	world_u64(w, CODE + 120, NAME_AT);
	world_u64(w, CODE + 128, QUALNAME_AT);
	world_u64(w, CODE + 136, LINES_AT);
	world_string(w, FILE_AT, 1, 1, "/x.py", 5);
	world_string(w, NAME_AT, 1, 1, "f", 1);
	world_string(w, QUALNAME_AT, 1, 1, "C.f", 3);
	world_u64(w, LINES_AT + 16, sizeof(table));
	world_put(w, LINES_AT + 32, table, sizeof(table));
}

static int setup(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof(*f));

	f->image = (struct runtime_image){ .kind = RUNTIME_PYTHON, .version = 0x030b02f0, .is_known = 1,
					   .code_type_vaddr = TYPE };
	if (python_layout_of(11, OWN(python_layout, f->image)))
		return -1;
	put_code(&f->w);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_code_free(f->c);
	free(f);
	return 0;
}

static int read_it(struct fixture *f)
{
	const struct target_memory m = { world_read, &f->w };

	runtime_code_free(f->c);
	f->c = NULL;
	f->w.reads = 0;
	return runtime_code_read(&f->image, BIAS, &m, RUNTIME_FRAME_INTERPRETED, CODE, COOKIE, &f->c);
}

static void reads_what_is_there(void **state)
{
	struct fixture *f = *state;
	uint32_t line = 0;

	assert_int_equal(read_it(f), 0);
	assert_string_equal(f->c->name, "C.f");
	assert_string_equal(f->c->file, "/x.py");
	assert_int_equal(f->c->first_line, 5);
	assert_int_equal(runtime_code_line(f->c, 184, &line), 0);
	assert_int_equal(line, 7);
	assert_int_equal(runtime_code_line(f->c, 186, &line), 0);
	assert_int_equal(runtime_code_line(f->c, 188, &line), -ENODATA);
	assert_int_equal(runtime_code_line(f->c, 190, &line), -ESTALE);
	assert_int_equal(runtime_code_line(f->c, 182, &line), 0);	/* before the first one */
	assert_int_equal(line, 5);
	assert_int_equal(runtime_code_line(f->c, 180, &line), -ESTALE);
	assert_int_equal(runtime_code_line(f->c, UINT32_MAX, &line), -ESTALE);
}

static void objects_that_are_never_freed_are_read(void **state)
{
	static const uint64_t references[] = { 1, 0xfffff, 999999990, 0xffffffff, 0xc0000000, 0x0005000000000001 };
	struct fixture *f = *state;

	for (size_t i = 0; i < 6; i++) {
		world_u64(&f->w, CODE, references[i]);
		assert_int_equal(read_it(f), 0);
	}
}

static void name_is(struct fixture *f, const char *want)
{
	assert_int_equal(read_it(f), 0);
	assert_string_equal(f->c->name, want);
}

static void characters_become_utf8(void **state)
{
	struct fixture *f = *state;

	world_string(&f->w, QUALNAME_AT, 1, 0, "gr\xfc\xdf", 4);
	name_is(f, "grüß");
	world_string(&f->w, QUALNAME_AT, 2, 0, u"é漢\xd800x", 4);
	name_is(f, "é漢\xef\xbf\xbdx");		/* half a pair is no character */
	world_string(&f->w, QUALNAME_AT, 4, 0, U"𝔘\x7fffffff", 2);
	name_is(f, "𝔘\xef\xbf\xbd");
	world_string(&f->w, QUALNAME_AT, 1, 1, "a\0b", 3);
	name_is(f, "a\xef\xbf\xbd" "b");
}

static void long_names_are_cut(void **state)
{
	struct fixture *f = *state;

	world_string(&f->w, QUALNAME_AT, 1, 1, "", 0);
	name_is(f, "");
	memset(f->w.bytes + (QUALNAME_AT - WORLD_BASE) + 48, 'n', 8192);
	world_u64(&f->w, QUALNAME_AT + 16, 1ull << 40);
	assert_int_equal(read_it(f), 0);
	assert_in_range(strlen(f->c->name), RUNTIME_NAME_BYTES - 6, RUNTIME_NAME_BYTES - 1);
}

static void another_object_is_stale(void **state)
{
	static const struct {
		uint64_t at, value;
	} v[] = {
		{ CODE, 0 }, { CODE, WORLD_BASE + 64 }, { CODE, 0x1a2b3c40 },	/* freed */
		{ QUALNAME_AT, 0 },
		{ CODE + 8, TYPE },				/* of another type */
		{ CODE + 136, LINES_AT + 16 },			/* another cookie */
		{ CODE + 128, 0 },				/* no name */
		{ CODE + 16, 1ull << 40 },			/* too much code */
		{ QUALNAME_AT + 32, 1 << 2 },			/* not compact */
		{ QUALNAME_AT + 32, 3 << 2 | 0x20 },		/* characters of 3 bytes */
		{ LINES_AT + 16, 1ull << 33 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		uint64_t before;

		memcpy(&before, f->w.bytes + (v[i].at - WORLD_BASE), 8);
		world_u64(&f->w, v[i].at, v[i].value);
		assert_int_equal(read_it(f), -ESTALE);
		world_u64(&f->w, v[i].at, before);
		assert_int_equal(read_it(f), 0);
	}
}

/* An object that becomes another one while it is read. */
static void change_is_seen(void **state)
{
	struct fixture *f = *state;
	unsigned reads;

	assert_int_equal(read_it(f), 0);
	reads = f->w.reads;
	for (unsigned i = 2; i <= reads; i++) {
		f->w.change_before = i;
		f->w.change_at = CODE + 128;
		f->w.change_to = NAME_AT;
		assert_int_equal(read_it(f), -ESTALE);
		put_code(&f->w);
	}
}

static void errors_are_passed_on(void **state)
{
	struct fixture *f = *state;
	unsigned reads;

	assert_int_equal(read_it(f), 0);
	reads = f->w.reads;
	assert_in_range(reads, 5, 14);
	f->w.error = -EAGAIN;
	for (f->w.fail_at = 1; f->w.fail_at <= reads; f->w.fail_at++)
		assert_int_equal(read_it(f), -EAGAIN);
	f->w.fail_at = 0;
	world_u64(&f->w, CODE + 112, 16);		/* nothing is there */
	assert_int_equal(read_it(f), -EFAULT);
	assert_null(f->c);
}

static void unknown_versions_are_not_read(void **state)
{
	struct fixture *f = *state;

	f->image.is_known = 0;
	assert_int_equal(read_it(f), -ENOTSUP);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_what_is_there), TEST(objects_that_are_never_freed_are_read), TEST(characters_become_utf8), TEST(long_names_are_cut),
		TEST(another_object_is_stale), TEST(change_is_seen), TEST(errors_are_passed_on),
		TEST(unknown_versions_are_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
