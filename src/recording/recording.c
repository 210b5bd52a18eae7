#include "src/recording/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/knobs.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/proc/pid_namespace.h"
#include "src/profile/report.h"

static const char *const unwind_names[] = {
	[UNWIND_AUTO] = "auto", [UNWIND_FP] = "fp", [UNWIND_DWARF] = "dwarf"
};

const char *unwind_mode_name(enum unwind_mode mode)
{
	return unwind_names[mode];
}

static int parse_unwind(const struct opt *o, const char *value, void *dst)
{
	for (size_t i = 0; i < sizeof(unwind_names) / sizeof(unwind_names[0]); i++) {
		if (!strcmp(value, unwind_names[i])) {
			*(enum unwind_mode *)dst = (enum unwind_mode)i;
			return 0;
		}
	}
	return fail_why(-EINVAL, "--%s %s: no such way to unwind. Try: auto, fp or dwarf", o->name,
			value);
}

/* "1/100", or "100". */
static int parse_audit(const struct opt *o, const char *value, void *dst)
{
	if (!strncmp(value, "1/", 2))
		value += 2;
	if (opt_u32(o, value, dst))
		return -EINVAL;
	return *(uint32_t *)dst ? 0 : fail_why(-EINVAL, "--%s 1/0: of none? Try: 1/100", o->name);
}

#define AT(field) offsetof(struct recording_args, field)

const struct opt recording_opts[] = {
	{ 'a', "all", NULL, "the whole machine", opt_flag, AT(all), NULL, "Target", NULL },
	{ 'p', "pid", "PIDS",
	  "these processes, comma-separated, all their threads, and their children from now on",
	  opt_id_list, AT(pids), NULL, NULL, NULL },
	{ 0, "include-idle", NULL, "also idle CPUs (sample) or idle kernel threads (snapshot)",
	  opt_flag, AT(include_idle), NULL, NULL, NULL },
	{ 0, "unwind", "HOW",
	  "auto: unwind tables (.eh_frame, Go's own), frame pointers where there are none; fp; "
	  "dwarf "
	  "(default auto)",
	  parse_unwind, AT(unwind), NULL, "Stacks", NULL },
	{ 'U', "user-only", NULL, "no kernel stacks", opt_flag, AT(user_only), NULL, NULL, NULL },
	{ 'K', "kernel-only", NULL, "no user stacks", opt_flag, AT(kernel_only), NULL, NULL, NULL },
	{ 0, "max-depth", "N", "at most N user frames (default and limit 1024)", opt_u32,
	  AT(max_frames), NULL, NULL, NULL },
	{ 0, "audit", "1/N",
	  "keep registers and stack memory of one in N stacks, for probee verify (the memory may "
	  "hold "
	  "secrets)",
	  parse_audit, AT(audit), NULL, NULL, NULL },
	{ 'o', "output", "FILE", "the trace (default trace.pbz); - is standard output", opt_string,
	  AT(output), NULL, "Output", NULL },
	{ 0, "strict", NULL, "exit with 3 when anything was lost", opt_flag, AT(strict), NULL, NULL,
	  NULL },
	{ 'q', "quiet", NULL, "say only what went wrong; CSV without its header", opt_flag,
	  AT(quiet), NULL, NULL, NULL },
	{ 'r', "reverse-stack", NULL, "CSV: outermost function first", opt_flag,
	  AT(render.reverse_stack), NULL, NULL, NULL },
	{ 0, "offsets", NULL, "reports: function+0x12, a frame of its own for each address",
	  opt_flag, AT(render.offsets), NULL, NULL, NULL },
	{ 0, "title", "TEXT", "title of the reports", opt_string, AT(render.title), NULL, NULL,
	  NULL },
	{ 'v', "verbose", NULL, "say more", opt_flag, AT(verbose), NULL, NULL, NULL },
};
const size_t nr_recording_opts = sizeof(recording_opts) / sizeof(recording_opts[0]);

int recording_open(struct recording *rec, const struct recording_args *args)
{
	int err = pid_namespace_check();

	memset(rec, 0, sizeof(*rec));
	rec->stop.fd = -1;
	rec->args = args;
	rec->path = args->output ? args->output : "trace.pbz";
	fail_set_verbosity(args->quiet ? -1 : args->verbose);
	if (err)
		return err;
	err = stop_signals_open(&rec->stop);
	live_line_init(&rec->live, args->quiet || !strcmp(rec->path, "-"));
	return err;
}

/* Which reports are written while it runs, and which from the trace. */
static int split_outputs(struct recording *rec, bool live)
{
	const struct output_list *l = &rec->args->outputs;
	int err = live ? live_rows_open(l, rec->path, &rec->rows) : 0;

	for (size_t i = 0; i < l->nr && !err; i++)
		if (!rec->rows || !live_rows_has(rec->rows, &l->v[i]))
			err = output_list_add(&rec->later, l->v[i].renderer, l->v[i].file);
	if (!err && rec->rows && live_rows_on_terminal(rec->rows))
		rec->live.is_terminal = false;
	return err;
}

