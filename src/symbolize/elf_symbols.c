#include "src/symbolize/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/io.h"
#include "src/elf/elf_image.h"
#include "src/model/record.h"
#include "src/symbolize/debug_files.h"
#include "src/symbolize/symbol_builder.h"

/* How far back a symbol may begin that still covers an address behind shorter ones. */
#define LOOK_BACK 16

struct elf_symbols {
	struct sym *v;
	size_t nr;
	struct name_source names[NAME_SOURCES];
	uint32_t flags;
};

static int load_image(const struct elf_symbols_source *src, struct elf_image **imgp)
{
	return src->fd >= 0 ? elf_image_open(src->fd, imgp) : elf_image_open_memory(src->data, src->len, imgp);
}

/* Symbols that were stripped into a file of their own. False: there is none. */
static bool add_debug_file(struct symbol_builder *b, struct elf_image *img, const char *path)
{
	int fd = debug_file_open(img, path);
	struct elf_image *debug;
	bool found = false;

	if (fd < 0)
		return false;
	if (!elf_image_open(fd, &debug)) {
		found = symbol_builder_add_table(b, debug, fd, ".symtab", NAMES_SYMTAB) > 0;
		elf_image_close(debug);
	}
	close(fd);
	return found;
}

int elf_symbols_load(const struct elf_symbols_source *src, struct elf_symbols **sp)
{
	struct elf_symbols *s = calloc(1, sizeof(*s));
	struct symbol_builder b;
	struct elf_section debug_info;
	struct elf_image *img;
	int err;

	if (!s)
		return -ENOMEM;
	err = load_image(src, &img);
	if (err) {
		free(s);
		return err;
	}
	symbol_builder_init(&b, img);
	if (symbol_builder_add_table(&b, img, src->fd, ".symtab", NAMES_SYMTAB) <= 0) {
		s->flags |= BINARY_STRIPPED;
		if (add_debug_file(&b, img, src->path ? src->path : ""))
			s->flags = BINARY_HAS_DEBUGLINK;
	}
	if (!elf_image_section(img, ".debug_info", &debug_info))
		s->flags |= BINARY_HAS_DEBUGINFO;
	symbol_builder_add_table(&b, img, src->fd, ".dynsym", NAMES_DYNSYM);
	symbol_builder_add_sections(&b);
	err = symbol_builder_finish(&b, &s->v, &s->nr, s->names);
	symbol_builder_release(&b);
	elf_image_close(img);
	if (err)
		elf_symbols_free(s);
	else
		*sp = s;
	return err;
}

void elf_symbols_free(struct elf_symbols *s)
{
	if (!s)
		return;
	for (int i = 0; i < NAME_SOURCES; i++)
		name_source_release(&s->names[i]);
	free(s->v);
	free(s);
}

/* Index of the last symbol that starts at or before addr, or -1. */
static long last_before(const struct elf_symbols *s, uint64_t addr)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->v[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (long)lo - 1;
}

int elf_symbols_find(const struct elf_symbols *s, uint64_t addr, struct elf_symbol *out)
{
	long at = last_before(s, addr);

	for (long i = at; i >= 0 && i > at - LOOK_BACK; i--) {
		const struct sym *sym = &s->v[i];

		if (addr - sym->addr >= sym->size)
			continue;
		out->addr = sym->addr;
		out->size = sym->size;
		out->is_plt = sym->name >> NAME_SOURCE_SHIFT == NAMES_OWN_PLT;
		return name_source_read(s->names, sym->name, out->name, sizeof(out->name));
	}
	return -ENOENT;
}

size_t elf_symbols_count(const struct elf_symbols *s)
{
	return s->nr;
}

size_t elf_symbols_bytes(const struct elf_symbols *s)
{
	size_t n = sizeof(*s) + s->nr * sizeof(*s->v);

	for (int i = 0; i < NAME_SOURCES; i++)
		n += s->names[i].bytes ? s->names[i].size : 0;
	return n;
}

uint32_t elf_symbols_flags(const struct elf_symbols *s)
{
	return s->flags;
}
