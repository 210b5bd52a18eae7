/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of one ELF file that a spec names, with the offsets at which a probe can be put.
 * The bytes are foreign; the caller is a process without rights. Silent.
 *
 *	uprobe_search_begin(&spec, &s)			compiles the pattern
 *	uprobe_search_file(s, fd, debug_fd, fn, ctx)	any number of files
 *	uprobe_search_end(s)
 *
 * Functions and lines are those of the file itself, or of its debug file instead.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/probes/usdt_frame.h"

struct probe_spec;
struct uprobe_search;

struct uprobe_match {
	const char *symbol;		/* demangled, without its version; borrowed */
	uint64_t offset, address, size;
	/* USDT probes only, else 0 and NULL: usdt_notes.h. */
	uint64_t semaphore;		/* its offset in the file; 0: there is none */
	const char *arguments;		/* as the note has them */
	struct usdt_frame frame;	/* all zero unless the spec wants it */
	const char *refused;		/* why no probe can be there; NULL: one can */
};

typedef int (*uprobe_match_fn)(void *ctx, const struct uprobe_match *m);

/* 0; -EINVAL: the regular expression is none, and why says why; -ENOMEM. */
int uprobe_search_begin(const struct probe_spec *spec, struct uprobe_search **sp, char *why,
			size_t why_size);
void uprobe_search_end(struct uprobe_search *s);		/* NULL is fine */

/*
 * debug_fd: -1: the file's own names and lines count; else those of this file, which is its debug
 * file (src/elf/debug_name.h). 0, also if it is no ELF file; or -ENOMEM; or what fn returned.
 */
int uprobe_search_file(struct uprobe_search *s, int fd, int debug_fd, uprobe_match_fn fn,
		       void *ctx);
