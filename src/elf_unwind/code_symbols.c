/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/elf_unwind/code_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/radix_sort.h"

#define MAX_TABLE_BYTES (256ull << 20)

/* Functions of libc and of the languages' run times that never return. Sorted. */
static const char *const noreturn_names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_terminate",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__stack_chk_fail",
	"__stack_chk_fail_local",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

/* One symbol table and its names. */
struct symbols {
	Elf64_Sym *v;
	size_t nr;
	char *names;			/* with a NUL added */
	size_t names_size;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

/* Also true for std::__throw_bad_alloc() and its like: _ZSt, a length, __throw_. */
static bool is_noreturn_name(const char *name)
{
	if (!strncmp(name, "_ZSt", 4) &&
	    !strncmp(name + 4 + strspn(name + 4, "0123456789"), "__throw_", 8))
		return true;
	return bsearch(name, noreturn_names, sizeof(noreturn_names) / sizeof(*noreturn_names),
		       sizeof(*noreturn_names), by_name);
}

static const char *name_of(const struct symbols *s, const Elf64_Sym *sym)
{
	return sym->st_name < s->names_size ? s->names + sym->st_name : "";
}

/* A part of a function that the compiler put elsewhere has a symbol too, but is not called. */
static bool is_part(const char *name)
{
	const char *part = strstr(name, ".cold");

	return part && (!part[5] || part[5] == '.');
}

static int read_table(struct elf_image *img, const char *section, struct symbols *out)
{
	struct elf_section table, strings;
	void *v, *names;

	if (elf_image_section(img, section, &table) ||
	    elf_image_section_at(img, table.link, &strings))
		return -ENOENT;
	if (elf_image_read(img, strings.offset, strings.size, MAX_TABLE_BYTES, &names))
		return -ENOENT;
	if (elf_image_read(img, table.offset, table.size, MAX_TABLE_BYTES, &v)) {
		free(names);
		return -ENOENT;
	}
	((char *)names)[strings.size] = 0;
	*out = (struct symbols){ v, table.size / sizeof(Elf64_Sym), names, strings.size };
	return 0;
}

static void release_table(struct symbols *s)
{
	free(s->v);
	free(s->names);
}

int address_list_add(struct address_list *list, uint64_t addr)
{
	uint64_t *p = array_push(&list->v, &list->nr, &list->cap);

	if (!p)
		return -ENOMEM;
	*p = addr;
	return 0;
}

static uint64_t address_of(const void *element)
{
	return *(const uint64_t *)element;
}

void address_list_sort(struct address_list *list)
{
	size_t nr = 0;

	if (list->nr && radix_sort(list->v, list->nr, sizeof(*list->v), address_of))
		qsort(list->v, list->nr, sizeof(*list->v), compare_u64);
	for (size_t i = 0; i < list->nr; i++)
		if (!nr || list->v[i] != list->v[nr - 1])
			list->v[nr++] = list->v[i];
	list->nr = nr;
}

static int add_functions(const struct symbols *s, struct code_symbols *out)
{
	int err = 0;

	for (size_t i = 0; i < s->nr && !err; i++) {
		const Elf64_Sym *sym = &s->v[i];
		uint8_t type = ELF64_ST_TYPE(sym->st_info);
		const char *name = name_of(s, sym);

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym->st_shndx == SHN_UNDEF ||
		    is_part(name))
			continue;
		err = address_list_add(&out->starts, sym->st_value);
		if (!err && is_noreturn_name(name))
			err = address_list_add(&out->noreturn, sym->st_value);
	}
	return err;
}

/*
 * Adds the slots that the dynamic linker fills with the address of a function that never returns.
 */
static int add_slots(struct elf_image *img, const char *section, const struct symbols *s,
		     struct code_symbols *out)
{
	struct elf_section sec;
	Elf64_Rela *v;
	void *bytes;
	int err = 0;

	if (elf_image_section(img, section, &sec) ||
	    elf_image_read(img, sec.offset, sec.size, MAX_TABLE_BYTES, &bytes))
		return 0;
	v = bytes;
	for (size_t i = 0; i < sec.size / sizeof(*v) && !err; i++) {
		uint64_t type = ELF64_R_TYPE(v[i].r_info), sym = ELF64_R_SYM(v[i].r_info);

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && sym < s->nr &&
		    is_noreturn_name(name_of(s, &s->v[sym])))
			err = address_list_add(&out->noreturn, v[i].r_offset);
	}
	free(bytes);
	return err;
}

int code_symbols_read(struct elf_image *img, struct code_symbols *out)
{
	struct symbols s;
	int err = 0;

	if (!read_table(img, ".symtab", &s)) {
		err = add_functions(&s, out);
		release_table(&s);
	}
	if (!err && !read_table(img, ".dynsym", &s)) {
		err = add_functions(&s, out);
		if (!err)
			err = add_slots(img, ".rela.plt", &s, out);
		if (!err)
			err = add_slots(img, ".rela.dyn", &s, out);
		release_table(&s);
	}
	address_list_sort(&out->starts);
	address_list_sort(&out->noreturn);
	return err;
}

void code_symbols_release(struct code_symbols *s)
{
	free(s->starts.v);
	free(s->noreturn.v);
	memset(s, 0, sizeof(*s));
}
