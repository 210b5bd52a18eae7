/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of a scan by system call and kernel function: for each pair the number of threads, the
 * longest wait and an example.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct rec_sample;
struct syscall_names;
struct wait_graph;

/* Writes the rows that pass. columns: width of the terminal; 0: none. 0 or -ENOMEM */
int wait_list_put(const struct wait_graph *g, const struct syscall_names *calls, uint32_t columns,
		  FILE *out);
