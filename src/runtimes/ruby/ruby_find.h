/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds CRuby in an ELF file: libruby, or a ruby that has it built in, as long as it exports its
 * loop (rb_vm_exec) and where the context of a thread is, or both are found as ruby_loop.h says.
 */
#pragma once

struct elf_image;
struct runtime_image;

/* See struct runtime_kind. */
int ruby_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
