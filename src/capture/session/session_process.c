/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/process_tracker.h"
#include "src/capture/session/runtime_names.h"
#include "src/capture/session/session_parts.h"

struct process *session_process(const struct session *s, const struct wire_sample *head)
{
	return head->tgid ? process_tracker_find(s->deps.tracker, head->tgid, head->time_ns) : NULL;
}

void session_forget_process(struct session *s, const struct process *p)
{
	runtime_names_forget(s->runtimes, p);
}
