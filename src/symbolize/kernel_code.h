/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that the kernel makes and gives up while it runs: BPF programs, trampolines of BPF and
 * ftrace, pages of kprobes.
 *
 * The problem. /proc/kallsyms is read once and says what was there then, without sizes. A program
 * that was loaded later would have the name of the one below it, or of the one that was at its
 * address before; and one that was unloaded before would have none.
 *
 * The idea. The kernel tells each beginning and end of such code with its time (PERF_RECORD_KSYMBOL
 * of perf_event_open(2)), so an address is asked for together with its time. What was there before
 * the first event is in kallsyms, or is told when it ends.
 *
 *	struct kernel_code c = { 0 };
 *	kernel_code_event(&c, &ev)		in the order of their times
 *	kernel_code_find(&c, addr, time_ns)	NULL: kallsyms knows
 *	kernel_code_release(&c)
 *
 * Limits. The latest MAX_KERNEL_CODE are kept. Code whose event was lost is not known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_KERNEL_CODE 8192

struct kernel_code_event {
	uint64_t time_ns;
	uint64_t start;
	uint32_t len;
	bool is_bpf;
	bool is_end;
	const char *name;		/* copied */
};

struct made_code {
	uint64_t start, len;
	uint64_t from_ns, until_ns;	/* from_ns 0: it was there before */
	uint64_t place;			/* of its own: no other code has been given these numbers */
	bool is_bpf;
	char *name;
};

struct kernel_code {
	struct made_code *v;		/* the latest is the last */
	size_t nr, cap;
	uint64_t lo, hi;		/* all code is in between */
	uint64_t next_place;
};

/* Without memory the event is forgotten. */
void kernel_code_event(struct kernel_code *c, const struct kernel_code_event *ev);
/* Borrowed until the next event. */
const struct made_code *kernel_code_find(const struct kernel_code *c, uint64_t addr,
					 uint64_t time_ns);
void kernel_code_release(struct kernel_code *c);

/* The module that kallsyms names for such code. */
const char *kernel_code_module(const struct made_code *m);
