/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of one ELF file: from .symtab (its separate debug file's, its own, or that of
 * .gnu_debugdata), .dynsym, the PLT, Go's own table, and from section names. A function takes 12
 * bytes in a sorted array; names stay in the file and are read when they are asked for. So are the
 * names of its static variables, from .symtab and .dynsym.
 *
 *	elf_symbols_load(...)			reads all sources once
 *	elf_symbols_find(s, addr, ...)		the function that covers addr
 *	elf_symbols_free(s)
 *
 * The file is foreign: every size is limited, nothing outside it is read, and damage means fewer
 * names. Loading is pure work, safe in a worker thread. A loaded table may be used by one thread at
 * a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

#define ELF_SYMBOL_NAME_MAX 4096

struct elf_symbol {
	uint64_t addr, size;
	bool is_plt;
	/* Mangled, without version: "malloc", "malloc@plt". Longer names are cut. */
	char name[ELF_SYMBOL_NAME_MAX];
};

struct elf_symbols_source {
	int fd;				/* borrowed until elf_symbols_free(); -1: data */
	const void *data;		/* an image in memory (vdso), borrowed as long */
	size_t len;
	/* Files that may be its separate debug file, best first; borrowed as long as fd. */
	const int *debug_fds;
	size_t nr_debug_fds;
	bool of_variables;		/* they are wanted instead of functions */
};

/* 0 or -errno; prints no message. */
int elf_symbols_load(const struct elf_symbols_source *src, struct elf_symbols **sp);
void elf_symbols_free(struct elf_symbols *s);		/* NULL is fine */

/*
 * The function that covers addr: 0 or -ENOENT. A symbol covers nothing beyond its size. A symbol
 * without a size (assembly) ends where the unwind tables say that another function begins.
 */
int elf_symbols_find(const struct elf_symbols *s, uint64_t addr, struct elf_symbol *out);

/*
 * For an address in a function without a name: the start of that function by the unwind tables, or
 * else the end of the last function before it. 0, or -ENOENT: addr is not in code.
 */
int elf_symbols_unnamed(const struct elf_symbols *s, uint64_t addr, uint64_t *start);

/*
 * Whether it is known that no call is right before addr, so that addr is no return address of one.
 * False as well if the code cannot be read.
 */
bool elf_symbols_has_no_call(const struct elf_symbols *s, uint64_t addr);

/* The last function that begins at or before addr, whether it reaches addr or not: 0 or -ENOENT. */
int elf_symbols_before(const struct elf_symbols *s, uint64_t addr, struct elf_symbol *out);

/* Function i, 0 .. count - 1, by ascending address, aliases included. */
int elf_symbols_at(const struct elf_symbols *s, size_t i, struct elf_symbol *out);
size_t elf_symbols_count(const struct elf_symbols *s);
size_t elf_symbols_bytes(const struct elf_symbols *s);		/* heap held; NULL: 0 */
uint32_t elf_symbols_flags(const struct elf_symbols *s);	/* BINARY_... */
/* A .symtab was found, so every function is known. */
bool elf_symbols_is_whole(const struct elf_symbols *s);
bool elf_symbols_is_go(const struct elf_symbols *s);
/* It uses GNAT's runtime, so names like "pack__f" are Ada's. */
bool elf_symbols_has_ada(const struct elf_symbols *s);
