/* probee sample, and probee record: the same with walks over all threads in between. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/proc/cpu_time.h"
#include "src/proc/cpus.h"
#include "src/capture/collectors/perf_sampler.h"
#include "src/proc/pid_namespace.h"
#include "src/capture/recorder.h"
#include "src/commands/command.h"
#include "src/recording/recording.h"
#include "src/recording/target_command.h"
#include "src/capture/collectors/scans.h"

#define LOOK_EVERY_MS 100	/* the ring is drained so often even when it is far from full */

struct sample_args {
	struct recording_args common;
	const char *cpus, *event;
	double freq_hz, snap_freq_hz;	/* snap_freq_hz 0: no walks */
	uint64_t duration_ns;
};

#define AT(field) offsetof(struct sample_args, field)

static const struct opt sample_opts[] = {
	{ 'C', "cpu", "CPUS", "only these CPUs: 0-3,7", opt_string, AT(cpus), NULL, "Target",
	  NULL },
	{ 'F', "freq", "HZ", "samples a second and CPU, may be fractional (default 99)", opt_hz,
	  AT(freq_hz), NULL, "Rate", NULL },
	{ 'd', "duration", "TIME",
	  "end after TIME: 10, 1.5s, 200ms, 5m (default: Ctrl-C or the target's end)", opt_duration,
	  AT(duration_ns), NULL, NULL, NULL },
	{ 'e', "event", "EVENT",
	  "cycles or cpu-clock (default: cycles where the hardware counts them)", opt_string,
	  AT(event), NULL, NULL, NULL },
};

static const struct opt record_opts[] = {
	{ 0, "snap-freq", "HZ", "walks over all threads a second, may be fractional (default 1)",
	  opt_hz, AT(snap_freq_hz), NULL, "Rate", NULL },
};

struct sampling {
	struct recording rec;
	struct recorder *recorder;
	struct perf_sampler *sampler;
	struct scans scans;		/* interval_ns 0: none */
	uint64_t next_scan_ns;
	struct target_command command;
	uint32_t command_tgid;
	struct id_list command_only;	/* it alone, as the recorder's targets */
	uint64_t begin_ns;		/* first tick possible */
	uint64_t until_ns;		/* 0: no end */
	struct cpu_time begin_time;
	uint64_t next_look_ns;		/* the ring is drained and the targets are asked for by
					   then */
	bool has_targets;
};

static bool scan_is_due(struct sampling *s)
{
	if (!s->scans.iter || now_ns() < s->next_scan_ns)
		return false;
	if (!s->scans.nr || !scans_overslept(&s->scans, s->next_scan_ns))
		return true;
	s->next_scan_ns = scans_due(&s->scans);
	return false;
}

static int scan(struct sampling *s)
{
	int err = scans_one(&s->scans);

	s->next_scan_ns = scans_due(&s->scans);
	return err;
}

static int on_stack(void *ctx, const struct wire_stack *stack)
{
	return recorder_stack(ctx, stack, 0);
}

/* One turn: fetch samples, then learn what happened until then, then resolve them. */
static int take(struct sampling *s)
{
	int err = perf_sampler_drain(s->sampler);

	s->next_look_ns = now_ns() + LOOK_EVERY_MS * NSEC_PER_MSEC;
	if (!err)
		err = recorder_update(s->recorder);
	if (!err)
		err = perf_sampler_for_each(s->sampler, on_stack, s->recorder);
	recorder_bad_records(s->recorder, RECORDER_SAMPLES, perf_sampler_bad_records(s->sampler));
	return err ? err : recorder_service(s->recorder);
}

/*
 * -1: go on; else enum end_reason. Asking for living targets is a system call: not at every
 * wake-up.
 */
static int ended(struct sampling *s, bool ask_targets)
{
	if (s->rec.stop.stopped)
		return ENDED_SIGNAL;
	if (s->until_ns && now_ns() >= s->until_ns)
		return ENDED_DURATION;
	if (s->command.pid)
		return target_command_ended(&s->command) ? ENDED_TARGET_EXIT : -1;
	if (ask_targets && s->has_targets && !capture_bpf_has_targets(recorder_bpf(s->recorder)))
		return ENDED_TARGET_EXIT;
	return -1;
}

