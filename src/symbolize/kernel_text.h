/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of a kernel begins in its file (vmlinux), which tells how far the kernel that runs
 * was moved (KASLR): frames of a kernel are kept as offsets from there (kernel_symbols.h).
 */
#pragma once

#include <stdint.h>

struct elf_image;

/* What counts as the beginning, by the addresses of two symbols, 0: there is none. */
uint64_t kernel_text_begin(uint64_t text, uint64_t stext);

/* 0 and the address in the file; -ENOENT: it has no such symbols; or another -errno. */
int kernel_text_of_file(struct elf_image *img, uint64_t *start);
