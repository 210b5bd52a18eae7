/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Characters of runtimes' strings, as UTF-8. What can be no character is U+FFFD, also NUL. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct byte_buf;

void put_utf8(struct byte_buf *b, uint32_t c);

/* Unit i of a text whose units have width bytes: 1 (Latin-1) or 2 (UTF-16, little endian). */
uint32_t text_unit(const uint8_t *v, size_t i, unsigned width);

/* Puts as many of the nr units as leave room for a NUL in max bytes. */
void put_units(struct byte_buf *b, const uint8_t *v, size_t nr, unsigned width, size_t max);
