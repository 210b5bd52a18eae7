#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "bpf/knobs.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/proc/cpu_time.h"
#include "src/proc/pid_namespace.h"
#include "src/capture/recorder.h"
#include "src/commands/command.h"
#include "src/recording/recording.h"
#include "src/capture/collectors/scans.h"

struct snapshot_args {
	struct recording_args common;
	struct id_list tids;
	double freq_hz;
	uint32_t iterations;		/* 0: until Ctrl-C */
	uint64_t duration_ns;
	bool scan_all;
	uint32_t faults;		/* enum fault_mode */
};

static int parse_faults(const struct opt *o, const char *value, void *dst)
{
	static const char *const names[] = {
		[FAULTS_NEVER] = "never", [FAULTS_ANON] = "anon", [FAULTS_ALL] = "all"
	};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value, names[i])) {
			*(uint32_t *)dst = i;
			return 0;
		}
	}
	return fail_why(-EINVAL, "--%s %s: no such choice. Try: never, anon or all", o->name,
			value);
}

#define AT(field) offsetof(struct snapshot_args, field)

static const struct opt snapshot_opts[] = {
	{ 't', "tid", "TIDS", "only these threads", opt_id_list, AT(tids), NULL, "Target", NULL },
	{ 'F', "freq", "HZ", "walks a second, may be fractional (default 1)", opt_hz, AT(freq_hz),
	  NULL, "Rate", NULL },
	{ 'i', "iterations", "N", "end after N walks (default: Ctrl-C or the target's end)",
	  opt_u32, AT(iterations), NULL, NULL, NULL },
	{ 'd', "duration", "TIME", "end after TIME: 10, 1.5s, 200ms, 5m", opt_duration,
	  AT(duration_ns), NULL, NULL, NULL },
	{ 0, "walk-all", NULL,
	  "walk every thread each time, also those that have not run since the last walk", opt_flag,
	  AT(scan_all), NULL, "Stacks", NULL },
	{ 0, "faults", "WHICH",
	  "stack memory that may be brought in to be read: anon: anonymous and shared memory, from "
	  "swap "
	  "if need be; all: also that of files, and a file server that never answers then costs 2 "
	  "s; never: none is read, "
	  "only running threads have user stacks (default anon)",
	  parse_faults, AT(faults), NULL, NULL, NULL },
};

#define LOOK_NS (200 * NSEC_PER_MSEC)	/* has the target ended? and the line on a terminal */
#define SERVICE_NS NSEC_PER_SEC
#define NAMES_NS (10 * NSEC_PER_MSEC)	/* rows wait for them: have they come? */

struct snapshots {
	struct recording rec;
	struct recorder *recorder;
	struct scans scans;
	uint64_t interval_ns, begin_ns;
	struct cpu_time begin_time;
	bool has_targets;
};

static int ended(struct snapshots *s, const struct snapshot_args *args)
{
	if (s->rec.stop.stopped || recording_live_over(&s->rec))
		return ENDED_SIGNAL;
	if (args->iterations && s->scans.nr >= args->iterations)
		return ENDED_ITERATIONS;
	if (args->duration_ns && now_ns() >= s->begin_ns + args->duration_ns)
		return ENDED_DURATION;
	if (s->has_targets && !capture_bpf_has_targets(recorder_bpf(s->recorder)))
		return ENDED_TARGET_EXIT;
	return -1;
}

/*
 * Until the next walk, the end of all, or a look at what is to be seen from time to time. 0: now.
 */
static uint64_t sleep_ns(const struct snapshots *s, const struct snapshot_args *args,
			 uint64_t time_ns)
{
	uint64_t now = now_ns(),
		 most = s->has_targets || s->rec.live.is_terminal ? LOOK_NS : SERVICE_NS;

	if (args->duration_ns && s->begin_ns + args->duration_ns < time_ns)
		time_ns = s->begin_ns + args->duration_ns;
	if (now >= time_ns)
		return recording_live_full(&s->rec) ? LOOK_NS : 0;
	if (recording_live_waits(&s->rec))
		most = NAMES_NS;
	return time_ns - now < most ? time_ns - now : most;
}

/* Sleeps so long, or until something happens: true. */
static bool sleep_a_while(struct snapshots *s, uint64_t ns)
{
	struct pollfd pfd[3 + OUTPUT_OPTS_MAX] = { { .fd = s->rec.stop.fd, .events = POLLIN } };
	struct timespec ts = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };
	bool happened;
	int fds[2];
	size_t nr = 1;

	for (size_t i = recorder_fds(s->recorder, fds); i-- > 0;)
		pfd[nr++] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	nr += recording_live_fds(&s->rec, pfd + nr);
	happened = ppoll(pfd, nr, &ts, NULL) > 0;
	if (happened)
		recorder_hold_off(s->recorder);
	stop_signals_read(&s->rec.stop);
	return happened;
}

