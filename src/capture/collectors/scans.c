/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When scans are made.
 *
 * The problem. Each row of a scan stands for one interval of its thread's time. So scans must not
 * drift, and a scan that could not be made must not be made up for later: two scans of one moment
 * would count it twice.
 *
 * The idea. Time is divided into multiples of the interval, counted from begin_ns. A scan is that
 * of the multiple in which it begins, and after it the next multiple from then on is due. Multiples
 * in which no scan begins, because the one before took longer than the interval or the machine was
 * paused, are left out: they are counted, and a LOST record says which they were. At 10 Hz:
 *
 *	multiple	0		1		2	3	4
 *	scan		1: 30 ms	2: 250 ms	-	-	3
 *
 *	LOST { time = begin + 200 ms, duration = 200 ms, count = 2 }
 *
 * If a scan that is due is so late that the next multiple is due, too, that one is waited for, but
 * not twice in a row, because some scan has to begin.
 *
 * A scan that is asked for (scans_ask()) is made at once. It is that of the multiple in which it is
 * asked for, or of the next one that has none yet, where none is made any more: so all rows
 * together still stand for the time that has passed. With scan_when_asked these are the only scans.
 *
 * In its turn a scan first has the recorder learn what happened to processes until now, then all
 * tasks are scanned, and then the stacks that were deferred get some time for their tables.
 *
 * Limits. If scans take longer than the interval, multiples are left out all the time: scans_end()
 * says how many and advises a lower rate.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/task_snapshot.h"
#include "src/capture/recorder.h"
#include "src/capture/session/session.h"
#include "src/proc/cpu_time.h"

#define UNREAD_NAMED 8

/* Processes with stacks that were not read: the first UNREAD_NAMED of them. */
struct unread {
	uint32_t tgid[UNREAD_NAMED];
	char comm[UNREAD_NAMED][WIRE_COMM];
	uint32_t nr;
	uint64_t rows;			/* of all such processes */
};

struct scans {
	const struct capture_options *options;
	struct recorder *recorder;
	struct task_snapshot *iter;
	uint64_t interval_ns, begin_ns;
	uint64_t next_ns;		/* when the next scan is due */
	uint32_t nr;			/* scans made */
	uint32_t times, wanted_times;	/* the interval is so many times as long; from now, soon */
	uint16_t number;		/* of the event */
	uint64_t next;			/* the first multiple behind that of the last scan */
	uint64_t left_out;		/* multiples without a scan so far */
	uint64_t missing;		/* rows that scans should have had */
	uint32_t part;			/* of the recording, at the last scan */
	bool overslept;			/* the last turn waited for the next multiple */
	bool is_asked;			/* one more is wanted now */
	uint64_t scan_ns, rows;		/* sums over all scans */
	struct unread unread;
	struct cpu_time begin_time;
};

/* Tells the user, and puts it into the trace. */
static void say(void *ctx, const char *text)
{
	(void)ctx;
	note_kept("%s", text);
}

static bool is_urgent(void *ctx)
{
	return recorder_in_a_hurry(((const struct scans *)ctx)->recorder);
}

static bool is_wanted(const struct capture_options *o)
{
	return o->scan;
}

/* Says which tasks the kernel has to visit. The program filters in any case. */
static void restrict_to(const struct capture_options *o, struct task_snapshot_options *out)
{
	size_t nr_tids = o->tids ? o->tids->nr : 0, nr_pids = o->pids ? o->pids->nr : 0;

	if (nr_tids == 1 && !nr_pids)
		out->only_tid = o->tids->v[0];
	else
		out->by_target = nr_pids && !nr_tids;
}

static int add_event(struct scans *w)
{
	struct session_event event = {
		.name = "snapshot",
		.unit = "ns",
		.kind = EVENT_SNAPSHOT,
		.freq_hz = w->options->scan_when_asked ? 0 : w->options->scan_hz,
		.period = w->interval_ns,
	};
	int number = recorder_add_event(w->recorder, &event);

	w->number = (uint16_t)number;
	if (number > 0)
		capture_bpf_scan_control(recorder_bpf(w->recorder))->event = (uint32_t)number;
	return number < 0 ? number : 0;
}

static void scans_close(void *state)
{
	struct scans *w = state;

	if (w)
		task_snapshot_close(w->iter);
	free(w);
}

