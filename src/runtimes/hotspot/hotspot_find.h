/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HotSpot in an ELF file: libjvm.so, by the lists that it exports. What they say is not in the file
 * (hotspot_layout.h).
 */
#pragma once

struct elf_image;
struct runtime_image;

/* See struct runtime_kind. */
int hotspot_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
