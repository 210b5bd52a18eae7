/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/table_maker.h"

#include <errno.h>

#include "src/elf_unwind/elf_unwind_part.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/runtimes/runtime.h"
#include "unwind/unwind_table_mark.h"

/* A list that does not ascend would have pages twice. */
static bool ascends(const uint32_t *v, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (v[i] <= v[i - 1])
			return false;
	return true;
}

int table_maker_make(struct elf_image *img, int fd, const uint32_t *pages, size_t nr,
		     struct unwind_table **tp)
{
	int err = -ENOTSUP;

	if (nr && ascends(pages, nr))
		err = unwind_part_from_image(img, fd, pages, nr, tp);
	return err == -ENOTSUP ? unwind_table_from_image(img, tp) : err;
}

bool table_maker_mark(struct elf_image *img, int fd, struct unwind_table *t,
		      struct runtime_image *out)
{
	int (*mark)(struct unwind_table *t, uint64_t lo, uint64_t hi);

	if (runtime_find(img, fd, NULL, out) || !runtime_image_is_sound(out))
		return false;
	mark = runtime_owns_code(out) ? unwind_table_own : unwind_table_mark;
	for (uint32_t i = 0; i < out->nr_loops && out->is_known; i++)
		if (mark(t, out->loops[i].lo, out->loops[i].hi))
			return false;
	return true;
}