/*
 * Lives with the events until the time of the next walk, and for as long as too many rows wait for
 * their reader.
 */
static int wait_until(struct snapshots *s, const struct snapshot_args *args, uint64_t time_ns)
{
	uint64_t left, served = now_ns();
	int err = 0;

	while (!err && (left = sleep_ns(s, args, time_ns)) && ended(s, args) < 0) {
		if (sleep_a_while(s, left) || now_ns() - served >= SERVICE_NS) {
			err = recorder_update(s->recorder);
			if (!err)
				err = recorder_service(s->recorder);
			served = now_ns();
		}
		if (!err)
			err = recording_live_rows(&s->rec, recorder_session(s->recorder));
		recording_live(&s->rec, s->scans.rows, recorder_lost(s->recorder), s->scans.nr);
	}
	return err;
}

static int wait_for_scan(struct snapshots *s, const struct snapshot_args *args)
{
	uint64_t due = scans_due(&s->scans);
	int err = wait_until(s, args, due);

	while (!err && ended(s, args) < 0 && scans_overslept(&s->scans, due)) {
		due = scans_due(&s->scans);
		err = wait_until(s, args, due);
	}
	return err;
}

static int one_scan(struct snapshots *s)
{
	int err = scans_one(&s->scans);

	if (!err)
		err = recording_live_scan(&s->rec, recorder_session(s->recorder));
	recording_live(&s->rec, s->scans.rows, recorder_lost(s->recorder), s->scans.nr);
	return err ? err : recorder_service(s->recorder);
}

/* Walks that were due and are no more: only where time or somebody ended it. */
static uint64_t last_due_ns(const struct snapshots *s, const struct snapshot_args *args, int reason)
{
	uint64_t now = now_ns(), end = s->begin_ns + args->duration_ns;

	if (reason == ENDED_ITERATIONS)
		return 0;
	return reason == ENDED_DURATION && end < now ? end : now;
}

/* Nobody is told on the terminal: whoever closes a pipe knows that. */
static int tell_over(struct snapshots *s)
{
	static const char text[] = "the recording ended because the reader of its rows has gone";
	struct record rec = { .tag = REC_NOTE, .note = { 0, now_ns(), text, sizeof(text) - 1 } };

	return recording_live_over(&s->rec) ? session_emit(recorder_session(s->recorder), &rec) : 0;
}

/*
 * How busy the CPUs were by the kernel's own accounts: walks over all threads can be held against
 * it.
 */
static int tell_cpu_share(struct snapshots *s, const struct snapshot_args *args)
{
	struct cpu_time end;
	char text[64];
	double share;

	if (!args->common.all || pid_namespace_is_inner() || s->scans.nr < 2 ||
	    cpu_time_read(NULL, &end))
		return 0;
	share = cpu_time_share(&s->begin_time, &end);
	if (share < 0)
		return 0;
	snprintf(text, sizeof(text), "stat=%.3f walks=1", share);
	return session_tell(recorder_session(s->recorder), "cpu.busy", text);
}

static int run(struct snapshots *s, const struct snapshot_args *args)
{
	struct rec_end end = { .target_status = -1 };
	int err = 0, reason = -1;

	s->begin_ns = s->scans.begin_ns = now_ns();
	s->scans.patient = args->iterations ? args->iterations : 1;
	cpu_time_read(NULL, &s->begin_time);
	while (!err && reason < 0) {
		err = one_scan(s);
		reason = ended(s, args);
		if (err || reason >= 0)
			break;
		err = wait_for_scan(s, args);
		reason = ended(s, args);
	}
	s->rec.run_ns = now_ns() - s->begin_ns;
	if (!err)
		err = scans_end(&s->scans, args->faults == FAULTS_ANON,
				last_due_ns(s, args, reason));
	if (!err)
		err = tell_over(s);
	if (err)
		return err;
	end.reason = (uint8_t)reason;
	end.scans = s->scans.nr;
	end.lost = s->scans.left_out;
	end.cpu_time_ns = scans_cpu_ns(&s->scans);
	err = tell_cpu_share(s, args);
	return err ? err : recorder_end(s->recorder, &end);
}

