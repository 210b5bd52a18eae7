/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash table of the symbols that an ELF file exports (.gnu.hash). A name is found by a few
 * small reads; most names that are not there by one. node exports 75,000 symbols with 5 MB of
 * names, of which each runtime looks for a dozen.
 *
 *	gnu_hash_open(img, &h)
 *	gnu_hash_find(&h, "Py_Version", &sym)
 *
 * The format: four words (buckets, the first symbol in the table, words and shift of the Bloom
 * filter), the filter, the buckets with the first symbol of each chain, and for each symbol its
 * hash, of which bit 0 ends a chain. Source: the dynamic section of the generic ABI as GNU ld, lld
 * and mold write it (DT_GNU_HASH).
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/elf/elf_image.h"

struct gnu_hash {
	struct elf_image *img;		/* borrowed */
	struct elf_section symbols, names;
	uint64_t filter, buckets, chains;	/* offsets in the file */
	uint64_t end;			/* of the chains */
	uint32_t nr_buckets, first, nr_words, shift;
};

/* 64-bit files only. 0; -ENOENT: the file has no such table; -EBADMSG: it is damaged. */
int gnu_hash_open(struct elf_image *img, struct gnu_hash *h);

/* A defined symbol of this name. 0; -ENOENT; -EBADMSG. */
int gnu_hash_find(const struct gnu_hash *h, const char *name, Elf64_Sym *out);
