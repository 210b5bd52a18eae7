/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython in an ELF file: python3.x or libpython3.x, or a program that has it built in, as long as
 * it exports its symbols (extension modules need them, so nearly all do).
 */
#pragma once

struct elf_image;
struct runtime_image;

/* See struct runtime_kind. */
int python_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
/* PyPy, which is a kind of its own. */
int pypy_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
