/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an ELF file has code, and the few bytes of it that tell whether an address is behind a
 * call. Nothing is kept in memory. The file is foreign: each read is bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PARTS 32

struct elf_image;

/* A section with code or, without section headers, a segment. */
struct code_part {
	uint64_t addr, size, offset;
};

struct code_parts {
	struct code_part v[MAX_PARTS];
	size_t nr;
	int fd;				/* borrowed; -1: data */
	const uint8_t *data;
	uint64_t file_size;
	uint16_t machine;		/* e_machine */
};

/* fd or data must be those that img was opened with, and stay open. */
void code_parts_init(struct code_parts *p, struct elf_image *img, int fd, const void *data);

/* The part that holds addr, or NULL. */
const struct code_part *code_parts_find(const struct code_parts *p, uint64_t addr);

/*
 * Whether it is known that no call is right before addr, so that addr is no return address of one:
 * src/base/call_before.h. False as well if the code cannot be read.
 */
bool code_parts_has_no_call(const struct code_parts *p, uint64_t addr);
