/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/probes/kernel_functions.h"

#include <errno.h>
#include <stdio.h>

#include "src/probes/probe_spec.h"

int kernel_functions_each(const char *glob, kernel_function_fn fn, void *ctx)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], type;
	int err = 0;

	if (!f)
		return -errno;
	while (!err && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %c %511s", &type, name) == 2 && (type | 32) == 't' &&
		    probe_glob_matches(glob, name))
			err = fn(ctx, name);
	fclose(f);
	return err;
}