static int scans_open(const struct collector_context *ctx, void **state)
{
	struct task_snapshot_options opts = {
		.ask = true, .say = say, .is_urgent = is_urgent,
	};
	struct scans *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return fail(-ENOMEM, "open the snapshots");
	w->options = ctx->options;
	w->recorder = ctx->recorder;
	w->interval_ns = (uint64_t)((double)NSEC_PER_SEC / ctx->options->scan_hz + 0.5);
	w->times = w->wanted_times = 1;
	opts.ctx = w;
	opts.forker = recorder_forker(w->recorder);
	restrict_to(ctx->options, &opts);
	err = task_snapshot_open(recorder_bpf(w->recorder), &opts, &w->iter);
	if (!err)
		err = add_event(w);
	if (err)
		scans_close(w);
	else
		*state = w;
	return err;
}

static int scans_start(void *state, uint64_t begin_ns)
{
	struct scans *w = state;

	w->begin_ns = begin_ns;
	w->next_ns = w->options->scan_when_asked ? UINT64_MAX : begin_ns;
	cpu_time_read(NULL, &w->begin_time);
	return 0;
}

static void note_unread(struct unread *u, const struct wire_sample *head)
{
	u->rows++;
	for (uint32_t i = 0; i < u->nr; i++)
		if (u->tgid[i] == head->tgid)
			return;
	if (u->nr == UNREAD_NAMED)
		return;
	memcpy(u->comm[u->nr], head->comm, sizeof(head->comm));
	u->tgid[u->nr++] = head->tgid;
}

static bool scans_is_over(const void *state)
{
	const struct scans *w = state;

	return w->options->scans && w->nr >= w->options->scans;
}

static int on_row(void *ctx, const struct wire_stack *stack)
{
	struct scans *w = ctx;

	if (stack->end == END_NOT_READ)
		note_unread(&w->unread, stack->head);
	return recorder_stack(w->recorder, stack, w->nr);
}

static void say_hidden(struct scans *w, uint64_t begin_ns)
{
	char text[512];

	if (!recorder_hidden(w->recorder, begin_ns, text, sizeof(text)))
		return;
	/* That is so on this machine each time, as doctor says. */
	if (recorder_is_filtered(w->recorder)) {
		note_kept("%s", text);
		return;
	}
	note_verbose("%s", text);
	session_note(recorder_session(w->recorder), 0, text);
}

static uint64_t period_at(const struct scans *w, uint64_t time_ns)
{
	return (time_ns - w->begin_ns) / w->interval_ns;
}

/* Tells of the multiples before this one in which no scan began. */
static int tell_left_out(struct scans *w, uint64_t period)
{
	struct record rec = { .tag = REC_LOST };
	uint64_t first = w->next;

	if (period <= first || w->options->scan_when_asked)
		return 0;
	rec.lost = (struct rec_lost){
		.time_ns = w->begin_ns + first * w->interval_ns,
		.duration_ns = (period - first) * w->interval_ns,
		.cause = LOSS_SCANS,
		.cpu = UINT32_MAX,
		.count = period - first,
	};
	w->left_out += rec.lost.count;
	return session_emit(recorder_session(w->recorder), &rec);
}

/* Tasks that were seen and have neither a row nor a reason for none. */
static uint64_t rows_missing(const struct rec_scan *receipt)
{
	uint64_t named = receipt->rows + receipt->skipped_idle_kthreads + receipt->filtered;

	return receipt->tasks_seen > named ? receipt->tasks_seen - named : 0;
}

/*
 * The time in the receipt says which multiple the scan is that of: between waking and beginning
 * another one may have passed. One that was asked for may be before its multiple.
 */
static int end_scan(struct scans *w, const struct rec_scan *receipt)
{
	uint64_t period = period_at(w, receipt->time_ns);
	int err = tell_left_out(w, period);

	if (period < w->next)
		period = w->next;
	w->next = period + 1;
	w->scan_ns += receipt->duration_ns;
	w->rows += receipt->rows;
	w->missing += rows_missing(receipt);
	return err ? err : session_scan(recorder_session(w->recorder), receipt);
}

/*
 * If nothing else is recorded, the first and the last scan wait long for the tables that their
 * stacks need.
 */
static bool is_patient(const struct scans *w)
{
	const struct capture_options *o = w->options;

	return o->scan_is_all && (w->nr == 1 || w->nr == o->scans);
}

