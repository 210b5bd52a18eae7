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
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/elf/elf_image.h"

static const char names[] = "\0.text\0.bss\0.note.gnu.build-id\0.shstrtab";
enum { NAME_TEXT = 1, NAME_BSS = 7, NAME_NOTE = 12, NAME_NAMES = 31 };

#define BUILD_ID "\x01\x23\x45\x67\x89\xab\xcd\xef"
#define TEXT "some code"
#define VADDR 0x401000

struct note {
	Elf64_Nhdr other;
	char other_name[8]; /* "Go" and padding, as a note before the one that is looked for */
	Elf64_Nhdr head;
	char name[4];
	char id[8];
};

struct file64 {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	struct note note;
	char text[16];
	char names[sizeof(names)];
	char padding[7]; /* the section table does not begin where it would be aligned */
	Elf64_Shdr sh[5];
} __attribute__((packed));

struct file32 {
	Elf32_Ehdr eh;
	Elf32_Phdr ph[2];
	char text[16];
	char names[sizeof(names)];
	Elf32_Shdr sh[3];
} __attribute__((packed));

static void make64(struct file64 *f)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->eh.e_ident, ELFMAG "\x02\x01\x01", 7);
	f->eh.e_type = ET_DYN;
	f->eh.e_machine = EM_X86_64;
	f->eh.e_version = EV_CURRENT;
	f->eh.e_ehsize = sizeof(f->eh);
	f->eh.e_phoff = offsetof(struct file64, ph);
	f->eh.e_phentsize = sizeof(f->ph[0]);
	f->eh.e_phnum = 3;
	f->eh.e_shoff = offsetof(struct file64, sh);
	f->eh.e_shentsize = sizeof(f->sh[0]);
	f->eh.e_shnum = 5;
	f->eh.e_shstrndx = 4;
	f->ph[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_vaddr = VADDR + offsetof(struct file64, text),
				.p_offset = offsetof(struct file64, text),
				.p_filesz = 16,
				.p_memsz = 0x2000,
				.p_align = 0x1000};
	f->ph[1] = (Elf64_Phdr){.p_type = PT_NOTE,
				.p_offset = offsetof(struct file64, note),
				.p_filesz = sizeof(f->note),
				.p_align = 4};
	f->ph[2] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME, .p_vaddr = 0x1234, .p_memsz = 56};
	f->note = (struct note){{3, 1, 4}, "Go", {4, 8, NT_GNU_BUILD_ID}, "GNU", BUILD_ID};
	memcpy(f->text, TEXT, sizeof(TEXT));
	memcpy(f->names, names, sizeof(names));
	f->sh[1] = (Elf64_Shdr){.sh_name = NAME_TEXT,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_EXECINSTR,
				.sh_addr = f->ph[0].p_vaddr,
				.sh_offset = f->ph[0].p_offset,
				.sh_size = 16,
				.sh_link = 3,
				.sh_info = 2,
				.sh_entsize = 1};
	f->sh[2] = (Elf64_Shdr){.sh_name = NAME_BSS, .sh_type = SHT_NOBITS, .sh_size = 1 << 20};
	f->sh[3] = (Elf64_Shdr){.sh_name = NAME_NOTE,
				.sh_type = SHT_NOTE,
				.sh_offset = offsetof(struct file64, note.head),
				.sh_size = 24};
	f->sh[4] = (Elf64_Shdr){.sh_name = NAME_NAMES,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct file64, names),
				.sh_size = sizeof(names)};
}

