/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/low_latency.h"

#include <sched.h>

#include "src/base/short_slice.h"

void low_latency_begin(pid_t pid)
{
	struct sched_param lowest = { .sched_priority = 1 };

	if (sched_setscheduler(pid, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest))
		short_slice_begin(pid, false);
}
