/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a symbol table: a string table in a file or in memory. Internal to elf_symbols.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct elf_image;

struct name_bytes {
	int fd;				/* borrowed; unused with data */
	const uint8_t *data;		/* borrowed, or own; NULL: fd */
	uint64_t offset, size;		/* lie in the file; size 0: there is no table */
	void *own;			/* whoever has the struct frees it; NULL: borrowed */
};

/*
 * The string table of a symbol table of img (".symtab"), which is the file fd, or data. They are
 * kept instead of names, but one that is compressed is unpacked here. Stays if there is none.
 */
void name_bytes_keep(struct elf_image *img, const char *section, int fd, const void *data,
		     struct name_bytes *n);
/* Keeps names as a copy, because the rest of data is large. 0 or -ENOMEM. */
int name_bytes_copy(struct elf_image *img, const char *section, const void *data,
		    struct name_bytes *n);

/* Whether some name has text in it; only the first 64 MiB are looked through. */
bool name_bytes_hold(const struct name_bytes *n, const char *text);
