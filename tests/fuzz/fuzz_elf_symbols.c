/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files of anybody's making: symbol tables, PLT, Go's table, where functions without a name begin, and the demangler
 * behind them. Seeds: small ELF files in tests/fuzz/corpus/elf_symbols.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/elf/elf_image.h"
#include "src/symbolize/demangle.h"
#include "src/symbolize/elf_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct elf_symbols *s, uint64_t addr, struct byte_buf *out)
{
	struct elf_symbol sym;
	uint64_t start;

	if (!elf_symbols_unnamed(s, addr, &start) && start > addr)
		__builtin_trap();
	if (elf_symbols_find(s, addr, &sym))
		return;
	if (addr < sym.addr || addr - sym.addr >= sym.size || strlen(sym.name) >= sizeof(sym.name) || !sym.name[0])
		__builtin_trap();
	out->nr = 0;
	if (demangle(sym.name, out) == 1 && strlen((char *)out->v) + 1 > out->nr)
		__builtin_trap();
}

static void load_and_ask(const uint8_t *data, size_t size, bool of_variables)
{
	struct elf_symbols_source src = { .fd = -1, .data = data, .len = size,
					  .of_variables = of_variables };
	struct byte_buf out = { 0 };
	struct elf_symbols *s = NULL;
	struct elf_image *img = NULL;

	if (elf_symbols_load(&src, &s))
		return;
	if (!elf_image_open_memory(data, size, &img))
		for (size_t i = 0; i < img->nr_segments && i < 4; i++)
			for (uint64_t at = 0; at < img->segments[i].memsz && at < 4096; at += 13)
				ask(s, img->segments[i].vaddr + at, &out);
	ask(s, 0, &out);
	ask(s, UINT64_MAX, &out);
	elf_image_close(img);
	elf_symbols_free(s);
	bb_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	load_and_ask(data, size, false);
	load_and_ask(data, size, true);
	return 0;
}
