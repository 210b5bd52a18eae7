/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_section.h"

#include <gelf.h>
#include <string.h>

Elf_Scn *debug_section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
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