static void make32(struct file32 *f)
{
	memset(f, 0, sizeof(*f));
	memcpy(f->eh.e_ident, ELFMAG "\x01\x01\x01", 7);
	f->eh.e_type = ET_EXEC;
	f->eh.e_machine = EM_386;
	f->eh.e_version = EV_CURRENT;
	f->eh.e_ehsize = sizeof(f->eh);
	f->eh.e_phoff = offsetof(struct file32, ph);
	f->eh.e_phentsize = sizeof(f->ph[0]);
	f->eh.e_phnum = 2;
	f->eh.e_shoff = offsetof(struct file32, sh);
	f->eh.e_shentsize = sizeof(f->sh[0]);
	f->eh.e_shnum = 3;
	f->eh.e_shstrndx = 2;
	f->ph[0] = (Elf32_Phdr){.p_type = PT_LOAD,
				.p_flags = PF_R,
				.p_vaddr = 0x8000,
				.p_filesz = 16,
				.p_memsz = 32};
	f->ph[1] = (Elf32_Phdr){.p_type = PT_LOAD,
				.p_flags = PF_X,
				.p_vaddr = 0x9010,
				.p_memsz = 0x10,
				.p_offset = offsetof(struct file32, text),
				.p_filesz = 16};
	memcpy(f->text, TEXT, sizeof(TEXT));
	memcpy(f->names, names, sizeof(names));
	f->sh[1] = (Elf32_Shdr){.sh_name = NAME_TEXT,
				.sh_type = SHT_PROGBITS,
				.sh_addr = 0x9010,
				.sh_offset = offsetof(struct file32, text),
				.sh_size = 16};
	f->sh[2] = (Elf32_Shdr){.sh_name = NAME_NAMES,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct file32, names),
				.sh_size = sizeof(names)};
}

/* A file in memory with these bytes; -1 never. */
static int make_fd(const void *data, size_t len)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	return fd;
}

/* Asks for everything. */
static void use(struct elf_image *img)
{
	struct elf_section s;
	uint64_t offset, left;
	char buf[64];
	void *copy;

	for (uint32_t i = 0; i < 8; i++)
		if (!elf_image_section_at(img, i, &s) &&
		    !elf_image_read(img, s.offset, s.size, 1 << 16, &copy))
			free(copy);
	elf_image_section(img, ".text", &s);
	elf_image_section(img, ".gone", &s);
	for (size_t i = 0; i < img->nr_segments; i++)
		if (!elf_image_offset_of(img, img->segments[i].vaddr, &offset, &left))
			elf_image_pread(img, buf, sizeof(buf), offset);
}

static void check64(struct elf_image *img)
{
	struct elf_section s;
	uint64_t offset, left;
	char buf[64];
	void *copy;

	assert_true(img->is64);
	assert_int_equal(img->machine, EM_X86_64);
	assert_int_equal(img->type, ET_DYN);
	assert_int_equal(img->nr_segments, 1);
	assert_true(img->segments[0].exec);
	assert_int_equal(img->vaddr_lo, VADDR & ~0xfffull);
	assert_int_equal(img->vaddr_hi, VADDR + offsetof(struct file64, text) + 0x2000);
	assert_int_equal(img->eh_frame_hdr_vaddr, 0x1234);
	assert_int_equal(img->eh_frame_hdr_size, 56);
	assert_int_equal(img->build_id_len, 8);
	assert_memory_equal(img->build_id, BUILD_ID, 8);

	assert_int_equal(elf_image_section(img, ".text", &s), 0);
	assert_int_equal(s.index, 1);
	assert_int_equal(s.type, SHT_PROGBITS);
	assert_int_equal(s.flags, SHF_EXECINSTR);
	assert_int_equal(s.addr, img->segments[0].vaddr);
	assert_int_equal(s.link, 3);
	assert_int_equal(s.info, 2);
	assert_int_equal(s.entsize, 1);
	assert_int_equal(elf_image_read(img, s.offset, s.size, 16, &copy), 0);
	assert_string_equal(copy, TEXT);
	free(copy);
	assert_int_equal(elf_image_section(img, ".bss", &s), -ENOENT);
	assert_int_equal(elf_image_section_at(img, 2, &s), -ENOENT);
	assert_int_equal(elf_image_section_at(img, 3, &s), 0);
	assert_int_equal(elf_image_section_at(img, 5, &s), -ENOENT);
	assert_int_equal(elf_image_section(img, ".tex", &s), -ENOENT);

	assert_int_equal(elf_image_offset_of(img, img->segments[0].vaddr + 5, &offset, &left), 0);
	assert_int_equal(offset, offsetof(struct file64, text) + 5);
	assert_int_equal(left, 11);
	assert_int_equal(elf_image_offset_of(img, img->segments[0].vaddr + 16, &offset, &left),
			 -ENOENT);
	assert_int_equal(elf_image_offset_of(img, img->segments[0].vaddr - 1, &offset, &left),
			 -ENOENT);

	assert_int_equal(elf_image_read(img, 0, 17, 16, &copy), -EFBIG);
	assert_int_equal(elf_image_read(img, img->file_size - 5, 6, 16, &copy), -EBADMSG);
	assert_int_equal(elf_image_read(img, UINT64_MAX, 1, 16, &copy), -EBADMSG);
	assert_int_equal(elf_image_pread(img, buf, sizeof(buf), img->file_size - 5), 5);
	assert_int_equal(elf_image_pread(img, buf, sizeof(buf), img->file_size), 0);
	assert_int_equal(elf_image_pread(img, buf, sizeof(buf), UINT64_MAX), 0);
}

