/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How busy the CPUs were, measured in up to three ways that know nothing of each other: by the
 * sampler's ticks, by the threads that walks found running or ready to run, and by the kernel's own
 * accounts (/proc/stat). When two of them differ by more than chance explains, the samples of the
 * trace cannot be right: ticks were lost or held back, walks came at special moments, CPUs were
 * away.
 *
 *	cpu_check_read(&c, busy, info)		META cpu.busy (NULL: absent) and what the walks
 *						counted
 *	cpu_check_text(&c, buf, size)		the three as text; "" when there is none
 *	cpu_check_warning(&c, buf, size)	one line; "" when they agree
 *
 * Chance: four standard deviations of the difference of two binomial shares. For a walk all its
 * CPUs together count as one observation, because they are looked at together. To that comes what
 * is not chance: the share of the time that probee itself used (the kernel counts it, walks do not)
 * and two percent, as accounts go by clock ticks.
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
	double own;			/* share that the recorder used */
};

void cpu_check_read(struct cpu_check *c, const char *busy, const struct report_info *info);
void cpu_check_text(const struct cpu_check *c, char *buf, size_t size);
void cpu_check_warning(const struct cpu_check *c, char *buf, size_t size);

/* "0-3,7" -> 5; 0: that is no list of CPUs. */
uint32_t cpu_list_count(const char *list);