static int timeout_ms(const struct sampling *s)
{
	uint64_t now = now_ns(), next = now + LOOK_EVERY_MS * NSEC_PER_MSEC;

	if (s->until_ns && s->until_ns < next)
		next = s->until_ns;
	if (s->scans.iter && s->next_scan_ns < next)
		next = s->next_scan_ns;
	return next <= now ? 0 : (int)((next - now) / NSEC_PER_MSEC) + 1;
}

static int loop(struct sampling *s, int *reason)
{
	struct pollfd pfd[4] = { { .fd = s->rec.stop.fd }, { .fd = perf_sampler_fd(s->sampler) } };
	int fds[2], err = 0;
	bool look = true;
	size_t nr = 2 + recorder_fds(s->recorder, fds);

	for (size_t i = 2; i < nr; i++)
		pfd[i].fd = fds[i - 2];
	for (size_t i = 0; i < nr; i++)
		pfd[i].events = POLLIN;
	while (!err && (*reason = ended(s, look)) < 0) {
		poll(pfd, nr, timeout_ms(s));
		stop_signals_read(&s->rec.stop);
		recorder_hold_off(s->recorder);
		/* Processes come and go more often than samples are worth looking at. */
		look = pfd[1].revents || now_ns() >= s->next_look_ns;
		err = look ? take(s) : recorder_update(s->recorder);
		if (!err && scan_is_due(s))
			err = scan(s);
		recording_live(&s->rec, session_stats(recorder_session(s->recorder))->samples,
			       recorder_lost(s->recorder), s->scans.nr);
	}
	perf_sampler_stop(s->sampler);
	return err ? err : take(s);
}

static int open_sampler(struct sampling *s, const struct sample_args *args)
{
	struct perf_sampler_options opts = { .freq_hz = args->freq_hz, .event = args->event };
	struct cpu_list cpus = { 0 };
	int err;

	if (args->cpus && cpus_parse(args->cpus, &cpus))
		return fail_why(-EINVAL, "-C %s: not a list of CPUs. Try: -C 0-3,7", args->cpus);
	if (args->cpus)
		opts.cpus = &cpus;
	err = perf_sampler_open(recorder_bpf(s->recorder), &opts, &s->sampler);
	cpus_release(&cpus);
	return err;
}

static int begin(struct sampling *s, const struct sample_args *args, int argc, char **argv)
{
	bool scans = args->snap_freq_hz > 0;
	bool cycles = !strcmp(perf_sampler_event(s->sampler), "cycles");
	struct session_info info = {
		.mode = scans ? "record" : "sample",
		.argc = argc,
		.argv = argv,
		.unwind = unwind_mode_name(args->common.unwind),
		.event_name = perf_sampler_event(s->sampler),
		.event_unit = cycles ? "cycles" : "ns",
		.event_kind = cycles ? EVENT_CYCLES : EVENT_CPU_CLOCK,
		.freq_hz = args->freq_hz,
		.period = perf_sampler_period(s->sampler),
	};
	struct session_info scan_info = {
		.event_name = "snapshot",
		.event_unit = "ns",
		.event_kind = EVENT_SNAPSHOT,
		.freq_hz = args->snap_freq_hz,
		.period = s->scans.interval_ns,
	};
	int err = recorder_begin(s->recorder, &info);

	return err || !scans ? err : session_scan_event(recorder_session(s->recorder), &scan_info);
}

