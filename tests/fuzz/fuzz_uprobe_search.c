/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any ELF file in which functions are looked for, with patterns that all of its names pass through. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/probes/probe_spec.h"
#include "src/probes/uprobe_search.h"
#include "src/probes/usdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check(void *ctx, const struct uprobe_match *m)
{
	size_t *nr = ctx;

	if (!m->symbol || (m->refused && !*m->refused))
		abort();
	return ++*nr > 10000 ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const specs[] = { "u:*", "ur:/./", "u:a::b", "u:main+5", "u:a.c:3", "usdt:*:*" };
	static int fd = -1;
	struct probe_spec spec;
	struct uprobe_search *s = NULL;
	char why[128];
	size_t nr = 0;

	if (fd < 0)
		fd = memfd_create("elf", MFD_CLOEXEC);
	if (fd < 0 || !size || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	if (probe_spec_parse("-e", specs[data[size - 1] % 6], &spec))
		abort();
	if (spec.kind == PROBE_USDT) {
		usdt_search_file(&spec, fd, check, &nr);
		return 0;
	}
	if (!uprobe_search_begin(&spec, &s, why, sizeof(why)))
		uprobe_search_file(s, fd, data[0] % 2 ? fd : -1, check, &nr);
	uprobe_search_end(s);
	return 0;
}
