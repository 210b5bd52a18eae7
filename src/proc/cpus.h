/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs: those that are online, and lists like "0-3,7" from the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_list {
	uint32_t *v;
	size_t nr, cap;
};

/* 0 or -errno; the caller releases the list after an error, too. */
int cpus_online(struct cpu_list *out);

/* Ascending, each CPU once. -EINVAL: not a list; after an error there is nothing to release. */
int cpus_parse(const char *text, struct cpu_list *out);
void cpus_release(struct cpu_list *l);

bool cpus_has(const struct cpu_list *l, uint32_t cpu);
/* Writes the list as "0-3,7"; text that does not fit is cut. */
void cpus_text(const struct cpu_list *l, char *out, size_t size);
