/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/io.h"
#include "src/elf_unwind/elf_cfi.h"
#include "src/elf_unwind/elf_unwind_table.h"

#define MAX_FILE (64u << 20)

struct fixture {
	char *file; /* this very program */
	size_t len;
	struct cfi_rows rows;
	struct unwind_table *table;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	ssize_t n;

	*state = f;
	if (!f)
		return -1;
	n = io_read_file("/proc/self/exe", &f->file, MAX_FILE);
	f->len = (size_t)n;
	return n < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cfi_rows_release(&f->rows);
	unwind_table_free(f->table);
	free(f->file);
	free(f);
	return 0;
}

static int rows_of(const void *data, size_t len, struct cfi_rows *rows)
{
	struct elf_image *img;
	int err = elf_image_open_memory(data, len, &img);

	assert_int_equal(err, 0);
	err = cfi_rows_from_image(img, rows);
	elf_image_close(img);
	return err;
}

static int table_of(const void *data, size_t len, struct unwind_table **tp)
{
	struct elf_image *img;
	int err = elf_image_open_memory(data, len, &img);

	assert_int_equal(err, 0);
	err = unwind_table_from_image(img, tp);
	elf_image_close(img);
	return err;
}

static Elf64_Ehdr *header(struct fixture *f)
{
	return (Elf64_Ehdr *)f->file;
}

static void drop_sections(struct fixture *f)
{
	header(f)->e_shoff = 0;
	header(f)->e_shnum = header(f)->e_shstrndx = 0;
}

static void test_program(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(table_of(f->file, f->len, &f->table), 0);
	assert_true(f->table->nr_rows > 10);
	assert_true(f->table->stats.nr_fdes > 10);
	assert_int_equal(f->table->stats.bad_entries, 0);
	assert_int_equal(f->table->stats.overlaps, 0);
}

static Elf64_Phdr *find_header(struct fixture *f, uint32_t type)
{
	Elf64_Phdr *ph = (Elf64_Phdr *)(f->file + header(f)->e_phoff);

	while (ph->p_type != type)
		ph++;
	return ph;
}

/* Lets the segment with .eh_frame run on into what comes behind it in the file. */
static void stretch_segment(struct fixture *f)
{
	Elf64_Phdr *eh = find_header(f, PT_GNU_EH_FRAME), *load = find_header(f, PT_LOAD);

	while (load->p_type != PT_LOAD || eh->p_vaddr < load->p_vaddr ||
	       eh->p_vaddr >= load->p_vaddr + load->p_filesz)
		load++;
	load->p_filesz += 0x2000;
	load->p_memsz += 0x2000;
}

static void test_header_leads_to_the_same_rows(void **state)
{
	struct fixture *f = *state;
	struct cfi_rows rows = {0};

	assert_int_equal(rows_of(f->file, f->len, &f->rows), 0);
	drop_sections(f);
	stretch_segment(f);
	assert_int_equal(rows_of(f->file, f->len, &rows), 0);
	assert_int_equal(rows.stats.bad_entries, 0);
	assert_int_equal(rows.nr, f->rows.nr);
	assert_memory_equal(rows.v, f->rows.v, rows.nr * sizeof(*rows.v));
	cfi_rows_release(&rows);
}

static void test_no_unwind_information(void **state)
{
	struct fixture *f = *state;

	drop_sections(f);
	find_header(f, PT_GNU_EH_FRAME)->p_type = PT_NULL;
	assert_int_equal(rows_of(f->file, f->len, &f->rows), -ENOENT);
}

static void test_code_alone(void **state)
{
	struct unwind_rule r;
	struct fixture *f = *state;

#ifndef __x86_64__
	skip();
#endif
	find_header(f, PT_GNU_EH_FRAME)->p_type = PT_NULL;
	drop_sections(f);
	assert_int_equal(table_of(f->file, f->len, &f->table), 0);
	r = unwind_table_find(f->table, header(f)->e_entry);
	assert_int_equal(r.cfa, CFA_ROOT);
	assert_int_equal(r.ra, 0);	/* the header says where the program begins */
	for (size_t i = 0; i < f->table->nr_rules; i++)
		assert_true(f->table->rules[i].cfa == CFA_NONE || f->table->rules[i].cfa == CFA_ROOT ||
			    f->table->rules[i].ra & RULE_GUESSED);
}

/* Where there is call frame information nothing is guessed; _init, which has none, is. */
static void test_code_between(void **state)
{
	struct fixture *f = *state;
	struct elf_section init;
	struct elf_image *img;

#ifndef __x86_64__
	skip();
#endif
	assert_int_equal(elf_image_open_memory(f->file, f->len, &img), 0);
	assert_int_equal(elf_image_section(img, ".init", &init), 0);
	assert_int_equal(cfi_rows_from_image(img, &f->rows), 0);
	elf_image_close(img);
	assert_int_equal(cfi_rows_find(&f->rows, init.addr).cfa, CFA_NONE);
	assert_int_equal(table_of(f->file, f->len, &f->table), 0);
	for (size_t i = 0; i < f->rows.nr; i++) {
		struct unwind_rule r = unwind_table_find(f->table, f->rows.v[i].vaddr);

		if (f->rows.v[i].rule.cfa != CFA_NONE)
			assert_false(r.ra & RULE_GUESSED);
	}
	assert_int_equal(unwind_table_find(f->table, init.addr).cfa, CFA_SP);
	assert_true(unwind_table_find(f->table, init.addr).ra & RULE_GUESSED);
}

static void test_damaged_header(void **state)
{
	struct fixture *f = *state;

	drop_sections(f);
	f->file[find_header(f, PT_GNU_EH_FRAME)->p_offset] = 2; /* version */
	assert_int_equal(rows_of(f->file, f->len, &f->rows), -ENOENT);
	find_header(f, PT_GNU_EH_FRAME)->p_vaddr = UINT64_MAX - 1;
	assert_int_equal(rows_of(f->file, f->len, &f->rows), -ENOENT);
}

static void test_other_machines(void **state)
{
	struct fixture *f = *state;
	Elf32_Ehdr eh = {.e_ident = ELFMAG "\x01\x01\x01", .e_machine = EM_386, .e_version = 1};

	header(f)->e_machine = EM_PPC64;
	assert_int_equal(table_of(f->file, f->len, &f->table), -ENOTSUP);
	assert_int_equal(table_of(&eh, sizeof(eh), &f->table), -ENOTSUP);
}

static void test_vdso(void **state)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	struct fixture *f = *state;
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)vdso;

	if (!vdso)
		skip();
	assert_int_equal(table_of(vdso, eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize,
				  &f->table), 0);
	assert_true(f->table->nr_rows > 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_program),
		TEST(test_header_leads_to_the_same_rows),
		TEST(test_no_unwind_information),
		TEST(test_code_alone),
		TEST(test_code_between),
		TEST(test_damaged_header),
		TEST(test_other_machines),
		TEST(test_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
