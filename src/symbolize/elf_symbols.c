/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/elf_symbols.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/base/io.h"
#include "src/elf/debug_name.h"
#include "src/model/record.h"
#include "src/elf/fde_ranges.h"
#include "src/symbolize/code_parts.h"
#include "src/symbolize/mini_debug.h"
#include "src/symbolize/name_bytes.h"
#include "src/symbolize/symbol_set.h"

#define MAX_TABLE_BYTES (256ull << 20)	/* 11 million symbols, a second of work */
#define READ_SYMBOLS 2048
#define NAME_CHUNK 256
#define MAX_ALIASES 64		/* symbols of one address that are looked at */
#define FUNCTION_ALIGN 16	/* of functions without unwind information, after padding */

static const char *const known_names[] = { "_init", "_fini", "_start" };
enum { KNOWN_INIT, KNOWN_FINI, KNOWN_START };

struct elf_symbols {
	struct elf_sym *v;
	size_t nr;
	uint64_t base;
	struct name_bytes names[NAME_TABLES];
	int debug_fd;			/* borrowed; -1: no debug file is used */
	uint32_t flags;
	bool whole, is_go, has_ada;
	struct fde_ranges fdes;
	struct code_parts code;
};

/* ---- loading ---- */

static void read_symbol(const struct elf_image *img, const uint8_t *p, Elf64_Sym *out)
{
	Elf32_Sym narrow;

	if (img->is64) {
		memcpy(out, p, sizeof(*out));
		return;
	}
	memcpy(&narrow, p, sizeof(narrow));
	*out = (Elf64_Sym){
		.st_name = narrow.st_name, .st_info = narrow.st_info, .st_shndx = narrow.st_shndx,
		.st_value = narrow.st_value, .st_size = narrow.st_size,
	};
	if (img->machine == EM_ARM)
		out->st_value &= ~1ull;		/* bit 0 marks Thumb code */
}

static bool is_code_section(struct elf_image *img, uint32_t index)
{
	struct elf_section sec;

	return !elf_image_section_at(img, index, &sec) && (sec.flags & SHF_EXECINSTR);
}

static int add_symbol(struct symbol_set *set, const Elf64_Sym *sym, enum name_table table)
{
	uint8_t type = ELF64_ST_TYPE(sym->st_info), bind = ELF64_ST_BIND(sym->st_info);
	enum symbol_rank rank = RANK_GLOBAL;

	if (!symbol_set_wants(set, type))
		return 0;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !sym->st_name)
		return 0;
	/* May be assembly without .type, but tables and ends of sections look the same. */
	if (type == STT_NOTYPE && !is_code_section(set->img, sym->st_shndx))
		return 0;
	if (type == STT_NOTYPE)
		rank = RANK_LABEL;
	else if (bind == STB_LOCAL)
		rank = RANK_LOCAL;
	else if (bind == STB_WEAK)
		rank = RANK_WEAK;
	return symbol_set_add(set, sym->st_value, type == STT_NOTYPE ? 0 : sym->st_size, rank,
			      table, sym->st_name);
}

/* Adds the functions of a symbol table of img; skip: only those at addresses new to set. */
static int add_table(struct symbol_set *set, struct elf_image *img, const char *name,
		     enum name_table table, bool skip)
{
	size_t entry = img->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym), known = set->nr;
	uint8_t buf[READ_SYMBOLS * sizeof(Elf64_Sym)];
	struct elf_section sec;
	int err = elf_image_section(img, name, &sec);
	uint64_t size = sec.size < MAX_TABLE_BYTES ? sec.size : MAX_TABLE_BYTES;

	for (uint64_t at = 0; !err && at + entry <= size; at += READ_SYMBOLS * entry) {
		uint64_t left = size - at, piece = READ_SYMBOLS * entry;
		uint64_t want = left < piece ? left : piece;
		long n = elf_image_pread(img, buf, want, sec.offset + at);

		for (long i = 0; !err && (i + 1) * (long)entry <= n; i++) {
			Elf64_Sym sym;
			uint32_t rel;
			size_t after;

			read_symbol(img, buf + i * (long)entry, &sym);
			rel = (uint32_t)(sym.st_value - set->base);
			after = skip ? symbol_set_after(set->v, known, rel) : 0;
			if (after && set->v[after - 1].addr + set->base == sym.st_value)
				continue;
			err = add_symbol(set, &sym, table);
		}
		if (n < (long)want)
			break;		/* the file ends here */
	}
	return err == -EFBIG ? 0 : err;
}

