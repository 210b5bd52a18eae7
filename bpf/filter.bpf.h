/* Which tasks are looked at: the settings of struct knobs. */
#pragma once

#include "bpf/maps.bpf.h"

static __always_inline bool task_wanted(uint32_t tgid, uint32_t tid)
{
	if (tgid == knobs.self_tgid)
		return false;
	if (knobs.only_targets && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	if (knobs.only_tids && !bpf_map_lookup_elem(&tids, &tid))
		return false;
	return true;
}
