/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users of whose threads only one stack in so many is taken, because these cost too much
 * (src/agent/rate_budget.h). Samples are chosen by chance. Each snapshot has a part of the threads
 * of such a user, and the next one has another part. A stack that is taken weighs that many
 * times as much, so the profile remains right.
 */
#pragma once

#include "bpf/maps.bpf.h"

/* The number of a user, in the initial user namespace -> times, a power of two. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, USER_RATES);
	__type(key, uint32_t);
	__type(value, uint32_t);
} user_rates SEC(".maps");

uint32_t nr_user_rates = 0;	/* written by user space: 0: the map is not looked at */

/* The real user pays, or if that is root, the effective one: wait_budget_number(). */
static __always_inline uint32_t user_times(struct task_struct *task)
{
	uint32_t user, *times;

	if (!READ_NOW(nr_user_rates))
		return 1;
	user = task->real_cred->uid.val;
	if (!user)
		user = task->real_cred->euid.val;
	times = bpf_map_lookup_elem(&user_rates, &user);
	return times && *times > 1 ? *times : 1;
}
