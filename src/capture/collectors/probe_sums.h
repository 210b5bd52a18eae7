/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of probes that the BPF programs have added up (bpf/probe_sums.bpf.h).
 *
 *	probe_sums_new(map, &s)
 *	probe_sums_keep(s, record, len, &stack)	each record: takes the id off one that has it, and
 *						keeps that stack
 *	probe_sums_take(s, fn, ctx)		hands out what was added since the last time, as one
 *						stack for each sum, with the time of its last event
 *	probe_sums_free(s)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/capture/stacks/wire_decode.h"

struct probe_sums;

int probe_sums_new(int map, struct probe_sums **sp);
void probe_sums_free(struct probe_sums *s);		/* NULL is fine */

/*
 * stack: the record, decoded. If it has an id, it is made to borrow a copy without it, until the
 * next call. 0; -EBADMSG: such a record has no id, and stack may be changed; or -ENOMEM.
 */
int probe_sums_keep(struct probe_sums *s, const void *record, size_t len, struct wire_stack *stack);
/* 0, or -ENOMEM, or what fn returned. */
int probe_sums_take(struct probe_sums *s, wire_stack_fn fn, void *ctx);
