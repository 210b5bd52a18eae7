/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread, and what the runtime calls it: runtime_thread_names(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_THREAD_BYTES 256	/* longer names are cut */

struct runtime_thread_name {
	uint32_t tid;			/* in the PID namespace of the process */
	char comm[16];			/* the kernel's name, when the thread was met last */
	bool is_found;			/* the runtime knows the thread */
	bool is_made_up;		/* the program has given it no name */
	bool is_of_comm;		/* comm is the beginning of this name, and no other's */
	char *name;			/* UTF-8, foreign, the caller's; NULL: the kernel's does */
};

/* The one with that tid, or NULL. They are sorted by tid. */
struct runtime_thread_name *runtime_thread_name_of(struct runtime_thread_name *names, size_t nr,
						   uint32_t tid);
