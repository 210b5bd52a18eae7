/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What made objects of Ruby 3.1, and classes of 3.2 and 3.4, are called, and that those which changed are not named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "src/model/record.h"
#include "src/runtimes/ruby/ruby_program.h"
#include "tests/unit/ruby_world.h"
#include "tests/unit/runtime_own.h"

#define CLASS (WORLD_BASE + 0x4000)
#define SINGLE (WORLD_BASE + 0x4200)
#define MODULE (WORLD_BASE + 0x4400)
#define INCLUDED (WORLD_BASE + 0x4600)
#define METHOD (WORLD_BASE + 0x5000)
#define ISEQ (WORLD_BASE + 0x6000)
#define BODY (ISEQ + 64)
#define CODE (WORLD_BASE + 0x7000)
#define TEXT(i) (WORLD_BASE + 0x8000 + (i) * 0x80)

enum { SERIAL = 77, WORDS = 20, LINE = 30 };

struct fixture {
	struct python_world w;
	struct runtime_image image;
	struct target_memory m;
	struct runtime_code *c;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	uint64_t path, attached, name;

	f->image = (struct runtime_image){ .kind = RUNTIME_RUBY, .version = 0x03010200, .is_known = 1 };
	OWN(ruby_image, f->image)->data_vaddr = RUBY_DATA - 0x1000;
	OWN(ruby_image, f->image)->data_bytes = 0x100;
	ruby_layout_of(0x0301, &OWN(ruby_image, f->image)->layout);
	f->m = (struct target_memory){ world_read, &f->w };
	ruby_world_symbols(&f->w);
	path = ruby_world_symbol(&f->w, 300, TEXT(0), "__classpath__");
	attached = ruby_world_symbol(&f->w, 301, TEXT(1), "__attached__");
	name = ruby_world_symbol(&f->w, 302, TEXT(2), "run");
	ruby_world_string(&f->w, TEXT(3), "Shop::Order");
	ruby_world_string(&f->w, TEXT(4), "Countable");
	ruby_world_string(&f->w, TEXT(5), "block in run");
	ruby_world_string(&f->w, TEXT(6), "/srv/shop/app/models/order.rb");
	ruby_world_class(&f->w, CLASS, RUBY_T_CLASS, path, TEXT(3));
	ruby_world_class(&f->w, SINGLE, RUBY_T_CLASS | 1 << 12, attached, CLASS);
	ruby_world_class(&f->w, MODULE, RUBY_T_MODULE, path, TEXT(4));
	world_u64(&f->w, INCLUDED, RUBY_T_ICLASS);
	world_u64(&f->w, INCLUDED + 8, MODULE);
	ruby_world_method(&f->w, METHOD, CLASS, name, SERIAL, 0, ISEQ);
	ruby_world_iseq(&f->w, ISEQ, CODE, WORDS, TEXT(5), TEXT(6), LINE);
	world_u64(&f->w, BODY + RUBY_BODY_BASE_LABEL, TEXT(2));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_code_free(f->c);
	free(f);
	return 0;
}

static int read_code(struct fixture *f, uint64_t code, uint32_t cookie)
{
	runtime_code_free(f->c);
	f->c = NULL;
	return runtime_code_read(&f->image, 0x1000, &f->m, RUNTIME_FRAME_INTERPRETED, code, cookie, &f->c);
}

static void is_called(struct fixture *f, uint64_t owner, const char *name)
{
	world_u64(&f->w, METHOD + RUBY_ENTRY_OWNER, owner);
	assert_int_equal(read_code(f, METHOD, SERIAL), 0);
	assert_string_equal(f->c->name, name);
}

static void methods(void **state)
{
	struct fixture *f = *state;
	struct runtime_line line;

	is_called(f, CLASS, "Shop::Order#run");
	is_called(f, SINGLE, "Shop::Order.run");
	is_called(f, INCLUDED, "Countable#run");
	assert_string_equal(f->c->file, "/srv/shop/app/models/order.rb");
	assert_int_equal(runtime_code_lines(f->c, (uint32_t)(CODE + 24 - METHOD), &line, 1), 1);
	assert_int_equal(line.line, LINE + 1);
	assert_int_equal(line.first_line, LINE);
	assert_int_equal(line.tier, TIER_NONE);
	assert_int_equal(runtime_code_lines(f->c, (uint32_t)(CODE + WORDS * 8 + 8 - METHOD), &line, 1), -ESTALE);
	assert_int_equal(runtime_code_lines(f->c, (uint32_t)(CODE + 4 - METHOD), &line, 1), -ESTALE);
	/* A class without a name. */
	world_u64(&f->w, CLASS + RUBY_CLASS_EXTENSION, 0);
	is_called(f, CLASS, "run");
}

#define VM_WORD (WORLD_BASE + 0x3000)
#define VM (WORLD_BASE + 0x3100)
#define SHAPES (WORLD_BASE + 0x3800)
#define VALUES (WORLD_BASE + 0x3c00)