static void test_file(void **state)
{
	struct elf_image *img;
	struct file64 f;
	int fd;

	(void)state;
	make64(&f);
	fd = make_fd(&f, sizeof(f));
	assert_int_equal(elf_image_open(fd, &img), 0);
	check64(img);
	elf_image_close(img);
	close(fd);
}

static void test_memory(void **state)
{
	struct elf_image *img;
	struct file64 f;

	(void)state;
	make64(&f);
	assert_int_equal(elf_image_open_memory(&f, sizeof(f), &img), 0);
	check64(img);
	elf_image_close(img);
}

static void test_32_bit(void **state)
{
	struct elf_section s;
	struct elf_image *img;
	struct file32 f;

	(void)state;
	make32(&f);
	assert_int_equal(elf_image_open_memory(&f, sizeof(f), &img), 0);
	assert_false(img->is64);
	assert_int_equal(img->machine, EM_386);
	assert_int_equal(img->nr_segments, 2);
	assert_false(img->segments[0].exec);
	assert_true(img->segments[1].exec);
	assert_int_equal(img->vaddr_lo, 0x8000);
	assert_int_equal(img->vaddr_hi, 0x9020);
	assert_int_equal(img->build_id_len, 0);
	assert_int_equal(elf_image_section(img, ".text", &s), 0);
	assert_int_equal(s.addr, 0x9010);
	elf_image_close(img);
}

static void test_without_sections(void **state)
{
	struct elf_section s;
	struct elf_image *img;
	struct file64 f;

	(void)state;
	make64(&f);
	f.eh.e_shoff = f.eh.e_shnum = f.eh.e_shstrndx = 0;
	assert_int_equal(elf_image_open_memory(&f, sizeof(f), &img), 0);
	assert_int_equal(elf_image_section(img, ".text", &s), -ENOENT);
	assert_int_equal(elf_image_section_at(img, 0, &s), -ENOENT);
	assert_int_equal(img->build_id_len, 8); /* by PT_NOTE */
	assert_memory_equal(img->build_id, BUILD_ID, 8);
	elf_image_close(img);
}

static int open_error(const void *data, size_t len)
{
	struct elf_image *img = NULL;
	int fd = make_fd(data, len), err = elf_image_open(fd, &img);

	assert_int_equal(elf_image_open_memory(data, len, &img), err);
	assert_null(img);
	close(fd);
	return err;
}

static void test_not_elf(void **state)
{
	struct elf_image *img;
	struct file64 f;
	int ends[2], fd;

	(void)state;
	assert_int_equal(open_error("", 0), -ENOEXEC);
	assert_int_equal(open_error("#!/bin/sh\nexit 0\n#\n", 19), -ENOEXEC);
	assert_int_equal(open_error("!<arch>\nnothing in here\n", 24), -ENOEXEC);
	make64(&f);
	f.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(open_error(&f, sizeof(f)), -ENOEXEC);

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(elf_image_open(ends[0], &img), -ENOEXEC);
	close(ends[0]);
	close(ends[1]);
	fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_image_open(fd, &img), -ENOEXEC);
	close(fd);
	assert_int_equal(elf_image_open(-1, &img), -EBADF);
}

static void test_every_truncation(void **state)
{
	struct file64 f;

	(void)state;
	make64(&f);
	for (size_t len = EI_NIDENT; len < sizeof(f); len++)
		assert_int_equal(open_error(&f, len), -EBADMSG);
}

