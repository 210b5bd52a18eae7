/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct syscall_names;
struct wait_edges;

/*
 * One of the threads as waits_json.c describes them, without the numbers of its waiters. Instead of
 * waited_ns it has ran_ns, the time of CLOCK_MONOTONIC when it last ran, to three digits of how
 * long it waits: so it is mostly the same text as long as the thread waits.
 */
void waits_json_put_row(const struct wait_edges *e, struct syscall_names *calls, uint32_t row,
			FILE *out);
