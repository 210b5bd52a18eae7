/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the code of an interpreter's loop is, for the finders of runtimes that have one. */
#pragma once

struct elf_image;
struct exported_symbol;
struct runtime_image;

/* Fills in out->loops with all parts of the function. img, fd and data as in runtime_find(). */
int runtime_loops_find(struct elf_image *img, int fd, const void *data,
		       const struct exported_symbol *loop, struct runtime_image *out);
