/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints what probee calls addresses: "find_names FILE [DEBUG_FILE]" reads one address of the ELF
 * file a line, in hexadecimal, and answers each with a line
 *
 *	OFFSET<tab>SYSNAME<tab>NAME
 *
 * or with "-": no function covers it. Exits 1 if the file cannot be read.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/symbol_batch.h"

static void answer(const struct elf_symbols *s, uint64_t addr)
{
	struct symbol_answer a = { .addr = addr, .name = SYMBOL_NO_NAME };
	struct symbol_batch b = { .v = &a, .nr = 1 };

	symbol_batch_elf(&b, s, NULL);
	if (a.name == SYMBOL_NO_NAME)
		puts("-");
	else
		printf("%" PRIu64 "\t%s\t%s\n", addr - a.func_addr, (char *)b.text.v + a.sysname,
		       (char *)b.text.v + a.name);
	bb_release(&b.text);
}

int main(int argc, char **argv)
{
	int debug = argc > 2 ? open(argv[2], O_RDONLY) : -1;
	struct elf_symbols_source src = {
		.fd = argc > 1 ? open(argv[1], O_RDONLY) : -1,
		.debug_fds = &debug, .nr_debug_fds = debug >= 0,
	};
	struct elf_symbols *s = NULL;
	char line[64];

	if (src.fd < 0 || elf_symbols_load(&src, &s))
		return 1;
	while (fgets(line, sizeof(line), stdin))
		answer(s, strtoull(line, NULL, 16));
	elf_symbols_free(s);
	return 0;
}
