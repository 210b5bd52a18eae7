/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A Java method, as HotSpot keeps it: what it is called, and the lines of its bytecodes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/runtimes/hotspot/hotspot_layout.h"
#include "src/runtimes/target_memory.h"

struct hotspot_method {
	char *name;			/* java.lang.String.hashCode */
	char *file;			/* java/lang/String.java; NULL: unknown */
	uint32_t code_bytes;		/* of its bytecodes */
	uint32_t first_line;		/* 0: unknown */
	uint8_t *lines;			/* compressed */
	uint32_t lines_bytes, version;
};

/*
 * at: of the Method. cookie: NULL, or HOTSPOT_METHOD_COOKIE of hotspot_program.h. 0; -ESTALE: it
 * is another method, or none; -ENOMEM; or an -errno of reading. After an error nothing is to be
 * freed.
 */
int hotspot_method_read(const struct hotspot_layout *l, const struct target_memory *m, uint64_t at,
			const uint32_t *cookie, struct hotspot_method *out);

/* Whether the method with that cookie is there: 0, -ESTALE, or an -errno of reading. */
int hotspot_method_check(const struct hotspot_layout *l, const struct target_memory *m, uint64_t at,
			 uint32_t cookie);

uint32_t hotspot_method_line(const struct hotspot_method *m, uint32_t bci);	/* 0: unknown */
void hotspot_method_release(struct hotspot_method *m);
