/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/memory.h"
#include "src/base/plural.h"
#include "src/base/shared_rates.h"
#include "src/capture/session/session.h"
#include "src/output/output_files.h"
#include "src/proc/pid_namespace.h"
#include "src/profile/answer.h"
#include "src/report/report.h"
#include "src/rights/recording_rights.h"
#include "src/recording/capture_loop.h"
#include "src/recording/ending_text.h"
#include "src/recording/flight_side.h"
#include "src/recording/live_outputs.h"
#include "src/base/stop_signals.h"
#include "src/report/answer_lines.h"
#include "src/recording/target_command.h"
#include "src/recording/trace_file.h"

/* At lower rates the time that a tick takes is not worth to be measured. */
#define UNLIMITED_HZ 1500
/* Reading a larger trace again, only to say where the time went, would take seconds. */
#define ANSWER_BYTES (64u << 20)

struct recording {
	const struct record_mode *mode;
	const struct record_args *args;
	struct trace_file trace;
	struct output_list outputs;	/* those of args, with their places */
	struct output_files *files;
	bool runs;			/* the recording has begun */
	struct stop_signals stop;
	struct recorder *recorder;
	struct capture_options capture;	/* of args, and what is known since */
	struct capture_loop loop;
	struct live_outputs live;
	struct flight_side flight;
	struct target_command command;
	uint32_t slower;		/* so many times as slow as asked for */
	char rate[80];			/* META rate.budget; "": as asked for */
	char user_rates[1024];		/* META rate.users; "": none is slowed */
	bool is_ending;			/* it has ended, and not by a signal */
	uint32_t command_tgid;
	struct id_list command_only;	/* a list of command_tgid alone: the recorder's targets */
	/* Known at the end. */
	struct session_stats stats;
	struct collector_counts counts;
	uint64_t lost;
	char others[512];		/* what else was lost, in words */
};

/*
 * Whether what takes long is to be cut short: Ctrl-C came while the recording had other reasons to
 * end, or it ended the recording more than 1 s ago.
 */
static bool hurry(void *ctx)
{
	struct recording *r = ctx;

	stop_signals_read(&r->stop);
	return (r->is_ending && r->stop.stopped) || stop_signals_urgent(&r->stop);
}

/* In a thread of its own: the recording hangs somewhere, and is ended by force. */
static const char *do_last(void *ctx)
{
	struct recording *r = ctx;

	if (r->command.pid > 0 && !r->command.ended)
		kill(r->command.pid, SIGTERM);
	return trace_file_last(&r->trace);
}

static void add_losses(void *ctx, uint64_t totals[LOSS_CAUSES])
{
	capture_loop_losses(&((struct recording *)ctx)->loop, totals);
}

static int put_record(void *ctx, const struct record *rec)
{
	return trace_file_record(&((struct recording *)ctx)->trace, rec);
}

static int flush(void *ctx)
{
	return trace_file_flush(&((struct recording *)ctx)->trace);
}

/* A segment has one rate for each user: others that were asked for meanwhile count from here on. */
static void take_rate(struct recording *r)
{
	const struct capture_options *c = &r->capture;
	uint32_t times = c->rates ? atomic_load(&c->rates->times) : 1;

	recorder_slow_users(r->recorder, r->user_rates, sizeof(r->user_rates));
	if (!times)
		times = 1;
	if (times == r->slower)
		return;
	r->slower = times;
	capture_loop_slow(&r->loop, times);
	r->rate[0] = 0;
	if (times > 1)
		snprintf(r->rate, sizeof(r->rate), "times=%" PRIu32 " asked=%.6g snapshots=%.6g",
			 times, c->freq_hz, c->scan ? c->scan_hz : 0);
}

static int begin_segment(void *ctx)
{
	take_rate(ctx);
	return trace_file_begin_segment(&((struct recording *)ctx)->trace);
}

static uint64_t segment_bytes(void *ctx)
{
	return trace_file_segment_bytes(&((struct recording *)ctx)->trace);
}