/* Adds the functions of .gnu_debugdata. Damage there is none of the file's. */
static int add_mini(struct elf_symbols *s, struct symbol_set *set)
{
	struct elf_image *mini = NULL;
	size_t len = 0;
	void *data = NULL;
	int err = mini_debug_read(set->img, &data, &len);

	if (!err)
		err = elf_image_open_memory(data, len, &mini);
	if (!err)
		err = add_table(set, mini, ".symtab", NAMES_SYMTAB, false);
	if (!err)
		err = name_bytes_copy(mini, ".symtab", data, &s->names[NAMES_SYMTAB]);
	elf_image_close(mini);
	free(data);
	return err && err != -ENOMEM ? -ENOENT : err;
}

/*
 * Adds .symtab of the debug file, else of the file itself, else the one that it has in compressed
 * form. -ENOENT: there is none.
 */
static int add_symtab(struct elf_symbols *s, struct symbol_set *set,
		      const struct elf_symbols_source *src)
{
	struct elf_image *debug = NULL;
	struct elf_section sec;
	int err = -ENOENT;

	s->debug_fd = debug_name_choose(set->img, src->debug_fds, src->nr_debug_fds);
	if (s->debug_fd >= 0 && !elf_image_open(s->debug_fd, &debug)) {
		if (!elf_image_section(debug, ".debug_info", &sec))
			s->flags |= BINARY_HAS_DEBUGINFO;
		err = add_table(set, debug, ".symtab", NAMES_SYMTAB, false);
		if (!err)
			name_bytes_keep(debug, ".symtab", s->debug_fd, NULL,
					&s->names[NAMES_SYMTAB]);
	}
	elf_image_close(debug);
	if (err != -ENOENT)
		return err;
	err = add_table(set, set->img, ".symtab", NAMES_SYMTAB, false);
	if (err == -ENOENT)
		return add_mini(s, set);
	name_bytes_keep(set->img, ".symtab", src->fd, src->data, &s->names[NAMES_SYMTAB]);
	return err;
}

static void set_flags(struct elf_symbols *s, struct elf_image *img)
{
	static const struct { const char *section; uint32_t flag; } marks[] = {
		{ ".debug_info", BINARY_HAS_DEBUGINFO }, { ".gnu_debuglink", BINARY_HAS_DEBUGLINK },
	};
	struct elf_section sec;

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (!elf_image_section(img, marks[i].section, &sec))
			s->flags |= marks[i].flag;
	if (elf_image_section(img, ".symtab", &sec))
		s->flags |= BINARY_STRIPPED;
	if (img->eh_frame_hdr_size)
		s->flags |= BINARY_HAS_UNWIND_TABLE;
	s->is_go = !elf_image_section(img, ".gopclntab", &sec) ||
		   !elf_image_section(img, ".go.buildinfo", &sec);
}

/*
 * The size of the C library's start code at e_entry, or 0 if other code is there: libraries have
 * entries too. Both glibc and musl begin by clearing the frame pointer (and the link register).
 */
static uint64_t start_code_size(struct elf_image *img, uint64_t entry)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa }, clear_ebp[] = { 0x31, 0xed };
	uint64_t offset, left;
	uint8_t code[64] = { 0 };
	const uint8_t *p = code, *hlt;
	uint32_t first, second;

	if (elf_image_offset_of(img, entry, &offset, &left) ||
	    elf_image_pread(img, code, sizeof(code), offset) < 32)
		return 0;
	if (img->machine == EM_AARCH64) {
		memcpy(&first, code, 4);
		memcpy(&second, code + 4, 4);
		first = first == 0xd503245f ? second : first;	/* bti c */
		return first == 0xd280001d ? 52 : 0;
	}
	if (img->machine != EM_X86_64)
		return 0;
	p += memcmp(p, endbr, sizeof(endbr)) ? 0 : sizeof(endbr);
	p += *p == 0x48;
	if (memcmp(p, clear_ebp, sizeof(clear_ebp)))
		return 0;
	hlt = memchr(code, 0xf4, 48);	/* follows the call that does not return */
	return hlt ? (uint64_t)(hlt + 1 - code) : 32;
}

