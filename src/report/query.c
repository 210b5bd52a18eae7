/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/report/query.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/model/record.h"

#define DAY_NS (86400 * NSEC_PER_SEC)

void query_release(struct query *q)
{
	free(q->pids.v);
	free(q->tids.v);
	free(q->cpus.v);
	free(q->comms.v);
	free(q->processes.v);
	free(q->cgroups.v);
	stack_filter_release(&q->names);
	stack_filter_release(&q->hidden);
	memset(q, 0, sizeof(*q));
}

int query_parse_glob(const struct opt *o, const char *value, void *globs)
{
	struct glob_list *l = globs;
	const char **glob = array_push(&l->v, &l->nr, &l->cap);

	if (!glob)
		return fail(-ENOMEM, "--%s", o->name);
	*glob = value;
	return 0;
}

/* The states that a letter of ps or a name of ours stands for; 'R' and 'D' are several states. */
static uint32_t states_of(const char *word, size_t len)
{
	uint32_t mask = 0;

	for (unsigned s = 0; s < TASK_STATES; s++) {
		const char *name = task_state_name(s);

		if (len == 1 && *word == task_state_letter(s))
			mask |= 1u << s;
		if (strlen(name) == len && !strncasecmp(word, name, len))
			mask |= 1u << s;
	}
	return mask;
}

int query_parse_states(const struct opt *o, const char *value, void *states)
{
	for (const char *p = value;; p++) {
		size_t len = strcspn(p, ",");
		uint32_t mask = states_of(p, len);

		if (!mask)
			return fail_why(
				-EINVAL,
				"--%s: '%.*s' is no state: use ps's letters (R,S,D,T,t,I,Z,X,P) "
				"or names (RUNNING,SLEEP,DISK)",
				o->name, (int)len, p);
		*(uint32_t *)states |= mask;
		p += len;
		if (!*p)
			return 0;
	}
}

int query_parse_weight(const struct opt *o, const char *value, void *weight)
{
	if (!strcmp(value, "cpu"))
		*(enum query_weight *)weight = WEIGHT_CPU;
	else if (!strcmp(value, "wall"))
		*(enum query_weight *)weight = WEIGHT_WALL;
	else
		return fail_why(-EINVAL, "--%s %s: no such weight. Try: cpu or wall", o->name,
				value);
	return 0;
}

/*
 * The fraction of a second after whole seconds: ".25" or nothing; false when anything else follows.
 */
static bool read_fraction(const char *s, uint64_t *ns)
{
	uint64_t unit = NSEC_PER_SEC;

	*ns = 0;
	if (!*s)
		return true;
	if (*s++ != '.' || !*s)
		return false;
	for (; *s >= '0' && *s <= '9'; s++)
		*ns += (uint64_t)(*s - '0') * (unit /= 10);
	return !*s;
}

static bool read_date(const char *s, struct time_point *t)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%d %H:%M" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(s, forms[i], &tm);
		uint64_t ns;
		time_t at;

		if (!end || !read_fraction(end, &ns))
			continue;
		tm.tm_isdst = -1;
		at = mktime(&tm);
		if (at < 0)
			return false;
		*t = (struct time_point){ TIME_DATE, (uint64_t)at * NSEC_PER_SEC + ns };
		return true;
	}
	return false;
}

static bool read_time_of_day(const char *s, struct time_point *t)
{
	static const char *const forms[] = { "%H:%M:%S", "%H:%M" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(s, forms[i], &tm);
		uint64_t ns;

		if (!end || !read_fraction(end, &ns))
			continue;
		t->kind = TIME_OF_DAY;
		t->ns = (uint64_t)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) * NSEC_PER_SEC +
			ns;
		return true;
	}
	return false;
}

/* A duration that may be 0, as in "0s"; opt_duration() refuses 0. */
static int read_duration(const struct opt *o, const char *value, uint64_t *ns)
{
	size_t zeros = strspn(value, "0.");

	*ns = 0;
	if (value[0] == '0' && zeros + strspn(value + zeros, "smh") == strlen(value))
		return 0;
	return opt_duration(o, value, ns);
}

int query_parse_time(const struct opt *o, const char *value, void *point)
{
	bool before_end = value[0] == '-';
	struct time_point *t = point;

	if (strchr(value, ':')) {
		if (read_date(value, t) || read_time_of_day(value, t))
			return 0;
		return fail_why(-EINVAL, "--%s: '%s' is no time: use 10s, -10s, HH:MM:SS or "
				"'YYYY-MM-DD HH:MM:SS'", o->name, value);
	}
	t->kind = before_end ? TIME_BEFORE_END : TIME_RELATIVE;
	return read_duration(o, value + before_end, &t->ns);
}

static bool matches(const struct glob_list *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!fnmatch(l->v[i], name, 0))
			return true;
	return !l->nr;
}

bool query_wants_thread(const struct query *q, const struct query_thread *t)
{
	if (q->pids.nr && !id_list_has(&q->pids, t->tgid))
		return false;
	if (q->tids.nr && !id_list_has(&q->tids, t->tid))
		return false;
	return (matches(&q->comms, t->comm) || matches(&q->comms, t->kernel_comm)) &&
	       matches(&q->processes, t->process) && matches(&q->cgroups, t->cgroup);
}

bool query_wants_cpu(const struct query *q, uint32_t cpu)
{
	return !q->cpus.nr || (cpu != UINT32_MAX && id_list_has(&q->cpus, cpu));
}

bool query_chooses_threads(const struct query *q)
{
	return q->pids.nr || q->tids.nr || q->comms.nr || q->processes.nr || q->cgroups.nr;
}

bool query_has_filter(const struct query *q)
{
	return query_chooses_threads(q) || q->cpus.nr || q->names.nr || q->states ||
	       q->activities || q->from.kind != TIME_NONE ||
	       q->to.kind != TIME_NONE;
}

bool query_wants_state(const struct query *q, unsigned state)
{
	return !q->states || (state < TASK_STATES && q->states >> state & 1);
}

static uint64_t time_of_day(uint64_t first_ns, uint64_t last_ns, uint64_t day_ns)
{
	time_t first = (time_t)(first_ns / NSEC_PER_SEC);
	uint64_t seconds = day_ns / NSEC_PER_SEC, ns;
	struct tm tm;

	localtime_r(&first, &tm);
	tm.tm_hour = (int)(seconds / 3600);
	tm.tm_min = (int)(seconds / 60 % 60);
	tm.tm_sec = (int)(seconds % 60);
	tm.tm_isdst = -1;
	ns = (uint64_t)mktime(&tm) * NSEC_PER_SEC + day_ns % NSEC_PER_SEC;
	return ns < first_ns && ns + DAY_NS <= last_ns ? ns + DAY_NS : ns;
}

static uint64_t resolve(const struct time_point *t, uint64_t first_ns, uint64_t last_ns,
			uint64_t none)
{
	switch (t->kind) {
	case TIME_NONE: return none;
	case TIME_RELATIVE: return first_ns + t->ns < first_ns ? UINT64_MAX : first_ns + t->ns;
	case TIME_BEFORE_END: return last_ns - (t->ns < last_ns ? t->ns : last_ns);
	case TIME_OF_DAY: return time_of_day(first_ns, last_ns, t->ns);
	case TIME_DATE: return t->ns;
	}
	return none;
}

void query_window(const struct query *q, uint64_t first_ns, uint64_t last_ns, struct time_window *w)
{
	w->from_ns = resolve(&q->from, first_ns, last_ns, 0);
	w->to_ns = resolve(&q->to, first_ns, last_ns, UINT64_MAX);
}
