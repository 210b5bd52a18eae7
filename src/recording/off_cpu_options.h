/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of --off-cpu. They are a part of those of `probee sample` and `probee record`. */
#pragma once

#include "src/base/opt.h"

struct record_args;
struct record_mode;

#define NR_OFF_CPU_OPTS 7

extern const struct opt off_cpu_opts[NR_OFF_CPU_OPTS];	/* they fill a struct record_args */

/* Completes and checks what they filled. 0, or -EINVAL: the mistake was reported. */
int off_cpu_args_check(const struct record_mode *mode, struct record_args *a);
