/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/profile_delta.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/profile/profile.h"

void profile_delta_free(struct profile_delta *d)
{
	if (!d)
		return;
	free(d->nodes);
	free(d->functions);
	free(d);
}

/* Time is shown in one unit, so that a column can be read: in seconds if there are many. */
static struct delta_view time_view(const struct profile *p)
{
	const struct delta *all = &p->deltas->nodes[0].total;
	uint64_t runs = p->deltas->scale == SCALE_RUN ? p->deltas->exposure[1] : 1;
	bool is_short = all->before < 100000000000 && all->after < 100000000000;
	bool is_many = runs > 1 && runs < 1000000;

	if (!is_many)
		runs = 1;
	if (is_short)
		return (struct delta_view){ is_many ? "ms of a run" : "ms", 1, runs * 1000000, 1 };
	return (struct delta_view){ is_many ? "s of a run" : "s", 1, runs * 1000000000, 2 };
}

/* Weights of ns by time are shares of one CPU; weights of snapshots are threads. */
struct delta_view delta_view(const struct profile *p)
{
	const struct profile_delta *d = p->deltas;
	bool is_ns = !strcmp(p->facts.unit, "ns");
	bool is_wall = !strcmp(p->facts.noun, "thread states");
	bool is_rate = d->scale == SCALE_TIME || d->scale == SCALE_CPUS;
	uint64_t of = d->exposure[1];

	if (d->scale == SCALE_SHARE && of)
		return (struct delta_view){ "% of all", 100, of, 2 };
	if (!is_rate || !of)
		return is_ns ? time_view(p) : (struct delta_view){ "", 1, 0, 0 };
	if (is_wall)
		return (struct delta_view){ "threads", 1, of, 3 };
	if (is_ns)
		return (struct delta_view){
			d->scale == SCALE_CPUS ? "% of all CPUs" : "% of one CPU", 100, of, 2
		};
	return (struct delta_view){ "", 1, 0, 0 };
}

const char *delta_unit_text(const struct profile *p)
{
	return delta_view(p).unit;
}

const char *delta_weight_text(const struct profile *p, uint64_t weight, char buf[WEIGHT_TEXT_MAX])
{
	static const unsigned parts[] = { 1, 10, 100, 1000 };
	struct delta_view v = delta_view(p);
	unsigned part = parts[v.digits];
	unsigned __int128 n;

	if (!v.of)
		return weight_text(weight, p->facts.unit, buf);
	n = ((unsigned __int128)weight * v.times * part + v.of / 2) / v.of;
	snprintf(buf, WEIGHT_TEXT_MAX, "%llu.%0*u", (unsigned long long)(n / part), (int)v.digits,
		 (unsigned)(n % part));
	return buf;
}

const char *delta_change_text(const struct profile *p, const struct delta *d,
			      char buf[WEIGHT_TEXT_MAX + 1])
{
	char number[WEIGHT_TEXT_MAX];
	bool is_less = d->after < d->before;
	uint64_t size = is_less ? d->before - d->after : d->after - d->before;

	snprintf(buf, WEIGHT_TEXT_MAX + 1, "%s%s", !size ? "" : is_less ? "-" : "+",
		 delta_weight_text(p, size, number));
	return buf;
}

const char *delta_relative_text(const struct delta *d, char buf[WEIGHT_TEXT_MAX])
{
	bool is_less = d->after < d->before;
	uint64_t size = is_less ? d->before - d->after : d->after - d->before;
	unsigned __int128 tenths = d->before ? (unsigned __int128)size * 1000 / d->before : 0;

	if (!d->before)
		return d->after ? "new" : "";
	if (!d->after)
		return "gone";
	if (tenths >= 10000)
		snprintf(buf, WEIGHT_TEXT_MAX, "x %llu",
			 (unsigned long long)(d->after / d->before));
	else
		snprintf(buf, WEIGHT_TEXT_MAX, "%s%u.%u %%", !tenths ? "" : is_less ? "-" : "+",
			 (unsigned)(tenths / 10), (unsigned)(tenths % 10));
	return buf;
}

const char *delta_verdict_name(unsigned verdict)
{
	static const char *const names[] = { "few", "same", "more", "less" };

	return verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "few";
}
