/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols and lines of binaries that a parser process keeps for the next request. All of it is
 * read from foreign bytes.
 *
 *	struct kept_set s = { 0 };
 *	k = kept_symbols_find(&s, binary)
 *	kept_symbols_load(&s, &head, &message, &k)	if there is none
 *	kept_symbols_open_lines(k)			then k->lines may be asked
 *	kept_symbols_used(&s, k, ns)			behind each use
 *	kept_symbols_rest(&s, now)			while nothing is asked for
 *
 * The process ends with all of it.
 *
 * What must be kept is little, because it can be read again, and a recording goes on for days. So
 * what is large is forgotten when it was not used for 200 times as long as it has taken to read:
 * reading it again and again takes at most 0.5 % of a CPU. Lines that were read before come from
 * the cache then, if there is one (line_cache.h). Above a bound those are forgotten that were not
 * used for longest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/helpers/helper_message.h"

struct debug_lines;
struct elf_symbols;
struct names_head;

/* The symbols of a binary, kept with the files that their names are read from. */
struct kept_symbols {
	uint32_t binary;
	struct elf_symbols *symbols;
	struct elf_symbols *variables;	/* NULL: not asked for yet */
	struct debug_lines *lines;	/* NULL: there are none, or not asked for yet */
	uint32_t lines_lack;		/* as of debug_lines_open() */
	bool are_lines_tried, keeps_cache;
	uint64_t text;			/* of a kernel: where its code begins in the file */
	int fds[MESSAGE_FDS];
	size_t nr_fds, nr_files;	/* the cache file is no file of the binary */
	uint64_t used_ns;
	uint64_t cpu_ns;		/* that all uses have taken */
};

struct kept_set {
	struct kept_symbols *v;
	size_t nr, cap;
};

/* Borrowed until the next call that takes the set; NULL: it is not there. */
struct kept_symbols *kept_symbols_find(struct kept_set *s, uint32_t binary);

/* Loads the symbols of h->binary, and takes the files out of the message. 0 or -errno. */
int kept_symbols_load(struct kept_set *s, const struct names_head *h, struct helper_message *m,
		      struct kept_symbols **kp);
void kept_symbols_open_lines(struct kept_symbols *k);

/* Notes a use of k and the CPU time that it has taken. May forget others, and moves k. */
void kept_symbols_used(struct kept_set *s, struct kept_symbols *k, uint64_t cpu_ns);

/* Forgets what has rested for long: struct helper_kind.rest. */
uint64_t kept_symbols_rest(struct kept_set *s, uint64_t now_ns);