/* A string as it is since 3.2. */
static void string_of_any_size(struct fixture *f, uint64_t at, const char *text)
{
	world_u64(&f->w, at, RUBY_T_STRING);
	world_u64(&f->w, at + 16, strlen(text));
	world_put(&f->w, at + 24, text, strlen(text) + 1);
}

/* Shape number i, which adds variable nr - 1 to those of its parent. */
static void shape(struct fixture *f, uint32_t i, uint32_t parent, uint8_t type, uint64_t id, uint32_t nr)
{
	const uint64_t at = SHAPES + i * RUBY_SHAPE_BYTES;

	world_u64(&f->w, at + RUBY_SHAPE_ID, id);
	world_u32(&f->w, at + RUBY_SHAPE_NR, nr);
	world_u32(&f->w, at + RUBY_SHAPE_TYPE, type);
	world_u32(&f->w, at + RUBY_SHAPE_PARENT, parent);
}

/* In 3.2 a class's variables are told by its shape. */
static void classes_with_shapes(void **state)
{
	struct fixture *f = *state;
	const uint64_t path = 300 << 4 | 1, attached = 301 << 4 | 1, other = 303 << 4 | 1;

	ruby_layout_of(0x0302, &OWN(ruby_image, f->image)->layout);
	OWN(ruby_image, f->image)->vm_vaddr = VM_WORD - 0x1000;
	world_u64(&f->w, VM_WORD, VM);
	world_u64(&f->w, VM + OWN(ruby_image, f->image)->layout.shapes_of_vm, SHAPES);
	string_of_any_size(f, TEXT(0), "__classpath__");
	string_of_any_size(f, TEXT(1), "__attached__");
	string_of_any_size(f, TEXT(2), "run");
	string_of_any_size(f, TEXT(3), "Shop::Order");
	string_of_any_size(f, TEXT(5), "run");
	string_of_any_size(f, TEXT(7), "no name");
	/* The path is the class's first variable; the second one is a string, too. Number 3 freezes it. */
	shape(f, 1, 0, RUBY_SHAPE_OF_VARIABLE, path, 1);
	shape(f, 2, 1, RUBY_SHAPE_OF_VARIABLE, other, 2);
	shape(f, 3, 2, 2, 0, 2);
	shape(f, 4, 0, RUBY_SHAPE_OF_VARIABLE, attached, 1);
	world_u64(&f->w, CLASS, 3ull << 32 | RUBY_T_CLASS);
	world_u64(&f->w, CLASS + RUBY_CLASS_VALUES, VALUES);
	world_u64(&f->w, VALUES, TEXT(3));
	world_u64(&f->w, VALUES + 8, TEXT(7));
	world_u64(&f->w, SINGLE, 4ull << 32 | RUBY_T_CLASS | 1 << 12);
	world_u64(&f->w, SINGLE + RUBY_CLASS_VALUES, VALUES + 64);
	world_u64(&f->w, VALUES + 64, CLASS);
	world_u64(&f->w, METHOD + 64, 1);
	is_called(f, CLASS, "Shop::Order#run");
	is_called(f, SINGLE, "Shop::Order.run");
	/* A shape that leads to itself. */
	shape(f, 2, 2, RUBY_SHAPE_OF_VARIABLE, other, 2);
	is_called(f, CLASS, "run");
}

/* Since 3.4 another bit says that a class is the one of a single object. */
static void singletons_of_3_4(void **state)
{
	struct fixture *f = *state;
	const struct ruby_layout *l = &OWN(ruby_image, f->image)->layout;

	ruby_layout_of(0x0304, &OWN(ruby_image, f->image)->layout);
	string_of_any_size(f, TEXT(2), "run");
	string_of_any_size(f, TEXT(3), "Shop::Order");
	world_u64(&f->w, CLASS, RUBY_T_CLASS | 1 << 12);
	world_u64(&f->w, CLASS + l->class_path, TEXT(3));
	world_u64(&f->w, SINGLE, RUBY_T_CLASS | 1 << 13);
	world_u64(&f->w, SINGLE + l->class_attached, CLASS);
	world_u64(&f->w, METHOD + 64, 1);
	is_called(f, CLASS, "Shop::Order#run");
	is_called(f, SINGLE, "Shop::Order.run");
}

/* Code of eval is called as the code that it is in. */
static void eval_in_3_4(void **state)
{
	struct fixture *f = *state;
	const uint64_t outer = WORLD_BASE + 0x6800, parent = OWN(ruby_image, f->image)->layout.body_lines + RUBY_LINES_PARENT;

	ruby_world_iseq(&f->w, outer, CODE + 0x400, WORDS, TEXT(5), TEXT(6), LINE);
	ruby_world_string(&f->w, TEXT(7), "<compiled>");
	world_u32(&f->w, BODY + RUBY_BODY_TYPE, RUBY_BODY_OF_EVAL);
	world_u64(&f->w, BODY + RUBY_BODY_LABEL, TEXT(7));
	world_u64(&f->w, BODY + RUBY_BODY_BASE_LABEL, TEXT(2));
	world_u64(&f->w, BODY + parent, outer);
	assert_int_equal(read_code(f, BODY, ruby_body_cookie(CODE, TEXT(7))), 0);
	assert_string_equal(f->c->name, "block in run");
	world_u64(&f->w, BODY + parent, 0);
	assert_true(read_code(f, BODY, ruby_body_cookie(CODE, TEXT(7))) < 0);
}

