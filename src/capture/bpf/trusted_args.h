/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of BPF programs that get a pointer to a type of the kernel, such as a task.
 *
 * The verifier goes through a global function once, and through a static one wherever it is called.
 * Linux 6.9 is the first that lets a global function have such an argument, if it is tagged
 * "arg:trusted" (kernel_types.h: has_trusted_args). For older kernels these functions are made
 * static, which takes the verifier some 20 ms more and changes nothing else.
 */
#pragma once

struct bpf_object;

/* Makes them static. Between the opening and the load of the object. */
void trusted_args_drop(const struct bpf_object *obj);
