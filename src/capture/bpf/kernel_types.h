/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the kernel's BTF that a BPF object asks for, as a small BTF file for libbpf.
 *
 * The problem. A kernel describes 100,000 types in 5 MiB. libbpf copies all of them, in pieces of 4
 * KiB, and goes through all names again for each type that the object wants: 30 ms.
 *
 * The idea. One pass over the kernel's own bytes, mapped where the kernel allows that (6.16), finds
 * all that is wanted. The types of which a wanted one consists are copied with it. Where it has a
 * pointer, libbpf does not look at what it points to, so that becomes void.
 *
 *	kernel_types_open(elf, bytes, &t)
 *	bpf_object__open... with t.path as btf_custom_path, NULL if it is empty
 *	bpf_object__load...
 *	kernel_types_target(&t, section)	what a program is attached to
 *	kernel_types_close(&t)
 *
 * A type that the kernel itself lacks may be one of a module, or of no kernel that runs here: then
 * there is no file, and libbpf looks for all of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/capture/bpf/object_wishes.h"

struct kernel_types {
	char path[32];			/* of the small file; "": there is none */
	int fd;				/* it; -1 */
	struct object_wishes wishes;
	/*
	 * A global function of a program may get a pointer to a type of the kernel, such as a task
	 * (Linux 6.9).
	 */
	bool has_trusted_args;
};

/* 0; -ESRCH: the kernel's types cannot be read; -ENOMEM. Silent. */
int kernel_types_open(const void *elf, size_t elf_bytes, struct kernel_types *t);
void kernel_types_close(struct kernel_types *t);

/* The kernel's number of the type that a program of this section is attached to; 0: none. */
uint32_t kernel_types_target(const struct kernel_types *t, const char *section);

/*
 * For tests: finds the wishes in a blob, and one of its own, and writes the small blob; trusted: as
 * above. 0; -ENOENT: a layout that is wanted is not there, and *small is NULL; -EINVAL, -ENOMEM.
 * The caller frees *small.
 */
int kernel_types_cut(const void *blob, size_t blob_bytes, struct object_wishes *w, void **small,
		     size_t *small_bytes, bool *trusted);
