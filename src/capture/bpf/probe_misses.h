/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the kernel did not run a program although its probe was passed: because another BPF
 * program was running on that CPU, or because more calls were under way than a kretprobe keeps.
 * Silent; 0 where the kernel does not count that (before Linux 5.12 and 6.7).
 */
#pragma once

#include <stdint.h>

uint64_t probe_misses_of_program(int prog_fd);
uint64_t probe_misses_of_link(int link_fd);	/* of a kprobe or kretprobe by perf event */
