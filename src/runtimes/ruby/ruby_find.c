/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The context of a thread is a thread-local variable since 3.0. Where the dynamic linker has put it
 * is told by a word that it relocates: the number of the library's module, or the distance from
 * the thread's pointer. A program's own variable is at a distance that the file tells.
 */
#include "src/runtimes/ruby/ruby_find.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/elf/elf_image.h"
#include "src/elf/exported_symbols.h"
#include "src/runtimes/ruby/ruby_layout.h"
#include "src/runtimes/ruby/ruby_loop.h"
#include "src/runtimes/runtime_kind.h"
#include "src/runtimes/runtime_loops.h"

enum { LOOP, VERSION, THREAD_CONTEXT, CONTEXT, VM, THREAD_CURRENT, NR_NAMES };

#define THREAD_CONTEXT_NAME "ruby_current_ec"
#define PIECE 256			/* relocations that are read at a time */
#define MAX_RELOCATIONS (1u << 20)
#define MAX_HEADERS 64
#define DATA_BYTES (256u << 10)

/* "3.1.2" as 0x03010200; 0: that is no version. */
static uint32_t version_of(struct elf_image *img, uint64_t vaddr)
{
	unsigned major, minor, patch;
	uint64_t offset, left;
	char text[16] = "";

	if (elf_image_offset_of(img, vaddr, &offset, &left) ||
	    elf_image_pread(img, text, left < 15 ? left : 15, offset) <= 0)
		return 0;
	text[15] = 0;
	if (sscanf(text, "%3u.%3u.%3u", &major, &minor, &patch) != 3 || major > 255 ||
	    minor > 255 || patch > 255)
		return 0;
	return major << 24 | minor << 16 | patch << 8;
}

static bool is_of_context(struct elf_image *img, const struct elf_section *symbols,
			  const struct elf_section *strings, uint64_t index)
{
	const uint64_t at = index * sizeof(Elf64_Sym);
	char name[sizeof(THREAD_CONTEXT_NAME)];
	Elf64_Sym sym;

	if (at >= symbols->size ||
	    elf_image_pread(img, &sym, sizeof(sym), symbols->offset + at) != sizeof(sym) ||
	    sym.st_name >= strings->size)
		return false;
	return elf_image_pread(img, name, sizeof(name), strings->offset + sym.st_name) ==
		       sizeof(name) &&
	       !memcmp(name, THREAD_CONTEXT_NAME, sizeof(name));
}

/* The word that tells the linker's choice: its address to *vaddr. 0, -ENOENT, or -errno. */
static int find_word(struct elf_image *img, enum ruby_way *way, uint64_t *vaddr)
{
	struct elf_section symbols, strings, table;
	Elf64_Rela piece[PIECE];
	uint64_t nr, done = 0;
	int err = elf_image_section(img, ".rela.dyn", &table);

	if (!err)
		err = elf_image_section(img, ".dynsym", &symbols);
	if (!err)
		err = elf_image_section_at(img, symbols.link, &strings);
	nr = err ? 0 : table.size / sizeof(piece[0]);
	while (!err && done < nr && done < MAX_RELOCATIONS) {
		uint64_t n = nr - done < PIECE ? nr - done : PIECE;
		long bytes = (long)(n * sizeof(piece[0]));

		if (elf_image_pread(img, piece, (size_t)bytes,
				    table.offset + done * sizeof(piece[0])) != bytes)
			return -EBADMSG;
		for (uint64_t i = 0; i < n; i++) {
			const uint64_t type = ELF64_R_TYPE(piece[i].r_info);

			if ((type != R_X86_64_DTPMOD64 && type != R_X86_64_TPOFF64) ||
			    !is_of_context(img, &symbols, &strings, ELF64_R_SYM(piece[i].r_info)))
				continue;
			*way = type == R_X86_64_TPOFF64 ? RUBY_WAY_OFFSET_WORD : RUBY_WAY_MODULE;
			*vaddr = piece[i].r_offset;
			return 0;
		}
		done += n;
	}
	return err ? err : -ENOENT;
}