/*
 * The rows of a scan that was cut short stay in the trace, with its receipt. It counts as one that
 * was left out, because other rows are missing.
 */
static int end_cut_scan(struct scans *w, const struct rec_scan *receipt)
{
	struct record rec = { .tag = REC_LOST };

	say(w, "the last snapshot was cut short: the signal to stop came, and it took longer than "
	       "1 s more. Threads are missing in it");
	rec.lost = (struct rec_lost){
		.time_ns = receipt->time_ns,
		.duration_ns = w->interval_ns,
		.cause = LOSS_SCANS,
		.cpu = UINT32_MAX,
		.count = 1,
	};
	w->left_out++;
	return session_emit(recorder_session(w->recorder), &rec);
}

/* The last rows of threads are in the part of the recording before this one. */
static void look_at_part(struct scans *w)
{
	uint32_t part = session_part(recorder_session(w->recorder));

	if (part != w->part)
		task_snapshot_anew(w->iter);
	w->part = part;
}

static int take_rows(struct scans *w, struct rec_scan *receipt)
{
	uint64_t cpu_ns;
	int err;

	look_at_part(w);
	recorder_iter_begin(w->recorder);
	recorder_divide_cost(w->recorder, 0);
	cpu_ns = task_snapshot_cpu_ns(w->iter);
	err = task_snapshot_scan(w->iter, on_row, w, receipt);
	recorder_divide_cost(w->recorder, task_snapshot_cpu_ns(w->iter) - cpu_ns);
	recorder_iter_end(w->recorder);
	return err == -EINTR ? end_cut_scan(w, receipt) : err;
}

/* Multiples are counted anew from this one on, in intervals of another length. */
static int change_interval(struct scans *w)
{
	uint64_t period = period_at(w, now_ns());
	int err = tell_left_out(w, period);

	w->begin_ns += period * w->interval_ns;
	w->next = 0;
	w->interval_ns = w->interval_ns / w->times * w->wanted_times;
	w->times = w->wanted_times;
	return err;
}

static int scan(struct scans *w)
{
	struct rec_scan receipt = { .scan = w->nr + 1 };
	int err = w->times == w->wanted_times ? 0 : change_interval(w);

	if (!err)
		err = recorder_update(w->recorder);
	receipt.interval_ns = w->interval_ns;
	w->overslept = false;
	w->nr = receipt.scan;
	if (!err)
		err = take_rows(w, &receipt);
	if (!err && w->nr == 1)
		err = recorder_show(w->recorder);
	if (!err)
		err = recorder_settle(w->recorder, w->nr, is_patient(w), task_snapshot_again,
				      w->iter);
	if (err)
		return err;
	if (w->nr == 1)
		say_hidden(w, receipt.time_ns);
	return end_scan(w, &receipt);
}

/* The next multiple from now on: a late scan does not shift the others. */
static uint64_t next_due(const struct scans *w)
{
	uint64_t next = period_at(w, now_ns()) + 1;

	if (w->options->scan_when_asked)
		return UINT64_MAX;
	return w->begin_ns + (next > w->next ? next : w->next) * w->interval_ns;
}

/*
 * Whether the scan that is due is so late that the next multiple is due, too: that one is waited
 * for. True only once in a row, because some scan has to begin.
 */
static bool overslept(struct scans *w)
{
	if (!w->nr || w->overslept || now_ns() < w->next_ns + w->interval_ns)
		return false;
	w->overslept = true;
	return true;
}

static int scans_take(void *state)
{
	struct scans *w = state;
	bool is_asked = w->is_asked;
	int err = 0;

	if ((!is_asked && now_ns() < w->next_ns) || scans_is_over(w))
		return 0;
	w->is_asked = false;
	if (is_asked || !overslept(w))
		err = scan(w);
	w->next_ns = next_due(w);
	return err;
}

static void scans_ask(void *state)
{
	((struct scans *)state)->is_asked = true;
}

/* A segment has rows at one rate; the first scan in it is still at the time of the old one. */
static void scans_slow(void *state, uint32_t times)
{
	struct scans *w = state;

	w->wanted_times = times;
	session_set_rate(recorder_session(w->recorder), w->number, w->options->scan_hz / times,
			 w->interval_ns / w->times * times);
}

