/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers the questions of late_names.h: from files that are found here (late_files.h), and, for
 * frames of the kernel, from a list of its symbols.
 *
 * Frames of the kernel are offsets from the beginning of its code or of a module, so the symbols of
 * any kernel with the same build-id name them. Where the recorder could not see addresses of
 * symbols, frames are absolute addresses, which are the same only as long as the kernel runs: the
 * boot_id of the trace must be that of here. Symbols that the user names (--kallsyms) are taken as
 * they are.
 *
 * Parsers take the files, like when recording, and what they answer is checked.
 */
#pragma once

#include <stdbool.h>

struct kernel_symbols;
struct late_files;
struct late_names;
struct worker_pool;

struct late_kernel {
	/* The running kernel's; NULL: its addresses are hidden, or no frame is its. */
	const struct kernel_symbols *here;
	const char *boot_id;		/* of here */
	/* Given by the user; the first one that has a name counts. */
	struct kernel_symbols *const *given;
	unsigned nr_given;
	bool is_hidden;
};

struct late_sources {
	const struct late_files *files;
	struct worker_pool *pool;
	struct late_kernel kernel;
};

/* 0 or -ENOMEM, silently. Whatever else goes wrong is the answer to the questions concerned. */
int late_lookup(struct late_names *n, const struct late_sources *src);
