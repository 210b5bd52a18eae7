/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/flight_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/recording/record_options.h"

#define KEEP_LEAST_NS NSEC_PER_SEC
#define KEEP_MOST_NS (3600 * NSEC_PER_SEC)
#define AFTER_NS (5 * NSEC_PER_SEC)
#define MEMORY_BYTES 64000000u
#define MEMORY_LEAST 1000000u
/* What is kept is longer by one segment at most, which costs its definitions each time. */
#define SEGMENTS_KEPT 6
#define SEGMENT_LEAST_NS NSEC_PER_SEC
#define SEGMENT_MOST_NS (10 * NSEC_PER_SEC)
#define SEGMENTS_IN_MEMORY 4
#define WHEN_ASKED_HZ 1.0		/* a row of the only scan stands for a second */

#define AT(field) offsetof(struct record_args, field)

static int parse_trigger(const struct opt *o, const char *value, void *dst)
{
	(void)o;
	return trigger_list_add(dst, "--trigger", value);
}

/* A duration, or 0. */
static int parse_after(const struct opt *o, const char *value, void *dst)
{
	if (strcmp(value, "0") && strcmp(value, "0s"))
		return opt_duration(o, value, dst);
	*(uint64_t *)dst = 1;
	return 0;
}

const struct opt flight_opts[NR_FLIGHT_OPTS] = {
	{ 0, "flight", "TIME",
	  "flight recorder: keep the last TIME (60s) in memory; a trigger has it written to "
	  "NAME-DATE.pbz with a snapshot of every thread; SIGUSR1 is always one",
	  opt_duration, AT(flight.keep_ns), NULL, "Flight recorder", NULL },
	{ 0, "trigger", "CONDITION",
	  "psi:cpu>20% (memory, io; psi:io:full>5%), pressure over 1 s, or 'psi:cpu>20% over 5s'; "
	  "runq>8: threads that could run; d-state>5s: a thread in uninterruptible sleep; "
	  "'cgroup:PATH cpu>150%'; probe:EVENT: an event of -e that is a probe; several may be "
	  "given",
	  parse_trigger, AT(flight.triggers), NULL, NULL, NULL },
	{ 0, "flight-after", "TIME", "go on so long after a trigger, before writing (default 5s)",
	  parse_after, AT(flight.after_ns), NULL, NULL, NULL },
	{ 0, "trigger-every", "TIME",
	  "a trigger that comes earlier after the last one is only counted (default: as --flight)",
	  opt_duration, AT(flight.every_ns), NULL, NULL, NULL },
	{ 0, "trigger-count", "N", "end after N files; 1: the file is NAME.pbz (default: Ctrl-C)",
	  opt_u32, AT(flight.count), NULL, NULL, NULL },
	{ 0, "flight-memory", "SIZE",
	  "keep at most so much; what falls out early is counted (default 64M)", opt_size,
	  AT(flight.memory_bytes), NULL, NULL, NULL },
	{ 0, "flush-on-exit", NULL, "the end of the recording (Ctrl-C, SIGTERM) is a trigger, too",
	  opt_flag, AT(flight.flush_on_exit), NULL, NULL, NULL },
};

static int check_alone(const struct flight_settings *f)
{
	if (!f->triggers.nr && !f->after_ns && !f->every_ns && !f->count && !f->memory_bytes &&
	    !f->flush_on_exit)
		return 0;
	return fail_why(-EINVAL, "--trigger, --flight-after, --trigger-every, --trigger-count, "
			"--flight-memory and --flush-on-exit are about a flight recorder. "
			"Try: with --flight 60s");
}

static int check_flight(const struct record_args *a)
{
	const struct flight_settings *f = &a->flight;

	if (f->keep_ns < KEEP_LEAST_NS || f->keep_ns > KEEP_MOST_NS)
		return fail_why(-EINVAL, "--flight keeps from 1s to 1h. Try: --flight 60s");
	if (f->memory_bytes && f->memory_bytes < MEMORY_LEAST)
		return fail_why(-EINVAL, "--flight-memory is 1M at least. Try: 64M");
	if (a->outputs.nr)
		return fail_why(-EINVAL, "--flight writes traces, of which reports are made. Try: "
				"-o FILE.pbz, and probee report");
	if (a->output && !strcmp(a->output, "-"))
		return fail_why(-EINVAL, "--flight writes files. Try: -o FILE.pbz");
	return 0;
}

static void complete(struct record_args *a)
{
	struct flight_settings *f = &a->flight;
	uint64_t segment = f->keep_ns / SEGMENTS_KEPT;

	f->after_ns = f->after_ns ? f->after_ns : AFTER_NS;
	f->every_ns = f->every_ns ? f->every_ns : f->keep_ns;
	f->memory_bytes = f->memory_bytes ? f->memory_bytes : MEMORY_BYTES;
	segment = segment < SEGMENT_LEAST_NS ? SEGMENT_LEAST_NS : segment;
	segment = segment > SEGMENT_MOST_NS ? SEGMENT_MOST_NS : segment;
	if (!a->segment_ns)
		a->segment_ns = segment;
	if (!a->segment_bytes)
		a->segment_bytes = f->memory_bytes / SEGMENTS_IN_MEMORY;
	if (a->capture.scan)
		return;
	a->capture.scan = a->capture.scan_when_asked = true;
	a->capture.scan_hz = WHEN_ASKED_HZ;
}

/* The probe of a trigger is recorded, whether or not -e names it, too. */
static int add_probe(struct record_args *a, struct trigger *t)
{
	static const struct opt trigger = { .name = "trigger" };
	struct probe_list *l = &a->capture.events.probes;
	struct probe_spec spec;
	int err = probe_spec_parse("--trigger probe:", t->what, &spec);

	for (size_t i = 0; i < l->nr && !err; i++)
		if (!strcmp(l->v[i]->spec.name, spec.name)) {
			strcpy(t->what, spec.name);
			return 0;
		}
	if (!err)
		err = probe_list_add(&trigger, t->what, l);
	if (!err)
		strcpy(t->what, l->v[l->nr - 1]->spec.name);
	return err;
}

int flight_args_check(struct record_args *a)
{
	struct trigger_list *l = &a->flight.triggers;
	int err;

	if (!a->flight.keep_ns)
		return check_alone(&a->flight);
	err = check_flight(a);
	for (size_t i = 0; i < l->nr && !err; i++)
		if (l->v[i].kind == TRIGGER_PROBE)
			err = add_probe(a, &l->v[i]);
	if (!err)
		complete(a);
	return err;
}
