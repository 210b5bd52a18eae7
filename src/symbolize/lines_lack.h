/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames without lines because debug information is there and cannot be read: it is compressed in a
 * way that is not known, or too large when it is unpacked. Counted, and said in one line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines_lack {
	uint64_t frames;
	uint32_t why;			/* of the first: as of debug_file_open() */
	char path[256];			/* of its file; cut, if it is longer */
};

/* why: struct symbol's lack; 0 is not counted. */
void lines_lack_add(struct lines_lack *l, uint32_t why, const char *path);
/* false: there are none. */
bool lines_lack_text(const struct lines_lack *l, char *text, size_t size);
