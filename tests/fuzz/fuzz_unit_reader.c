/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information of anybody's making: for each section two bytes that say its length, then its bytes; the same again for the
 * alternate file; and for a file of split units, then the index of a package, and another .debug_info.dwo.
 * Checks what tests/fuzz/unit_table_check.h says of the tables of the first units. Seeds: the units of tests/unit/dwarf_fixture.h
 * and split_fixture.h in tests/fuzz/corpus/unit_reader.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/debug_info/debug_sections.h"
#include "src/debug_info/die_units.h"
#include "src/debug_info/split_file.h"
#include "src/debug_info/unit_reader.h"
#include "src/debug_info/unit_source.h"
#include "tests/fuzz/unit_table_check.h"

#define MAX_UNITS 8
#define UNIT_NS (200 * NSEC_PER_MSEC)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each section is memory of its own, so that reading behind it is found. */
static struct debug_bytes take_bytes(struct byte_reader *r)
{
	size_t want = br_u16(r), len = want < br_left(r) ? want : br_left(r);
	uint8_t *copy = malloc(len + 1);

	require(copy != NULL);
	if (len)
		memcpy(copy, br_bytes(r, len), len);
	return (struct debug_bytes){ copy, len };
}

static void take_sections(struct byte_reader *r, struct debug_sections *s)
{
	for (unsigned i = 0; i < NR_DEBUG_PARTS; i++)
		s->part[i] = take_bytes(r);
	debug_sections_end_strings(s);
}

static void drop_sections(struct debug_sections *s)
{
	for (unsigned i = 0; i < NR_DEBUG_PARTS; i++)
		free((void *)(uintptr_t)s->part[i].v);
}

static int ignore(void *ctx, uint64_t lo, uint64_t hi)
{
	(void)lo;
	(void)hi;
	return ++*(unsigned *)ctx > 1000 ? -1 : 0;
}

static void read_units(struct die_units *us, const struct split_parts *split)
{
	static const struct addr_range code = { 0x1000, 0x100000 };
	static const uint64_t wanted[] = { 0x1000, 0x1004, 0x1012, 0x1030, 0x1044, 0x2000 };
	struct unit_source src = { .code = &code, .nr_code = 1 };
	struct byte_buf table = { 0 };

	for (size_t i = 0; i < die_units_nr(us) && i < MAX_UNITS; i++) {
		unsigned nr = 0;

		src.number = die_units_entry(us, i);
		src.until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + UNIT_NS;
		table.nr = 0;
		if (!unit_read(&src, us, i % 2 ? NULL : split, &table))
			check_table(&table);
		table.nr = 0;
		src.wanted = (struct unit_wanted){ wanted + i % 3, 1 + i % 4, 1 };
		if (!unit_read(&src, us, i % 2 ? NULL : split, &table))
			check_table(&table);
		src.wanted.nr = 0;
		unit_read_code(&src, us, ignore, &nr);
	}
	bb_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = br_make(data, size);
	struct debug_sections s, alt;
	struct split_parts split = { .nr_infos = 2 };
	struct debug_bytes infos[2];
	struct die_units *us, *alt_us;

	take_sections(&r, &s);
	take_sections(&r, &alt);
	take_sections(&r, &split.s);
	split.index = take_bytes(&r);
	infos[0] = take_bytes(&r);
	infos[1] = split.s.part[DEBUG_INFO];
	split.infos = infos;
	require(!die_units_new(&s, &us) && !die_units_new(&alt, &alt_us));
	die_units_set_alternate(us, alt_us);
	read_units(us, &split);
	die_units_free(us);
	die_units_free(alt_us);
	drop_sections(&s);
	drop_sections(&alt);
	drop_sections(&split.s);
	free((void *)(uintptr_t)split.index.v);
	free((void *)(uintptr_t)infos[0].v);
	return 0;
}
