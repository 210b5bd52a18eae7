/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PHP in an ELF file: php, php-fpm, php-cgi, libphp. Extensions need its symbols, so they are
 * exported. Builds for threads (ZTS) are found, but not known: their state is not a global.
 */
#pragma once

struct elf_image;
struct runtime_image;

/* See struct runtime_kind. */
int php_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
