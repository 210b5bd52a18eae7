// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the functions and lines at the addresses on standard input, as `llvm-symbolizer` does: lines FILE [CACHE-FILE]. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/debug_info/debug_lines.h"

#define FOR_EVER (UINT64_MAX / 2)

static void print(const struct unit_place *v, int nr)
{
	if (nr <= 0)
		puts("??\n??:0:0");
	for (int i = 0; i < nr; i++)
		printf("%s\n%s:%u:%u\n", v[i].name ? v[i].name : "??", v[i].file ? v[i].file : "??", v[i].line, v[i].column);
	puts("");
}

int main(int argc, char **argv)
{
	static struct unit_place v[256];
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	const struct debug_lines_source src = { .fds = &fd, .nr_fds = 1, .cache_fd = -1 };
	struct debug_lines *d;
	char line[64];
	uint8_t lang;

	if (fd < 0 || debug_lines_open(&src, &d))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t addr = strtoull(line, NULL, 16);

		printf("0x%llx\n", (unsigned long long)addr);
		print(v, debug_lines_find(d, addr, FOR_EVER, v, sizeof(v) / sizeof(v[0]), &lang));
	}
	debug_lines_close(d);
	return 0;
}
