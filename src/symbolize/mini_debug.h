/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbol table that a stripped binary may carry in compressed form: an ELF file in xz's format
 * in the section .gnu_debugdata ("MiniDebugInfo",
 * https://sourceware.org/gdb/current/onlinedocs/gdb.html/MiniDebugInfo.html). It has the functions
 * that .dynsym lacks. Fedora's packages all have one.
 *
 * The section is foreign, and a few kilobytes of xz become any number of zeros: the file may have
 * 64 MiB, and the decoder may take as much again.
 */
#pragma once

#include <stddef.h>

struct elf_image;

/*
 * The uncompressed file, which the caller frees. 0; -ENOENT: there is no such section; -EFBIG: over
 * a limit; -EBADMSG: damaged; -ENOMEM.
 */
int mini_debug_read(struct elf_image *img, void **data, size_t *len);
