/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/split_file.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/array.h"
#include "src/debug_info/debug_section.h"
#include "src/elf/plain_elf.h"

#define MAX_INFOS 65536			/* sections .debug_info.dwo */

struct split_file {
	struct plain_elf *plain;
	struct split_parts parts;
	struct debug_bytes *infos;
	size_t nr_infos, cap_infos;
};

static struct debug_bytes bytes_of(Elf_Scn *scn)
{
	const Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

	return data && data->d_buf ? (struct debug_bytes){ data->d_buf, data->d_size }
				   : (struct debug_bytes){ 0 };
}

static int read_infos(struct split_file *f, Elf *elf)
{
	Elf_Scn *scn = NULL;

	while (f->nr_infos < MAX_INFOS && (scn = debug_section_next(elf, scn, DEBUG_INFO_DWO))) {
		struct debug_bytes *x = array_push(&f->infos, &f->nr_infos, &f->cap_infos);

		if (!x)
			return -ENOMEM;
		*x = bytes_of(scn);
	}
	f->parts.infos = f->infos;
	f->parts.nr_infos = f->nr_infos;
	return f->nr_infos ? 0 : -ENOENT;
}

static int read_parts(struct split_file *f)
{
	Elf *elf = plain_elf_get(f->plain);
	int err = debug_sections_read_dwo(elf, &f->parts.s);

	if (!err)
		err = read_infos(f, elf);
	f->parts.index = bytes_of(debug_section(elf, ".debug_cu_index"));
	return err;
}

int split_file_open(int fd, struct split_file **fp, uint32_t *lack)
{
	struct split_file *f = calloc(1, sizeof(*f));
	int err = f ? debug_section_open(fd, &f->plain, lack) : -ENOMEM;

	if (!err)
		err = read_parts(f);
	if (err)
		split_file_close(f);
	else
		*fp = f;
	return err;
}

const struct split_parts *split_file_parts(const struct split_file *f)
{
	return &f->parts;
}

size_t split_file_bytes(const struct split_file *f)
{
	return plain_elf_bytes(f->plain);
}

void split_file_close(struct split_file *f)
{
	if (!f)
		return;
	plain_elf_close(f->plain);
	free(f->infos);
	free(f);
}
