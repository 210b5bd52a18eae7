/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stubs through which a file calls functions of other files. They have no symbols, but each
 * jumps through a slot of the global offset table, and the relocation of that slot names the
 * function.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/symbolize/symbol_set.h"

#define MAX_PLT_BYTES (16u << 20)
#define MAX_SLOTS (1u << 20)
#define READ_RELOCATIONS 2048

struct slot {
	uint64_t addr;
	uint64_t value;			/* index in .dynsym, or address of the function */
	bool is_local;			/* value is an address: an IFUNC of the file itself */
};

struct slots {
	struct slot *v;
	size_t nr, cap;
};

/* Recognises a stub at p; returns its slot's address, or 0. */
typedef uint64_t (*stub_fn)(const uint8_t *p, size_t len, uint64_t addr);

struct plt_arch {
	uint16_t machine;
	uint8_t step;			/* stubs start at multiples of this */
	uint8_t max_size;
	uint32_t jump_slot, glob_dat, irelative;
	stub_fn decode;
};

/* [endbr64] [bnd] jmp *disp32(%rip) */
static uint64_t x86_64_stub(const uint8_t *p, size_t len, uint64_t addr)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	int32_t disp;
	size_t at = 0;

	if (len >= 4 && !memcmp(p, endbr, 4))
		at = 4;
	at += at < len && p[at] == 0xf2;
	if (len < at + 6 || p[at] != 0xff || p[at + 1] != 0x25)
		return 0;
	memcpy(&disp, p + at + 2, 4);
	return addr + at + 6 + (uint64_t)(int64_t)disp;
}

