/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/alternate_name.h"

#include <stdbool.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/debug_info/debug_section.h"

#define SUP_VERSION 5

static struct byte_reader section_of(Elf *elf, const char *name)
{
	Elf_Scn *scn = debug_section(elf, name);
	const Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	return br_make(data ? data->d_buf : NULL, data && data->d_buf ? data->d_size : 0);
}

/* A string up to its NUL; "", and the reader is bad, if it has none. */
static const char *string_of(struct byte_reader *r)
{
	const uint8_t *end = br_left(r) ? memchr(r->p, 0, br_left(r)) : NULL;
	const uint8_t *text = br_bytes(r, end ? (uint64_t)(end - r->p) + 1 : UINT64_MAX);

	return text ? (const char *)text : "";
}

static size_t id_of(struct byte_reader *r, size_t len, const void **id)
{
	*id = br_bytes(r, len);
	return *id && !r->bad ? len : 0;
}

/* is_other: of the file that has what is common. */
static size_t read_sup(Elf *elf, bool is_other, const char **name, const void **id)
{
	struct byte_reader r = section_of(elf, ".debug_sup");
	uint16_t version = br_u16(&r);
	uint8_t says_other = br_u8(&r);

	*name = string_of(&r);
	if (r.bad || version != SUP_VERSION || says_other != is_other)
		return 0;
	return id_of(&r, br_uv(&r), id);
}

static size_t read_link(Elf *elf, const char **name, const void **id)
{
	struct byte_reader r = section_of(elf, ".gnu_debugaltlink");

	*name = string_of(&r);
	return r.bad ? 0 : id_of(&r, br_left(&r), id);
}

size_t alternate_name_read(Elf *elf, const char **name, const void **id)
{
	size_t len = read_link(elf, name, id);

	return len ? len : read_sup(elf, false, name, id);
}

/* Reads the id of a note NT_GNU_BUILD_ID, whose name has four bytes with its NUL. */
static size_t read_build_id(Elf *elf, const void **id)
{
	struct byte_reader r = section_of(elf, ".note.gnu.build-id");
	uint32_t name_size = br_u32(&r), len = br_u32(&r), type = br_u32(&r);
	const uint8_t *name = br_bytes(&r, 4);

	if (!name || name_size != 4 || type != NT_GNU_BUILD_ID || memcmp(name, "GNU", 4))
		return 0;
	return id_of(&r, len, id);
}

size_t alternate_name_own(Elf *elf, const void **id)
{
	const char *name;
	size_t len = read_sup(elf, true, &name, id);

	return len ? len : read_build_id(elf, id);
}
