/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * V8 in an ELF file: node, libnode, or a program that has it built in, as long as it exports V8's
 * version and its constants for debuggers (v8dbg_*), as node does.
 */
#pragma once

struct elf_image;
struct runtime_image;

/* See struct runtime_kind. */
int v8_find(struct elf_image *img, int fd, const void *data, struct runtime_image *out);
