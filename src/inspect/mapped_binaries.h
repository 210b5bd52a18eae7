/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binaries that a process has mapped for execution, and what is known about unwinding each of
 * them.
 *
 *	mapped_binaries_read(pid, &m)		0 or -errno, silently; -ESRCH: no such process,
 *						-EACCES: not permitted
 *	mapped_binaries_find(&m, addr, &vaddr)
 *	mapped_binaries_release(&m)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/inspect/unwind_facts.h"

struct mapped_range {
	uint64_t start, end, pgoff_bytes;
	size_t binary;			/* index */
};

struct mapped_binary {
	char *path;			/* foreign; "[vdso]" or "[anonymous]" without a file */
	uint64_t dev, ino;
	uint64_t start, bytes;		/* lowest address; size of all its executable mappings */
	struct unwind_facts *facts;	/* NULL: see err and refusal */
	int err;	/* -errno; 0 without facts: generated code, which has no file */
	const char *refusal;		/* constant; NULL: none */
};

struct mapped_binaries {
	struct mapped_binary *v;	/* by their lowest address */
	size_t nr, cap;
	struct mapped_range *ranges;	/* by start, ascending */
	size_t nr_ranges, cap_ranges;
};

int mapped_binaries_read(pid_t pid, struct mapped_binaries *m);
void mapped_binaries_release(struct mapped_binaries *m);

/*
 * The address in the process of a virtual address of a binary with facts; 0: it is not mapped for
 * execution.
 */
uint64_t mapped_binaries_addr(const struct mapped_binaries *m, const struct mapped_binary *b,
			      uint64_t vaddr);

/*
 * The binary that is mapped at an address of the process, or NULL. *vaddr is the virtual address in
 * its file, if it has facts.
 */
const struct mapped_binary *mapped_binaries_find(const struct mapped_binaries *m, uint64_t addr,
						 uint64_t *vaddr);
