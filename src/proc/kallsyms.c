/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/proc/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_LINE = 1024 };

static const char path[] = "/proc/kallsyms";

int kallsyms_each_function(kallsyms_fn fn, void *ctx)
{
	FILE *f = fopen(path, "re");
	char line[MOST_LINE], name[512], type;
	int err = 0;

	if (!f)
		return -errno;
	while (!err && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %c %511s", &type, name) == 2 && (type | 32) == 't')
			err = fn(ctx, name);
	fclose(f);
	return err;
}

int kallsyms_shows_addresses(bool *shows)
{
	FILE *f = fopen(path, "re");
	char line[MOST_LINE];

	*shows = false;
	if (!f)
		return -errno;
	while (!*shows && fgets(line, sizeof(line), f))
		*shows = strtoull(line, NULL, 16) != 0;
	fclose(f);
	return 0;
}
