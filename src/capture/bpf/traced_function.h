/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A probe by fentry or fexit: the kernel loads such a program for one function alone, so there is a
 * copy of the BPF object for each. The copies use the maps of the object that they are copied from.
 *
 *	traced_function_open(b, "vfs_read", false, &t)	loads it
 *	bpf_program__attach_trace_opts(traced_function_program(t), ...)
 *	traced_function_close(t)			after its links are gone
 */
#pragma once

#include <stdbool.h>

struct bpf_program;
struct capture_bpf;
struct traced_function;

/*
 * at_exit: fexit. 0 or -errno, silent. -ESRCH: the kernel has no such function, or does not
 * describe it; -EPERM: it refuses programs of this kind; -EINVAL: it cannot have one.
 */
int traced_function_open(const struct capture_bpf *b, const char *function, bool at_exit,
			 struct traced_function **out);
void traced_function_close(struct traced_function *t);		/* NULL is fine */
struct bpf_program *traced_function_program(const struct traced_function *t);

/* How many arguments the function has; -errno: the kernel does not say. */
int traced_function_arguments(const char *function);