static int add_known(struct symbol_set *set, uint64_t addr, uint64_t size, int known)
{
	if (!size || symbol_set_covers(set, addr))
		return 0;
	return symbol_set_add(set, addr, size, RANK_SECTION, NAMES_KNOWN, (uint64_t)known);
}

/* Adds functions that a stripped file still shows: its entry, .init, .fini, the PLT, .dynsym. */
static int add_known_places(struct symbol_set *set)
{
	struct elf_image *img = set->img;
	struct elf_section sec;
	uint64_t entry = 0;
	int err = 0;

	symbol_set_sort(set);
	if (elf_image_pread(img, &entry, img->is64 ? 8 : 4, offsetof(Elf64_Ehdr, e_entry)) > 0)
		err = add_known(set, entry, start_code_size(img, entry), KNOWN_START);
	symbol_set_sort(set);
	if (!err && !elf_image_section(img, ".init", &sec))
		err = add_known(set, sec.addr, sec.size, KNOWN_INIT);
	symbol_set_sort(set);
	if (!err && !elf_image_section(img, ".fini", &sec))
		err = add_known(set, sec.addr, sec.size, KNOWN_FINI);
	return err == -EFBIG ? 0 : err;
}

static int add_go(struct elf_symbols *s, struct symbol_set *set,
		  const struct elf_symbols_source *src)
{
	struct name_bytes *n = &s->names[NAMES_GO];
	int err;

	n->fd = src->fd;
	n->data = src->data;
	err = go_symbols_add(set, &n->offset, &n->size);
	s->whole |= !err;
	return err == -ENOMEM ? err : 0;
}

static int add_all(struct elf_symbols *s, struct symbol_set *set,
		   const struct elf_symbols_source *src)
{
	int err = add_symtab(s, set, src);

	s->whole = !err && set->nr;
	if (err == -ENOENT)
		err = 0;
	if (!err && !s->whole && s->is_go)
		err = add_go(s, set, src);
	symbol_set_sort(set);
	if (!err)
		err = add_table(set, set->img, ".dynsym", NAMES_DYNSYM, true);
	name_bytes_keep(set->img, ".dynsym", src->fd, src->data, &s->names[NAMES_DYNSYM]);
	if (src->of_variables)
		return err == -ENOENT ? 0 : err;
	if (!err || err == -ENOENT)
		err = add_known_places(set);
	symbol_set_sort(set);
	if (!err)
		err = plt_symbols_add(set);
	return err;
}

static int load(struct elf_symbols *s, struct elf_image *img, const struct elf_symbols_source *src)
{
	struct symbol_set set;
	struct elf_sym *less;
	int err;

	symbol_set_init(&set, img, src->of_variables);
	set_flags(s, img);
	err = add_all(s, &set, src);
	if (err) {
		free(set.v);
		return err;
	}
	symbol_set_finish(&set);
	s->has_ada = name_bytes_hold(&s->names[NAMES_DYNSYM], "__gnat_") ||
		     name_bytes_hold(&s->names[NAMES_SYMTAB], "__gnat_");
	fde_ranges_init(&s->fdes, img, src->fd, src->data);
	code_parts_init(&s->code, img, src->fd, src->data);
	less = set.nr ? realloc(set.v, set.nr * sizeof(*set.v)) : NULL;
	s->v = less ? less : set.v;
	s->nr = set.nr;
	s->base = set.base;
	return 0;
}

int elf_symbols_load(const struct elf_symbols_source *src, struct elf_symbols **sp)
{
	struct elf_symbols *s = calloc(1, sizeof(*s));
	struct elf_image *img = NULL;
	int err;

	if (!s)
		return -ENOMEM;
	s->debug_fd = -1;
	err = src->fd >= 0 ? elf_image_open(src->fd, &img)
			   : elf_image_open_memory(src->data, src->len, &img);
	if (!err)
		err = load(s, img, src);
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
	for (size_t i = 0; i < NAME_TABLES; i++)
		free(s->names[i].own);
	free(s->v);
	free(s);
}