/* Programs loaded, tables built, events open: from here on it is only waiting for samples. */
static int prepare(struct sampling *s, const struct sample_args *args, int argc, char **argv)
{
	struct recorder_options opts;
	struct task_snapshot_options scans = { .ask = true };
	int err;

	recording_options(&s->rec, &opts);
	opts.programs = CAPTURE_SAMPLER | (args->snap_freq_hz > 0 ? CAPTURE_SNAPSHOT : 0);
	opts.skip_same = true;
	if (s->command.pid) {
		/* Nobody else is a target; children of the command follow from their fork. */
		s->command_tgid = (uint32_t)s->command.pid;
		s->command_only = (struct id_list){ .v = &s->command_tgid, .nr = 1 };
		opts.pids = &s->command_only;
	}
	scans.by_target = opts.pids && opts.pids->nr;
	err = recorder_open(&opts, &s->recorder);
	if (!err)
		err = open_sampler(s, args);
	if (!err && args->snap_freq_hz > 0)
		err = scans_open(&s->scans, s->recorder, &scans,
				 (uint64_t)((double)NSEC_PER_SEC / args->snap_freq_hz + 0.5));
	if (!err)
		err = recording_start(&s->rec, false);
	if (!err)
		err = begin(s, args, argc, argv);
	return err;
}

/*
 * How busy the CPUs were, by our own ticks and by the kernel's: a reader can see whether the
 * samples can be right.
 */
static int tell_cpu_share(struct sampling *s, const struct sample_args *args)
{
	double ticks = args->freq_hz * perf_sampler_cpus(s->sampler) * (double)s->rec.run_ns / 1e9;
	uint64_t c[COUNTERS];
	struct cpu_time end;
	bool all = s->scans.iter && !args->common.pids.nr && !s->command.pid &&
		   !pid_namespace_is_inner();
	char text[128];

	if (args->cpus || !perf_sampler_period(s->sampler) || ticks < 100 ||
	    cpu_time_read(NULL, &end) || capture_bpf_counters(recorder_bpf(s->recorder), c))
		return 0;
	snprintf(text, sizeof(text), "samples=%.3f stat=%.3f ticks=%.0f%s",
		 (double)(c[COUNTER_FIRED] - c[COUNTER_IDLE]) / ticks,
		 cpu_time_share(&s->begin_time, &end), ticks, all ? " walks=1" : "");
	return session_tell(recorder_session(s->recorder), "cpu.busy", text);
}

static int run(struct sampling *s, const struct sample_args *args)
{
	struct rec_end end = { .target_status = -1 };
	int err = perf_sampler_start(s->sampler), reason = ENDED_ERROR;

	if (!err && s->command.pid)
		err = target_command_go(&s->command);
	if (err)
		return err;
	s->begin_ns = now_ns();
	cpu_time_read(NULL, &s->begin_time);
	s->until_ns = args->duration_ns ? s->begin_ns + args->duration_ns : 0;
	s->scans.begin_ns = s->next_scan_ns = s->begin_ns;
	err = loop(s, &reason);
	s->rec.run_ns = now_ns() - s->begin_ns;
	target_command_stop(&s->command);
	if (err)
		return err;
	end.reason = (uint8_t)reason;
	end.scans = s->scans.nr;
	if (s->command.pid)
		end.target_status = s->command.status;
	if (s->scans.iter) {
		end.cpu_time_ns = scans_cpu_ns(&s->scans);
		err = scans_end(&s->scans, true, s->begin_ns + s->rec.run_ns);
		end.lost = s->scans.left_out;
	}
	if (!err)
		err = tell_cpu_share(s, args);
	return err ? err : recorder_end(s->recorder, &end);
}

static void describe_counters(const struct sampling *s)
{
	uint64_t c[COUNTERS];

	if (!capture_bpf_counters(recorder_bpf(s->recorder), c))
		note_verbose("%" PRIu64 " ticks: %" PRIu64 " idle, %" PRIu64 " of others, %" PRIu64
			     " outside, %" PRIu64 " submitted, %" PRIu64 " refused",
			     c[COUNTER_FIRED], c[COUNTER_IDLE], c[COUNTER_FILTERED],
			     c[COUNTER_OUTSIDE], c[COUNTER_SUBMITTED], c[COUNTER_RING_FULL]);
}

/*
 * Fewer ticks than asked for: the machine was stopped or short of time. Idle CPUs may sleep through
 * theirs.
 */
