/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of --flight. They are a part of those of `probee sample` and `probee record`. */
#pragma once

#include "src/base/opt.h"

struct record_args;
struct record_mode;

#define NR_FLIGHT_OPTS 7

extern const struct opt flight_opts[NR_FLIGHT_OPTS];	/* they fill a struct record_args */

/*
 * Completes and checks what they filled, and adds the probes of triggers to the events; after what
 * decides whether samples are taken. 0, or -EINVAL or -ENOMEM: the mistake was reported.
 */
int flight_args_check(struct record_args *a);
