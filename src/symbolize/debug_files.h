/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where distributions put the symbols they strip from a binary: separate debug files, found by
 * build-id or by the name in .gnu_debuglink. Only regular files that really belong to the binary
 * are taken.
 */
#pragma once

#include "src/elf/elf_image.h"

/*
 * Opens the debug file of img. path is where its process sees img; NULL: look by build-id only. A
 * file descriptor, or -ENOENT. Checks the build-id or, for a binary without one, the CRC that the
 * link names.
 */
int debug_file_open(struct elf_image *img, const char *path);
