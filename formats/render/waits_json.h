/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON of one scan, which waits_json.c describes, for others that show scans. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct syscall_names;
struct wait_edges;
struct wait_graph;

struct waits_json_scan {
	const struct wait_graph *g;	/* linked */
	const struct wait_edges *e;
	struct syscall_names *calls;
	const char *warning;		/* "": none */
	/*
	 * Only threads that wait for another one, those that they wait for, and the longest waits
	 * of which nothing is known. Besides: nr, the number of all threads.
	 */
	bool is_brief;
};

/* 0 or -ENOMEM */
int waits_json_put(const struct waits_json_scan *scan, FILE *out);
