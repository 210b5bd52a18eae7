/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The triggers that are about the machine: pressure, runnable threads, the CPU time of a control
 * group (trigger.h).
 *
 * Pressure is told by the kernel itself (Documentation/accounting/psi.rst: a descriptor that
 * becomes readable). Where it refuses that, which takes CAP_SYS_RESOURCE or a time of whole 2
 * seconds, and for all others files are read ten times a second.
 *
 * A condition that goes on is one trigger: it counts again when it was not met in between, for two
 * times the time that it is about.
 *
 *	load_watch_open(&w, &triggers)	while all rights are there
 *	load_watch_fds(&w, fds)		to poll, at most TRIGGERS_MAX
 *	load_watch_look(&w, fds, fn, ctx)	after the poll, at least every .look_ns; calls fn
 *	load_watch_close(&w)
 *
 * Example: psi:io>20% over 2s. "some 400000 2000000" is written into /proc/pressure/io, and poll()
 * tells POLLPRI at most once in 2 s.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/flight/trigger.h"

#define LOAD_LOOK_NS 100000000ull

/* A condition that may be met: of one trigger. */
struct load_condition {
	const struct trigger *trigger;	/* NULL: it is not one of these */
	int fd;				/* pressure, by the kernel; -1: it is read */
	uint64_t base_ns, base;		/* what was read at the begin of a window */
	unsigned looks;			/* in a row that were above the limit */
	uint64_t met_ns;		/* when the condition was met last; 0: never */
	bool is_gone;			/* its file could not be read */
};

struct load_watch {
	struct load_condition v[TRIGGERS_MAX];	/* by number of the trigger */
	size_t nr;
	bool reads;			/* some are read */
	uint64_t next_ns;		/* when they are read again */
};

/* The trigger of this number came; text: what was measured. */
typedef void (*load_watch_fn)(void *ctx, size_t number, const char *text);

/* triggers are borrowed until the close. 0, or -errno, explained: there is no such file. */
int load_watch_open(struct load_watch *w, const struct trigger_list *triggers);
void load_watch_close(struct load_watch *w);
size_t load_watch_fds(const struct load_watch *w, struct pollfd *fds);
/* When load_watch_look() is due in any case; UINT64_MAX: never. */
uint64_t load_watch_due_ns(const struct load_watch *w);
void load_watch_look(struct load_watch *w, const struct pollfd *fds, load_watch_fn fn, void *ctx);

/* ---- what it reads, for tests ---- */

/* The total of the line "some ..." or "full ...", microseconds. false: there is none. */
bool load_pressure_total(const char *text, bool is_full, uint64_t *us);
/* "0.20 0.18 0.12 3/81 11206": 3. */
bool load_running(const char *text, uint64_t *nr);
/* usage_usec of cpu.stat. */
bool load_usage(const char *text, uint64_t *us);
