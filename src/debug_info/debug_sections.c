/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/debug_sections.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "src/debug_info/debug_section.h"

static const char *const names[NR_DEBUG_PARTS] = {
	[DEBUG_INFO] = ".debug_info",
	[DEBUG_ABBREV] = ".debug_abbrev",
	[DEBUG_STR] = ".debug_str",
	[DEBUG_LINE_STR] = ".debug_line_str",
	[DEBUG_STR_OFFSETS] = ".debug_str_offsets",
	[DEBUG_ADDR] = ".debug_addr",
	[DEBUG_RANGES] = ".debug_ranges",
	[DEBUG_RNGLISTS] = ".debug_rnglists",
	[DEBUG_LINE] = ".debug_line",
};

/* Lines, addresses and .debug_ranges of a split unit are in the file of its skeleton. */
static const char *const dwo_names[NR_DEBUG_PARTS] = {
	[DEBUG_INFO] = DEBUG_INFO_DWO,
	[DEBUG_ABBREV] = ".debug_abbrev.dwo",
	[DEBUG_STR] = ".debug_str.dwo",
	[DEBUG_STR_OFFSETS] = ".debug_str_offsets.dwo",
	[DEBUG_RNGLISTS] = ".debug_rnglists.dwo",
};

void debug_sections_end_strings(struct debug_sections *s)
{
	static const enum debug_part strings[] = { DEBUG_STR, DEBUG_LINE_STR };

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		struct debug_bytes *b = &s->part[strings[i]];
		const uint8_t *last = b->len ? memrchr(b->v, 0, b->len) : NULL;

		b->len = last ? (size_t)(last - b->v) + 1 : 0;
	}
}

static int read_names(Elf *elf, const char *const *v, struct debug_sections *s)
{
	const char *ident = elf_getident(elf, NULL);

	memset(s, 0, sizeof(*s));
	if (!ident || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	for (unsigned i = 0; i < NR_DEBUG_PARTS; i++) {
		Elf_Scn *scn = v[i] ? debug_section(elf, v[i]) : NULL;
		const Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

		if (data && data->d_buf)
			s->part[i] = (struct debug_bytes){ data->d_buf, data->d_size };
	}
	debug_sections_end_strings(s);
	return 0;
}

int debug_sections_read(Elf *elf, struct debug_sections *s)
{
	return read_names(elf, names, s);
}

int debug_sections_read_dwo(Elf *elf, struct debug_sections *s)
{
	return read_names(elf, dwo_names, s);
}
