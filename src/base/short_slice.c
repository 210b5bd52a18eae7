/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/short_slice.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS (100 * 1000)		/* the shortest that the kernel takes */
#define FLAG_RESET_ON_FORK 1

/* struct sched_attr of the kernel's uapi, first version; the C library does not declare it. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

void short_slice_begin(pid_t pid, bool is_inherited)
{
	struct attr a = { .size = sizeof(a) };

	if (syscall(SYS_sched_getattr, pid, &a, sizeof(a), 0))
		return;
	a.size = sizeof(a);
	a.flags = is_inherited ? 0 : FLAG_RESET_ON_FORK;
	a.runtime_ns = SLICE_NS;
	if (syscall(SYS_sched_setattr, pid, &a, 0))
		return;		/* only latency is at stake */
}
