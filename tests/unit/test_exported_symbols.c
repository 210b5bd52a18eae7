/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that a file exports: compared with what `nm -D` lists, by the hash table and, where that is missing or damaged,
 * by a search. Small libraries made here have the table that ld writes, none (--hash-style=sysv), and a damaged one.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "src/elf/exported_symbols.h"
#include "src/elf/gnu_hash.h"
#include "tests/unit/elf_oracle.h"

#define NR_FUNCTIONS 300	/* more than a piece of a chain, in one bucket at best */

static char dir[] = "/tmp/probee-exported.XXXXXX";

static struct elf_image *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);	/* stays open until the test program ends */
	struct elf_image *img = NULL;

	if (fd < 0 || elf_image_open(fd, &img))
		fail_msg("open %s", path);
	return img;
}

static void oracle_exported(struct oracle *o, const char *path)
{
	FILE *f = run_tool("nm -D --defined-only '%s' 2>/dev/null", path);
	char line[8400], name[8192], type;
	unsigned long long addr;

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %c %8191s", &addr, &type, name) == 3 && type != 'A')
			oracle_push(o, addr, 0, name);
	pclose(f);
}

/* A name may have several versions, each with an address of its own. */
static bool has(const struct oracle *o, const char *name, uint64_t addr)
{
	for (size_t i = 0; i < o->nr; i++)
		if (o->v[i].addr == addr && !strcmp(o->v[i].name, name))
			return true;
	return false;
}

static size_t check_exported(const char *path)
{
	struct elf_image *img = open_file(path);
	struct oracle o = { 0 };
	size_t nr;

	oracle_exported(&o, path);
	for (size_t i = 0; i < o.nr; i++) {
		char other[8300];
		struct exported_symbol v[] = { { .name = o.v[i].name }, { .name = other } };

		snprintf(other, sizeof(other), "%s_", o.v[i].name);
		assert_int_equal(exported_symbols_find(img, v, 2), 0);
		if (!has(&o, o.v[i].name, v[0].vaddr))
			fail_msg("%s: %s at %#lx", path, o.v[i].name, (unsigned long)v[0].vaddr);
		if (v[1].vaddr && !has(&o, other, v[1].vaddr))
			fail_msg("%s: %s is not there", path, other);
	}
	elf_image_close(img);
	nr = o.nr;
	oracle_release(&o);
	return nr;
}

static void test_files(void **state)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6" };
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!access(paths[i], R_OK))
			nr += check_exported(paths[i]);
	assert_true(nr > 1000);
}

static void make_library(const char *name, const char *style, char path[128])
{
	char cmd[512];
	FILE *f;

	snprintf(path, 128, "%s/%s.c", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < NR_FUNCTIONS; i++)
		fprintf(f, "int exported_%d(void) { return %d; }\n", i, i);
	assert_int_equal(fclose(f), 0);
	snprintf(cmd, sizeof(cmd), "gcc -shared -fPIC -Wl,--hash-style=%s -o %s/%s.so %s", style, dir, name, path);
	assert_int_equal(system(cmd), 0);
	snprintf(path, 128, "%s/%s.so", dir, name);
}

static void test_styles(void **state)
{
	static const char *const styles[] = { "gnu", "sysv", "both" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct gnu_hash h;
		struct elf_image *img;
		char path[128];

		make_library(styles[i], styles[i], path);
		img = open_file(path);
		assert_int_equal(gnu_hash_open(img, &h), i == 1 ? -ENOENT : 0);
		elf_image_close(img);
		assert_true(check_exported(path) >= NR_FUNCTIONS);
	}
}

static void *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	void *p = malloc(1 << 20);

	assert_true(f && p);
	*len = fread(p, 1, 1 << 20, f);
	assert_int_equal(fclose(f), 0);
	return p;
}

/* Each of the table's first bytes, with each of some values: whatever is said, the look-up ends. */
static void test_damaged(void **state)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0xff };
	struct elf_section s;
	char path[128];
	size_t len;
	uint8_t *bytes;
	struct elf_image *img;

	(void)state;
	make_library("damaged", "gnu", path);
	bytes = read_file(path, &len);
	img = open_file(path);
	assert_int_equal(elf_image_section(img, ".gnu.hash", &s), 0);
	elf_image_close(img);
	for (uint64_t i = s.offset; i < s.offset + s.size && i < s.offset + 600; i++) {
		uint8_t before = bytes[i];

		for (size_t k = 0; k < sizeof(values); k++) {
			struct exported_symbol v[] = { { .name = "exported_7" }, { .name = "nothing" } };

			bytes[i] = values[k];
			assert_int_equal(elf_image_open_memory(bytes, len, &img), 0);
			assert_int_equal(exported_symbols_find(img, v, 2), 0);
			assert_int_equal(v[1].vaddr, 0);
			elf_image_close(img);
		}
		bytes[i] = before;
	}
	free(bytes);
}

/* A header that cannot be: the names are found by a search. */
static void test_impossible_head(void **state)
{
	struct exported_symbol v = { .name = "exported_7" };
	struct elf_section s;
	struct elf_image *img;
	char path[128];
	uint8_t *bytes;
	size_t len;

	(void)state;
	make_library("impossible", "gnu", path);
	bytes = read_file(path, &len);
	assert_int_equal(elf_image_open_memory(bytes, len, &img), 0);
	assert_int_equal(elf_image_section(img, ".gnu.hash", &s), 0);
	memset(bytes + s.offset, 0xff, 16);
	assert_int_equal(exported_symbols_find(img, &v, 1), 0);
	assert_true(v.vaddr != 0);
	elf_image_close(img);
	free(bytes);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char cmd[128];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_impossible_head),
	};

	if (!have_tool("nm") || !have_tool("gcc")) {
		printf("SKIP: nm or gcc is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
