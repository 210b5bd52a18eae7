/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the scheduler to run a thread soon after it wakes up, without a larger share of the CPUs: it
 * is given them more often and for less time at once (Linux 6.12+; before, nothing changes). No
 * right is needed for that.
 *
 * What works in many small steps, each of which waits for another process, needs it on a busy
 * machine: with sixteen busy programs on two CPUs each step waits for 20 ms otherwise.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* pid: a thread; 0: the calling one. is_inherited: what it starts has it, too. */
void short_slice_begin(pid_t pid, bool is_inherited);
