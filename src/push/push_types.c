/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/model/record.h"
#include "src/profile/report.h"
#include "src/profile/trace_events.h"

#define NAME_ROOM (PUSH_NAME_MAX - 12)	/* the rest is for a number behind it */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static void plain_name(char out[PUSH_NAME_MAX], const char *name)
{
	size_t len = 0;

	for (; *name && len < NAME_ROOM; name++)
		out[len++] = is_plain(*name) ? *name : '_';
	if (!len)
		out[len++] = '_';
	out[len] = 0;
}

static void name_unit(char out[PUSH_NAME_MAX], const struct trace_event *e)
{
	if (e->is_counted || !*e->unit || !strcmp(e->unit, "samples"))
		strcpy(out, "count");
	else if (!strcmp(e->unit, "ns"))
		strcpy(out, "nanoseconds");
	else
		plain_name(out, e->unit);
}

/* False: another event has this name. */
static bool is_new(struct intern *names, const char *name)
{
	uint32_t before = intern_count(names);

	return intern_str(names, name) >= before;
}

/* Two events may differ in characters that a type cannot have, or in their units alone. */
static void tell_apart(struct intern *names, char name[PUSH_NAME_MAX], size_t nr)
{
	size_t len = strlen(name);

	while (!is_new(names, name))
		snprintf(name + len, PUSH_NAME_MAX - len, "_%zu", nr++);
}

static void name_event(struct push_type *p, const struct trace_event *e)
{
	plain_name(p->profile, e->name);
	strcpy(p->type, p->profile);
}

/*
 * The first event that measures CPU time has the name by which receivers know that, and rows of
 * scans have theirs. Off-CPU time has no period, because by that Pyroscope knows it.
 */
static void make_type(struct push_type *p, const struct trace_event *e, struct intern *names)
{
	bool is_ns = !strcmp(e->unit, "ns");

	name_unit(p->unit, e);
	p->period = e->period && e->period <= INT64_MAX ? e->period : 1;
	p->is_counted = !strcmp(p->unit, "count") && p->period == 1;
	p->shows_states = event_is_wall_time(e->kind) || e->kind == EVENT_SCHED;
	p->is_cpu_time = is_ns && event_is_cpu_time(e->kind) && is_new(names, "process_cpu");
	if (p->is_cpu_time) {
		strcpy(p->profile, "process_cpu");
		strcpy(p->type, "cpu");
		strcpy(p->period_type, "cpu");
		return;
	}
	name_event(p, e);
	if (event_is_wall_time(e->kind)) {
		strcpy(p->profile, "wall");
		strcpy(p->type, "wall");
	}
	tell_apart(names, p->profile, (size_t)e->id);
	if (e->kind != EVENT_SCHED || !is_ns || strcmp(p->profile, "off_cpu"))
		strcpy(p->period_type, p->profile);
}

static void make_losses(struct push_type *p)
{
	strcpy(p->profile, "probee_lost");
	strcpy(p->type, "lost");
	strcpy(p->unit, "count");
	strcpy(p->period_type, "probee_lost");
	p->period = 1;
	p->is_counted = true;
}

int push_types_make(const struct report *rep, struct push_types *t)
{
	const struct trace_events *events = report_events(rep);
	struct intern *names = intern_new();

	memset(t, 0, sizeof(*t));
	make_losses(&t->losses);
	t->v = calloc(events->nr ? events->nr : 1, sizeof(*t->v));
	if (!t->v || !names || !is_new(names, t->losses.profile)) {
		intern_free(names);
		return -ENOMEM;
	}
	for (size_t i = 0; i < events->nr; i++, t->nr++)
		make_type(&t->v[i], &events->v[i], names);
	intern_free(names);
	return 0;
}

void push_types_release(struct push_types *t)
{
	free(t->v);
	memset(t, 0, sizeof(*t));
}

const struct push_type *push_types_of(const struct push_types *t, uint32_t event)
{
	return event < t->nr ? &t->v[event] : &t->losses;
}

const char *push_type_said(const struct push_type *t)
{
	return !strcmp(t->type, "lost") ? "what is missing" : t->type;
}
