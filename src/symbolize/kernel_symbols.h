/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel functions from /proc/kallsyms and modules from /proc/modules, by absolute address. They
 * are read once, when first needed. When the kernel hides addresses, all of them are 0, and
 * kernel_symbols_hidden() is true; kernel_hidden.h says why.
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
 * An address range of kernel code that is a binary of its own in a trace: the kernel, a module, or
 * BPF code.
 */
struct kernel_region {
	const char *name;		/* "vmlinux", "ext4", "bpf" */
	uint64_t start, end;		/* frames are stored as address - start */
	uint8_t build_id[64], build_id_len;	/* from /sys/kernel/notes, /sys/module/X/notes */
};

/*
 * The two files, opened. The kernel shows their addresses to who had CAP_SYSLOG at the opening, so
 * a thread that has given up its rights can read them later.
 */
struct kernel_files {
	int kallsyms;			/* or -errno */
	int modules;			/* -1: there is no such file */
};
void kernel_files_open(struct kernel_files *f);
void kernel_files_close(struct kernel_files *f);

/* 0; -EACCES: addresses are hidden, and the table is empty but usable; or another -errno. */
int kernel_symbols_read(const struct kernel_files *f, struct kernel_symbols **kp);
int kernel_symbols_load(struct kernel_symbols **kp);		/* opens and reads them */
void kernel_symbols_free(struct kernel_symbols *k);

/* Loads from other files, for tests. modules may be missing; sysfs takes the place of /sys. */
int kernel_symbols_load_from(const char *kallsyms, const char *modules, const char *sysfs,
			     struct kernel_symbols **kp);

/* 0, or -ENOENT. */
int kernel_symbols_find(const struct kernel_symbols *k, uint64_t addr, struct kernel_symbol *out);

/* The region that holds addr ("vmlinux" for core text), or NULL. */
const struct kernel_region *kernel_symbols_region(const struct kernel_symbols *k, uint64_t addr);
/* The first region of this name, or NULL. */
const struct kernel_region *kernel_symbols_region_named(const struct kernel_symbols *k,
							const char *name);
/*
 * Whether addr is in a function that waits; the kernel omits these from stacks of waiting threads.
 */
bool kernel_symbols_in_scheduler(const struct kernel_symbols *k, uint64_t addr);
/*
 * From where the first function of the kernel itself begins whose name is accepted to where the
 * last one ends. -ENOENT: there is none, and both are 0.
 */
int kernel_symbols_range(const struct kernel_symbols *k, bool (*accept)(const char *name),
			 uint64_t *start, uint64_t *end);
bool kernel_symbols_hidden(const struct kernel_symbols *k);
size_t kernel_symbols_bytes(const struct kernel_symbols *k);	/* heap held */
