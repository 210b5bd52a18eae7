/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the BPF programs cannot be loaded, in one line. Each function returns the error for the
 * caller: -EPERM or -ENOTSUP if this machine or these rights do not allow it.
 */
#pragma once

struct memory_limit;

int load_errors_explain(int err);		/* of libbpf or the kernel */
int load_errors_cpus(int err);			/* the list of CPUs cannot be read */
int load_errors_memory(const struct memory_limit *m);	/* not even the smallest maps fit */
