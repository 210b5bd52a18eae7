/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/debug_info/unit_source.h"

#include "src/base/clock.h"
#include "src/model/record.h"

/* https://dwarfstd.org/languages.html; dwarf.h of older systems has no names for the later ones. */
uint8_t unit_lang(uint64_t dwarf_lang)
{
	static const uint8_t langs[] = {
		[0x01] = LANG_C, [0x02] = LANG_C, [0x0c] = LANG_C, [0x1d] = LANG_C, [0x2c] = LANG_C,
		[0x04] = LANG_CXX, [0x19] = LANG_CXX, [0x1a] = LANG_CXX, [0x21] = LANG_CXX,
		[0x2a] = LANG_CXX, [0x2b] = LANG_CXX,
		[0x1c] = LANG_RUST, [0x16] = LANG_GO, [0x13] = LANG_D, [0x1e] = LANG_SWIFT,
		[0x03] = LANG_ADA, [0x0d] = LANG_ADA, [0x2e] = LANG_ADA, [0x2f] = LANG_ADA,
	};

	return dwarf_lang < sizeof(langs) ? langs[dwarf_lang] : LANG_UNKNOWN;
}

bool unit_time_is_up(uint64_t until_ns)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) >= until_ns;
}

bool unit_is_code(const struct addr_range *v, size_t nr, uint64_t addr)
{
	for (size_t i = 0; i < nr; i++)
		if (addr >= v[i].lo && addr < v[i].hi)
			return true;
	return false;
}
