/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of unwind tables against whole tables of the same files: this program, and the largest
 * libraries of the machine by kind. FILES in the environment: these files instead, all pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/elf_unwind/elf_unwind_part.h"
#include "src/elf_unwind/elf_unwind_table.h"

#define MAX_PICKED 96		/* pages of a file that the test looks at */

struct counts {
	uint64_t rows, guessed, guessed_missing, wrong;
};

static bool same(struct unwind_rule a, struct unwind_rule b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static void compare_at(const struct unwind_table *whole, const struct unwind_table *part,
		       uint64_t vaddr, struct counts *c)
{
	struct unwind_rule a = unwind_table_find(whole, vaddr), b = unwind_table_find(part, vaddr);

	c->rows++;
	if (a.ra & RULE_GUESSED || b.ra & RULE_GUESSED) {
		c->guessed++;
		c->guessed_missing += !same(a, b);
	} else if (!same(a, b)) {
		if (!c->wrong++)
			printf("at %lx: cfa %u %d, not %u %d\n", (long)vaddr, b.cfa, b.cfa_off, a.cfa,
			       a.cfa_off);
	}
}

/* Compares at each row of either table, and before it. */
static void compare_page(const struct unwind_table *whole, const struct unwind_table *part,
			 uint32_t page, struct counts *c)
{
	const struct unwind_table *both[] = { whole, part };
	uint64_t base = part->vaddr_lo + ((uint64_t)page << UNWIND_PAGE_SHIFT);

	compare_at(whole, part, base, c);
	compare_at(whole, part, base + 0xffff, c);
	for (int k = 0; k < 2; k++) {
		const struct unwind_table *t = both[k];

		for (uint32_t i = 0; page < t->nr_pages && i < t->pages[page].nr; i++) {
			uint64_t at = base + t->rows[t->pages[page].first + i].pc_lo;

			compare_at(whole, part, at, c);
			if (at > base)
				compare_at(whole, part, at - 1, c);
		}
	}
}

/* Every page, or about MAX_PICKED of them: alone and in neighbours. */
static size_t pick(uint32_t nr_pages, bool all, uint32_t **pages)
{
	uint32_t step = all || nr_pages < MAX_PICKED ? 1 : nr_pages / MAX_PICKED;
	size_t nr = 0;

	*pages = calloc(nr_pages + 1, sizeof(**pages));
	assert_non_null(*pages);
	for (uint32_t i = 0; i < nr_pages; i++)
		if (i / step * step == i || (i % (7 * step) == 1))
			(*pages)[nr++] = i;
	return nr;
}

static void compare_all(const struct unwind_table *whole, const struct unwind_table *part,
			const uint32_t *pages, size_t nr, const char *path)
{
	struct counts c = { 0 };
	uint32_t present = 0;

	for (uint32_t i = 0; i < part->nr_pages; i++)
		present += part->pages[i].first != UNWIND_PAGE_ABSENT;
	assert_int_equal(present, nr);
	assert_true(unwind_table_is_sound(part));
	for (size_t i = 0; i < nr; i++)
		compare_page(whole, part, pages[i], &c);
	if (getenv("FILES"))
		printf("%s: %zu pages, %lu places, %lu by code (%lu differ), %lu wrong\n", path, nr,
		       (long)c.rows, (long)c.guessed, (long)c.guessed_missing, (long)c.wrong);
	assert_int_equal(c.wrong, 0);
	assert_true(getenv("FILES") || c.guessed_missing <= c.guessed / 10 + 4);
}

/* -ENOTSUP: the file has to be read as a whole. */
static int try_file(const char *path)
{
	struct unwind_table *whole = NULL, *part = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_image *img;
	uint32_t *pages;
	size_t nr;
	int err;

	if (fd < 0 || elf_image_open(fd, &img)) {
		close(fd);
		return -ENOENT;
	}
	err = unwind_part_from_image(img, fd, NULL, 0, &part);
	if (!err) {
		assert_false(part->nr_pages && unwind_table_is_whole(part));
		assert_int_equal(unwind_table_from_image(img, &whole), 0);
		nr = pick(part->nr_pages, getenv("FILES"), &pages);
		unwind_table_free(part);
		assert_int_equal(unwind_part_from_image(img, fd, pages, nr, &part), 0);
		compare_all(whole, part, pages, nr, path);
		free(pages);
	}
	unwind_table_free(whole);
	unwind_table_free(part);
	elf_image_close(img);
	close(fd);
	return err;
}

static void test_files(void **state)
{
	static const char *const files[] = {
		"/proc/self/exe",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/aarch64-linux-gnu/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/bin/bash",
	};
	char *more = getenv("FILES"), *path;
	size_t done = 0;

	(void)state;
	for (size_t i = 0; !more && i < sizeof(files) / sizeof(files[0]); i++)
		done += !try_file(files[i]);
	for (path = more ? strtok(more, " \n") : NULL; path; path = strtok(NULL, " \n"))
		done += !try_file(path);
	assert_true(done > 0);
}

/* Bytes that this process has read by now. */
static uint64_t bytes_read(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	uint64_t n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "rchar: %" SCNu64, &n), 1);
	fclose(f);
	return n;
}

/* Bytes that are read for these pages. */
static uint64_t bytes_for(struct elf_image *img, int fd, const uint32_t *pages, size_t nr)
{
	struct unwind_table *part = NULL;
	uint64_t before = bytes_read();

	assert_int_equal(unwind_part_from_image(img, fd, pages, nr, &part), 0);
	unwind_table_free(part);
	return bytes_read() - before;
}

/* Symbols and constants of a file are read once for all pages that lie apart. */
static void test_reads_once(void **state)
{
	int fd = open("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", O_RDONLY | O_CLOEXEC);
	uint32_t pages[256];
	struct unwind_table *none = NULL;
	uint64_t alone = 0, together;
	struct elf_image *img;
	size_t nr = 0;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(elf_image_open(fd, &img), 0);
	assert_int_equal(unwind_part_from_image(img, fd, NULL, 0, &none), 0);
	for (uint32_t page = 0; page < none->nr_pages && nr < 256; page += 2)
		pages[nr++] = page;
	for (size_t i = 0; i < nr; i++)
		alone += bytes_for(img, fd, &pages[i], 1);
	together = bytes_for(img, fd, pages, nr);
	assert_true(alone > 4u << 20);
	assert_true(together < alone / 2);
	unwind_table_free(none);
	elf_image_close(img);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_reads_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
