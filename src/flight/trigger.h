/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has a flight recorder write what it keeps (flight_keeper.h), as the user writes it:
 *
 *	psi:cpu|memory|io[:some|full]>20% [over 1s]	pressure, as in /proc/pressure
 *	runq>8				more threads that could run than this, for half a second
 *	d-state>5s			a thread in uninterruptible sleep for so long
 *	cgroup:PATH cpu>150% [over 1s]	CPU time of a control group
 *	probe:EVENT			a probe came; EVENT as with -e
 *
 * Each kind is a row of a table in trigger.c, and looked for by one of two watches: load_watch.h
 * reads what the kernel says of the machine, row_watch.h sees the records of the recording.
 *
 *	trigger_list_add(&l, "--trigger", text)
 *	trigger_list_release(&l)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trigger_kind {
	TRIGGER_PSI, TRIGGER_RUNQ, TRIGGER_D_STATE, TRIGGER_CGROUP, TRIGGER_PROBE, TRIGGER_KINDS
};

enum {
	TRIGGERS_MAX = 32,
	TRIGGER_TEXT = 512,		/* bytes of a trigger at most, with its NUL */
};

struct trigger {
	enum trigger_kind kind;
	char text[TRIGGER_TEXT];	/* as written */
	/* PSI: "cpu"; CGROUP: its path; PROBE: the event, and later its name in the trace. */
	char what[TRIGGER_TEXT];
	bool is_full;			/* PSI: all threads wait, not only some */
	double limit;			/* PSI, CGROUP: percent; RUNQ: threads */
	uint64_t window_ns;		/* PSI, CGROUP: over so long; D_STATE: for so long */
};

struct trigger_list {
	struct trigger *v;		/* owned */
	size_t nr, cap;
};

/* option: for the message. 0, or -EINVAL or -ENOMEM, explained in one line. */
int trigger_list_add(struct trigger_list *l, const char *option, const char *text);
void trigger_list_release(struct trigger_list *l);