static void check_rate(const struct sampling *s, const struct sample_args *args)
{
	double want = args->freq_hz * perf_sampler_cpus(s->sampler) * (double)s->rec.run_ns / 1e9;
	uint64_t c[COUNTERS];

	if (!perf_sampler_period(s->sampler) || want < 100 ||
	    capture_bpf_counters(recorder_bpf(s->recorder), c))
		return;
	if ((double)c[COUNTER_IDLE] < 0.05 * want && (double)c[COUNTER_FIRED] < 0.95 * want)
		note("the timer fired %.0f %% of the times asked for: the machine could not keep "
		     "up or was paused",
		     100 * (double)c[COUNTER_FIRED] / want);
}

static int finish(struct sampling *s, const struct sample_args *args, int err)
{
	struct session_stats stats = { 0 };
	uint64_t lost = 0;
	char text[512], others[256] = "";
	int close_err;

	if (s->recorder && recorder_session(s->recorder)) {
		stats = *session_stats(recorder_session(s->recorder));
		lost = recorder_lost(s->recorder);
		recorder_lost_others(s->recorder, others, sizeof(others));
		if (!err) {
			check_rate(s, args);
			recorder_describe(s->recorder, text, sizeof(text));
			note_verbose("%s", text);
			describe_counters(s);
		}
	}
	target_command_stop(&s->command);
	perf_sampler_close(s->sampler);
	scans_close(&s->scans);
	recorder_close(s->recorder);
	close_err = recording_close(&s->rec);
	if (s->command.ended && stats.samples + !err) {
		target_command_describe(&s->command, text, sizeof(text));
		note("%s", text);
	}
	if (err || close_err)
		return exit_code_of(err ? err : close_err);
	snprintf(text, sizeof(text), s->scans.nr ? "samples and rows (of %u walks)" : "samples",
		 s->scans.nr);
	recording_summary(&s->rec, &stats, lost, text, others);
	if (recording_render(&s->rec))
		return EXIT_FAILED;
	return args->common.strict && lost ? EXIT_LOSS : EXIT_OK;
}

static int check_args(const struct sample_args *args, int nr_words, char **argv)
{
	if (nr_words)
		return fail_why(-EINVAL, "%s: what is that? Try: probee sample -- %s, or -p PID",
				argv[1], argv[1]);
	if (args->common.outputs.nr && args->common.output && !strcmp(args->common.output, "-"))
		return fail_why(-EINVAL, "-o - leaves no trace to render from. Try: -o FILE");
	if (args->common.user_only && args->common.kernel_only)
		return fail_why(-EINVAL,
				"--user-only and --kernel-only leave nothing. Try: one of them");
	if (args->common.all && args->common.pids.nr)
		return fail_why(-EINVAL, "-a and -p contradict each other. Try: one of them");
	return 0;
}

static int command(const char *name, struct sample_args *args, int argc, char **argv)
{
	bool scans = args->snap_freq_hz > 0;
	struct opt rows[OUTPUT_OPTS_MAX];
	struct opt_list lists[] = {
		{ recording_opts, nr_recording_opts },
		{ sample_opts, sizeof(sample_opts) / sizeof(sample_opts[0]) },
		{ rows, output_list_opts(rows, AT(common.outputs)) },
		{ record_opts, scans ? sizeof(record_opts) / sizeof(record_opts[0]) : 0 },
	};
	struct sampling s = { 0 };
	int after, err;
	int nr = opt_parse(lists, 4, argc, argv, args, &after);

	if (nr == OPT_HELP)
		return command_help(name, lists, 4);
	if (nr < 0 || check_args(args, nr, argv))
		return EXIT_USAGE;
	err = recording_open(&s.rec, &args->common);
	if (!err && after < argc)
		err = target_command_fork(argv + after, &s.command);
	s.has_targets = args->common.pids.nr > 0;
	if (!err)
		err = prepare(&s, args, argc, argv);
	if (!err)
		err = run(&s, args);
	return finish(&s, args, err);
}

int cmd_sample(int argc, char **argv)
{
	return command("sample", &(struct sample_args){ .freq_hz = 99 }, argc, argv);
}

int cmd_record(int argc, char **argv)
{
	return command("record", &(struct sample_args){ .freq_hz = 99, .snap_freq_hz = 1 }, argc,
		       argv);
}
