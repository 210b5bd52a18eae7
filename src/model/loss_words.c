/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/model/loss_words.h"

#include <stdio.h>

#include "src/model/record.h"

static const struct words {
	const char *one, *many;
} words[LOSS_CAUSES] = {
	[LOSS_ITER_RESTART] = { "restart of a snapshot", "restarts of snapshots" },
	[LOSS_TASK_VANISHED] = { "task ended while it was read",
				 "tasks ended while they were read" },
	[LOSS_SYMBOL_BUDGET] = { "address has no name yet: time limit (probee symbolize adds it)",
				 "addresses have no name yet: time limit (probee symbolize adds "
				 "them)" },
	[LOSS_LINE_BUDGET] = { "address has a name without its line: time limit",
			       "addresses have a name without their line: time limit" },
	[LOSS_TASK_EVENTS] = { "start or end of a process was not heard of",
			       "starts and ends of processes were not heard of" },
	[LOSS_TABLE_FULL] = { "entry found its table full", "entries found their table full" },
	[LOSS_KERNEL_STACK] = { "kernel stack is missing", "kernel stacks are missing" },
	[LOSS_SCANS] = { "snapshot was left out or cut short: those before took too long",
			 "snapshots were left out or cut short: those before took too long" },
	[LOSS_TICKS] = { "tick of the timer never came", "ticks of the timer never came" },
	[LOSS_NO_ANSWER] = { "stack ends in a file that was not read in time",
			     "stacks end in a file that was not read in time" },
	[LOSS_HELPER_DIED] = { "helper process ended unasked", "helper processes ended unasked" },
};

void loss_words(unsigned cause, uint64_t nr, const char *number, char *out, size_t size)
{
	static const struct words other = { "loss of another kind", "losses of another kind" };
	const struct words *w = cause < LOSS_CAUSES && words[cause].one ? &words[cause] : &other;

	snprintf(out, size, "%s %s", number, nr == 1 ? w->one : w->many);
}
