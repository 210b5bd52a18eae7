/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Separate debug files, into which distributions move the symbols of a binary. They are found by
 * build-id or by the name in .gnu_debuglink. Only regular files that really belong to the binary
 * are used.
 */
#pragma once

#include "src/elf/elf_image.h"

/*
 * Opens the debug file of img. path is where its process sees img; NULL: look by build-id only. The
 * build-id is checked or, for a binary without one, the CRC in the link. Returns a file descriptor
 * or -ENOENT.
 */
int debug_file_open(struct elf_image *img, const char *path);