/* Without -a the command is the only target; its children become targets when they are forked. */
static const struct id_list *target_pids(struct recording *r)
{
	if (!r->command.pid || r->args->all)
		return &r->args->pids;
	r->command_tgid = (uint32_t)r->command.pid;
	r->command_only = (struct id_list){ .v = &r->command_tgid, .nr = 1 };
	return &r->command_only;
}

/* Remembering which threads have not run costs time, and pays off from the second scan on. */
static bool skips_same(const struct capture_options *c)
{
	return c->scan && !c->scan_unchanged && c->scans != 1;
}

/* Without -e there is one event: the default. */
static unsigned nr_events(const struct capture_options *c)
{
	return !c->sample ? 0 : c->events.nr ? (unsigned)c->events.nr : 1;
}

/* The highest frequency of an event. */
static double most_hz(const struct capture_options *c)
{
	double most = c->sample && !c->events.nr ? c->freq_hz : 0;

	for (size_t i = 0; c->sample && i < c->events.nr; i++)
		if (c->events.v[i].freq_hz > most)
			most = c->events.v[i].freq_hz;
	return most;
}

/* Samples a second of a CPU, of all events. 0: not known, because an event has a period. */
static double all_hz(const struct capture_options *c)
{
	double sum = c->sample && !c->events.nr ? c->freq_hz : 0;

	for (size_t i = 0; c->sample && i < c->events.nr; i++) {
		if (c->events.v[i].period)
			return 0;
		sum += c->events.v[i].freq_hz;
	}
	return sum;
}

static int open_recorder(struct recording *r)
{
	const struct record_args *a = r->args;
	struct recorder_options opts = {
		.programs = capture_loop_programs(&r->capture),
		.events = nr_events(&r->capture),
		.unwind = a->unwind,
		.user_only = a->user_only,
		.kernel_only = a->kernel_only,
		.include_idle = a->include_idle,
		.self_profile = a->self_profile,
		.faults = r->capture.faults,
		.skip_same = skips_same(&r->capture),
		.syscall_args = r->capture.syscall_args,
		.pids = target_pids(r),
		.tids = &a->tids,
		.rules = r->command.pid ? NULL : &a->rules,
		.audit = a->audit,
		.asks_jvms = a->java_perf_map,
		.max_frames = a->max_frames,
		.inline_depth = a->render.style.inline_depth,
		.debug_urls = a->debug_urls,
		.no_names = a->no_symbolize,
		.cmdlines = a->cmdlines,
		.limit_rate = most_hz(&r->capture) > UNLIMITED_HZ,
		.samples_hz = all_hz(&r->capture),
		.losses = add_losses,
		.sink = put_record,
		.flush = flush,
		.begin_segment = begin_segment,
		.segment_bytes = segment_bytes,
		.max_segment_bytes = a->segment_bytes,
		.segment_ns = a->segment_ns,
		.segment_offset_ns = a->segment_offset_ns,
		.rates = r->capture.rates,
		.hurry = hurry,
		.sink_ctx = r,
	};

	return recorder_open(&opts, &r->recorder);
}

/* Names all files that will be written. Nothing is opened yet. */
static int place_files(struct recording *r)
{
	const struct output_list *l = &r->args->outputs;
	int err = 0;

	r->files = output_files_new(r->args->force);
	if (!r->files)
		return fail(-ENOMEM, "%s", r->trace.path);
	for (size_t i = 0; i < l->nr && !err; i++)
		err = output_list_add(&r->outputs, l->v[i].renderer, l->v[i].file);
	if (!err)
		err = trace_file_place(&r->trace, r->files);
	if (!err)
		err = output_list_place(&r->outputs, r->files, r->trace.path, true);
	if (!err)
		err = output_files_guard(r->files);
	output_files_may_signal(r->files);
	return err;
}

/*
 * Opens all files beside their names. This comes first, because it is quick and loading programs is
 * not, and while Ctrl-C still ends the program by itself.
 */
