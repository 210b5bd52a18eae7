/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/frame_name.h"

#include <stdio.h>

#include "src/model/definition_store.h"

void frame_name(const struct definition_store *t, const struct frame_view *v, bool offset,
		bool line, struct byte_buf *out)
{
	char part[FRAME_LINE_MAX];

	out->nr = 0;
	bb_bytes(out, v->name, v->len);
	if (offset)
		bb_bytes(out, part, (size_t)snprintf(part, sizeof(part), "+0x%llx",
						     (unsigned long long)v->offset));
	if (line)
		bb_bytes(out, part, (size_t)definition_store_line_text(t, v, part));
}
