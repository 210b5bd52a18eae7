/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `probee report` of many traces: their samples in one table (--csv, --ndjson), one trace after the
 * other. A trace that cannot be read costs a line and the exit code, but not the rest.
 */
#pragma once

#include <stdint.h>

struct output_list;
struct report_options;
struct trace_list;

/*
 * The outputs are placed and open (report_options_open()). Gives up rights before the first byte
 * of a trace is read. Returns an exit code: that of the worst trace. rows: so many were written.
 */
int report_many(const struct report_options *show, const struct output_list *outputs,
		struct trace_list *traces, uint64_t *rows);
