/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any ELF file whose sections are unpacked, for libdw and for our own readers. */
#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/elf/elf_image.h"
#include "src/elf/plain_elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sum;

static void read_sections(Elf *elf)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		const Elf_Data *d = elf_rawdata(scn, NULL);

		for (size_t i = 0; d && d->d_buf && i < d->d_size; i += 64)
			sum += ((const uint8_t *)d->d_buf)[i];
	}
}

static void read_image(const uint8_t *data, size_t size)
{
	struct elf_image *img;
	struct elf_section s;
	void *bytes;

	if (elf_image_open_memory(data, size, &img))
		return;
	for (uint32_t i = 0; i < elf_image_nr_sections(img); i++)
		if (!elf_image_section_at(img, i, &s) &&
		    !elf_image_read(img, s.offset, s.size, 1 << 20, &bytes))
			free(bytes);
	elf_image_section(img, ".debug_info", &s);
	elf_image_close(img);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct plain_elf *p;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd < 0 || !size || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	if (!plain_elf_open(fd, data[size - 1] % 4 ? PLAIN_ALL : PLAIN_NAMES, &p)) {
		read_sections(plain_elf_get(p));
		plain_elf_close(p);
	}
	read_image(data, size);
	return 0;
}
