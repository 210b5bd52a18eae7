/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/elf/elf_image.h"
#include "src/elf/packed_section.h"
#include "src/elf/plain_elf.h"
#include "tests/unit/packed_file.h"

#define INFO_BYTES 9000

static uint8_t info[INFO_BYTES];
static const char strings[] = "\0one\0two";

static int fill_info(void **state)
{
	(void)state;
	for (size_t i = 0; i < INFO_BYTES; i++)
		info[i] = (uint8_t)(i * i / 97);
	return 0;
}

static int put_file(const struct packed_file *f)
{
	int fd = memfd_create("packed", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, f->b.v, f->b.nr, 0), f->b.nr);
	return fd;
}

/* A file in which .debug_info is compressed in one way; its name is that of the old form if so. */
static void make(struct packed_file *f, bool is64, enum packed_how how)
{
	packed_begin(f, is64);
	packed_add(f, ".text", HOW_PLAIN, "code", 4)->sh_flags |= SHF_ALLOC | SHF_EXECINSTR;
	packed_add(f, how == HOW_GNU ? ".zdebug_info" : ".debug_info", how, info, sizeof(info));
	packed_add(f, ".debug_loc", HOW_ZLIB, info, sizeof(info));
	packed_add(f, ".strtab", HOW_PLAIN, strings, sizeof(strings));
	packed_end(f);
}

/* The data of a section of this name; NULL: it has none. */
static const Elf_Data *data_of(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		assert_non_null(gelf_getshdr(scn, &sh));
		assert_false(sh.sh_flags & SHF_COMPRESSED);
		if (!strcmp(elf_strptr(elf, names, sh.sh_name), name))
			return sh.sh_type == SHT_NOBITS ? NULL : elf_getdata(scn, NULL);
	}
	return NULL;
}

static void check_data(Elf *elf, const char *name, const void *bytes, size_t len)
{
	const Elf_Data *d = data_of(elf, name);

	assert_non_null(d);
	assert_int_equal(d->d_size, len);
	assert_memory_equal(d->d_buf, bytes, len);
}

static void check_image(int fd, enum packed_how how)
{
	struct elf_image *img;
	struct elf_section s;
	void *bytes = NULL;
	char piece[16];
	int err;

	assert_int_equal(elf_image_open(fd, &img), 0);
	err = elf_image_section(img, ".debug_info", &s);
	assert_int_equal(err, how == HOW_UNKNOWN ? -ENOTSUP : 0);
	assert_int_equal(img->unknown_packing, how == HOW_UNKNOWN ? PACKED_UNKNOWN_TYPE : 0);
	if (!err) {
		assert_int_equal(s.size, sizeof(info));
		assert_int_equal(s.is_unpacked, how != HOW_PLAIN);
		assert_int_equal(elf_image_read(img, s.offset, s.size, s.size - 1, &bytes), -EFBIG);
		assert_int_equal(elf_image_read(img, s.offset, s.size, s.size, &bytes), 0);
		assert_memory_equal(bytes, info, sizeof(info));
		free(bytes);
		assert_int_equal(elf_image_pread(img, piece, 16, s.offset + s.size - 4),
				 how == HOW_PLAIN ? 16 : 4);
		assert_memory_equal(piece, info + sizeof(info) - 4, 4);
	}
	elf_image_close(img);
}

static void check_form(bool is64, enum packed_how how)
{
	struct packed_file f;
	struct plain_elf *p;
	int fd;

	make(&f, is64, how);
	fd = put_file(&f);
	assert_int_equal(plain_elf_open(fd, PLAIN_ALL, &p), 0);
	if (how == HOW_UNKNOWN)
		assert_null(data_of(plain_elf_get(p), ".debug_info"));
	else
		check_data(plain_elf_get(p), ".debug_info", info, sizeof(info));
	assert_int_equal(plain_elf_unknown_packing(p), how == HOW_UNKNOWN ? PACKED_UNKNOWN_TYPE : 0);
	assert_null(data_of(plain_elf_get(p), ".debug_loc"));
	check_data(plain_elf_get(p), ".text", "code", 4);
	check_data(plain_elf_get(p), ".strtab", strings, sizeof(strings));
	plain_elf_rest(p);
	check_data(plain_elf_get(p), ".text", "code", 4);
	plain_elf_close(p);
	check_image(fd, how);
	close(fd);
	packed_release(&f);
}

static void test_forms(void **state)
{
	(void)state;
	for (unsigned how = 0; how < HOWS; how++) {
		check_form(true, how);
		check_form(false, how);
	}
}

static void test_names_alone(void **state)
{
	struct packed_file f;
	struct plain_elf *p;
	int fd;

	(void)state;
	packed_begin(&f, true);
	packed_add(&f, ".debug_info", HOW_ZLIB, info, sizeof(info));
	packed_add(&f, ".strtab", HOW_ZSTD, strings, sizeof(strings));
	packed_end(&f);
	fd = put_file(&f);
	assert_int_equal(plain_elf_open(fd, PLAIN_NAMES, &p), 0);
	assert_null(data_of(plain_elf_get(p), ".debug_info"));
	check_data(plain_elf_get(p), ".strtab", strings, sizeof(strings));
	plain_elf_close(p);
	close(fd);
	packed_release(&f);
}