static int prepare(struct snapshots *s, const struct snapshot_args *args, int argc, char **argv)
{
	struct task_snapshot_options restrict_to = { .ask = true };
	struct recorder_options opts;
	struct session_info info = {
		.mode = "snapshot",
		.argc = argc,
		.argv = argv,
		.unwind = unwind_mode_name(args->common.unwind),
		.event_name = "snapshot",
		.event_unit = "ns",
		.event_kind = EVENT_SNAPSHOT,
		.freq_hz = args->freq_hz,
		.period = s->interval_ns,
	};
	int err;

	recording_options(&s->rec, &opts);
	opts.programs = CAPTURE_SNAPSHOT;
	opts.tids = &args->tids;
	opts.skip_same = !args->scan_all && args->iterations != 1;	/* remembering costs, too */
	opts.faults = args->faults;
	err = recorder_open(&opts, &s->recorder);
	if (err)
		return err;
	if (args->tids.nr == 1 && !args->common.pids.nr)
		restrict_to.only_tid = args->tids.v[0];
	else
		restrict_to.by_target = args->common.pids.nr && !args->tids.nr;
	err = scans_open(&s->scans, s->recorder, &restrict_to, s->interval_ns);
	if (!err)
		err = recording_start(&s->rec, true);
	if (!err)
		err = recorder_begin(s->recorder, &info);
	return err ? err : recording_live_begin(&s->rec);
}

static int finish(struct snapshots *s, const struct snapshot_args *args, int err)
{
	struct session_stats stats = { 0 };
	uint64_t lost = 0;
	char text[512], others[256] = "";
	int close_err;

	if (s->recorder && recorder_session(s->recorder)) {
		stats = *session_stats(recorder_session(s->recorder));
		lost = recorder_lost(s->recorder);
		recorder_lost_others(s->recorder, others, sizeof(others));
		recorder_describe(s->recorder, text, sizeof(text));
		if (!err)
			note_verbose("%s", text);
	}
	scans_close(&s->scans);
	recorder_close(s->recorder);
	close_err = recording_close(&s->rec);
	if (err || close_err)
		return exit_code_of(err ? err : close_err);
	snprintf(text, sizeof(text), "rows in %u walk%s (%.1f ms each)", s->scans.nr,
		 s->scans.nr == 1 ? "" : "s", (double)s->scans.scan_ns / 1e6 / s->scans.nr);
	recording_summary(&s->rec, &stats, lost, text, others);
	if (recording_render(&s->rec))
		return EXIT_FAILED;
	return args->common.strict && lost ? EXIT_LOSS : EXIT_OK;
}

static int check_args(const struct snapshot_args *args, int nr_words, char **argv)
{
	if (nr_words)
		return fail_why(-EINVAL, "%s: what is that? Try: probee snapshot -p %s", argv[1],
				argv[1]);
	if (!args->common.all && !args->common.pids.nr && !args->tids.nr)
		return fail_why(-EINVAL,
				"snapshot of what? Try: -a for every thread, -p PIDS, -t TIDS");
	if (args->common.all && (args->common.pids.nr || args->tids.nr))
		return fail_why(-EINVAL, "-a and -p or -t contradict each other. Try: one of them");
	if (args->common.outputs.nr && args->common.output && !strcmp(args->common.output, "-"))
		return fail_why(-EINVAL, "-o - leaves no trace to render from. Try: -o FILE");
	if (args->common.user_only && args->common.kernel_only)
		return fail_why(-EINVAL,
				"--user-only and --kernel-only leave nothing. Try: one of them");
	return 0;
}

int cmd_snapshot(int argc, char **argv)
{
	struct snapshot_args args = { .freq_hz = 1, .faults = FAULTS_ANON };
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[] = {
		{ recording_opts, nr_recording_opts },
		{ snapshot_opts, sizeof(snapshot_opts) / sizeof(snapshot_opts[0]) },
		{ rows, output_list_opts(rows, AT(common.outputs)) },
	};
	struct snapshots s = { 0 };
	int nr = opt_parse(lists, 3, argc, argv, &args, NULL), err;

	if (nr == OPT_HELP)
		return command_help("snapshot", lists, 3);
	if (nr < 0 || check_args(&args, nr, argv))
		return EXIT_USAGE;
	s.interval_ns = (uint64_t)((double)NSEC_PER_SEC / args.freq_hz + 0.5);
	s.has_targets = args.common.pids.nr || args.tids.nr;
	err = recording_open(&s.rec, &args.common);
	if (!err)
		err = prepare(&s, &args, argc, argv);
	if (!err)
		err = run(&s, &args);
	return finish(&s, &args, err);
}
