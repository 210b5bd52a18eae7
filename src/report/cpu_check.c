/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/cpu_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/report/trace_summary.h"

#define DEVIATIONS 4.0
#define NOT_CHANCE 0.02
#define STAT_HZ 100.0			/* USER_HZ */
#define MIN_OBSERVATIONS 5		/* fewer prove nothing */

uint32_t cpu_list_count(const char *list)
{
	uint64_t nr = 0;

	while (list && *list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return 0;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list)
				return 0;
		}
		if (last < first || last >= 1u << 20 || (*end && *end != ','))
			return 0;
		nr += last - first + 1;
		list = *end ? end + 1 : end;
	}
	return nr < 1u << 20 ? (uint32_t)nr : 0;
}

/* The number after "key=" at the start of a word of text; false: there is no such word. */
static bool find_word(const char *text, const char *key, double *out)
{
	size_t len = strlen(key);

	for (const char *p = text; p && *p; p = strchr(p, ' '), p = p ? p + 1 : NULL) {
		if (!strncmp(p, key, len) && p[len] == '=')
			return sscanf(p + len + 1, "%lf", out) == 1;
	}
	return false;
}

static void set(struct cpu_share *s, double share, double observations)
{
	if (!(share >= 0 && share <= 1.5 && observations >= MIN_OBSERVATIONS))
		return;
	*s = (struct cpu_share){ true, share < 1 ? share : 1, observations };
}

void cpu_check_read(struct cpu_check *c, const char *busy, const struct report_info *info)
{
	double seconds = (double)info->duration_ns / 1e9, cpus = info->online_cpus, share,
	       ticks = 0, all;

	memset(c, 0, sizeof(*c));
	if (!busy || !cpus || seconds <= 0 || info->nr_segments != 1)
		return;
	c->own = (double)info->end.cpu_time_ns / 1e9 / seconds / cpus;
	find_word(busy, "ticks", &ticks);
	if (find_word(busy, "samples", &share))
		set(&c->of[CPU_BY_SAMPLES], share, ticks);
	if (find_word(busy, "stat", &share))
		set(&c->of[CPU_BY_STAT], share, seconds * cpus * STAT_HZ);
	if (find_word(busy, "walks", &all) && info->scans.busy_scans)
		set(&c->of[CPU_BY_SCANS],
		    (double)info->scans.busy_cpus / (double)info->scans.busy_scans / cpus,
		    (double)info->scans.busy_scans);
}

static const char *const names[CPU_SOURCES] = {
	[CPU_BY_SAMPLES] = "samples", [CPU_BY_SCANS] = "snapshots", [CPU_BY_STAT] = "/proc/stat",
};

void cpu_check_text(const struct cpu_check *c, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	for (int i = 0; i < CPU_SOURCES && n < size; i++)
		if (c->of[i].is_known)
			n += (size_t)snprintf(buf + n, size - n, "%s%.1f %% by %s", n ? ", " : "",
					      100 * c->of[i].share, names[i]);
}

/*
 * The variance of a share, as if two more observations had been made, one busy and one idle: a
 * measured share of exactly 0 or 1 is not free of error either.
 */
static double variance(const struct cpu_share *s)
{
	double p = (s->share * s->observations + 1) / (s->observations + 2);

	return p * (1 - p) / s->observations;
}

static bool differ(const struct cpu_check *c, int a, int b)
{
	const struct cpu_share *x = &c->of[a], *y = &c->of[b];
	double d = x->share > y->share ? x->share - y->share : y->share - x->share, v, room;

	if (!x->is_known || !y->is_known)
		return false;
	room = NOT_CHANCE + c->own;
	v = DEVIATIONS * DEVIATIONS * (variance(x) + variance(y));
	return d > room && (d - room) * (d - room) > v;
}

void cpu_check_warning(const struct cpu_check *c, char *buf, size_t size)
{
	char shares[160];

	buf[0] = 0;
	for (int a = 0; a < CPU_SOURCES; a++) {
		for (int b = a + 1; b < CPU_SOURCES; b++) {
			if (!differ(c, a, b))
				continue;
			cpu_check_text(c, shares, sizeof(shares));
			snprintf(buf, size,
				 "CPUs were busy for %s of their time: %s and %s differ by more "
				 "than chance explains",
				 shares, names[a], names[b]);
			return;
		}
	}
}
