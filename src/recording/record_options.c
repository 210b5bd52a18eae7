/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/csv/csv_columns.h"
#include "src/recording/record_options.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/program_path.h"
#include "src/output/output_place.h"
#include "src/recording/flight_options.h"

const struct record_mode record_modes[] = {
	[RECORD_SAMPLE] = { "sample", .sample = true, .has_command = true, .freq_hz = 99 },
	[RECORD_SNAPSHOT] = { "snapshot", .scan = true, .freq_hz = 1 },
	[RECORD_BOTH] = { "record", .sample = true, .scan = true, .has_command = true,
			  .freq_hz = 99, .scan_hz = 1 },
};

static const char *const unwind_names[] = {
	[UNWIND_AUTO] = "auto", [UNWIND_FP] = "fp", [UNWIND_DWARF] = "dwarf", NULL
};
static const char *const fault_names[] = {
	[FAULTS_NEVER] = "never", [FAULTS_ANON] = "anon", [FAULTS_ALL] = "all", NULL
};

const char *unwind_mode_name(enum unwind_mode mode)
{
	return unwind_names[mode];
}

/* The index of a word in a list that ends with NULL; -1: it is not there. */
static int word_number(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

static int parse_unwind(const struct opt *o, const char *value, void *dst)
{
	int i = word_number(unwind_names, value);

	if (i < 0)
		return fail_why(-EINVAL, "--%s %s: no such way to unwind. Try: auto, fp or dwarf",
				o->name, value);
	*(enum unwind_mode *)dst = (enum unwind_mode)i;
	return 0;
}

static int parse_faults(const struct opt *o, const char *value, void *dst)
{
	int i = word_number(fault_names, value);

	if (i < 0)
		return fail_why(-EINVAL, "--%s %s: no such choice. Try: never, anon or all",
				o->name, value);
	*(uint32_t *)dst = (uint32_t)i;
	return 0;
}

/* Both "1/100" and "100" are accepted. */
static int parse_audit(const struct opt *o, const char *value, void *dst)
{
	if (!strncmp(value, "1/", 2))
		value += 2;
	if (opt_u32(o, value, dst))
		return -EINVAL;
	return *(uint32_t *)dst ? 0 : fail_why(-EINVAL, "--%s 1/0: of none? Try: 1/100", o->name);
}

/* A number of things, which must be at least 1. */
static int parse_count(const struct opt *o, const char *value, void *dst)
{
	if (opt_u32(o, value, dst))
		return -EINVAL;
	return *(uint32_t *)dst
		       ? 0
		       : fail_why(-EINVAL, "--%s %s: at least 1. Try: --%s 1, or leave it out",
				  o->name, value, o->name);
}

/* "15s", or "15s+4.2s" with an offset. */
static int parse_segment_time(const struct opt *o, const char *value, void *dst)
{
	struct record_args *a = (struct record_args *)((char *)dst - o->offset);
	const char *plus = strchr(value, '+');
	char first[32];

	if (plus) {
		snprintf(first, sizeof(first), "%.*s", (int)(plus - value), value);
		if (opt_duration(o, plus + 1, &a->segment_offset_ns))
			return -EINVAL;
	}
	if (opt_duration(o, plus ? first : value, &a->segment_ns))
		return -EINVAL;
	return a->segment_ns >= NSEC_PER_SEC
		       ? 0
		       : fail_why(-EINVAL, "--%s %s: at least 1s. Try: --%s 15s", o->name, value,
				  o->name);
}

#define AT(field) offsetof(struct record_args, field)
#define ROWS(rows) { rows, sizeof(rows) / sizeof((rows)[0]), NULL }

static const struct opt target_opts[] = {
	{ 'a', "all", NULL, "the whole machine", opt_flag, AT(all), NULL, "Target", NULL },
	{ 'p', "pid", "PIDS",
	  "these processes (1234,1240, postgres, 'java*'): all their threads, and children that "
	  "they start from now on; of a name, also those that begin later",
	  target_rules_parse_names, AT(rules), NULL, NULL, NULL },
	{ 0, "tree", NULL, "with -p and its kin, also the descendants that there are already",
	  opt_flag, AT(rules.tree), NULL, NULL, NULL },
	{ 0, "comm", "GLOB", "processes of this name, those that begin later, too",
	  target_rules_parse_comms, AT(rules), NULL, NULL, NULL },
	{ 0, "uid", "USERS", "processes of these users: alice,1000", target_rules_parse_users,
	  AT(rules), NULL, NULL, NULL },
	{ 0, "cgroup", "GLOB",
	  "processes in this cgroup, and those below it: /system.slice, ssh.service, 'docker-*'",
	  target_rules_parse_cgroups, AT(rules), NULL, NULL, NULL },
	{ 0, "unit", "UNITS", "processes of these systemd units: ssh, nginx.service",
	  target_rules_parse_units, AT(rules), NULL, NULL, NULL },
	{ 0, "container", "CONTAINERS",
	  "processes of these containers, by the beginning of the id or by name (docker, "
	  "containerd, CRI-O, podman)",
	  target_rules_parse_containers, AT(rules), NULL, NULL, NULL },
	{ 't', "tid", "TIDS", "these threads alone, by their numbers", opt_id_list, AT(tids), NULL,
	  NULL, NULL },
	{ 0, "self-profile", NULL, "also probee itself, and its helpers", opt_flag,
	  AT(self_profile), NULL, NULL, NULL },
	{ 0, "include-idle", NULL,
	  "also CPUs that have nothing to do, and kernel threads that wait for work", opt_flag,
	  AT(include_idle), NULL, NULL, NULL },
};

static const struct opt sampler_opts[] = {
	{ 'C', "cpu", "CPUS", "samples of these CPUs only: 0-3,7", opt_string, AT(cpus), NULL, NULL,
	  NULL },
	{ 'e', "event", "EVENTS",
	  "what makes a sample: cpu-clock, page-faults, cycles:u, cache-misses:k, ...; several "
	  "with commas between them; each may have a rate of its own: NAME/freq=HZ/ or "
	  "NAME/period=N/; help lists them (default: cycles where the hardware counts them, "
	  "otherwise cpu-clock). "
	  "Or a probe, which takes a stack each time: u:FUNCTION (ur: its return), k:FUNCTION "
	  "(kr:) of the kernel, t:CATEGORY:NAME, raw_tp:NAME, usdt:PROVIDER:NAME; probee probes "
	  "lists them. Or irq: "
	  "time in handlers of interrupts",
	  event_list_parse, AT(capture.events), NULL, "Rate", NULL },
	{ 0, "if", "CONDITION",
	  "of the probe before it (-e): only when this holds: arg1>4096, ret==0, arg2&0x8, a field "
	  "of the tracepoint; with && between several",
	  probe_list_if, AT(capture.events.probes), NULL, NULL, NULL },
	{ 0, "args", "ARGUMENTS",
	  "of the probe before it (-e u:, ur: or usdt:): their values are a frame, the innermost: "
	  "arg1,arg2:str (a text that it points to), of a return ret",
	  probe_list_args, AT(capture.events.probes), NULL, NULL, NULL },
	{ 0, "min-latency", "TIME",
	  "of the return before it (-e ur: or kr:): only of calls that took as long: 10us, 1ms, 0; "
	  "the time of the call is the weight of its stack, instead of 1",
	  probe_list_min_latency, AT(capture.events.probes), NULL, NULL, NULL },
};

static const struct opt rate_opts[] = {
	{ 0, "dry-run", NULL, "only say where the probes would be put, and where not", opt_flag,
	  AT(dry_run), NULL, NULL, NULL },
	{ 'F', "freq", "HZ", "samples a second on each CPU; 0.5 is one in two seconds (default 99)",
	  opt_hz, AT(freq_hz), NULL, NULL, NULL },
	{ 'c', "period", "N",
	  "of events that count (page-faults): a sample every N of them, instead of -F",
	  parse_count, AT(period), NULL, NULL, NULL },
};

static const struct opt snap_freq_opts[] = {
	{ 0, "snap-freq", "HZ", "snapshots a second; 0.1 is one in ten seconds (default 1)",
	  opt_hz, AT(capture.scan_hz), NULL, NULL, NULL },
};

static const struct opt snapshot_opts[] = {
	{ 'F', "freq", "HZ", "snapshots a second; 0.1 is one in ten seconds (default 1)", opt_hz,
	  AT(freq_hz), NULL, "Rate", NULL },
	{ 'i', "iterations", "N",
	  "end after N snapshots (default: Ctrl-C or the target's end)", parse_count,
	  AT(capture.scans), NULL, NULL, NULL },
};

static const struct opt duration_opts[] = {
	{ 'd', "duration", "TIME",
	  "end after TIME: 10, 1.5s, 200ms, 5m (default: Ctrl-C or the target's end)", opt_duration,
	  AT(duration_ns), NULL, NULL, NULL },
};

static const struct opt scan_opts[] = {
	{ 0, "walk-all", NULL,
	  "unwind every thread in each snapshot; otherwise one that has not run since the last "
	  "snapshot keeps its stack",
	  opt_flag, AT(capture.scan_unchanged), NULL, "Snapshots", NULL },
	{ 0, "faults", "anon|all|never",
	  "what a snapshot may bring into memory to read the stacks of waiting threads: anon: what "
	  "is in swap, and static variables of programs on disks of this machine; all: also what "
	  "is in other files, where a file server that never answers costs 2 s; never: nothing "
	  "is read, and only running threads have user stacks (default anon)",
	  parse_faults, AT(capture.faults), NULL, NULL, NULL },
	{ 0, "syscall-args", NULL,
	  "also record the six arguments of the system call that a thread waits in, for CSV "
	  "(sysc_arg1 to sysc_arg6); they make the trace a tenth larger",
	  opt_flag, AT(capture.syscall_args), NULL, NULL, NULL },
};

static const struct opt common_opts[] = {
	{ 0, "unwind", "auto|fp|dwarf",
	  "how callers are found: auto: by unwind tables (.eh_frame, Go's own), and by frame "
	  "pointers where code has none; fp: by frame pointers, with tables only for the function "
	  "that is interrupted; dwarf: by tables alone (default auto)",
	  parse_unwind, AT(unwind), NULL, "Stacks", NULL },
	{ 'U', "user-only", NULL, "no kernel stacks", opt_flag, AT(user_only), NULL, NULL, NULL },
	{ 'K', "kernel-only", NULL, "no user stacks", opt_flag, AT(kernel_only), NULL, NULL, NULL },
	{ 0, "max-depth", "N",
	  "at most N user frames of a stack (default 1024, which is also the most)", opt_u32,
	  AT(max_frames), NULL, NULL, NULL },
	{ 0, "audit", "1/N",
	  "keep registers and stack memory of one in N stacks for probee verify; that memory may "
	  "hold secrets",
	  parse_audit, AT(audit), NULL, NULL, NULL },
	{ 0, "debuginfod", "[=URLS]",
	  "ask these servers (default: $DEBUGINFOD_URLS) for debug files that this machine does "
	  "not have; they are sent the build-ids of what runs here; 10 s a file, 60 s in all",
	  opt_servers, AT(debug_urls), NULL, "Names", NULL },
	{ 0, "java-perf-map", NULL,
	  "ask each Java virtual machine (JDK 17 or later) for the names of its code, a second "
	  "after it was met and at the end: it writes /tmp/perf-PID.map",
	  opt_flag, AT(java_perf_map), NULL, NULL, NULL },
	{ 0, "cmdline", NULL,
	  "record the command lines of processes as well, for probee info; they may hold secrets",
	  opt_flag, AT(cmdlines), NULL, NULL, NULL },
	{ 0, "no-symbolize", NULL,
	  "addresses only, without the names of functions; probee symbolize adds them later",
	  opt_flag, AT(no_symbolize), NULL, NULL, NULL },
	{ 'o', "output", "FILE",
	  "where the trace goes (default trace.pbz; an earlier one becomes trace.pbz.old); x.svg: "
	  "make that picture, with the trace in x.pbz; - is standard output",
	  opt_string, AT(output), NULL, "Output", NULL },
	{ 0, "segment-size", "SIZE",
	  "go on in another part of the trace, which can be read without those before it, each "
	  "time that SIZE is written: 500K, 10M (default: only where the memory of a long "
	  "recording needs it)",
	  opt_size, AT(segment_bytes), NULL, NULL, NULL },
	{ 0, "segment-time", "TIME",
	  "likewise each time that the clock shows a multiple of TIME: 15s, 1m; 15s+4s: 4 s later "
	  "than that",
	  parse_segment_time, AT(segment_ns), NULL, NULL, NULL },
	{ 0, "force", NULL, "replace files that are no earlier traces or reports, too", opt_flag,
	  AT(force), NULL, NULL, NULL },
	{ 0, "strict", NULL, "exit with 3 when anything was lost", opt_flag, AT(strict), NULL, NULL,
	  NULL },
	{ 'q', "quiet", NULL, "say only what went wrong; CSV without its header", opt_flag,
	  AT(quiet), NULL, NULL, NULL },
	{ 'r', "reverse-stack", NULL, "CSV: outermost function first", opt_flag,
	  AT(render.reverse_stack), NULL, NULL, NULL },
	{ 0, "wait-columns", NULL,
	  "CSV: four more columns: waited_s (seconds since the thread ran), syscall, waits_on, "
	  "owner (the thread that holds it)",
	  opt_flag, AT(render.wait_columns), NULL, NULL, NULL },
	{ 0, "columns", "COLUMNS",
	  "CSV, NDJSON: these columns, 'all' for every one, 'sql' for those of docs/SQL.md; 'help' "
	  "lists them",
	  csv_columns_parse, AT(render.columns_shown), NULL, NULL, NULL },
	{ 0, "csv-dialect", "xstack|rfc4180",
	  "CSV: columns separated by | (default), or by commas with quotes, and times in UTC",
	  csv_dialect_parse, AT(render.is_rfc4180), NULL, NULL, NULL },
	{ 0, "xstack-states", NULL,
	  "CSV: states in the words that xstack has: RUNNING for RUNNABLE, DISK for KILLABLE, ...",
	  opt_flag, AT(render.xstack_states), NULL, NULL, NULL },
	{ 0, "offsets", NULL,
	  "reports: functions with the address in them (main+0x12), each a frame of its own",
	  opt_flag, AT(render.style.offsets), NULL, NULL, NULL },
	{ 0, "lines", NULL,
	  "reports: functions with the source line in them (main:12), each a frame of its own",
	  opt_flag, AT(render.style.lines), NULL, NULL, NULL },
	{ 0, "inline-depth", "N",
	  "look up at most N functions for one address, of which N - 1 are inlined (default: all)",
	  opt_u32, AT(render.style.inline_depth), NULL, NULL, NULL },
	{ 0, "no-inline", NULL, "do not look up inlined functions", opt_one,
	  AT(render.style.inline_depth), NULL, NULL, NULL },
	{ 0, "title", "TEXT", "title of the reports", opt_string, AT(render.title), NULL, NULL,
	  NULL },
	{ 'v', "verbose", NULL, "say more", opt_flag, AT(verbose), NULL, NULL, NULL },
};

/*
 * The options of kinds of capture: those that stand below a heading of their own, or those without
 * one.
 */
static size_t add_kinds(const struct capture_options *o, bool has_heading, struct opt_list *lists)
{
	size_t n = 0;

	for (size_t i = 0; i < COLLECTORS; i++) {
		const struct collector *c = collectors[i];

		if (c->options && has_heading == !!c->options[0].group)
			lists[n++] = (struct opt_list){ c->options, c->nr_options,
							o ? o->own[i] : NULL };
	}
	return n;
}

size_t record_opt_lists(const struct record_mode *mode, const struct capture_options *capture,
			struct opt *rows, struct opt_list lists[RECORD_LISTS])
{
	static const struct opt_list target = ROWS(target_opts),
				     sampler = ROWS(sampler_opts), rate = ROWS(rate_opts),
				     both = ROWS(snap_freq_opts), snapshot = ROWS(snapshot_opts),
				     duration = ROWS(duration_opts), scan = ROWS(scan_opts),
				     common = ROWS(common_opts),
				     flight = { flight_opts, NR_FLIGHT_OPTS, NULL };
	size_t n = 0;

	lists[n++] = target;
	lists[n++] = mode->sample ? sampler : snapshot;
	if (mode->sample) {
		n += add_kinds(capture, false, lists + n);
		lists[n++] = rate;
	}
	if (mode->sample && mode->scan)
		lists[n++] = both;
	lists[n++] = duration;
	if (mode->scan)
		lists[n++] = scan;
	if (mode->sample)
		n += add_kinds(capture, true, lists + n);
	lists[n++] = common;
	if (mode->sample)
		lists[n++] = flight;
	lists[n++] = (struct opt_list){ rows, output_list_opts(rows, AT(outputs)), NULL };
	assert(n <= RECORD_LISTS);
	return n;
}

/* With -o x.svg the picture goes to x.svg, and the trace beside it to x.pbz. */
static int take_picture_name(struct record_args *a)
{
	const struct renderer *r = a->output ? renderer_of_file(a->output) : NULL;

	if (!r)
		return 0;
	if (asprintf(&a->trace_name, "%.*s.pbz",
		     (int)(strlen(a->output) - renderer_suffix_len(r, a->output)), a->output) < 0)
		return fail(-ENOMEM, "-o %s", a->output);
	if (output_list_add_file(&a->outputs, r, a->output))
		return -ENOMEM;
	a->output = a->trace_name;
	return 0;
}

/* Parses -C, and refuses CPUs that are not online. */
static int check_cpus(struct record_args *a)
{
	struct cpu_list online = { 0 };
	char text[256];
	int err = 0;

	if (!a->cpus)
		return 0;
	if (cpus_parse(a->cpus, &a->capture.cpus))
		return fail_why(-EINVAL, "-C %s: not a list of CPUs. Try: -C 0-3,7", a->cpus);
	if (cpus_online(&online))
		goto out;	/* opening the events will report it */
	cpus_text(&online, text, sizeof(text));
	for (size_t i = 0; i < a->capture.cpus.nr && !err; i++)
		if (!cpus_has(&online, a->capture.cpus.v[i]))
			err = fail_why(-EINVAL, "-C %s: CPU %u is not online here. Try: -C %s",
				       a->cpus, a->capture.cpus.v[i], text);
out:
	cpus_release(&online);
	return err;
}

static int check_target(const struct record_mode *mode, const struct record_args *a, bool command)
{
	bool some = record_args_have_target(a);

	if (!mode->sample && !a->all && !some)
		return fail_why(-EINVAL,
				"snapshot of what? Try: -a for every thread, -p PIDS or NAMES, "
				"-t TIDS");
	if (a->all && some)
		return fail_why(-EINVAL, "-a and -p or -t contradict each other. Try: one of them");
	/* With -a the command only says how long to record, as with perf. */
	if (command && some)
		return fail_why(-EINVAL, "a command and -p or -t contradict each other. "
				"Try: -d 10 with -p, or the command alone");
	if (command && a->cpus && !a->all)
		note("-C %s: of this command alone. All that runs on these CPUs: -a", a->cpus);
	return 0;
}

/* `--callgrind -o out.cg`: the ending is of no report, so -o names the trace. */
static void say_where_it_goes(const struct record_args *a)
{
	size_t len = a->output ? strlen(a->output) : 0;

	if (a->outputs.nr != 1 || a->outputs.v[0].file || !len || !strchr(a->output, '.') ||
	    (len > 4 && !strcmp(a->output + len - 4, ".pbz")) || renderer_of_file(a->output))
		return;
	note("the trace goes to %s. For the report there: --%s=%s", a->output,
	     a->outputs.v[0].renderer->name, a->output);
}

static int check_output(struct record_args *a)
{
	if (a->output && output_descriptor(a->output) == STDOUT_FILENO)
		a->output = "-";
	if (a->outputs.nr && a->output && !strcmp(a->output, "-"))
		return fail_why(-EINVAL, "-o - leaves no trace to render from. Try: -o FILE");
	say_where_it_goes(a);
	if (a->user_only && a->kernel_only)
		return fail_why(-EINVAL,
				"--user-only and --kernel-only leave nothing. Try: one of them");
	return 0;
}

/*
 * What kinds of capture say of their options. Without -e for samples `sample` does not sample where
 * one of them is there instead.
 */
static int check_kinds(const struct record_mode *mode, struct capture_options *o)
{
	int err = 0;

	for (size_t i = 0; i < COLLECTORS && !err; i++) {
		const struct collector *c = collectors[i];

		err = c->check ? c->check(o->own[i]) : 0;
		if (!err && !mode->scan && !o->events.nr && c->is_instead && c->is_instead(o))
			o->sample = false;
	}
	return err;
}

/* The words of a command without "--" before it are meant so only if there is such a program. */
static int check_command(const struct record_mode *mode, const struct record_args *a, int argc,
			 char **argv)
{
	const char *word = a->command < argc ? argv[a->command] : NULL;

	if (!word || !strcmp(argv[a->command - 1], "--") || !program_look_up(word))
		return 0;
	return fail_why(-EINVAL, "%s: there is no such program. Try: probee %s -- PROGRAM, or -p "
			"PID", word, mode->name);
}

/* `-p PID -- sleep 10` is how users of perf say how long. */
static void take_sleep(struct record_args *a, int argc, char **argv)
{
	static const struct opt duration = { .name = "duration" };
	const char *time;
	uint64_t ns;

	if (!record_args_have_target(a) || argc - a->command != 2 ||
	    strcmp(argv[a->command], "sleep"))
		return;
	time = argv[a->command + 1];
	if (!strspn(time, "0123456789.") || opt_duration(&duration, time, &ns))
		return;
	note("sleep %s: taken for -d %s", time, time);
	a->command = argc;
	if (!a->duration_ns || a->duration_ns > ns)
		a->duration_ns = ns;
}

/*
 * Words that are no options are processes; with a target a single one is how long to record, as
 * with the tools of bcc.
 */
static int take_words(const struct record_mode *mode, struct record_args *a, int nr_words, int argc,
		      char **argv)
{
	static const struct opt pid = { .name = "pid" }, duration = { .name = "duration" };
	bool has_target = a->all || record_args_have_target(a);
	int err = check_command(mode, a, argc, argv);

	if (!err && nr_words == 1 && has_target && !a->duration_ns) {
		note("%s: taken for -d %s", argv[1], argv[1]);
		return opt_duration(&duration, argv[1], &a->duration_ns);
	}
	for (int i = 1; i <= nr_words && !err; i++) {
		if (argv[i][strspn(argv[i], "0123456789,-")])
			err = fail_why(-EINVAL, "%s: what is that? Try: probee %s -p PID", argv[i],
				       mode->name);
		else
			err = opt_id_list(&pid, argv[i], &a->rules.pids);
	}
	return err;
}

static int check(const struct record_mode *mode, struct record_args *a, int nr_words, int argc,
		 char **argv)
{
	int err = take_words(mode, a, nr_words, argc, argv);

	/* -a --cgroup X, as perf wants it: of all, those in it. */
	if (target_rules_are_open(&a->rules) && !a->rules.pids.nr && !a->tids.nr)
		a->all = false;
	take_sleep(a, argc, argv);
	if (!err)
		err = check_target(mode, a, a->command < argc);
	if (!err)
		err = check_output(a);
	if (!err)
		err = check_cpus(a);
	if (!err)
		err = check_kinds(mode, &a->capture);
	if (!err)
		err = flight_args_check(a);
	if (!err && mode->sample)
		err = event_list_complete(&a->capture.events, a->freq_hz, a->period);
	if (!err)
		err = take_picture_name(a);
	return err ? err : output_list_check(&a->outputs);
}

int record_args_parse(const struct record_mode *mode, int argc, char **argv,
		      struct record_args *args)
{
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[RECORD_LISTS];
	size_t nr_lists;
	int nr;

	*args = (struct record_args){
		.freq_hz = mode->freq_hz,
		.command = argc,
		.capture = { .sample = mode->sample, .scan = mode->scan, .scan_hz = mode->scan_hz,
			     .scan_is_all = !mode->sample, .faults = FAULTS_ANON },
	};
	nr = capture_options_init(&args->capture);
	if (nr)
		return nr;
	nr_lists = record_opt_lists(mode, &args->capture, rows, lists);
	nr = opt_parse(lists, nr_lists, argc, argv, args,
		       mode->has_command ? &args->command : NULL);
	if (nr < 0 || args->render.columns_shown.wants_help || args->capture.events.wants_help)
		return nr < 0 ? nr : 0;
	args->capture.pids = &args->pids;
	args->capture.tids = &args->tids;
	args->capture.include_idle = args->include_idle;
	if (mode->sample)
		args->capture.freq_hz = args->freq_hz;
	else
		args->capture.scan_hz = args->freq_hz;
	return check(mode, args, nr, argc, argv);
}

bool record_args_have_target(const struct record_args *a)
{
	return a->tids.nr || a->rules.pids.nr || target_rules_are_open(&a->rules);
}

int record_args_find_targets(struct record_args *a)
{
	return target_rules_find(&a->rules, &a->pids);
}

void record_args_release(struct record_args *args)
{
	target_rules_release(&args->rules);
	free(args->pids.v);
	free(args->tids.v);
	free(args->trace_name);
	output_list_release(&args->outputs);
	cpus_release(&args->capture.cpus);
	event_list_release(&args->capture.events);
	capture_options_release(&args->capture);
	trigger_list_release(&args->flight.triggers);
}