static int open_files(struct recording *r)
{
	int err = place_files(r);

	if (!err)
		err = trace_file_create(&r->trace, r->outputs.nr);
	return err ? err : output_list_open(&r->outputs);
}

/* Whoever reads the trace as it grows has it from here. */
static int tell_opened(struct recording *r)
{
	int fd;

	if (!r->args->opened)
		return 0;
	fd = trace_output_reader(&r->trace.output);
	if (fd < 0)
		return fail_why(fd, "%s cannot be read while it is written. Try: -o FILE",
				r->trace.path);
	return r->args->opened(r->args->opened_ctx, fd);
}

/* Threads run this that start while the main one still has all its rights. */
static void give_up_rights(void)
{
	recording_rights_keep(ROLE_MAIN);
}

/* Loads the programs, builds the tables and opens the events. */
static int prepare(struct recording *r, char **argv)
{
	struct capture_options *capture = &r->capture;
	struct stop_limit limit = { .after_ns = STOP_AFTER_NS,
				    .last = do_last,
				    .ctx = r,
				    .begin = give_up_rights };
	int err = argv[r->args->command] ? target_command_find(argv[r->args->command]) : 0;

	if (!err)
		err = open_files(r);
	if (!err)
		err = tell_opened(r);
	if (!err)
		err = stop_signals_open(&r->stop, &limit);
	if (!err && argv[r->args->command])
		err = target_command_fork(argv + r->args->command, &r->command);
	if (err)
		return err;
	*capture = r->args->capture;
	capture->pids = target_pids(r);
	capture->only_pids = &r->args->pids;
	capture->command = argv[r->args->command];
	capture->is_followed = r->args->opened || r->trace.place < 0;
	r->loop.stop = &r->stop;
	r->loop.command = r->command.pid ? &r->command : NULL;
	r->loop.duration_ns = r->args->duration_ns;
	/* Where others may come, the recording goes on after the last one has ended. */
	r->loop.has_targets = record_args_have_target(r->args) &&
			      !target_rules_are_open(&r->args->rules);
	err = open_recorder(r);
	return err ? err : capture_loop_open(&r->loop, r->recorder, capture);
}

static int begin(struct recording *r, int argc, char **argv)
{
	struct session_info info = {
		.mode = r->mode->name,
		.argc = argc,
		.argv = argv,
		.unwind = unwind_mode_name(r->args->unwind),
		.symbolize = r->args->no_symbolize ? "none" : "stream",
		.rate = r->rate,
		.user_rates = r->user_rates,
	};
	int err = live_outputs_open(&r->live, r->args, &r->outputs, &r->trace, &r->loop);

	flight_side_open(&r->flight, r->args, &r->trace, &r->loop);
	return err ? err : recorder_begin(r->recorder, &info);
}

/* Called once the recording runs for certain. Who has said how long knows what goes on. */
static void say_target(const struct recording *r)
{
	const struct record_args *a = r->args;

	if (!a->all && !record_args_have_target(a) && !r->command.pid && !a->duration_ns)
		note("recording the whole machine until Ctrl-C. -p PID for one process, -- CMD to "
		     "run one");
}

/*
 * A reader that closes its pipe has had enough. That is no failure and not worth a message, so only
 * a NOTE in the trace says why the recording ended.
 */
static int tell_over(struct recording *r)
{
	static const char text[] = "the recording ended because the reader of its rows has gone";

	return live_outputs_over(&r->live) ? session_note(recorder_session(r->recorder), 0, text)
					   : 0;
}

/* After a signal the command gets less time to end. */
static void stop_command(struct recording *r)
{
	target_command_stop(&r->command, r->stop.stopped ? NSEC_PER_SEC : 2 * NSEC_PER_SEC);
}