/* Writes a size into the header of .debug_info. */
static void claim(struct packed_file *f, uint64_t size)
{
	memcpy(f->b.v + f->sh[2].sh_offset + offsetof(Elf64_Chdr, ch_size), &size, sizeof(size));
}

/* What the header says is neither believed nor written beyond. */
static void test_sizes_that_are_wrong(void **state)
{
	static const uint64_t sizes[] = { 0, 1, INFO_BYTES - 1, INFO_BYTES + 1, 1u << 20, 1ull << 31, 1ull << 62,
					  UINT64_MAX };
	static const enum packed_how hows[] = { HOW_ZLIB, HOW_ZSTD };
	struct packed_file f;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint64_t size = sizes[i / 2];
		struct elf_image *img;
		struct elf_section s;
		struct plain_elf *p;
		void *bytes;
		int fd;

		make(&f, true, hows[i % 2]);
		claim(&f, size);
		fd = put_file(&f);
		assert_int_equal(plain_elf_open(fd, PLAIN_ALL, &p), size > 1u << 30 ? -EFBIG : 0);
		if (size <= 1u << 30) {
			assert_true(!data_of(plain_elf_get(p), ".debug_info") || !size);
			plain_elf_close(p);
		}
		assert_int_equal(elf_image_open(fd, &img), 0);
		assert_int_equal(elf_image_section(img, ".debug_info", &s), 0);
		if (size)
			assert_true(elf_image_read(img, s.offset, s.size, UINT64_MAX - 1, &bytes) < 0);
		elf_image_close(img);
		close(fd);
		packed_release(&f);
	}
}

/* Sections of the program's memory are what they are. */
static void test_memory_of_the_program(void **state)
{
	enum packed_form form;

	(void)state;
	assert_false(packed_section_form(SHF_ALLOC | SHF_COMPRESSED, ".text", true, &form));
	assert_false(packed_section_form(0, ".debug_info", true, &form));
	assert_true(packed_section_form(SHF_COMPRESSED, NULL, false, &form));
	assert_int_equal(form, PACKED_ELF32);
}

static void read_all(int fd, const void *bytes, size_t len)
{
	struct plain_elf *p = NULL;
	struct elf_image *img = NULL;
	struct elf_section s;
	Elf_Scn *scn = NULL;
	volatile uint8_t sum = 0;
	void *read;

	assert_int_equal(pwrite(fd, bytes, len, 0), len);
	if (!plain_elf_open(fd, PLAIN_ALL, &p)) {
		while ((scn = elf_nextscn(plain_elf_get(p), scn))) {
			const Elf_Data *d = elf_rawdata(scn, NULL);

			for (size_t i = 0; d && d->d_buf && i < d->d_size; i += 64)
				sum += ((const uint8_t *)d->d_buf)[i];
		}
		plain_elf_close(p);
	}
	if (elf_image_open(fd, &img))
		return;
	for (uint32_t i = 0; i < elf_image_nr_sections(img); i++)
		if (!elf_image_section_at(img, i, &s) && !elf_image_read(img, s.offset, s.size, 1 << 20, &read))
			free(read);
	elf_image_close(img);
}

/* Any byte of the headers may be anything. */
static void test_damaged(void **state)
{
	static const enum packed_how hows[] = { HOW_ZSTD, HOW_GNU };
	struct packed_file f;
	uint32_t random = 1;

	(void)state;
	for (unsigned n = 0; n < 3000; n++) {
		uint8_t *copy;
		int fd;

		make(&f, n % 4 < 2, hows[n % 2]);
		copy = malloc(f.b.nr);
		memcpy(copy, f.b.v, f.b.nr);
		for (unsigned i = 0; i < 1 + n % 3; i++) {
			size_t table = f.b.nr - f.nr * sizeof(Elf64_Shdr), at;

			random = random * 1664525 + 1013904223;
			at = random >> 8;
			at = n % 3 ? table + at % (f.b.nr - table) : at % f.b.nr;
			copy[at] = random >> 24;
		}
		fd = memfd_create("damaged", MFD_CLOEXEC);
		read_all(fd, copy, f.b.nr);
		close(fd);
		free(copy);
		packed_release(&f);
	}
}

static void test_other_files(void **state)
{
	struct plain_elf *p = NULL;
	int fd = memfd_create("other", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(plain_elf_open(fd, PLAIN_ALL, &p), -ENOEXEC);
	assert_int_equal(pwrite(fd, "#!/bin/sh\n", 10, 0), 10);
	assert_int_equal(plain_elf_open(fd, PLAIN_ALL, &p), -ENOEXEC);
	assert_int_equal(plain_elf_open(-1, PLAIN_ALL, &p), -ENOEXEC);
	assert_null(p);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_names_alone),
		cmocka_unit_test(test_sizes_that_are_wrong),
		cmocka_unit_test(test_memory_of_the_program),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_other_files),
	};

	return cmocka_run_group_tests(tests, fill_info, NULL);
}
