/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files of anybody's making, in which a runtime is looked for, and the parts of functions. Checks that what is found passes
 * the check that its receiver makes. Seeds: tests/fuzz/corpus/runtime_find, and the small files of elf_symbols.
 */
#include <stdint.h>
#include <stdlib.h>

#include "src/elf/elf_image.h"
#include "src/runtimes/function_parts.h"
#include "src/runtimes/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PARTS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct function_range parts[PARTS];
	struct runtime_image found;
	struct frame_program program;
	struct elf_image *img;

	if (elf_image_open_memory(data, size, &img))
		return 0;
	if (!runtime_find(img, -1, data, &found)) {
		if (!runtime_image_is_sound(&found) || (found.is_known && runtime_program(&found, &program)))
			abort();
	}
	for (size_t i = 0; i < img->nr_segments && i < 4; i++) {
		int nr = function_parts_find(img, -1, data, img->segments[i].vaddr, i & 1 ? 0 : 64, parts, PARTS);

		if (nr > PARTS || !nr)
			abort();
		for (int k = 0; k < nr; k++)
			if (parts[k].lo >= parts[k].hi)
				abort();
	}
	elf_image_close(img);
	return 0;
}
