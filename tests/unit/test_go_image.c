/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Against the Go programs that are on this machine, as they are, stripped, and without section headers. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/io.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/elf/go_image.h"

#define MAX_FILE (256u << 20)

struct fixture {
	char *file;
	size_t len;
	struct cfi_rows rows;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cfi_rows_release(&f->rows);
	free(f->file);
	free(f);
	return 0;
}

static void load(struct fixture *f, const char *path)
{
	ssize_t n = io_read_file(path, &f->file, MAX_FILE);

	assert_true(n > 0);
	f->len = (size_t)n;
}

static void load_go(struct fixture *f)
{
	static const char *const paths[] = { "/usr/local/go/bin/gofmt", "/usr/lib/go/bin/gofmt", "/usr/bin/gofmt" };

	for (size_t i = 0; i < 3; i++) {
		if (!access(paths[i], R_OK)) {
			load(f, paths[i]);
			return;
		}
	}
	skip();
}

static int find(struct fixture *f, struct go_image *go)
{
	struct elf_image *img;
	int err = elf_image_open_memory(f->file, f->len, &img);

	assert_int_equal(err, 0);
	err = go_image_find(img, go);
	elf_image_close(img);
	return err;
}

static int rows_of(struct fixture *f, struct cfi_rows *rows)
{
	struct elf_image *img;
	int err = elf_image_open_memory(f->file, f->len, &img);

	assert_int_equal(err, 0);
	err = go_rows_from_image(img, rows);
	elf_image_close(img);
	return err;
}

static void drop_sections(struct fixture *f)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)f->file;

	eh->e_shoff = 0;
	eh->e_shnum = eh->e_shstrndx = 0;
}

static void test_program(void **state)
{
	struct fixture *f = *state;
	struct go_image go;

	load_go(f);
	assert_int_equal(find(f, &go), 0);
	assert_true(go.text_vaddr && go.size > 1000);
	assert_int_equal(rows_of(f, &f->rows), 0);
	assert_true(f->rows.nr > 1000);
	assert_int_equal(f->rows.stats.bad_entries, 0);
}

static void test_without_sections(void **state)
{
	struct cfi_rows rows = { 0 };
	struct fixture *f = *state;
	struct go_image go, bare;

	load_go(f);
	assert_int_equal(find(f, &go), 0);
	assert_int_equal(rows_of(f, &f->rows), 0);
	drop_sections(f);
	assert_int_equal(find(f, &bare), 0);
	assert_int_equal(bare.vaddr, go.vaddr);
	assert_int_equal(bare.offset, go.offset);
	assert_int_equal(bare.text_vaddr, go.text_vaddr);
	assert_int_equal(rows_of(f, &rows), 0);
	assert_int_equal(rows.nr, f->rows.nr);
	assert_memory_equal(rows.v, f->rows.v, rows.nr * sizeof(*rows.v));
	cfi_rows_release(&rows);
}

static void test_no_go(void **state)
{
	struct fixture *f = *state;
	struct go_image go;

	load(f, "/proc/self/exe");
	assert_int_equal(find(f, &go), -ENOENT);
	assert_int_equal(rows_of(f, &f->rows), -ENOENT);
	drop_sections(f);
	assert_int_equal(find(f, &go), -ENOENT);
}

static void test_damaged_header(void **state)
{
	struct fixture *f = *state;
	struct go_image go, damaged;

	load_go(f);
	assert_int_equal(find(f, &go), 0);
	f->file[go.offset] ^= 8;	/* a version that nobody knows */
	assert_int_equal(find(f, &damaged), -ENOENT);
	f->file[go.offset] ^= 8;
	f->file[go.offset + 15] = 1;	/* more functions than bytes */
	assert_int_equal(find(f, &damaged), -ENOENT);
}

/* gofmt has no .eh_frame: its table is these rows. */
static void test_table_has_what_the_rows_say(void **state)
{
	struct fixture *f = *state;
	struct elf_image *img;
	struct unwind_table *t;

	load_go(f);
	assert_int_equal(rows_of(f, &f->rows), 0);
	assert_int_equal(elf_image_open_memory(f->file, f->len, &img), 0);
	assert_int_equal(unwind_table_from_image(img, &t), 0);
	for (size_t i = 0; i < f->rows.nr; i += 7) {
		struct unwind_rule got = unwind_table_find(t, f->rows.v[i].vaddr);

		assert_memory_equal(&got, &f->rows.v[i].rule, sizeof(got));
	}
	unwind_table_free(t);
	elf_image_close(img);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_program),
		TEST(test_without_sections),
		TEST(test_no_go),
		TEST(test_damaged_header),
		TEST(test_table_has_what_the_rows_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