/* The strings are freed before the body; another string may be there then. */
static void labels_fit_to_each_other(void **state)
{
	struct fixture *f = *state;
	const uint32_t cookie = ruby_body_cookie(CODE, TEXT(5));

	assert_int_equal(read_code(f, BODY, cookie), 0);
	ruby_world_string(&f->w, TEXT(5), "block in run_2");
	assert_int_equal(read_code(f, BODY, cookie), -ESTALE);
	ruby_world_string(&f->w, TEXT(5), "un");
	assert_int_equal(read_code(f, BODY, cookie), -ESTALE);
	/* One string for both, as methods have. */
	world_u64(&f->w, BODY + RUBY_BODY_BASE_LABEL, TEXT(5));
	assert_int_equal(read_code(f, BODY, cookie), 0);
}

static void methods_in_c(void **state)
{
	struct fixture *f = *state;
	struct runtime_line line;

	world_u64(&f->w, METHOD + 64, 1);
	is_called(f, MODULE, "Countable#run");
	assert_null(f->c->file);
	assert_int_equal(runtime_code_lines(f->c, 0 - (uint32_t)METHOD, &line, 1), 1);
	assert_int_equal(line.line, 0);
	assert_int_equal(line.tier, TIER_BUILTIN);
}

static void other_code(void **state)
{
	struct fixture *f = *state;
	const uint32_t cookie = ruby_body_cookie(CODE, TEXT(5));
	uint32_t line;

	assert_int_equal(read_code(f, BODY, cookie), 0);
	assert_string_equal(f->c->name, "block in run");
	assert_int_equal(runtime_code_line(f->c, (uint32_t)(CODE + 8 - BODY), &line), 0);
	assert_int_equal(line, LINE + 1);
	/* The path may be the first one of two. */
	ruby_world_array(&f->w, TEXT(8), 2, TEXT(9));
	world_u64(&f->w, TEXT(9), TEXT(6));
	world_u64(&f->w, BODY + RUBY_BODY_PATH, TEXT(8));
	assert_int_equal(read_code(f, BODY, cookie), 0);
	assert_string_equal(f->c->file, "/srv/shop/app/models/order.rb");
}

static void what_is_gone_has_no_name(void **state)
{
	struct fixture *f = *state;
	const uint32_t cookie = ruby_body_cookie(CODE, TEXT(5));

	assert_int_equal(read_code(f, METHOD, SERIAL + 1), -ESTALE);
	assert_int_equal(read_code(f, BODY, cookie + 8), -ESTALE);
	world_u64(&f->w, METHOD, RUBY_T_STRING);
	assert_int_equal(read_code(f, METHOD, SERIAL), -ESTALE);
	world_u32(&f->w, BODY + RUBY_BODY_TYPE, 9);
	assert_int_equal(read_code(f, BODY, cookie), -ESTALE);
}

/* The symbol's entry is that of another one. */
static void symbols_are_checked(void **state)
{
	struct fixture *f = *state;

	world_u64(&f->w, RUBY_ID_WORDS + 302 * 16 + 8, 0xc);
	assert_int_equal(read_code(f, METHOD, SERIAL), -ESTALE);
}

/* Whichever read fails, and whenever the definition or the body changes: never a wrong name. */
static void changes_and_failures_while_reading(void **state)
{
	struct fixture *f = *state;
	unsigned all;

	assert_int_equal(read_code(f, METHOD, SERIAL), 0);
	all = f->w.reads;
	assert_true(all > 10);
	for (unsigned i = 1; i <= all; i++) {
		f->w.reads = 0;
		f->w.fail_at = i;
		f->w.error = -EIO;
		if (!read_code(f, METHOD, SERIAL))
			assert_true(!strcmp(f->c->name, "Shop::Order#run") || !strcmp(f->c->name, "run"));
	}
	f->w.fail_at = 0;
	f->w.change_at = METHOD + 64 + RUBY_DEFINITION_SERIAL;
	f->w.change_to = SERIAL + 5;
	for (unsigned i = 3; i <= all; i++) {
		world_u64(&f->w, f->w.change_at, SERIAL);
		f->w.reads = 0;
		f->w.change_before = i;
		assert_int_equal(read_code(f, METHOD, SERIAL), -ESTALE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(methods, setup, teardown),
		cmocka_unit_test_setup_teardown(classes_with_shapes, setup, teardown),
		cmocka_unit_test_setup_teardown(singletons_of_3_4, setup, teardown),
		cmocka_unit_test_setup_teardown(eval_in_3_4, setup, teardown),
		cmocka_unit_test_setup_teardown(labels_fit_to_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(methods_in_c, setup, teardown),
		cmocka_unit_test_setup_teardown(other_code, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_gone_has_no_name, setup, teardown),
		cmocka_unit_test_setup_teardown(symbols_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_and_failures_while_reading, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
