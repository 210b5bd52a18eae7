/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a symbol table: a string table in a file or in memory. Internal to elf_symbols.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct name_bytes {
	int fd;				/* borrowed; unused with data */
	const uint8_t *data;		/* borrowed; NULL: fd */
	uint64_t offset, size;		/* lie in the file; size 0: there is no table */
};

/* Whether some name has text in it; only the first 64 MiB are looked through. */
bool name_bytes_hold(const struct name_bytes *n, const char *text);
