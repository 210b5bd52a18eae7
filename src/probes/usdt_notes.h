/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The USDT probes that a program or library has: places that its author has marked with
 * DTRACE_PROBE or STAP_PROBE of sys/sdt.h. Each place is a nop, and a note in .note.stapsdt tells
 * of it:
 *
 *	place		address of the nop
 *	base		address of .stapsdt.base as the linker saw it: a tool may have moved it
 *	semaphore	address of a counter of 16 bits; 0: none. While it is 0 the program passes
 *			the place over, so the kernel adds 1 to it for each probe
 *	provider, name	texts: "python", "function__entry"
 *	arguments	where the values are: "8@%rbp -4@16(%rsp)"
 *
 * A probe may have several places, each with arguments of its own. The notes are foreign: nothing
 * is read outside of them, and a place that is no nop in executable code is refused, because a
 * probe there could destroy an instruction.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/probes/uprobe_search.h"

#define USDT_NOTES_BYTES_MAX (16u << 20)
#define USDT_TEXT_MAX 512		/* of each of the three texts */

struct usdt_note {
	uint64_t place, base, semaphore;
	const char *provider, *name, *arguments;	/* borrowed */
};

/* 0, or an error that ends the reading and is returned. */
typedef int (*usdt_note_fn)(void *ctx, const struct usdt_note *note);

/* Each whole note of the section's bytes, in their order; others are passed over. Silent. */
int usdt_notes_each(const void *notes, size_t len, usdt_note_fn fn, void *ctx);

/*
 * Whether "provider:name", maybe with * ? [...], is the note's. A '-' stands for "__", as in
 * DTrace, unless the pattern has a '['.
 */
int usdt_name_matches(const char *pattern, const struct usdt_note *note);

/*
 * Gives fn the places of one file that the spec names. 0, also if it is no ELF file or has none;
 * or -ENOMEM; or what fn returned. Silent; for a process without rights.
 */
int usdt_search_file(const struct probe_spec *spec, int fd, uprobe_match_fn fn, void *ctx);
