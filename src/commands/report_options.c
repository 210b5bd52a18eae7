/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/report_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "formats/render/frame_marks.h"
#include "formats/render/output_list.h"
#include "src/base/fail.h"
#include "src/output/output_files.h"

#define AT(field) offsetof(struct report_options, field)

static int parse_percent(const struct opt *o, const char *value, void *dst)
{
	double v;
	char end;

	if (sscanf(value, "%lf%c", &v, &end) != 1 || !(v >= 0 && v <= 100))
		return fail_why(-EINVAL, "--%s: '%s' is not a number from 0 to 100", o->name,
				value);
	*(double *)dst = v;
	return 0;
}

static int parse_merge(const struct opt *o, const char *value, void *dst)
{
	struct frame_style *style = dst;

	style->lines = !strcmp(value, "line");
	style->offsets = !strcmp(value, "address");
	if (style->lines || style->offsets || !strcmp(value, "function"))
		return 0;
	return fail_why(-EINVAL, "--%s %s: no such thing to merge by. Try: function, line or "
			"address", o->name, value);
}

static const struct opt rows[] = {
	{ 'p', "pid", "PIDS", "only these processes: 1,2,10-12", opt_id_list, AT(query.pids), NULL,
	  "Filters", NULL },
	{ 't', "tid", "TIDS", "only these threads", opt_id_list, AT(query.tids), NULL, NULL, NULL },
	{ 0, "comm", "GLOB",
	  "only threads of this name, as in the shell: 'pool-*'; give it again for more",
	  query_parse_glob, AT(query.comms), NULL, NULL, NULL },
	{ 0, "process", "GLOB", "only processes of this name", query_parse_glob,
	  AT(query.processes), NULL, NULL, NULL },
	{ 0, "cgroup", "GLOB", "only processes in this cgroup: '*/ssh.service'", query_parse_glob,
	  AT(query.cgroups), NULL, NULL, NULL },
	{ 0, "cpu", "CPUS", "only what ran on these CPUs: 0,4-7", opt_id_list, AT(query.cpus), NULL,
	  NULL, NULL },
	{ 0, "include", "REGEX",
	  "only stacks with a function, a thread or a process whose name matches (as in Perl); "
	  "give it again for more",
	  stack_filter_include, AT(query.names), NULL, NULL, NULL },
	{ 0, "exclude", "REGEX", "no stacks with such a name", stack_filter_exclude,
	  AT(query.names), NULL, NULL, NULL },
	{ 0, "state", "STATES",
	  "only threads in these states: ps's letters or names (R,S,D,SLEEP,...)",
	  query_parse_states, AT(query.states), NULL, NULL, NULL },
	{ 0, "event", "EVENT",
	  "samples of this event (default: CPU time, where it was recorded; probee info lists "
	  "events); several of one unit are shown as one: cpu-clock,off-cpu,cpu-wait is all of a "
	  "thread's time",
	  opt_string, AT(query.event), NULL, NULL, NULL },
	{ 0, "weight", "cpu|wall",
	  "the event that measures CPU time (samples of running threads) or wall time (rows of "
	  "snapshots)",
	  query_parse_weight, AT(query.weight), NULL, NULL, NULL },
	{ 0, "from", "TIME",
	  "only from TIME on: 10s, 200ms (after the first sample), -10s (before the last one), "
	  "HH:MM:SS or "
	  "'YYYY-MM-DD HH:MM:SS'",
	  query_parse_time, AT(query.from), NULL, NULL, NULL },
	{ 0, "to", "TIME", "only before TIME", query_parse_time, AT(query.to), NULL, NULL, NULL },
	{ 0, "by", "LEVELS",
	  "what stands below the root, one or several of process, thread, comm (the thread's "
	  "name), program, cpu, state, cgroup, container, unit, user, host, binary, none: --by "
	  "process,state (default: programs and threads in text and pictures, states first "
	  "where they show wall time; "
	  "names of threads in formats for other tools)",
	  fold_by_parse, AT(render.view.by), NULL, "View", NULL },
	{ 0, "inverted", NULL,
	  "upside down: the innermost functions first, below them their callers", opt_flag,
	  AT(render.view.turn.inverted), NULL, NULL, NULL },
	{ 0, "callers", "FUNCTION",
	  "only what calls this function (its name, or a regular expression)", opt_string,
	  AT(render.view.turn.callers), NULL, NULL, NULL },
	{ 0, "callees", "FUNCTION", "only this function and what it calls", opt_string,
	  AT(render.view.turn.callees), NULL, NULL, NULL },
	{ 0, "collapse-recursion", NULL,
	  "functions that call each other in turn once, however often they do", opt_flag,
	  AT(render.style.fold_recursion), NULL, NULL, NULL },
	{ 0, "merge", "function|line|address",
	  "what makes two frames one: the same function (default), source line or address",
	  parse_merge, AT(render.style), NULL, NULL, NULL },
	{ 0, "all-threads", NULL,
	  "wall time: threads, too, that did nothing while the whole machine was recorded",
	  opt_flag, AT(render.all_threads), NULL, NULL, NULL },
	{ 0, "title", "TEXT", "title of the picture", opt_string, AT(render.title), NULL, "Looks",
	  NULL },
	{ 0, "offsets", NULL,
	  "functions with the address in them (main+0x12), each a frame of its own", opt_flag,
	  AT(render.style.offsets), NULL, NULL, NULL },
	{ 0, "lines", NULL,
	  "functions with the source line in them (main:12), each a frame of its own", opt_flag,
	  AT(render.style.lines), NULL, NULL, NULL },
	{ 0, "inline-depth", "N",
	  "at most N functions for one address, of which N - 1 are inlined (default: all)",
	  opt_u32, AT(render.style.inline_depth), NULL, NULL, NULL },
	{ 0, "no-inline", NULL, "no frames for inlined functions", opt_one,
	  AT(render.style.inline_depth), NULL, NULL, NULL },
	{ 0, "native-loops", NULL,
	  "frames for the loops of interpreters, too, inside the functions that they run", opt_flag,
	  AT(query.native_loops), NULL, NULL, NULL },
	{ 0, "native-only", NULL, "no frames of interpreted programs: only those of native code",
	  opt_flag, AT(query.native_only), NULL, NULL, NULL },
	{ 0, "script-only", NULL,
	  "frames of interpreted programs alone (Python, JavaScript, Java, ...): what native code "
	  "and the kernel do for them is theirs",
	  opt_flag, AT(query.script_only), NULL, NULL, NULL },
	{ 0, "hide", "REGEX",
	  "no frames for functions whose names match (as in Perl): what they do is their callers', "
	  "as in --hide '^std::'; give it again for more",
	  stack_filter_hide, AT(query.hidden), NULL, NULL, NULL },
	{ 0, "idle", NULL,
	  "show the stacks of threads that have nothing to do, which text, pictures and pages "
	  "fold into [idle: ...]: for events, connections, time, signals, work",
	  opt_flag, AT(render.idle), NULL, NULL, NULL },
	{ 0, "full-names", NULL,
	  "whole names of functions in text, pictures and pages, too, with all arguments of "
	  "templates",
	  opt_flag, AT(render.full_names), NULL, NULL, NULL },
	{ 0, "kernel-suffix", "TEXT",
	  "what marks kernel functions in text and folded stacks (default _[k])", opt_string,
	  AT(render.kernel_suffix), NULL, NULL, NULL },
	{ 0, "marks", "MARKS",
	  "folded stacks: which names are marked, some of kernel _[k], inline _[i] and jit _[j], "
	  "or all or none (default kernel,inline)",
	  frame_marks_parse, AT(render.marks), NULL, NULL, NULL },
	{ 0, "top", "N", "list N functions at first (default: 15 in text, 200 in a page)", opt_u32,
	  AT(render.top), NULL, NULL, NULL },
	{ 0, "min-percent", "P",
	  "leave out frames that have less than P percent (default: 0.5 in text; in pictures what "
	  "is too narrow to see)",
	  parse_percent, AT(render.min_percent), NULL, NULL, NULL },
	{ 0, "deep", NULL,
	  "JSON: whole stacks; otherwise those deeper than 80 frames lose their middle, because "
	  "many readers of JSON nest no deeper",
	  opt_flag, AT(render.deep), NULL, NULL, NULL },
	{ 0, "strict", NULL, "exit with 3 when the trace says that anything was lost", opt_flag,
	  AT(strict), NULL, "Other", NULL },
	{ 0, "no-limits", NULL,
	  "read a trace and write a report of any size, whatever time and memory that takes",
	  opt_flag, AT(query.no_limits), NULL, NULL, NULL },
	{ 0, "force", NULL, "replace files that are no earlier reports, too", opt_flag, AT(force),
	  NULL, NULL, NULL },
	{ 0, "no-pager", NULL, "never show text in a pager", opt_flag, AT(no_pager), NULL, NULL,
	  NULL },
};

