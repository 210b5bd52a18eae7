/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/probes/source_lines.h"

/* The line of a statement of this very program, and what is around it. */
enum { MARKED_LINE = __LINE__ + 3 };
static int marked(int n)
{
	int r = n * 3;

	return r + 1;
}

static int on_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;		/* the program itself comes first */
}

static uint64_t address_of_marked(void)
{
	uint64_t base = 0;

	dl_iterate_phdr(on_object, &base);
	return (uint64_t)(uintptr_t)marked - base;
}

struct opened {
	int fd;
	Elf *elf;
};

static int setup(void **state)
{
	static struct opened o;

	elf_version(EV_CURRENT);
	o.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	o.elf = o.fd < 0 ? NULL : elf_begin(o.fd, ELF_C_READ, NULL);
	*state = &o;
	return !o.elf;
}

static int teardown(void **state)
{
	struct opened *o = *state;

	elf_end(o->elf);
	close(o->fd);
	return 0;
}

static void test_line_of_this_file(void **state)
{
	static const char *const names[] = { "test_source_lines.c", "unit/test_source_lines.c",
					     "tests/unit/test_source_lines.c" };
	struct opened *o = *state;
	uint64_t begin = address_of_marked();

	assert_int_equal(marked(2), 7);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct source_lines l;

		assert_int_equal(source_lines_find(o->elf, names[i], MARKED_LINE, &l), 0);
		assert_int_equal(l.nr, 1);
		assert_in_range(l.v[0], begin, begin + 64);
		source_lines_free(&l);
	}
}

static void test_other_lines_and_files(void **state)
{
	struct opened *o = *state;
	struct source_lines l;

	assert_int_equal(source_lines_find(o->elf, "test_source_lines.c", MARKED_LINE + 1, &l), 0);
	assert_int_equal(l.nr, 0);
	assert_int_equal(l.next, MARKED_LINE + 2);		/* the return statement */
	source_lines_free(&l);
	assert_int_equal(source_lines_find(o->elf, "source_lines.c", MARKED_LINE, &l), 0);
	for (size_t i = 0; i < l.nr; i++)		/* another file, if this line has code there */
		assert_not_in_range(l.v[i], address_of_marked(), address_of_marked() + 64);
	source_lines_free(&l);
	assert_int_equal(source_lines_find(o->elf, "no_such_file.c", 1, &l), 0);
	assert_int_equal(l.nr, 0);
	assert_int_equal(l.next, 0);
	source_lines_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_of_this_file),
		cmocka_unit_test(test_other_lines_and_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
