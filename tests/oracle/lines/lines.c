// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the functions and lines at the addresses on standard input, as `llvm-symbolizer` does: lines FILE. They are expected in
 * batches of a few, so tables are partial ones at first, and whole ones at last.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/debug_info/debug_lines.h"

#include "src/elf/beside_names.h"

#define FOR_EVER (UINT64_MAX / 2)
#define BATCH 100

static void print(const struct unit_place *v, int nr)
{
	if (nr <= 0)
		puts("??\n??:0:0");
	for (int i = 0; i < nr; i++)
		printf("%s\n%s:%u:%u\n", v[i].name ? v[i].name : "??", v[i].file ? v[i].file : "??", v[i].line, v[i].column);
	puts("");
}

/* Gives the files that are asked for, which are in the current directory; FILE.dwp beside FILE. */
static void give(struct debug_lines *d, const char *file)
{
	const struct beside_names *names = debug_lines_wants(d);

	for (uint32_t i = 0; i < names->nr; i++) {
		const char *name = names->text + names->v[i].name;
		char package[4096];
		int fd;

		snprintf(package, sizeof(package), "%s.dwp", file);
		fd = open(names->v[i].kind == BESIDE_DWP ? package : name, O_RDONLY);
		if (fd >= 0)
			debug_lines_give(d, i, fd);
	}
}

static int find(struct debug_lines *d, const char *file, uint64_t addr, struct unit_place *v, size_t max)
{
	uint8_t lang;
	int nr = debug_lines_find(d, addr, FOR_EVER, v, max, &lang);

	while (nr == -EAGAIN) {
		give(d, file);
		nr = debug_lines_find(d, addr, FOR_EVER, v, max, &lang);
	}
	return nr;
}

static size_t read_batch(uint64_t *addrs)
{
	char line[64];
	size_t nr = 0;

	while (nr < BATCH && fgets(line, sizeof(line), stdin))
		addrs[nr++] = strtoull(line, NULL, 16);
	return nr;
}

int main(int argc, char **argv)
{
	static struct unit_place v[256];
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	const struct debug_lines_source src = { .fds = &fd, .nr_fds = 1, .cache_fd = -1 };
	static uint64_t addrs[BATCH];
	struct debug_lines *d;
	size_t nr;

	if (fd < 0 || debug_lines_open(&src, &d, &(uint32_t){ 0 }))
		return 1;
	while ((nr = read_batch(addrs))) {
		debug_lines_expect(d, addrs, nr);
		for (size_t i = 0; i < nr; i++) {
			printf("0x%llx\n", (unsigned long long)addrs[i]);
			print(v, find(d, argv[1], addrs[i], v, sizeof(v) / sizeof(v[0])));
		}
	}
	debug_lines_close(d);
	return 0;
}
