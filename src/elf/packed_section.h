/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of one section that is compressed, whatever its compression: zlib and zstd behind the
 * header of the ELF specification (SHF_COMPRESSED), and the older form of GNU, in which the section
 * is called .zdebug_* and begins with "ZLIB".
 *
 *	packed_section_read(head, len, form, &p)	what the first bytes of the section say
 *	packed_section_unpack(&p, bytes, len, out)	out has p.size bytes
 *
 * Readers of sections need neither: struct elf_image and plain_elf.h unpack what they give. The
 * size in the header is foreign: who allocates it has a limit of his own. No more is ever written
 * than it says.
 *
 * Sources: https://www.sco.com/developers/gabi/latest/ch4.sheader.html ("compression header"),
 * whose list of kinds has grown since: https://gabi.xinuos.com/elf/b-errata.html.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKED_HEAD_BYTES 24		/* of the longest header */

enum packed_form { PACKED_ELF32, PACKED_ELF64, PACKED_GNU };

struct packed_section {
	uint32_t type;			/* ELFCOMPRESS_...; 0: it is not compressed */
	uint32_t skip;			/* bytes of the header */
	uint64_t size, align;		/* of what it is unpacked to */
};

/*
 * The form of a section by its flags and its name (NULL: unknown). false: it is not compressed, or
 * it belongs to the memory of the program, which nobody would unpack.
 */
bool packed_section_form(uint64_t flags, const char *name, bool is64, enum packed_form *form);

/* 0; -ENOTSUP: a compression that is not known here, of number p->type; -EBADMSG. */
int packed_section_read(const void *head, size_t len, enum packed_form form,
			struct packed_section *p);

/* bytes are those of the section, with its header. 0, -EBADMSG, or -ENOMEM. */
int packed_section_unpack(const struct packed_section *p, const void *bytes, size_t len,
			  void *out);

/* The name without the z of .zdebug_*, in buf, or name itself. */
const char *packed_section_plain_name(const char *name, char *buf, size_t size);