/* [bti c] adrp x16, page; ldr x17, [x16, #offset] */
static uint64_t aarch64_stub(const uint8_t *p, size_t len, uint64_t addr)
{
	uint32_t adrp, ldr;
	int64_t pages;

	if (len < 12)
		return 0;
	memcpy(&adrp, p, 4);
	if (adrp == 0xd503245f) {
		p += 4;
		addr += 4;
		memcpy(&adrp, p, 4);
	}
	memcpy(&ldr, p + 4, 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	pages = (int64_t)(((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 43) >> 43;
	return (addr & ~0xfffull) + (uint64_t)(pages * 4096) + (ldr >> 10 & 0xfff) * 8;
}

static const struct plt_arch archs[] = {
	{ EM_X86_64, 8, 16, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE,
	  x86_64_stub },
	{ EM_AARCH64, 4, 24, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE,
	  aarch64_stub },
};

static const struct plt_arch *find_arch(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		if (archs[i].machine == machine)
			return &archs[i];
	return NULL;
}

static int add_slot(struct slots *s, const struct plt_arch *arch, const Elf64_Rela *r)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);
	struct slot *new;

	if (type != arch->jump_slot && type != arch->glob_dat && type != arch->irelative)
		return 0;
	if (s->nr >= MAX_SLOTS)
		return 0;
	new = array_push(&s->v, &s->nr, &s->cap);
	if (!new)
		return -ENOMEM;
	new->addr = r->r_offset;
	new->is_local = type == arch->irelative;
	new->value = new->is_local ? (uint64_t)r->r_addend : ELF64_R_SYM(r->r_info);
	return 0;
}

static int add_slots(struct slots *s, struct elf_image *img, const struct plt_arch *arch,
		     const char *section)
{
	Elf64_Rela buf[READ_RELOCATIONS];
	struct elf_section sec;
	uint64_t at = 0;
	int err = 0;

	if (elf_image_section(img, section, &sec))
		return 0;
	while (!err && at + sizeof(*buf) <= sec.size) {
		uint64_t want = sec.size - at < sizeof(buf) ? sec.size - at : sizeof(buf);
		long n = elf_image_pread(img, buf, want, sec.offset + at);

		for (long i = 0; !err && (i + 1) * (long)sizeof(*buf) <= n; i++)
			err = add_slot(s, arch, &buf[i]);
		if (n < (long)want)
			break;
		at += want;
	}
	return err;
}

static int by_slot(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return COMPARE(x->addr, y->addr);
}

static const struct slot *find_slot(const struct slots *s, uint64_t addr)
{
	struct slot key = { .addr = addr };

	return s->nr ? bsearch(&key, s->v, s->nr, sizeof(*s->v), by_slot) : NULL;
}

struct plt {
	const struct plt_arch *arch;
	struct slots slots;
	struct elf_section dynsym;
	size_t known;			/* symbols of the set that are not stubs */
};

/* The best-ranked symbol that begins at addr, or NULL. */
static const struct elf_sym *starting_at(const struct symbol_set *set, size_t known, uint64_t addr)
{
	uint32_t rel = (uint32_t)(addr - set->base);
	size_t i;

	if (addr < set->base || addr - set->base > UINT32_MAX)
		return NULL;
	i = symbol_set_after(set->v, known, rel);
	if (!i || set->v[i - 1].addr != rel)
		return NULL;
	while (i > 1 && set->v[i - 2].addr == rel)
		i--;
	return &set->v[i - 1];
}

/* Adds the stub at addr under the name of the function that the slot leads to. */
static int add_stub(struct symbol_set *set, const struct plt *plt, const struct slot *slot,
		    uint64_t addr, uint64_t size)
{
	const struct elf_sym *target;
	Elf64_Sym sym;

	if (size > plt->arch->max_size)
		size = plt->arch->max_size;
	if (slot->is_local) {
		target = starting_at(set, plt->known, slot->value);
		if (!target)
			return 0;
		return symbol_set_add(set, addr, size, RANK_PLT, target->table, target->name);
	}
	if (slot->value >= plt->dynsym.size / sizeof(sym))
		return 0;
	if (elf_image_pread(set->img, &sym, sizeof(sym),
			    plt->dynsym.offset + slot->value * sizeof(sym)) != (long)sizeof(sym))
		return 0;
	return symbol_set_add(set, addr, size, RANK_PLT, NAMES_DYNSYM, sym.st_name);
}

static int add_section(struct symbol_set *set, const struct plt *plt, const char *name)
{
	const struct slot *last = NULL;
	struct elf_section sec;
	uint64_t last_at = 0;
	void *code;
	int err = elf_image_section(set->img, name, &sec);

	if (err || elf_image_read(set->img, sec.offset, sec.size, MAX_PLT_BYTES, &code))
		return 0;
	for (uint64_t at = 0; !err && at < sec.size; at += plt->arch->step) {
		const uint8_t *p = (const uint8_t *)code + at;
		uint64_t slot_addr = plt->arch->decode(p, sec.size - at, sec.addr + at);
		const struct slot *slot = slot_addr ? find_slot(&plt->slots, slot_addr) : NULL;

		/* This is the last stub once more, without its "bti c". */
		if (!slot || (last == slot && at - last_at == 4))
			continue;
		if (last)
			err = add_stub(set, plt, last, sec.addr + last_at, at - last_at);
		last = slot;
		last_at = at;
	}
	if (!err && last)
		err = add_stub(set, plt, last, sec.addr + last_at, sec.size - last_at);
	free(code);
	return err;
}

int plt_symbols_add(struct symbol_set *set)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct plt plt = { .known = set->nr };
	struct elf_section sec;
	int err;

	plt.arch = set->img->is64 ? find_arch(set->img->machine) : NULL;
	if (!plt.arch)
		return 0;
	if (elf_image_section(set->img, ".dynsym", &plt.dynsym))
		plt.dynsym.size = 0;
	err = add_slots(&plt.slots, set->img, plt.arch, ".rela.plt");
	if (!err && !elf_image_section(set->img, ".plt.got", &sec))
		err = add_slots(&plt.slots, set->img, plt.arch, ".rela.dyn");
	if (plt.slots.nr)
		qsort(plt.slots.v, plt.slots.nr, sizeof(*plt.slots.v), by_slot);
	for (size_t i = 0; !err && i < sizeof(sections) / sizeof(sections[0]); i++)
		err = add_section(set, &plt, sections[i]);
	free(plt.slots.v);
	return err == -EFBIG ? 0 : err;
}
