/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the scheduler to run the calling thread as soon as it wakes up. A process that lives for 5
 * ms is only known in time when its first events are read at once; on busy CPUs a thread waits for
 * others' slices otherwise, and a quarter of such a process's samples ended as "no-process" (4 %
 * with this; two CPUs, two spinning programs).
 *
 * The thread is asleep but for some microseconds per event. It gets the lowest real-time priority
 * where that is allowed (CAP_SYS_NICE), else a short slice (Linux 6.12+), else nothing changes.
 * Threads started later do not inherit it.
 */
#pragma once

void low_latency_begin(void);
