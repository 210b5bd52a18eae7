/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file for libelf and libdw in which no section is compressed.
 *
 * The problem. libdw of before 0.189 does not know zstd, and leaves out such sections without a
 * word. It unpacks the others as it likes, whatever they grow to.
 *
 * The idea. A file without compressed sections is opened as it is. Another one gets an image in
 * memory: the file, mapped for reading, and behind it the sections that were unpacked
 * (packed_section.h), with another section table. Only the sections are there that somebody reads.
 *
 *	plain_elf_open(fd, what, &p)	fd is borrowed until then
 *	elf = plain_elf_get(p)
 *	plain_elf_rest(p)			nothing is read for a while
 *	plain_elf_close(p)			behind all that has used elf
 *
 * Limits. What is unpacked has 1 GiB at most, and less where the process may have less memory; who
 * reads foreign files has set a limit (sandbox.h). A section that is damaged, or of a compression
 * that is not known, is left out. If the file shrinks meanwhile, the process dies of it.
 */
#pragma once

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct plain_elf;

enum plain_what {
	PLAIN_ALL,
	PLAIN_NAMES,	/* sections of debug information that are compressed are left out */
};

/*
 * 0; -ENOEXEC: no such file; -EBADMSG; -EFBIG: too large when it is unpacked; or -ENOMEM.
 */
int plain_elf_open(int fd, enum plain_what what, struct plain_elf **pp);
Elf *plain_elf_get(const struct plain_elf *p);
/* The compression of a section that is left out, because it is not known here; 0: none is. */
uint32_t plain_elf_unknown_packing(const struct plain_elf *p);
/* Gives back pages of the file that were read, which count as memory of this process. */
void plain_elf_rest(const struct plain_elf *p);
/* Memory that unpacked sections take; 0: the file has none that are compressed. */
size_t plain_elf_bytes(const struct plain_elf *p);
void plain_elf_close(struct plain_elf *p);		/* NULL is fine */