static int run(struct recording *r)
{
	struct capture_hooks hooks =
		flight_side_hooks(&r->flight, live_outputs_hooks(&r->live));
	struct rec_end end = { .target_status = -1 };
	unsigned role = r->command.pid ? ROLE_MAIN | ROLE_COMMAND : ROLE_MAIN;
	int err = capture_loop_start(&r->loop);

	/* All is open. Only a filter of system calls around probee can forbid to give up rights. */
	if (!err && recording_rights_keep(role))
		note_kept("rights that are not needed any more could not be given up");
	if (!err && r->command.pid)
		err = target_command_go(&r->command);
	if (err)
		return err;
	r->runs = true;
	say_target(r);
	r->live.line.begin_ns = r->loop.begin_ns;
	/* The trace takes its place. Whoever follows it shall not find an earlier one there. */
	err = trace_file_flush(&r->trace);
	if (!err)
		err = live_outputs_begin(&r->live);
	if (!err)
		err = capture_loop_run(&r->loop, &hooks);
	r->is_ending = r->loop.reason != ENDED_SIGNAL;
	stop_command(r);
	if (!err)
		err = tell_over(r);
	if (r->command.pid)
		end.target_status = r->command.status;
	if (!err)
		err = capture_loop_end(&r->loop, &end);
	if (!err)
		err = recorder_end(r->recorder, &end);
	/* What is taken apart from here on may hang, and then the trace is whole. */
	return err ? err : trace_file_flush(&r->trace);
}

/* Keeps the figures of the summary, before take_apart() frees what knows them. */
static void sum_up(struct recording *r)
{
	char text[768];

	if (!r->recorder || !recorder_session(r->recorder))
		return;
	r->stats = session_stats(recorder_session(r->recorder));
	r->lost = recorder_lost(r->recorder);
	recorder_lost_others(r->recorder, r->others, sizeof(r->others));
	capture_loop_counts(&r->loop, &r->counts);
	recorder_describe(r->recorder, text, sizeof(text));
	note_verbose("%s", text);
}

/* Closes all but what the reports need. Returns the error of the last writes, if there was one. */
static int take_apart(struct recording *r)
{
	int err = 0;

	stop_command(r);
	capture_loop_close(&r->loop);
	recorder_close(r->recorder);
	r->recorder = NULL;
	if (r->runs)
		err = trace_file_finish(&r->trace);
	else
		trace_file_abandon(&r->trace);
	return err;
}

/* That it has ended as it should is no news, nor that it was ended with the recording. */
static void say_command(const struct recording *r, bool ok)
{
	const struct target_command *c = &r->command;
	char text[512];

	if (!c->ended || (!ok && !r->stats.samples))
		return;
	target_command_describe(c, text, sizeof(text));
	if (!c->status || c->is_stopped || r->stop.stopped)
		note_verbose("%s", text);
	else
		note("%s", text);
}

/* Whether standard output is a file in memory without a name, which goes with those who have it. */
static bool goes_with_us(void)
{
	struct stat st;

	return fcntl(STDOUT_FILENO, F_GET_SEALS) >= 0 && !fstat(STDOUT_FILENO, &st) && !st.st_nlink;
}

/* The place of a trace without a path. */
static const char *place_text(const struct trace_file *t)
{
	if (t->memory >= 0)
		return "memory, of which the triggers' files are what is kept";
	return goes_with_us() ? "memory, which is not kept. To keep it: -o FILE"
			      : "standard output";
}

/* A recording without a sample says why: it is no mistake, but nothing can be seen in it. */
static bool say_nothing_seen(const struct recording *r)
{
	if (r->stats.samples || r->counts.rows || r->lost)
		return false;
	note("nothing was recorded: %s",
	     r->mode->sample && !r->counts.scans
		     ? "what was asked for did not happen, or its threads did not run. "
		       "Try: probee snapshot, which shows threads that wait as well"
		     : "no such thread was there, or this kernel does not list it (probee doctor)");
	return true;
}

