/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of a recording, as the command line gives them: -e SPEC, each with the --if that
 * follow it. Specs are those of src/probes/probe_spec.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/knobs.h"
#include "src/probes/probe_spec.h"

struct opt;

/* "arg1>4096": the name of a word, how it is compared, and with what. */
struct probe_if {
	const char *text;		/* as written */
	char word[64];
	enum probe_op op;
	uint64_t value;
	bool is_signed;			/* the value has a minus sign */
};

struct probe_request {
	struct probe_spec spec;
	struct probe_if ifs[PROBE_CONDITIONS];
	size_t nr_ifs;
	struct probe_value values[PROBE_VALUES];	/* --args */
	size_t nr_values;
	bool is_timed;			/* --min-latency: it weighs nanoseconds */
	uint64_t min_latency_ns;
};

struct probe_list {
	struct probe_request *v[WIRE_MAX_EVENTS];	/* owned */
	size_t nr;
};

/* Adds the probe of one -e. 0 or -EINVAL or -ENOMEM, explained. */
int probe_list_add(const struct opt *o, const char *text, struct probe_list *l);
/* An option: --if EXPR && EXPR ... of the probe before it. dst: a struct probe_list. */
int probe_list_if(const struct opt *o, const char *value, void *dst);
/*
 * An option: --args arg1,arg2:str of the USDT probe or the function of a program before it, --args
 * ret of a return. dst: a struct probe_list.
 */
int probe_list_args(const struct opt *o, const char *value, void *dst);
/* An option: --min-latency TIME of the probe before it, which must be of a return. */
int probe_list_min_latency(const struct opt *o, const char *value, void *dst);
void probe_list_release(struct probe_list *l);

/* The BPF programs (CAPTURE_...) that its probes need. */
unsigned probe_list_programs(const struct probe_list *l);
