/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile of push_job.h as a file of pprof, for Pyroscope. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/push/push_job.h"

struct push_pprof {
	uint8_t *bytes;			/* gzip; the caller frees it */
	size_t len, raw_len;
	size_t taken;			/* rows of the group */
};

/*
 * Takes as many of the first rows as the limits of the options allow, but at least one. 0 or
 * -ENOMEM.
 */
int push_pprof_make(struct push_job *job, const struct push_group *g, struct push_pprof *made);
