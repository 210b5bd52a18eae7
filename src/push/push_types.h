/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What profiles are called: one type for each event of a trace, and one for what is missing in it.
 * docs/PUSH.md has the names.
 *
 *	push_types_make(rep, &types)		0 or -ENOMEM
 *	push_types_of(&types, event)
 *	push_types_release(&types)
 *
 * Names of events are foreign bytes. In a type they have letters, digits, '_' and '.' alone, and no
 * two events have the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;

#define PUSH_NAME_MAX 72

struct push_type {
	char profile[PUSH_NAME_MAX];	/* of the whole: "process_cpu", "off_cpu", "page_faults" */
	char type[PUSH_NAME_MAX];	/* of a value: "cpu", "off_cpu" */
	char unit[PUSH_NAME_MAX];	/* of a value: "nanoseconds", "count", "bytes", "cycles" */
	char period_type[PUSH_NAME_MAX];	/* "": such profiles have no period */
	uint64_t period;		/* in unit, at least 1 */
	bool is_cpu_time;		/* in ns: as good as samples times what each weighs */
	bool is_counted;		/* a value is a number of samples */
	bool shows_states;		/* samples tell what their threads did */
};

struct push_types {
	struct push_type *v;		/* by index of report_events() */
	size_t nr;
	struct push_type losses;
};

int push_types_make(const struct report *rep, struct push_types *t);
void push_types_release(struct push_types *t);
/* event may be PUSH_LOSSES (push_rows.h). */
const struct push_type *push_types_of(const struct push_types *t, uint32_t event);

/* How it is said to people: "cpu", "off_cpu", "what is missing". */
const char *push_type_said(const struct push_type *t);
