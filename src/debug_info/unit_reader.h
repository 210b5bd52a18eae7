/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the table of one compilation unit from the bytes of its debug information.
 *
 * It makes the same table as unit_build() (unit_builder.h), which asks libdw, in a third of the
 * time: libdw looks for each attribute of an entry by its name, and comes past an entry by reading
 * all of its attributes. What is not read here is left to unit_build(): units that are split, of
 * types, of unknown versions, or of another byte order.
 */
#pragma once

#include <stdint.h>

#include "src/base/bytes.h"

struct die_units;
struct unit_source;

/* Ignores what libdw has opened in src. 0, -ENOTSUP, or -errno as unit_build(). */
int unit_read(const struct unit_source *src, struct die_units *us, struct byte_buf *out);

/*
 * Gives the code of the unit with this entry to put(). Without a list of ranges, or one that can be
 * relied on, that of its sequences of lines. 0, -ENOTSUP, or what put() has returned.
 */
int unit_read_code(const struct unit_source *src, struct die_units *us,
		   int (*put)(void *ctx, uint64_t lo, uint64_t hi), void *ctx);
