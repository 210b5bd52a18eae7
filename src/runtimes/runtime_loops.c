/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/runtimes/runtime_loops.h"

#include "src/elf/exported_symbols.h"
#include "src/runtimes/function_parts.h"
#include "src/runtimes/runtime.h"

int runtime_loops_find(struct elf_image *img, int fd, const void *data,
		       const struct exported_symbol *loop, struct runtime_image *out)
{
	struct function_range parts[RUNTIME_MAX_LOOPS];
	int nr = function_parts_find(img, fd, data, loop->vaddr, loop->size, parts,
				     RUNTIME_MAX_LOOPS);

	if (nr < 0)
		return nr;
	for (int i = 0; i < nr; i++)
		out->loops[i] = (struct runtime_range){ parts[i].lo, parts[i].hi };
	out->nr_loops = (uint32_t)nr;
	return 0;
}
