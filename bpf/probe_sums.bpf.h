/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of probes that come faster than user space takes them from the ring buffer.
 *
 * While the ring fills up, equal stacks of a thread are added up here instead. The first of them
 * goes through the ring as ever, with its id behind its frames; user space keeps it, and gives a
 * sample for what is added from then on, ten times a second. So a ring that user space has no time
 * for is needed for new stacks alone, and no event is lost.
 *
 *	thread 4711, the ring holds 3 MiB: malloc < parse < main	record, id 0x5a..
 *	the same 200,000 times more					sum 0x5a.. += 1
 *	100 ms later: user space reads the sum, and gives a sample that weighs 21,417
 *
 * Sums only grow, so that reading one takes nothing away that is added meanwhile.
 */
#pragma once

#include "bpf/stack_hash.bpf.h"

#define PROBE_SUMS 2048

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBE_SUMS);
	__type(key, uint64_t);
	__type(value, struct probe_sum);
} probe_sums SEC(".maps");

/* The id of g's stack and event. No two processes share one (stack_hash()). */
static __always_inline uint64_t sum_id(struct gather *g)
{
	uint64_t hash = mix(stack_hash(g), (uint64_t)g->head.tid << 16 | g->head.event);

	return (hash >> 2) | WIRE_SUM_ID;
}

/* Adds the event to the sum of its stack. false: there is none. */
static __always_inline bool add_to_sum(const struct gather *g, uint64_t id)
{
	struct probe_sum *sum = bpf_map_lookup_elem(&probe_sums, &id);

	if (!sum)
		return false;
	__sync_fetch_and_add(&sum->weight, g->head.weight);
	sum->last_ns = g->head.time_ns;
	return true;
}

/* Puts the id behind the frames. false: there is no room. */
static __always_inline bool mark_stack(struct gather *g, uint64_t id)
{
	uint32_t at = g->head.nr_user + g->head.nr_kernel;

	if (g->head.nr_kernel >= WIRE_MAX_KERNEL || at >= UNWIND_MAX_FRAMES + WIRE_MAX_KERNEL - 1)
		return false;
	g->frames[at] = id;
	g->head.nr_kernel++;
	return true;
}

/* From here on user space has the stack. */
static __always_inline void begin_sum(uint64_t id)
{
	static const struct probe_sum none;

	bpf_map_update_elem(&probe_sums, &id, &none, BPF_NOEXIST);
}
