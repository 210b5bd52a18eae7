/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the table of one compilation unit from the bytes of its debug information.
 *
 * Versions 2 to 5 are read. The lines of a unit that is split are in its skeleton, and everything
 * else is in the other half (split_unit.h); without that half the lines are all that is known.
 *
 * Where only some addresses are wanted, all entries are passed once, for what functions there are
 * and where, and then those are read that have code around these addresses (unit_regions.h). In
 * these, blocks and inlined functions without such an address are passed, and their code is left
 * out of what was read.
 */
#pragma once

#include <stdint.h>

#include "src/base/bytes.h"

struct die_units;
struct split_parts;
struct unit_source;

/*
 * Appends the table to out, which begins aligned. split: a file that may have its other half, or
 * NULL. 0; -ENODATA: the unit has no code; -ENOTSUP: it is of another version; -ETIMEDOUT;
 * -EBADMSG: it is damaged; -E2BIG; -ENOMEM. After an error nothing is appended.
 */
int unit_read(const struct unit_source *src, struct die_units *us, const struct split_parts *split,
	      struct byte_buf *out);

/*
 * Gives the code of the unit with this entry to put(). Without a list of ranges, or one that can be
 * relied on, that of its sequences of lines. 0, -ENOTSUP, or what put() has returned.
 */
int unit_read_code(const struct unit_source *src, struct die_units *us,
		   int (*put)(void *ctx, uint64_t lo, uint64_t hi), void *ctx);
