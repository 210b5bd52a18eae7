/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/interrupted.h"

#include <string.h>

#include "src/capture/session/kernel_trim.h"
#include "src/model/record.h"

bool interrupted_stack(const struct kernel_symbols *k, const struct wire_stack *w,
		       struct wire_sample *head, struct wire_stack *out)
{
	size_t nr = w->head->nr_kernel;

	if (!(w->head->flags & WIRE_INTERRUPT) || !w->head->tid ||
	    !kernel_trim_interrupted(k, w->kernel, &nr))
		return false;
	*head = *w->head;
	head->tgid = head->tid = 0;
	head->start_boottime_ns = 0;
	head->nr_user = 0;
	head->flags |= WIRE_KTHREAD;
	memset(head->comm, 0, sizeof(head->comm));
	memcpy(head->comm, INTERRUPT_COMM, sizeof(INTERRUPT_COMM));
	*out = (struct wire_stack){ .head = head, .kernel = w->kernel, .state = w->state,
				    .end = END_KTHREAD };
	return true;
}
