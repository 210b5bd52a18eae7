/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binaries that a process has mapped for execution, and what is known of how to unwind each.
 *
 *	mapped_binaries_read(pid, &m)		0, or -errno, silently: -ESRCH no such process,
 *						-EACCES not permitted
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
	char *path;			/* "[vdso]", "[anonymous]"; foreign */
	uint64_t dev, ino;
	uint64_t start, bytes;		/* lowest address; executable memory of all its mappings */
	struct unwind_facts *facts;	/* NULL: see err, refusal */
	int err;			/* -errno; 0 with facts NULL: generated code, no file */
	const char *refusal;		/* a constant, or NULL */
};

struct mapped_binaries {
	struct mapped_binary *v;	/* by their lowest address */
	size_t nr, cap;
	struct mapped_range *ranges;	/* ascending */
	size_t nr_ranges, cap_ranges;
};

int mapped_binaries_read(pid_t pid, struct mapped_binaries *m);
void mapped_binaries_release(struct mapped_binaries *m);

/* Where a virtual address of a binary with facts is in the process; 0: not mapped for execution. */
uint64_t mapped_binaries_addr(const struct mapped_binaries *m, const struct mapped_binary *b,
			      uint64_t vaddr);

/*
 * The binary at an address of the process, or NULL; *vaddr is the address in its file, if it has
 * facts.
 */
const struct mapped_binary *mapped_binaries_find(const struct mapped_binaries *m, uint64_t addr,
						 uint64_t *vaddr);
