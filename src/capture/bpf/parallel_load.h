/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The large BPF programs of an object are loaded at once, each by a thread of its own.
 *
 * The problem. The verifier takes 30 to 90 ms for each program that unwinds a stack, and libbpf
 * loads one after the other. And for each object with a program that is attached by a type of the
 * kernel (tp_btf, iter), libbpf reads all of the kernel's types.
 *
 * The idea. libbpf asks a handler of the program's section before it loads a program. The handler
 * here loads the program itself, a large one by a thread, and gives libbpf one that does nothing
 * instead, of a kind that needs no types. When the object is loaded, the real program takes the
 * place of the other one, under the number of its descriptor (dup3). So everything that libbpf does
 * with the program afterwards is as ever.
 *
 *	parallel_load_handlers()		once for all, before the object is opened
 *	bpf_object__open...
 *	parallel_load_begin(&l, types, at_once)
 *	bpf_object__load...
 *	parallel_load_end(&l)			waits for the threads
 *
 * Verifying takes memory, and all at once takes the memory of all: where there is little, at_once
 * is false, and the programs are loaded one after the other.
 *
 * libbpf keeps its handlers for the whole process, and a handler is not told for whom an object is
 * loaded. So the handlers stay registered, and the struct is known by its thread. An object with
 * programs of these sections cannot be loaded without it.
 */
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdbool.h>

#define PARALLEL_LOADS 32		/* as many as programs that are loaded, at most */

struct kernel_types;

struct section;

struct parallel_load {
	struct loading {
		struct bpf_program *prog;
		const struct section *section;
		struct bpf_prog_load_opts opts;
		struct bpf_insn *insns;		/* owned, like those that opts point to */
		size_t nr;
		pthread_t thread;
		bool has_thread;
		int fd;				/* or -errno */
	} v[PARALLEL_LOADS];
	size_t nr;
	const struct kernel_types *types;
	bool at_once;
};

/* Each thread may have one at a time. 0, or -errno of libbpf. */
int parallel_load_handlers(void);

/* types: what the kernel has for the object's programs; they stay the caller's. */
void parallel_load_begin(struct parallel_load *l, const struct kernel_types *types, bool at_once);
/*
 * loaded: what bpf_object__load() returned. Returns it if it is an error, or that of the first
 * program that could not be loaded. Then the object is to be destroyed. Without at_once -v shows
 * what the kernel said.
 */
int parallel_load_end(struct parallel_load *l, int loaded);
