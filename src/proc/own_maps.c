/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/own_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/io.h"

#define MAX_OWN_MAPS (1u << 20)

/* "start-end perms offset major:minor inode path", of the mapping that begins at addr. */
static bool line_has_numbers(const char *line, const void *addr, uint64_t dev, uint64_t ino)
{
	unsigned maj, min;
	uint64_t start, its_ino;

	return sscanf(line, "%" SCNx64 "-%*x %*s %*x %x:%x %" SCNu64, &start, &maj, &min,
		      &its_ino) == 4 &&
	       start == (uintptr_t)addr && ((uint64_t)maj << 20 | min) == dev && its_ino == ino;
}

bool own_maps_has(const void *addr, uint64_t dev, uint64_t ino)
{
	const char *line;
	bool has = false;
	char *text;

	if (io_read_file("/proc/self/maps", &text, MAX_OWN_MAPS) < 0)
		return false;
	for (line = text; line && !has; line = strchr(line, '\n'))
		has = line_has_numbers(line += *line == '\n', addr, dev, ino);
	free(text);
	return has;
}