int recording_start(struct recording *rec, bool live)
{
	struct record_consumer rows;
	int err = trace_writer_open(rec->path, NULL, &rec->writer);

	record_tee_init(&rec->tee, rec->writer);
	if (!err)
		err = split_outputs(rec, live);
	if (!err && rec->rows) {
		rows = live_rows_consumer(rec->rows);
		record_tee_add(&rec->tee, &rows);
	}
	return err;
}

static struct render_opts render_opts(const struct recording *rec)
{
	struct render_opts opts = rec->args->render;

	opts.quiet = rec->args->quiet;
	return opts;
}

int recording_live_begin(struct recording *rec)
{
	struct render_opts opts = render_opts(rec);
	int err = rec->rows ? live_rows_begin(rec->rows, &opts) : 0;

	if (rec->rows && !err)
		live_rows_write(rec->rows);
	return err;
}

/* Its rows get their date and their place in the file, and come out once they have their names. */
int recording_live_scan(struct recording *rec, struct session *session)
{
	int err = rec->rows ? session_clock(session) : 0;

	if (rec->rows && !err)
		err = session_names(session, false);
	if (rec->rows && !err)
		err = record_tee_flush(&rec->tee);
	if (rec->rows && !err)
		live_rows_write(rec->rows);
	return err;
}

int recording_live_rows(struct recording *rec, struct session *session)
{
	int err = 0;

	if (!rec->rows)
		return 0;
	if (live_rows_need_names(rec->rows))
		err = session_names(session, false);
	live_rows_write(rec->rows);
	return err;
}

size_t recording_live_fds(const struct recording *rec, struct pollfd *fds)
{
	return rec->rows ? live_rows_fds(rec->rows, fds) : 0;
}

bool recording_live_waits(const struct recording *rec)
{
	return rec->rows && live_rows_need_names(rec->rows);
}

bool recording_live_full(const struct recording *rec)
{
	return rec->rows && live_rows_full(rec->rows);
}

bool recording_live_over(const struct recording *rec)
{
	return rec->rows && live_rows_over(rec->rows);
}

static int flush(void *rec)
{
	return record_tee_flush(&((struct recording *)rec)->tee);
}

static int put_record(void *rec, const struct record *record)
{
	return record_tee_record(&((struct recording *)rec)->tee, record);
}

/* A second Ctrl-C ends us without our help. */
static bool hurry(void *rec)
{
	struct stop_signals *stop = &((struct recording *)rec)->stop;

	if (stop->stopped)
		return false;
	stop_signals_read(stop);
	return stop->stopped;
}

void recording_options(struct recording *rec, struct recorder_options *out)
{
	const struct recording_args *a = rec->args;

	*out = (struct recorder_options){
		.unwind = a->unwind,
		.user_only = a->user_only,
		.kernel_only = a->kernel_only,
		.include_idle = a->include_idle,
		.pids = &a->pids,
		.max_frames = a->max_frames,
		.audit = a->audit,
		.faults = FAULTS_ANON,
		.sink = put_record,
		.flush = flush,
		.hurry = hurry,
		.sink_ctx = rec,
	};
}

void recording_live(struct recording *rec, uint64_t samples, uint64_t lost, uint64_t scans)
{
	struct trace_writer_stats st;

	if (!rec->live.is_terminal || !rec->writer)
		return;
	trace_writer_stats(rec->writer, &st);
	live_line_update(&rec->live, &(struct live_numbers){ samples, lost, st.file_bytes, scans });
}

int recording_close(struct recording *rec)
{
	struct trace_writer_stats st = { 0 };
	int err = 0;

	live_line_clear(&rec->live);
	if (rec->writer) {
		/* Every byte is written at close; the last chunk is flushed first to be counted. */
		err = record_tee_flush(&rec->tee);
		trace_writer_stats(rec->writer, &st);
		if (trace_writer_close(rec->writer) && !err)
			err = -EIO;
	}
	rec->file_bytes = st.file_bytes;
	rec->writer = NULL;
	if (rec->rows)
		rec->rows_err = live_rows_finish(rec->rows);
	live_rows_close(rec->rows);
	rec->rows = NULL;
	stop_signals_close(&rec->stop);
	return err;
}

void recording_summary(const struct recording *rec, const struct session_stats *st, uint64_t lost,
		       const char *what, const char *others)
{
	char size[32], whole[64] = "no user stacks";

	if (st->user_stacks)
		snprintf(whole, sizeof(whole), "%.1f %% of user stacks whole",
			 100.0 * (double)st->whole / (double)st->user_stacks);

	note("%" PRIu64 " %s of %" PRIu64 " threads in %" PRIu64 " processes, %.1f s; %s; "
	     "%" PRIu64 " lost; %s in %s", st->samples, what, st->threads, st->processes,
	     (double)rec->run_ns / 1e9, whole, lost, human_bytes(rec->file_bytes, size),
	     strcmp(rec->path, "-") ? rec->path : "standard output");
	if (others[0])
		note("lost besides: %s", others);
}

int recording_render(struct recording *rec)
{
	struct render_opts opts = render_opts(rec);
	struct report *rep = NULL;
	int err = 0;

	if (rec->later.nr)
		err = report_open(rec->path, NULL, &rep);
	if (rep)
		err = output_list_run(&rec->later, rep, &opts);
	report_close(rep);
	output_list_release(&rec->later);
	return rec->rows_err ? rec->rows_err : err;
}
