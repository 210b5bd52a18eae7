/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The share of time that the CPUs were busy, measured in up to three independent ways: by the ticks
 * of the sampler, by the threads that scans found running or ready to run, and by the kernel's own
 * accounts (/proc/stat). When two of them differ by more than chance explains, the samples of the
 * trace cannot be right: ticks were lost or held back, scans came at special moments, or CPUs were
 * taken offline.
 *
 *	cpu_check_read(&c, busy, info)		busy: META cpu.busy, NULL if absent; info: what the
 *						scans counted
 *	cpu_check_text(&c, buf, size)		the three shares as text; "" when there is none
 *	cpu_check_warning(&c, buf, size)	one line; "" when they agree
 *
 * Chance explains four standard deviations of the difference of two binomial shares. All CPUs of
 * one scan count as a single observation, because they are looked at together. The check also
 * allows for two differences that are no chance: the share of the time that probee itself used (the
 * kernel counts it, scans do not), and two percent, because the kernel accounts by clock ticks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_info;

enum cpu_source { CPU_BY_SAMPLES, CPU_BY_SCANS, CPU_BY_STAT, CPU_SOURCES };

struct cpu_check {
	struct cpu_share {
		bool is_known;
		double share;		/* 0 .. 1 */
		double observations;
	} of[CPU_SOURCES];
	double own;			/* share of the time that the recorder itself used */
};

void cpu_check_read(struct cpu_check *c, const char *busy, const struct report_info *info);
void cpu_check_text(const struct cpu_check *c, char *buf, size_t size);
void cpu_check_warning(const struct cpu_check *c, char *buf, size_t size);

/* Number of CPUs in a list: "0-3,7" -> 5; 0: it is not a list of CPUs. */
uint32_t cpu_list_count(const char *list);
