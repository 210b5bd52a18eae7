/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel functions from /proc/kallsyms, modules from /proc/modules, as absolute addresses. Read
 * once, at the first need. When the kernel hides the addresses, all of them are zero:
 * kernel_symbols_hidden() says so, and kernel_hidden.h says why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_symbols;

struct kernel_symbol {
	uint64_t addr;
	const char *name;		/* borrowed from the table */
	const char *module;		/* "" for the kernel itself, "bpf" for BPF programs */
};

/*
 * An address range of kernel text that is a binary of its own in a trace: the kernel, a module, BPF
 * code.
 */
struct kernel_region {
	const char *name;		/* "vmlinux", "ext4", "bpf" */
	uint64_t start, end;		/* frames are stored as address - start */
	uint8_t build_id[64], build_id_len;	/* from /sys/kernel/notes, /sys/module/X/notes */
};

int kernel_symbols_load(struct kernel_symbols **kp);	/* 0, -EACCES hidden (table is empty but
							   usable), -errno */
void kernel_symbols_free(struct kernel_symbols *k);

/* The same from other files, for tests; modules may be missing, sysfs is what /sys is otherwise. */
int kernel_symbols_load_from(const char *kallsyms, const char *modules, const char *sysfs,
			     struct kernel_symbols **kp);

/* 0, or -ENOENT. */
int kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr, struct kernel_symbol *out);

/* Region that holds addr, or NULL. "vmlinux" for core text; regions are few and sorted. */
const struct kernel_region *kernel_symbols_region(const struct kernel_symbols *k, uint64_t addr);
/* Functions that wait: the kernel leaves them out of the stacks of threads that do not run. */
bool kernel_symbols_in_scheduler(const struct kernel_symbols *k, uint64_t addr);
bool kernel_symbols_hidden(const struct kernel_symbols *k);
size_t kernel_symbols_bytes(const struct kernel_symbols *k);	/* heap held */