/* ---- finding ---- */

/* Reads a name into buf[ELF_SYMBOL_NAME_MAX]; "" if there is none. */
static void read_name(const struct elf_symbols *s, const struct elf_sym *sym, char *buf)
{
	const struct name_bytes *n = &s->names[sym->table];
	size_t have = 0;

	buf[0] = 0;
	if (sym->table == NAMES_KNOWN) {
		assert(sym->name < sizeof(known_names) / sizeof(known_names[0]));
		strcpy(buf, known_names[sym->name]);
		return;
	}
	while (have < ELF_SYMBOL_NAME_MAX - 1) {
		uint64_t at = (uint64_t)sym->name + have, left = at < n->size ? n->size - at : 0;
		size_t want = ELF_SYMBOL_NAME_MAX - 1 - have;
		ssize_t got = 0;

		want = want < NAME_CHUNK ? want : NAME_CHUNK;
		want = want < left ? want : (size_t)left;
		if (want && n->data)
			memcpy(buf + have, n->data + n->offset + at, got = (ssize_t)want);
		else if (want)
			got = io_pread(n->fd, buf + have, want, n->offset + at);
		if (got <= 0)
			break;
		if (memchr(buf + have, 0, (size_t)got))
			return;
		have += (size_t)got;
	}
	buf[have] = 0;
}

/* Whether a is the name that a programmer would write: write, not __write or __GI___libc_write. */
static bool is_better(const struct elf_sym *a, const char *x, const struct elf_sym *b,
		      const char *y)
{
	size_t xu = strspn(x, "_"), yu = strspn(y, "_"), xl = strcspn(x, "@"), yl = strcspn(y, "@");

	if (!*x || !*y)
		return *x;
	if (xu != yu)
		return xu < yu;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return xl != yl ? xl < yl : strcmp(x, y) < 0;
}

static bool is_exported(const struct elf_sym *s)
{
	return s->rank <= RANK_WEAK;
}

/* Whether a name is a mapping symbol or a local label of the assembler. */
static bool is_no_name(const struct elf_sym *sym, const char *name)
{
	return !*name || (sym->rank == RANK_LABEL && (name[0] == '$' || name[0] == '.'));
}

/* Chooses among the symbols at the address of *at, which are sorted by rank. */
static const struct elf_sym *choose_alias(const struct elf_symbols *s, const struct elf_sym *at,
					  uint32_t addr, char *name)
{
	const struct elf_sym *best = NULL, *end;
	char other[ELF_SYMBOL_NAME_MAX];

	while (at > s->v && at[-1].addr == at->addr)
		at--;
	end = s->v + s->nr;
	if (end - at > MAX_ALIASES)
		end = at + MAX_ALIASES;
	for (const struct elf_sym *a = at; a < end && a->addr == at->addr; a++) {
		if (addr - a->addr >= a->size)
			continue;
		if (best && is_exported(a) != is_exported(best))
			break;
		if (best && !is_exported(a) && a->rank != best->rank)
			break;
		read_name(s, a, other);
		if (is_no_name(a, other) || (best && !is_better(a, other, best, name)))
			continue;
		best = a;
		memcpy(name, other, strlen(other) + 1);
	}
	return best;
}

static void finish_name(char *name, bool is_plt)
{
	static const char suffix[] = "@plt";
	char *version = name[0] ? strchr(name + 1, '@') : NULL;
	size_t len = version ? (size_t)(version - name) : strlen(name);

	if (is_plt && len > ELF_SYMBOL_NAME_MAX - sizeof(suffix))
		len = ELF_SYMBOL_NAME_MAX - sizeof(suffix);
	name[len] = 0;
	if (is_plt)
		memcpy(name + len, suffix, sizeof(suffix));
}

/* Whether a symbol without a size reaches addr: no function begins between the two. */
static bool reaches(const struct elf_symbols *s, const struct elf_sym *sym, uint64_t addr)
{
	uint64_t lo, hi;

	fde_ranges_find(&s->fdes, addr, &lo, &hi);
	return s->base + sym->addr >= lo;
}

