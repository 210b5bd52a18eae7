/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/scan_sums_json.h"

#include "formats/render/json_writer.h"
#include "src/model/record.h"
#include "src/report/stack_cause.h"
#include "src/report/trace_summary.h"

void scan_sums_json(struct json_writer *w, const char *key, const struct report_scans *s)
{
	json_key(w, key);
	json_begin(w, '{');
	json_put_u64(w, "count", s->count);
	json_put_u64(w, "tasks_seen", s->tasks_seen);
	json_put_u64(w, "rows", s->rows);
	json_put_u64(w, "idle_kernel_threads", s->skipped_idle_kthreads);
	json_put_u64(w, "not_asked_for", s->filtered);
	json_put_u64(w, "on_cpu", s->on_cpu);
	json_put_u64(w, "torn", s->torn);
	json_put_u64(w, "vanished", s->vanished);
	json_put_u64(w, "page_faults", s->read_faults);
	json_put_u64(w, "kernel_stack_failed", s->kernel_failed);
	json_put_u64(w, "readers_hung", s->hung);
	json_put_u64(w, "duration_ns", s->duration_ns);
	json_put_u64(w, "longest_ns", s->longest_ns);
	json_key(w, "ends");
	json_begin(w, '{');
	for (unsigned end = 0; end < STACK_ENDS; end++)
		if (s->ends[end])
			json_put_u64(w, stack_end_name(end), s->ends[end]);
	json_end(w, '}');
	json_end(w, '}');
}
