/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/push/push_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/intern.h"
#include "src/model/record.h"
#include "src/report/report.h"
#include "src/report/trace_events.h"

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

/* The names that mean something to receivers are not for events that happen to be called so. */
struct naming {
	struct intern *names;
	bool has_cpu, has_wall;
};

static bool take_word(bool *has, struct push_type *p, const char *profile, const char *type)
{
	if (*has)
		return false;
	*has = true;
	strcpy(p->profile, profile);
	strcpy(p->type, type);
	strcpy(p->period_type, type);
	return true;
}

/*
 * The first event that measures CPU time has the name by which receivers know that, and rows of
 * scans have theirs. Off-CPU time has no period, because by that Pyroscope knows it.
 */
static void make_type(struct push_type *p, const struct trace_event *e, struct naming *n)
{
	bool is_ns = !strcmp(e->unit, "ns");

	name_unit(p->unit, e);
	p->period = e->period && e->period <= INT64_MAX ? e->period : 1;
	p->is_counted = !strcmp(p->unit, "count") && p->period == 1;
	p->shows_states = event_is_wall_time(e->kind) || e->kind == EVENT_SCHED;
	if (is_ns && event_is_cpu_time(e->kind) &&
	    take_word(&n->has_cpu, p, "process_cpu", "cpu")) {
		p->is_cpu_time = true;
		return;
	}
	if (event_is_wall_time(e->kind) && take_word(&n->has_wall, p, "wall", "wall"))
		return;
	plain_name(p->profile, e->name);
	tell_apart(n->names, p->profile, (size_t)e->id);
	strcpy(p->type, p->profile);
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
	struct naming n = { .names = intern_new() };
	int err = 0;

	memset(t, 0, sizeof(*t));
	make_losses(&t->losses);
	t->v = calloc(events->nr ? events->nr : 1, sizeof(*t->v));
	if (!t->v || !n.names || !is_new(n.names, t->losses.profile) ||
	    !is_new(n.names, "process_cpu") || !is_new(n.names, "wall"))
		err = -ENOMEM;
	for (size_t i = 0; i < events->nr && !err; i++, t->nr++)
		make_type(&t->v[i], &events->v[i], &n);
	intern_free(n.names);
	return err;
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
