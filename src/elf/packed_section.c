/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf/packed_section.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "src/base/bytes.h"

#define OLD_PREFIX ".zdebug_"
#define OLD_MAGIC "ZLIB"
#define OLD_HEAD_BYTES 12
#define MAX_ALIGN 4096

/* Several streams may follow each other: linkers join sections without unpacking them. */
static int unpack_zlib(const void *bytes, size_t len, void *out, size_t size)
{
	const Bytef *in = bytes;
	Bytef *to = out;

	while (size) {
		uLongf made = size;
		uLong took = len;
		int ret = uncompress2(to, &made, in, &took);

		if (ret == Z_MEM_ERROR)
			return -ENOMEM;
		if (ret != Z_OK || !took)
			return -EBADMSG;
		to += made;
		size -= made;
		in += took;
		len -= took;
	}
	return 0;
}

static int unpack_zstd(const void *bytes, size_t len, void *out, size_t size)
{
	size_t made = ZSTD_decompress(out, size, bytes, len);

	return !ZSTD_isError(made) && made == size ? 0 : -EBADMSG;
}

/* elf.h of older systems has no name for zstd. */
static const struct packing {
	uint32_t type;
	int (*unpack)(const void *bytes, size_t len, void *out, size_t size);
} packings[] = {
	{ 1 /* ELFCOMPRESS_ZLIB */, unpack_zlib },
	{ 2 /* ELFCOMPRESS_ZSTD */, unpack_zstd },
};

static const struct packing *packing_of(uint32_t type)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++)
		if (packings[i].type == type)
			return &packings[i];
	return NULL;
}

static bool has_old_name(const char *name)
{
	return name && !strncmp(name, OLD_PREFIX, strlen(OLD_PREFIX));
}

bool packed_section_form(uint64_t flags, const char *name, bool is64, enum packed_form *form)
{
	*form = is64 ? PACKED_ELF64 : PACKED_ELF32;
	if (flags & SHF_ALLOC)
		return false;
	if (flags & SHF_COMPRESSED)
		return true;
	*form = PACKED_GNU;
	return has_old_name(name);
}

const char *packed_section_plain_name(const char *name, char *buf, size_t size)
{
	if (!has_old_name(name))
		return name;
	snprintf(buf, size, ".%s", name + 2);
	return buf;
}

/* Without the magic it is a section that was not compressed, because that made it larger. */
static int read_old(struct byte_reader r, struct packed_section *p)
{
	const void *magic = br_bytes(&r, 4);
	uint64_t size;

	*p = (struct packed_section){ .align = 1 };
	if (!magic || memcmp(magic, OLD_MAGIC, 4))
		return 0;
	size = br_u64(&r);
	*p = (struct packed_section){ ELFCOMPRESS_ZLIB, OLD_HEAD_BYTES, __builtin_bswap64(size),
				      1 };
	return r.bad ? -EBADMSG : 0;
}

int packed_section_read(const void *head, size_t len, enum packed_form form,
			struct packed_section *p)
{
	struct byte_reader r = br_make(head, len);

	if (form == PACKED_GNU)
		return read_old(r, p);
	*p = (struct packed_section){ .type = br_u32(&r), .align = 1 };
	if (form == PACKED_ELF64) {
		br_u32(&r);		/* reserved */
		p->size = br_u64(&r);
		p->align = br_u64(&r);
	} else {
		p->size = br_u32(&r);
		p->align = br_u32(&r);
	}
	p->skip = form == PACKED_ELF64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	if (!p->align || p->align & (p->align - 1) || p->align > MAX_ALIGN)
		p->align = 1;
	if (r.bad || !p->type)
		return -EBADMSG;
	return packing_of(p->type) ? 0 : -ENOTSUP;
}

int packed_section_unpack(const struct packed_section *p, const void *bytes, size_t len,
			  void *out)
{
	const struct packing *k = packing_of(p->type);

	if (!k || len < p->skip)
		return -EBADMSG;
	return k->unpack((const char *)bytes + p->skip, len - p->skip, out, (size_t)p->size);
}
