/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a reading of maps and dumps has found, told to whoever has asked (symbol_fn). Internal to
 * jit_names. All return 0 or the first error of fn.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/symbolize/symbolizer.h"

struct jit_process;
struct jit_reading;
struct perf_map_query;

/* A question that has a name. */
int jit_answer_name(const struct jit_reading *r, const struct perf_map_query *q, symbol_fn fn,
		    void *ctx);
/* All questions that have none. */
int jit_answer_rest(const struct jit_reading *r, symbol_fn fn, void *ctx);
/* The first nr questions of a process, which were not read. */
int jit_answer_none(const struct jit_process *e, size_t nr, uint8_t status, symbol_fn fn,
		    void *ctx);
