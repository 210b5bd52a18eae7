/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By the headers of Debian's 5.32.1, 5.36.0 and 5.40.1. Odd versions are of development. */
#include "src/runtimes/perl/perl_layout.h"

#include <errno.h>
#include <stddef.h>

#define MAX_OFFSET 4096

static const struct perl_layout rows[] = {
	{ .minor = 32, .cop = 0xe0, .stack = 0xf0 },
	{ .minor = 34, .cop = 0xd0, .stack = 0xe0 },
	{ .minor = 36, .cop = 0xd0, .stack = 0xe0, .stash_aux = 0x20 },
	{ .minor = 38, .cop = 0xd0, .stack = 0xe0, .stash_aux = 0x20 },
	{ .minor = 40, .cop = 0xd0, .stack = 0xe0, .stash_aux = 0x20 },
};

int perl_layout_of(uint32_t minor, struct perl_layout *out)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].minor != minor)
			continue;
		*out = rows[i];
		return 0;
	}
	return -ENOTSUP;
}

bool perl_layout_is_sound(const struct perl_layout *l)
{
	return l->cop <= MAX_OFFSET && l->stack <= MAX_OFFSET && l->stash_aux <= MAX_OFFSET;
}
