/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU time of a process and all that it has started, as /proc says: threads, children, their
 * children, and those of them that have ended and were waited for.
 *
 * Not counted is what runs in the time of others: the BPF programs, which are part of the time of
 * whom they interrupt.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * Nanoseconds. What runs is exact, what has ended is counted in ticks of 10 ms. What cannot be read
 * counts as 0.
 */
uint64_t own_cost_ns(pid_t root);