static uint64_t scans_due(const void *state)
{
	const struct scans *w = state;

	return w->is_asked ? 0 : w->next_ns;
}

static void say_unread(struct scans *w)
{
	const struct unread *u = &w->unread;
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "%" PRIu64
			 " user stacks were not read because that could block: of process",
			 u->rows);

	for (uint32_t i = 0; i < u->nr && n < (int)sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %u (%.15s)", i ? "," : "",
			      u->tgid[i], u->comm[i]);
	say(w, text);
}

/*
 * Puts into the trace what it took to read the stacks. The user is told only if some could not be
 * read.
 */
static void tell_read(struct scans *w)
{
	const struct task_snapshot_stats *st = task_snapshot_stats(w->iter);
	char text[256];

	if (st->killed) {
		snprintf(text, sizeof(text),
			 "snapshots: %" PRIu64 " processes that read the stacks were killed, and "
			 "others read again what was missing", st->killed);
		say(w, text);
	}
	if (!st->faulted && !st->busy)
		return;
	snprintf(text, sizeof(text),
		 "snapshots: %" PRIu64 " of %" PRIu64
		 " pages of stacks were brought in to be read; %" PRIu64
		 " stacks were read again because the memory map was locked, %" PRIu64
		 " of them in vain",
		 st->faulted, st->reads, st->busy, st->still_busy);
	if (st->still_busy)
		say(w, text);
	else
		session_note(recorder_session(w->recorder), 0, text);
}

/*
 * Until when scans were due. If the recording ended because it had all scans asked for, none is
 * missing: 0.
 */
static uint64_t last_due_ns(const struct collector_end *end)
{
	return end->reason == ENDED_ITERATIONS ? 0 : end->end_ns;
}

/*
 * Puts into the trace how busy the CPUs were by the kernel's own accounts, with which scans of all
 * threads can be compared. If there is a sampler, its ticks say that already.
 */
static int tell_cpu_share(struct scans *w)
{
	struct cpu_time end;
	char text[64];
	double share;

	if (!w->options->scan_is_all || !recorder_is_whole_machine(w->recorder) || w->nr < 2 ||
	    cpu_time_read(NULL, &end))
		return 0;
	share = cpu_time_share(&w->begin_time, &end);
	if (share < 0)
		return 0;
	snprintf(text, sizeof(text), "stat=%.3f walks=1", share);
	return session_tell(recorder_session(w->recorder), "cpu.busy", text);
}

static int scans_end(void *state, const struct collector_end *end)
{
	struct scans *w = state;
	uint64_t until_ns = last_due_ns(end);
	int err = 0;

	if (until_ns > w->begin_ns)
		err = tell_left_out(w, period_at(w, until_ns - 1) + 1);
	if (w->left_out)
		note("%" PRIu64 " snapshots were left out: the one before took longer than its "
		     "period, or nothing ran. Try: a lower rate",
		     w->left_out);
	tell_read(w);
	if (w->options->faults == FAULTS_ANON && w->unread.rows)
		say_unread(w);
	note_verbose("%u snapshots, %.1f ms each", w->nr,
		     w->nr ? (double)w->scan_ns / 1e6 / w->nr : 0);
	end->end->cpu_time_ns += task_snapshot_cpu_ns(w->iter);
	return err ? err : tell_cpu_share(w);
}

static void scans_counts(const void *state, struct collector_counts *add)
{
	const struct scans *w = state;

	add->scans += w->nr;
	add->rows += w->rows;
	add->missing += w->left_out + w->missing;
}

static void scans_losses(const void *state, uint64_t totals[LOSS_CAUSES])
{
	const struct scans *w = state;

	totals[LOSS_BAD_RECORD] += task_snapshot_bad_records(w->iter);
	totals[LOSS_RATE_LIMIT] += task_snapshot_stats(w->iter)->of_slowed;
}

const struct collector scans_collector = {
	.name = "snapshots",
	.programs = CAPTURE_SNAPSHOT,
	.by_scans = true,
	.is_wanted = is_wanted,
	.open = scans_open,
	.start = scans_start,
	.due_ns = scans_due,
	.take = scans_take,
	.ask = scans_ask,
	.slow = scans_slow,
	.is_over = scans_is_over,
	.end = scans_end,
	.counts = scans_counts,
	.losses = scans_losses,
	.close = scans_close,
};