/* What was lost, and one line of what was not. */
static void say_summary(const struct recording *r)
{
	bool has_path = r->trace.memory < 0 && strcmp(r->trace.path, "-");
	struct ending e = {
		.samples = r->counts.samples,
		.scans = r->counts.scans,
		.threads = r->stats.threads,
		.user_stacks = r->stats.user_stacks,
		.whole = r->stats.whole,
		.ns = r->loop.end_ns - r->loop.begin_ns,
		.bytes = r->trace.file_bytes,
		.has_samples = r->mode->sample,
		.has_reports = r->outputs.nr > 0,
		.path = has_path ? r->trace.path : NULL,
		.place = has_path ? NULL : place_text(&r->trace),
	};
	char text[ENDING_TEXT_MAX], lost[LOST_TEXT_MAX];

	if (ending_lost_text(r->lost, r->others, lost))
		note("losses: %s", lost);
	if (say_nothing_seen(r))
		return;
	ending_text(&e, text);
	note("%s", text);
	note_verbose("%" PRIu64 " %s, %" PRIu64 " %s", r->stats.processes,
		     plural(r->stats.processes, "process", "processes"), r->counts.rows,
		     plural(r->counts.rows, "thread state", "thread states"));
}

/* Says what is wrong, unless that takes long to find out; and under -v where the time went. */
static void say_answer(struct recording *r, struct report *rep)
{
	struct answer_lines lines = { .nr = 0 };
	struct answer *a = NULL;
	int err;

	if (r->args->quiet || r->trace.file_bytes > ANSWER_BYTES)
		return;
	err = answer_new(&a);
	if (!err)
		err = answer_add_samples(a, rep);
	if (!err)
		err = answer_add_scans(a, rep);
	if (!err)
		err = answer_lines(a, rep, &lines);
	for (size_t i = 0; i < lines.nr && !err; i++) {
		const char *what = lines.what[i];

		if (answer_is_finding(what))
			note("%s: %s", what, lines.text[i]);
		else
			note_verbose("%s%s%s", what, *what ? ": " : "  ", lines.text[i]);
	}
	answer_free(a);
}

/*
 * Says what the recording has found, and renders the reports that need all of it, from the file
 * just written.
 */
static int render(struct recording *r)
{
	struct render_opts opts = live_outputs_render_opts(r->args);
	struct report *rep = NULL;
	int fd = trace_file_take_reader(&r->trace), err;

	if (fd < 0) {
		say_summary(r);
		return 0;
	}
	err = report_open_fd(fd, r->trace.path, NULL, &rep);
	if (!err)
		say_answer(r, rep);
	if (!err && r->live.later.nr)
		err = output_list_run(&r->live.later, rep, &opts);
	say_summary(r);
	report_close(rep);
	return err;
}

static int record(struct recording *r, int argc, char **argv)
{
	int err = prepare(r, argv), end_err;

	if (!err)
		err = begin(r, argc, argv);
	if (!err)
		err = run(r);
	sum_up(r);
	end_err = take_apart(r);
	if (!err)
		err = end_err;
	end_err = r->runs ? live_outputs_finish(&r->live, hurry, r) : 0;
	say_command(r, !err);
	if (err)
		return err;
	err = render(r);
	return end_err ? end_err : err;
}

int recording_run(const struct record_mode *mode, const struct record_args *args, int argc,
		  char **argv, struct recording_result *result)
{
	struct recording r = { .mode = mode, .args = args, .slower = 1 };
	int err;

	memory_be_frugal();	/* the helpers that are forked later have it from here */
	fail_set_verbosity(args->quiet ? -1 : args->verbose);
	trace_file_init(&r.trace, args->output ? args->output : "trace.pbz");
	if (args->flight.keep_ns)
		r.trace.memory = args->flight_trace;
	err = pid_namespace_check();
	if (!err)
		err = record(&r, argc, argv);
	live_outputs_release(&r.live);
	flight_side_release(&r.flight);
	stop_signals_close(&r.stop);
	trace_file_release(&r.trace);
	output_files_free(r.files);
	output_list_release(&r.outputs);
	result->lost = r.lost + r.counts.missing + (r.others[0] != 0);
	return err;
}
