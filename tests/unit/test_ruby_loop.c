/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of an interpreter, found by its table of instructions in this test's own program, which has such a loop. And how a function
 * reaches a thread-local variable, in code that is written here.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "src/elf/elf_image.h"
#include "src/runtimes/ruby/ruby_loop.h"

#define EIGHT(x, m) m(x##0) m(x##1) m(x##2) m(x##3) m(x##4) m(x##5) m(x##6) m(x##7)
#define ALL(m) EIGHT(1, m) EIGHT(2, m) EIGHT(3, m) EIGHT(4, m) EIGHT(5, m) EIGHT(6, m) EIGHT(7, m) EIGHT(8, m) EIGHT(9, m) \
	EIGHT(10, m) EIGHT(11, m) EIGHT(12, m) EIGHT(13, m) EIGHT(14, m) EIGHT(15, m) EIGHT(16, m) EIGHT(17, m) EIGHT(18, m) \
	EIGHT(19, m) EIGHT(20, m) EIGHT(21, m) EIGHT(22, m) EIGHT(23, m) EIGHT(24, m) EIGHT(25, m)
#define LABEL(n) &&label_##n,
#define CODE(n) label_##n: value = value * 31 + n; goto *table[*program++];

static const void *where;		/* in the loop */

static unsigned __attribute__((noinline)) loop(const uint16_t *program)
{
	static const void *const table[] = { &&out, ALL(LABEL) };
	unsigned value = 1;

	where = table[5];
	goto *table[*program++];
	ALL(CODE)
out:
	return value;
}

static void by_the_table(void **state)
{
	const uint16_t program[] = { 5, 200, 1, 0 };
	struct elf_image *img;
	uint64_t vaddr = 0, bias;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(elf_image_open(fd, &img), 0);
	if (img->machine != EM_X86_64 || img->type != ET_DYN) {
		elf_image_close(img);
		close(fd);
		skip();
	}
	assert_true(loop(program) != 0);
	assert_int_equal(ruby_loop_find(img, fd, NULL, &vaddr), 0);
	/* All of the file is mapped with one bias, that of any of its functions. */
	bias = (uint64_t)(uintptr_t)loop - vaddr;
	assert_int_equal(bias & 4095, 0);
	assert_true((uint64_t)(uintptr_t)where - bias - vaddr < 100000);
	elf_image_close(img);
	close(fd);
}

/* A file that is one segment, at address 0x1000 and from its beginning on. */
struct file {
	Elf64_Ehdr e;
	Elf64_Phdr p;
	uint8_t code[64];
	uint64_t words[2];
};

static void make(struct file *f)
{
	static const uint8_t code[] = { 0x48, 0x83, 0xec, 0x08, 0x66, 0x48, 0x8d, 0x3d };
	const int32_t distance = (int32_t)(offsetof(struct file, words) - offsetof(struct file, code) - sizeof(code) - 4);

	memset(f, 0, sizeof(*f));
	memcpy(f->e.e_ident, ELFMAG, SELFMAG);
	f->e.e_ident[EI_CLASS] = ELFCLASS64;
	f->e.e_ident[EI_DATA] = ELFDATA2LSB;
	f->e.e_ident[EI_VERSION] = EV_CURRENT;
	f->e.e_type = ET_DYN;
	f->e.e_machine = EM_X86_64;
	f->e.e_version = EV_CURRENT;
	f->e.e_phoff = offsetof(struct file, p);
	f->e.e_ehsize = sizeof(f->e);
	f->e.e_phentsize = sizeof(f->p);
	f->e.e_phnum = 1;
	f->p = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x1000, .p_filesz = sizeof(*f),
			     .p_memsz = sizeof(*f), .p_align = 4096 };
	memcpy(f->code, code, sizeof(code));
	memcpy(f->code + sizeof(code), &distance, sizeof(distance));
	f->words[1] = 24;
}

static int find(const struct file *f, uint64_t *words, int64_t *offset)
{
	struct elf_image *img;
	int err;

	assert_int_equal(elf_image_open_memory(f, sizeof(*f), &img), 0);
	err = ruby_context_find(img, 0x1000 + offsetof(struct file, code), words, offset);
	elf_image_close(img);
	return err;
}

static void by_the_code(void **state)
{
	struct file f;
	uint64_t words, at;
	int64_t offset;
	struct elf_image *img;

	(void)state;
	make(&f);
	assert_int_equal(find(&f, &words, &offset), 0);
	assert_int_equal(words, 0x1000 + offsetof(struct file, words));
	assert_int_equal(offset, 24);
	f.words[1] = 1ull << 40;
	assert_int_equal(find(&f, &words, &offset), -ENOTSUP);
	make(&f);
	f.code[5] = 0x4c;
	assert_int_equal(find(&f, &words, &offset), -ENOTSUP);
	/* There is no table. */
	assert_int_equal(elf_image_open_memory(&f, sizeof(f), &img), 0);
	assert_int_equal(ruby_loop_find(img, -1, (const void *)&f, &at), -ENOTSUP);
	elf_image_close(img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_table),
		cmocka_unit_test(by_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
