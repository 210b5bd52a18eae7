/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many uprobes of one file by a single link of the kernel: Linux 6.6. To put 500 probes one by one,
 * and to take them away, takes minutes, because the kernel waits for a grace period each time.
 * libbpf 1.1 does not know these links.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The expected attach type of their programs: BPF_TRACE_UPROBE_MULTI. */
#define UPROBE_MULTI_TYPE 48

bool uprobe_multi_is_there(void);

/*
 * prog: its descriptor. The program gets a cookie of its own at each of the offsets. The link's
 * descriptor, which ends the probes when it is closed, or -errno: if one cannot be put, none is.
 */
struct uprobe_multi {
	const char *path;
	const uint64_t *offsets, *cookies;
	const uint64_t *semaphores;	/* offsets of counters of USDT probes, or 0; NULL: none */
	size_t nr;
	bool returns;
};

int uprobe_multi_link(int prog, const struct uprobe_multi *m);