int elf_symbols_find(const struct elf_symbols *s, uint64_t addr, struct elf_symbol *out)
{
	const struct elf_sym *sym = NULL;
	uint32_t rel = (uint32_t)(addr - s->base);

	if (addr >= s->base && addr - s->base <= UINT32_MAX)
		sym = symbol_set_covering(s->v, s->nr, rel);
	if (sym && sym->is_open && !reaches(s, sym, addr))
		sym = NULL;
	if (sym)
		sym = choose_alias(s, sym, rel, out->name);
	if (!sym)
		return -ENOENT;
	out->addr = s->base + sym->addr;
	out->size = sym->size;
	out->is_plt = sym->rank == RANK_PLT;
	finish_name(out->name, out->is_plt);
	return 0;
}

bool elf_symbols_has_no_call(const struct elf_symbols *s, uint64_t addr)
{
	return code_parts_has_no_call(&s->code, addr);
}

/* The end of the last named function before addr; 0: there is none. */
static uint64_t named_end(const struct elf_symbols *s, uint64_t addr)
{
	uint64_t rel = addr - s->base, end = 0;
	size_t after = addr < s->base
			       ? 0
			       : symbol_set_after(s->v, s->nr,
						  rel > UINT32_MAX ? UINT32_MAX : (uint32_t)rel);

	for (size_t i = after; i > 0 && after - i < MAX_ALIASES; i--) {
		uint64_t e = (uint64_t)s->v[i - 1].addr + s->v[i - 1].size;

		if (e <= rel && e > end)
			end = e;
	}
	return end ? s->base + end : 0;
}

int elf_symbols_unnamed(const struct elf_symbols *s, uint64_t addr, uint64_t *start)
{
	const struct code_part *part = code_parts_find(&s->code, addr);
	uint64_t lo, hi, end, aligned;
	bool covered;

	if (!part)
		return -ENOENT;
	covered = fde_ranges_find(&s->fdes, addr, &lo, &hi);
	end = named_end(s, addr);
	lo = lo > end ? lo : end;
	lo = lo > part->addr ? lo : part->addr;
	aligned = (lo + FUNCTION_ALIGN - 1) & ~(uint64_t)(FUNCTION_ALIGN - 1);
	*start = covered || aligned > addr ? lo : aligned;
	return 0;
}

int elf_symbols_at(const struct elf_symbols *s, size_t i, struct elf_symbol *out)
{
	const struct elf_sym *sym = i < s->nr ? &s->v[i] : NULL;

	if (!sym)
		return -ENOENT;
	read_name(s, sym, out->name);
	out->addr = s->base + sym->addr;
	out->size = sym->size;
	out->is_plt = sym->rank == RANK_PLT;
	finish_name(out->name, out->is_plt);
	return 0;
}

int elf_symbols_before(const struct elf_symbols *s, uint64_t addr, struct elf_symbol *out)
{
	uint64_t rel = addr - s->base;
	size_t i;

	if (addr < s->base)
		return -ENOENT;
	i = symbol_set_after(s->v, s->nr, rel > UINT32_MAX ? UINT32_MAX : (uint32_t)rel);
	return i ? elf_symbols_at(s, i - 1, out) : -ENOENT;
}

size_t elf_symbols_count(const struct elf_symbols *s)
{
	return s->nr;
}

size_t elf_symbols_bytes(const struct elf_symbols *s)
{
	if (!s)
		return 0;
	return sizeof(*s) + s->nr * sizeof(*s->v) +
	       (s->names[NAMES_SYMTAB].own ? s->names[NAMES_SYMTAB].size : 0);
}

uint32_t elf_symbols_flags(const struct elf_symbols *s)
{
	return s->flags;
}

bool elf_symbols_is_whole(const struct elf_symbols *s)
{
	return s->whole;
}

bool elf_symbols_is_go(const struct elf_symbols *s)
{
	return s->is_go;
}

bool elf_symbols_has_ada(const struct elf_symbols *s)
{
	return s->has_ada;
}
