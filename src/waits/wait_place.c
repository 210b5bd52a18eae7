/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/waits/wait_place.h"

#include <string.h>

#define LOOK_AT 32		/* frames at most */

/* Functions that say how the kernel waits, but not what for. */
static const char *const helpers[] = {
	"__schedule",
	"schedule",
	"schedule_idle",
	"schedule_preempt_disabled",
	"schedule_rtlock",
	"__traceiter_sched_switch",
	"preempt_schedule",
	"preempt_schedule_common",
	"preempt_schedule_irq",
	"preempt_schedule_notrace",
	"__cond_resched",
	"schedule_timeout",
	"schedule_timeout_idle",
	"schedule_timeout_interruptible",
	"schedule_timeout_killable",
	"schedule_timeout_uninterruptible",
	"io_schedule",
	"io_schedule_timeout",
	"schedule_hrtimeout",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
	"poll_schedule_timeout",
	"futex_wait_queue",
	"futex_wait_queue_me",
	"futex_do_wait",
	"__futex_wait",
	"bit_wait",
	"bit_wait_io",
	"__wait_on_bit",
	"__wait_on_bit_lock",
	"out_of_line_wait_on_bit",
	"out_of_line_wait_on_bit_lock",
	"__wait_for_common",
	"wait_for_common",
	"wait_for_completion",
	"wait_for_completion_interruptible",
	"wait_for_completion_killable",
	"wait_for_completion_state",
	"wait_for_completion_timeout",
	"do_wait_intr",
	"do_wait_intr_irq",
	"do_nanosleep",
	"__switch_to",
	"rt_mutex_slowlock_block",
	"rt_mutex_schedule",
	"__rt_mutex_slowlock",
	"rwsem_down_read_slowpath",
	"rwsem_down_write_slowpath",
	"__mutex_lock",
	"__mutex_lock_slowpath",
	"exit_to_user_mode_loop",
};

bool wait_place_is(const char *name, const char *meant)
{
	size_t len = strcspn(name, ".");

	return strlen(meant) == len && !memcmp(meant, name, len);
}

static bool is_helper(const char *name)
{
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (wait_place_is(name, helpers[i]))
			return true;
	return false;
}

const char *wait_place(const struct definition_store *t, uint32_t kstack, char buf[FRAME_TEXT_MAX])
{
	const struct table_node *n;
	struct frame_view v = { .name = "" };

	for (int i = 0; i < LOOK_AT && kstack && (n = definition_store_find_node(t, kstack)); i++) {
		definition_store_frame_view(t, n->frame, 0, buf, &v);
		if (!is_helper(v.name))
			break;
		kstack = n->parent;
	}
	return v.name;
}

bool wait_variable(const struct definition_store *t, const struct rec_sample *rec,
		   char buf[FRAME_TEXT_MAX], struct frame_view *v)
{
	if (!rec->variable)
		return false;
	definition_store_frame_view(t, rec->variable, 0, buf, v);
	v->has_offset = v->named;
	return true;
}
