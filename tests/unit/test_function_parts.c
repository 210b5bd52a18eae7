/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of functions, by the symbols that the compiler gave them: a part of f is f.cold. The file is this test's own program
 * (or that in PARTS_OF): its functions below have parts, and no function may have any other.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/runtimes/function_parts.h"
#include "tests/unit/elf_oracle.h"

#define MAX_PARTS 16

static const char *program;

struct found {
	size_t functions, parts;
};

/* Functions that rarely do something, and then go on. */
volatile int rare;
void __attribute__((cold, noinline)) do_rarely(int);
void do_rarely(int n) { rare = n; }
#define WITH_PART(name) \
	int __attribute__((noinline, optimize("O2"))) name(int n); \
	int name(int n) \
	{ \
		for (int i = 0; i < n; i++) { \
			if (__builtin_expect(n * i == 77, 0)) { \
				do_rarely(i); \
				n -= rare; \
			} \
			rare += i; \
		} \
		return n; \
	}
WITH_PART(part_a) WITH_PART(part_b) WITH_PART(part_c)

static bool is_cold_of(const struct oracle *o, uint64_t addr, const char *name)
{
	char cold[512];

	snprintf(cold, sizeof(cold), "%s.cold", name);
	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].addr == addr && !strcmp(o->v[i].name, cold))
			return true;
	return false;
}

static void check_function(struct elf_image *img, int fd, const struct oracle *o, const struct oracle_symbol *f,
			   struct found *found)
{
	struct function_range parts[MAX_PARTS];
	int nr = function_parts_find(img, fd, NULL, f->addr, f->size, parts, MAX_PARTS);

	assert_in_range(nr, 1, MAX_PARTS);
	assert_true(parts[0].lo == f->addr && parts[0].hi == f->addr + f->size);
	found->functions++;
	found->parts += (size_t)nr - 1;
	for (int i = 1; i < nr; i++)
		if (!is_cold_of(o, parts[i].lo, f->name))
			fail_msg("%s: no part of %s is at %#lx", program, f->name, (unsigned long)parts[i].lo);
}

static void only_cold_parts_are_found(void **state)
{
	struct oracle o = { 0 };
	struct found found = { 0 };
	struct elf_image *img;
	int fd = open(program, O_RDONLY | O_CLOEXEC);

	(void)state;
	oracle_functions(&o, program);
	assert_int_equal(elf_image_open(fd, &img), 0);
	for (size_t i = 0; i < o.nr && found.functions < 3000; i++)
		if (o.v[i].size && !strstr(o.v[i].name, ".cold") && !strstr(o.v[i].name, ".part"))
			check_function(img, fd, &o, &o.v[i], &found);
	elf_image_close(img);
	close(fd);
	oracle_release(&o);
	assert_true(found.functions >= 5);
	assert_true(found.parts >= 3 || getenv("PARTS_OF"));
	print_message("%zu functions, %zu parts\n", found.functions, found.parts);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(only_cold_parts_are_found) };

	(void)argc;
	part_a(part_b(part_c(3)));
	program = getenv("PARTS_OF") ? getenv("PARTS_OF") : argv[0];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
