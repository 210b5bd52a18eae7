/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory the control groups of this process allow it, and how much of that is used: the
 * kernel counts BPF maps there, too. Both versions of control groups are read
 * (Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct memory_limit {
	uint64_t limit_bytes;
	uint64_t used_bytes;		/* without pages of files, which the kernel can drop */
};

/*
 * Finds the group, of this process's and those above it, that has the least room. root: where /proc
 * and /sys are, "" for those of this machine. false: no limit is known.
 */
bool memory_limit_read(const char *root, struct memory_limit *out);