/* Counts that a file of this size cannot hold, in the places libelf believes. */
static void test_impossible_counts(void **state)
{
	struct file64 f;

	(void)state;
	make64(&f);
	f.eh.e_shnum = 0;
	f.sh[0].sh_size = 0x7fffffff;
	assert_int_equal(open_error(&f, sizeof(f)), -EBADMSG);
	f.sh[0].sh_size = UINT64_MAX;
	assert_int_equal(open_error(&f, sizeof(f)), -EBADMSG);
	make64(&f);
	f.eh.e_shnum = 6;
	assert_int_equal(open_error(&f, sizeof(f)), -EBADMSG);
	make64(&f);
	f.eh.e_shoff = UINT64_MAX - 8;
	assert_int_equal(open_error(&f, sizeof(f)), -EBADMSG);
	make64(&f);
	f.eh.e_phnum = PN_XNUM - 1;
	assert_true(open_error(&f, sizeof(f)) < 0);
	make64(&f);
	f.eh.e_phnum = PN_XNUM;
	f.sh[0].sh_info = 0x7fffffff;
	assert_true(open_error(&f, sizeof(f)) < 0);
	make64(&f);
	f.sh[4].sh_size = UINT64_MAX;
	assert_int_equal(open_error(&f, sizeof(f)), -EFBIG);
	make64(&f);
	f.eh.e_shstrndx = 99;
	assert_int_equal(open_error(&f, sizeof(f)), -EBADMSG);
	make64(&f);
	f.ph[0].p_vaddr = UINT64_MAX - 8;
	assert_int_equal(open_error(&f, sizeof(f)), -EBADMSG);
	make64(&f);
	f.ph[0].p_filesz = f.ph[0].p_memsz + 1;
	assert_int_equal(open_error(&f, sizeof(f)), -EBADMSG);
}

static void test_extended_count(void **state)
{
	struct elf_image *img;
	struct file64 f;

	(void)state;
	make64(&f);
	f.eh.e_shnum = 0;
	f.sh[0].sh_size = 5;
	assert_int_equal(elf_image_open_memory(&f, sizeof(f), &img), 0);
	check64(img);
	elf_image_close(img);
}

/* Any one byte changed: an error or an image, never a fault. */
static void test_every_byte_changed(void **state)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	struct file64 f;

	(void)state;
	for (size_t i = 0; i < sizeof(f); i++) {
		for (size_t k = 0; k < sizeof(values); k++) {
			struct elf_image *img;
			void *copy = malloc(sizeof(f));

			make64(&f);
			((uint8_t *)&f)[i] = values[k];
			assert_non_null(copy);
			memcpy(copy, &f, sizeof(f));
			if (!elf_image_open_memory(copy, sizeof(f), &img)) {
				use(img);
				elf_image_close(img);
			}
			free(copy);
		}
	}
}

static void test_build_id_too_long(void **state)
{
	struct elf_image *img;
	struct file64 f;

	(void)state;
	make64(&f);
	f.note.head.n_descsz = 65;
	f.sh[3].sh_name = 0;
	f.ph[1].p_filesz = sizeof(f) - f.ph[1].p_offset; /* bytes enough */
	assert_int_equal(elf_image_open_memory(&f, sizeof(f), &img), 0);
	assert_int_equal(img->build_id_len, 0);
	elf_image_close(img);
}

static void test_file_shrinks(void **state)
{
	struct elf_section s;
	struct elf_image *img;
	struct file64 f;
	void *copy;
	int fd;

	(void)state;
	make64(&f);
	fd = make_fd(&f, sizeof(f));
	assert_int_equal(elf_image_open(fd, &img), 0);
	assert_int_equal(elf_image_section(img, ".text", &s), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(elf_image_read(img, s.offset, s.size, 16, &copy), -EBADMSG);
	elf_image_close(img);
	close(fd);
}

static void test_own_program(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_section s;
	struct elf_image *img;

	(void)state;
	assert_int_equal(elf_image_open(fd, &img), 0);
	assert_int_equal(img->is64, sizeof(void *) == 8);
	assert_int_equal(elf_image_section(img, ".text", &s), 0);
	assert_true(s.addr >= img->vaddr_lo && s.addr + s.size <= img->vaddr_hi);
	assert_int_equal(elf_image_section(img, ".eh_frame", &s), 0);
	elf_image_close(img);
	elf_image_close(NULL);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_32_bit),
		cmocka_unit_test(test_without_sections),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_impossible_counts),
		cmocka_unit_test(test_extended_count),
		cmocka_unit_test(test_every_byte_changed),
		cmocka_unit_test(test_build_id_too_long),
		cmocka_unit_test(test_file_shrinks),
		cmocka_unit_test(test_own_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
