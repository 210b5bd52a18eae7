/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/code_parts.h"

#include <elf.h>
#include <string.h>

#include "src/base/call_before.h"
#include "src/base/io.h"
#include "src/elf/elf_image.h"

static void add_part(struct code_parts *p, uint64_t addr, uint64_t size, uint64_t offset)
{
	if (p->nr < MAX_PARTS && size)
		p->v[p->nr++] = (struct code_part){ addr, size, offset };
}

void code_parts_init(struct code_parts *p, struct elf_image *img, int fd, const void *data)
{
	struct elf_section sec;

	p->fd = fd;
	p->data = data;
	p->file_size = img->file_size;
	p->machine = img->machine;
	for (uint32_t i = 1; i < elf_image_nr_sections(img) && p->nr < MAX_PARTS; i++)
		if (!elf_image_section_at(img, i, &sec) && sec.flags & SHF_EXECINSTR)
			add_part(p, sec.addr, sec.size, sec.offset);
	for (size_t i = 0; i < img->nr_segments; i++)
		if (img->segments[i].exec)
			add_part(p, img->segments[i].vaddr, img->segments[i].memsz,
				 img->segments[i].offset);
}

const struct code_part *code_parts_find(const struct code_parts *p, uint64_t addr)
{
	for (size_t i = 0; i < p->nr; i++)
		if (addr >= p->v[i].addr && addr - p->v[i].addr < p->v[i].size)
			return &p->v[i];
	return NULL;
}

bool code_parts_has_no_call(const struct code_parts *p, uint64_t addr)
{
	const struct code_part *part = code_parts_find(p, addr);
	uint8_t code[CALL_BYTES_MAX];
	uint64_t at;

	if (!part || addr - part->addr < sizeof(code) || p->file_size < sizeof(code))
		return false;
	at = part->offset + (addr - part->addr) - sizeof(code);
	if (at > p->file_size - sizeof(code))
		return false;
	if (p->data)
		memcpy(code, p->data + at, sizeof(code));
	else if (io_pread(p->fd, code, sizeof(code), at) != (ssize_t)sizeof(code))
		return false;
	return !code_ends_in_call(p->machine, code);
}
