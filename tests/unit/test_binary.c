/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "src/model/binary.h"

/* One executable segment mapped at start from the file's page pgoff: address -> virtual address. */
struct layout {
	const char *name;
	struct rec_segment segments[3];
	uint32_t nr;
	struct {
		uint64_t start, pgoff_bytes;	/* of the mapping */
		uint64_t addr, vaddr;
	} cases[4];
};

static const struct layout layouts[] = {
	{ "PIE, segments in pages of their own",
	  { { 0x1000, 0x1000, 0x5000 } },
	  1,
	  { { 0x555500001000, 0x1000, 0x555500001234, 0x1234 },
	    { 0x555500001000, 0x1000, 0x555500005fff, 0x5fff },
	    { 0x555500003000, 0x3000, 0x555500003010, 0x3010 } } }, /* cut by mprotect() */
	{ "not a PIE",
	  { { 0x1000, 0x401000, 0x800 } },
	  1,
	  { { 0x401000, 0x1000, 0x401234, 0x401234 } } },
	{ "not a PIE, text is the first segment, headers in it",
	  { { 0, 0x400000, 0x1234 } },
	  1,
	  { { 0x400000, 0, 0x400abc, 0x400abc } } },
	{ "lld: the page of the file holds the end of the read-only segment too",
	  { { 0x6d0, 0x16d0, 0x1b0 } },
	  1,
	  { { 0x7f0000001000, 0, 0x7f00000016d0, 0x16d0 },
	    { 0x7f0000001000, 0, 0x7f0000001700, 0x1700 } } },
	{ "lld, larger: offset and address differ, also in the page",
	  { { 0x12340, 0x15340, 0x8000 } },
	  1,
	  { { 0x7f0000015000, 0x12000, 0x7f0000015340, 0x15340 } } },
	{ "gold, text two megabytes above",
	  { { 0x200000, 0x600000, 0x100 } },
	  1,
	  { { 0x7f0000600000, 0x200000, 0x7f0000600080, 0x600080 } } },
	{ "several executable segments",
	  { { 0x1000, 0x1000, 0x1000 }, { 0x8000, 0x208000, 0x2000 } },
	  2,
	  { { 0x7f0000001000, 0x1000, 0x7f0000001010, 0x1010 },
	    { 0x7f0000208000, 0x8000, 0x7f0000208010, 0x208010 },
	    { 0x7f0000209000, 0x9000, 0x7f0000209010, 0x209010 } } },
	{ "two executable segments meet in a page of the file: the second one begins there",
	  { { 0x1000, 0x1000, 0x1800 }, { 0x2800, 0x402800, 0x1000 } },
	  2,
	  { { 0x7f0000001000, 0x1000, 0x7f0000001800, 0x1800 },
	    { 0x7f0000402000, 0x2000, 0x7f0000402800, 0x402800 } } },
	{ "an empty one among them",
	  { { 0x1800, 0x9800, 0 }, { 0x1000, 0x1000, 0x1000 } },
	  2,
	  { { 0x7f0000001000, 0x1000, 0x7f0000001010, 0x1010 } } },
	{ "no ELF file: the offset in the file",
	  { { 0, 0, 0 } },
	  0,
	  { { 0x7f0000004000, 0x3000, 0x7f0000004010, 0x3010 } } },
	{ "a part that no segment names",
	  { { 0x1000, 0x5000, 0x1000 } },
	  1,
	  { { 0x7f0000009000, 0x9000, 0x7f0000009010, 0x9010 } } },
};

static void test_to_vaddr(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		const struct layout *l = &layouts[i];
		struct rec_segment segments[3];
		struct binary b = { .segments = segments, .nr_segments = l->nr };

		memcpy(segments, l->segments, sizeof(segments));
		for (size_t k = 0; k < 4 && l->cases[k].start; k++) {
			uint64_t add =
				binary_to_vaddr(&b, l->cases[k].start, l->cases[k].pgoff_bytes);

			if (l->cases[k].addr + add != l->cases[k].vaddr)
				print_error("%s, case %zu\n", l->name, k);
			assert_int_equal(l->cases[k].addr + add, l->cases[k].vaddr);
		}
	}
}

static void test_identity(void **state)
{
	struct file_id id = { .dev = 8, .ino = 77, .size_bytes = 1000, .mtime_ns = 5 }, other,
		       none = { 0 };
	struct binary *a, *b, *vdso;
	struct binaries bs;

	(void)state;
	assert_int_equal(binaries_init(&bs), 0);
	assert_null(binaries_find(&bs, &id));
	assert_null(binaries_get(&bs, 0));
	assert_null(binaries_get(&bs, 1));
	a = binaries_add(&bs, &id, "/usr/bin/one", BINARY_ELF);
	assert_int_equal(a->index, 1);
	assert_string_equal(a->path, "/usr/bin/one");
	assert_ptr_equal(binaries_find(&bs, &id), a);
	assert_ptr_equal(binaries_get(&bs, 1), a);

	/* An inode number that is used again is another file. */
	for (int field = 0; field < 4; field++) {
		other = id;
		other.dev += field == 0;
		other.ino += field == 1;
		other.size_bytes += field == 2;
		other.mtime_ns += field == 3;
		assert_null(binaries_find(&bs, &other));
	}
	other = id;
	other.mtime_ns = 6;
	b = binaries_add(&bs, &other, "/usr/bin/one", BINARY_ELF);
	assert_int_equal(b->index, 2);
	assert_ptr_equal(binaries_find(&bs, &id), a);
	assert_ptr_equal(binaries_find(&bs, &other), b);
	assert_ptr_equal(binaries_find_inode(&bs, 8, 77, "/usr/bin/one"), b);
	assert_null(binaries_find_inode(&bs, 8, 77, "/usr/bin/two"));
	assert_null(binaries_find_inode(&bs, 9, 77, "/usr/bin/one"));

	/* What is no file has no identity to be found by. */
	vdso = binaries_add(&bs, &none, "[vdso]", BINARY_VDSO);
	assert_int_equal(vdso->index, 3);
	assert_null(binaries_find(&bs, &none));
	binaries_release(&bs);
}

static void test_many(void **state)
{
	struct binaries bs;

	(void)state;
	assert_int_equal(binaries_init(&bs), 0);
	for (uint32_t i = 1; i <= 5000; i++) {
		struct file_id id = {
			.dev = i % 3, .ino = i / 3 + 1, .size_bytes = 4096, .mtime_ns = 1
		};
		struct binary *b = binaries_add(&bs, &id, "/lib/x.so", BINARY_ELF);

		assert_int_equal(b->index, i);
	}
	for (uint32_t i = 1; i <= 5000; i++) {
		struct file_id id = {
			.dev = i % 3, .ino = i / 3 + 1, .size_bytes = 4096, .mtime_ns = 1
		};

		assert_int_equal(binaries_find(&bs, &id)->index, i);
	}
	binaries_release(&bs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_vaddr),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
