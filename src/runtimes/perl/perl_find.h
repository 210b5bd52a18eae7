/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perl in an ELF file: perl, libperl. Extensions need its symbols, so they are exported. Builds
 * with one interpreter only (without ithreads) are found, but not known.
 */
#pragma once

struct elf_image;
struct runtime_image;

/* See struct runtime_kind. */
int perl_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
