/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a task is recorded, by the filters of struct knobs. */
#pragma once

#include "bpf/task_ids.bpf.h"

static __always_inline bool task_wanted(struct task_ids ids)
{
	if (ids.tgid == knobs.self_tgid)
		return false;
	if (knobs.only_targets && !bpf_map_lookup_elem(&targets, &ids.tgid))
		return false;
	if (knobs.only_tids && !bpf_map_lookup_elem(&tids, &ids.tid))
		return false;
	return true;
}
