/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_section.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "src/elf/plain_elf.h"

int debug_section_open(int fd, struct plain_elf **pp, uint32_t *lack)
{
	int err = plain_elf_open(fd, PLAIN_ALL, pp);

	if (err == -EFBIG || err == -ENOMEM)
		*lack = DEBUG_LACKS_MEMORY;
	if (!err && plain_elf_unknown_packing(*pp))
		*lack = plain_elf_unknown_packing(*pp);
	return err;
}

Elf_Scn *debug_section_next(Elf *elf, Elf_Scn *scn, const char *name)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		const char *have = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name)
							  : NULL;

		if (have && sh.sh_type != SHT_NOBITS && !strcmp(have, name))
			return scn;
	}
	return NULL;
}

Elf_Scn *debug_section(Elf *elf, const char *name)
{
	return debug_section_next(elf, NULL, name);
}
