/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of a page's data, and the columns of tables in them (page_tables.h). */
#pragma once

#include <stddef.h>

#include "src/base/bytes.h"

/* What was put into section, with its length before it. section is empty then. */
static inline void page_put_section(struct byte_buf *out, struct byte_buf *section)
{
	bb_uv(out, section->nr);
	bb_bytes(out, section->v, section->nr);
	out->bad |= section->bad;
	section->nr = 0;
}

/* Rows from .. end - 1 of a table follow, column by column. */
static inline void page_begin_columns(struct byte_buf *b, size_t from, size_t end)
{
	bb_uv(b, from);
	bb_uv(b, end - from);
}

/* value may use i, the number of the row. */
#define PAGE_PUT_COLUMN(b, from, end, value) \
	for (size_t i = (from); i < (end); i++) \
		bb_uv((b), (value))