/* How far below the thread's pointer the thread-local data of a program begins. */
static int find_own_tls(struct elf_image *img, uint64_t *below)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (elf_image_pread(img, &e, sizeof(e), 0) != sizeof(e) ||
	    e.e_phentsize != sizeof(p))
		return -EBADMSG;
	for (unsigned i = 0; i < e.e_phnum && i < MAX_HEADERS; i++) {
		if (elf_image_pread(img, &p, sizeof(p), e.e_phoff + i * sizeof(p)) != sizeof(p))
			return -EBADMSG;
		if (p.p_type != PT_TLS || (p.p_align & (p.p_align - 1)))
			continue;
		*below = p.p_align ? (p.p_memsz + p.p_align - 1) & ~(p.p_align - 1) : p.p_memsz;
		return 0;
	}
	return -ENOENT;
}

/* Decides how the context is reached. 0; -ENOTSUP: not known how. */
static int find_way(struct elf_image *img, const struct exported_symbol *v,
		    struct runtime_image *out, struct ruby_image *ruby)
{
	enum ruby_way way = RUBY_WAY_OFFSET;
	uint64_t below;
	int err;

	if (!v[THREAD_CONTEXT].vaddr && !ruby->layout.pointer_of_thread) {
		ruby->way = RUBY_WAY_MODULE;
		return v[THREAD_CURRENT].vaddr ? ruby_context_find(img, v[THREAD_CURRENT].vaddr,
								   &out->state_vaddr,
								   &ruby->offset)
					       : -ENOTSUP;
	}
	if (!v[THREAD_CONTEXT].vaddr) {
		ruby->way = RUBY_WAY_GLOBAL;
		out->state_vaddr = v[CONTEXT].vaddr;
		return v[CONTEXT].vaddr ? 0 : -ENOTSUP;
	}
	ruby->offset = (int64_t)v[THREAD_CONTEXT].vaddr;
	err = find_word(img, &way, &out->state_vaddr);
	if (err == -ENOENT) {
		err = find_own_tls(img, &below);
		if (!err)
			ruby->offset -= (int64_t)below;
	}
	ruby->way = way;
	return err == -ENOENT ? -ENOTSUP : err;
}

/* The end of the initialized data that may be written. */
static void find_data(const struct elf_image *img, struct ruby_image *r)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];
		const uint64_t bytes = s->filesz < DATA_BYTES ? s->filesz : DATA_BYTES;

		if (!s->write || s->exec)
			continue;
		r->data_vaddr = (s->vaddr + s->filesz - bytes) & ~7ull;
		r->data_bytes = bytes;
	}
}

static void find_text(const struct elf_image *img, uint64_t loop, struct ruby_image *r)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct elf_segment *s = &img->segments[i];

		if (!s->exec || loop - s->vaddr >= s->filesz)
			continue;
		r->text_vaddr = s->vaddr;
		r->text_bytes = s->filesz;
	}
}

/* All but where the loop is. 0; -ENOTSUP: not known; or an -errno. */
static int fill_in(struct elf_image *img, const struct exported_symbol *v,
		   struct runtime_image *out, struct ruby_image *ruby)
{
	int err;

	ruby->vm_vaddr = v[VM].vaddr;
	ruby->loop_is_core = !v[LOOP].vaddr;
	find_data(img, ruby);
	err = ruby_layout_of(out->version >> 16, &ruby->layout);
	return err ? err : find_way(img, v, out, ruby);
}

int ruby_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out)
{
	struct exported_symbol v[NR_NAMES] = {
		[LOOP] = { .name = "rb_vm_exec" },
		[VERSION] = { .name = "ruby_version" },
		[THREAD_CONTEXT] = { .name = THREAD_CONTEXT_NAME },
		[CONTEXT] = { .name = "ruby_current_execution_context_ptr" },
		[VM] = { .name = "ruby_current_vm_ptr" },
		[THREAD_CURRENT] = { .name = "rb_thread_current" },
	};
	struct ruby_image ruby = { 0 };
	int err = exported_symbols_find(img, v, NR_NAMES);

	if (err)
		return err;
	if (!v[VERSION].vaddr)
		return -ENOENT;
	out->version = version_of(img, v[VERSION].vaddr);
	if (img->machine != EM_X86_64)
		return 0;
	err = fill_in(img, v, out, &ruby);
	if (!err && !v[LOOP].vaddr)
		err = ruby_loop_find(img, fd, data, &v[LOOP].vaddr);
	if (!err)
		err = runtime_loops_find(img, fd, data, &v[LOOP], out);
	if (!err)
		find_text(img, v[LOOP].vaddr, &ruby);
	out->is_known = !err;
	RUNTIME_SET_OWN(out, &ruby);
	return err == -ENOTSUP ? 0 : err;
}