const struct opt_list report_option_list = { rows, sizeof(rows) / sizeof(rows[0]), NULL };

int report_options_check(const struct report_options *o)
{
	if (o->query.event && o->query.weight != WEIGHT_ANY)
		return fail_why(-EINVAL, "--event and --weight choose the same thing: one is "
					 "enough");
	if (o->query.native_only && o->query.script_only)
		return fail_why(-EINVAL, "--native-only and --script-only leave nothing to see. "
					 "Try: one after the other");
	if (o->render.view.turn.callers && o->render.view.turn.callees)
		return fail_why(-EINVAL, "--callers and --callees show different parts. Try: one "
					 "after the other");
	return 0;
}

void report_options_tell(const struct report_options *o)
{
	uint64_t nr = stack_filter_given_up(&o->query.names) +
		      stack_filter_given_up(&o->query.hidden);

	if (nr)
		fail_why(0, "--include, --exclude and --hide were given up on %" PRIu64 " names, "
			    "which take too long to match. Try: a simpler pattern", nr);
}

int report_options_open(const struct report_options *o, struct output_list *outputs,
			const char *path, const char *other, struct output_files **files)
{
	int err;

	*files = output_files_new(o->force);
	if (!*files)
		return fail(-ENOMEM, "report");
	err = output_list_place(outputs, *files, path, false);
	if (!err && other)
		err = output_files_add_input(*files, other);
	if (!err)
		err = output_files_guard(*files);
	if (err)
		return err;
	err = output_list_open(outputs);
	return output_list_has_any(outputs) ? 0 : err;
}

void report_options_release(struct report_options *o)
{
	query_release(&o->query);
}
