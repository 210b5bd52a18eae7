#include "src/capture/collectors/scans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/recorder.h"

/* To people and into the trace. */
static void say(void *ctx, const char *text)
{
	struct scans *w = ctx;
	struct record rec = { .tag = REC_NOTE };

	rec.note = (struct rec_note){
		.severity = 1, .time_ns = now_ns(), .text = text, .len = strlen(text)
	};
	note("%s", text);
	session_emit(recorder_session(w->recorder), &rec);
}

int scans_open(struct scans *w, struct recorder *recorder, const struct task_snapshot_options *opts,
	       uint64_t interval_ns)
{
	struct task_snapshot_options o = *opts;

	w->recorder = recorder;
	w->interval_ns = interval_ns;
	w->begin_ns = now_ns();
	o.say = say;
	o.ctx = w;
	return task_snapshot_open(recorder_bpf(recorder), &o, &w->iter);
}

void scans_close(struct scans *w)
{
	task_snapshot_close(w->iter);
	w->iter = NULL;
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

	if (recorder_hidden(w->recorder, begin_ns, text, sizeof(text)))
		say(w, text);
}

static uint64_t period_at(const struct scans *w, uint64_t time_ns)
{
	return (time_ns - w->begin_ns) / w->interval_ns;
}

/* The multiples before this one that no walk had. */
static int tell_left_out(struct scans *w, uint64_t period)
{
	struct record rec = { .tag = REC_LOST };
	uint64_t first = w->next;

	if (period <= first)
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

/*
 * Which multiple it has is what its receipt says: between waking and beginning another may have
 * passed.
 */
static int end_scan(struct scans *w, const struct rec_scan *receipt)
{
	uint64_t period = period_at(w, receipt->time_ns);
	int err = tell_left_out(w, period);

	w->next = period + 1;
	w->scan_ns += receipt->duration_ns;
	w->rows += receipt->rows;
	return err ? err : session_scan(recorder_session(w->recorder), receipt);
}

int scans_one(struct scans *w)
{
	struct rec_scan receipt = { .scan = w->nr + 1, .interval_ns = w->interval_ns };
	int err = recorder_update(w->recorder);

	w->overslept = false;
	recorder_iterating(w->recorder, true);
	w->nr = receipt.scan;
	if (!err)
		err = task_snapshot_scan(w->iter, on_row, w, &receipt);
	recorder_iterating(w->recorder, false);
	recorder_bad_records(w->recorder, RECORDER_SCANS, task_snapshot_bad_records(w->iter));
	if (!err)
		err = recorder_settle(w->recorder, w->nr,
				      w->patient && (w->nr == 1 || w->nr == w->patient),
				      task_snapshot_again, w->iter);
	if (err)
		return err;
	if (w->nr == 1)
		say_hidden(w, receipt.time_ns);
	return end_scan(w, &receipt);
}

/* A late one does not shift the others. */
uint64_t scans_due(const struct scans *w)
{
	return w->begin_ns + (period_at(w, now_ns()) + 1) * w->interval_ns;
}

bool scans_overslept(struct scans *w, uint64_t due_ns)
{
	if (w->overslept || now_ns() < due_ns + w->interval_ns)
		return false;
	w->overslept = true;
	return true;
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

static void say_read(struct scans *w)
{
	const struct task_snapshot_stats *st = task_snapshot_stats(w->iter);
	char text[256];

	snprintf(text, sizeof(text),
		 "walks: %" PRIu64 " of %" PRIu64
		 " pages of stacks were brought in to be read; %" PRIu64
		 " stacks were read again because the memory map was locked, %" PRIu64
		 " of them in vain",
		 st->faulted, st->reads, st->busy, st->still_busy);
	say(w, text);
}

int scans_end(struct scans *w, bool unread, uint64_t until_ns)
{
	const struct task_snapshot_stats *st = task_snapshot_stats(w->iter);
	int err = 0;

	if (until_ns > w->begin_ns)
		err = tell_left_out(w, period_at(w, until_ns - 1) + 1);
	if (w->left_out)
		note("%" PRIu64 " walks were left out: the one before took longer than its period, "
				"or nothing ran. Try: a lower -F",
		     w->left_out);
	if (st->faulted || st->busy)
		say_read(w);
	if (unread && w->unread.rows)
		say_unread(w);
	return err;
}

uint64_t scans_cpu_ns(const struct scans *w)
{
	return task_snapshot_cpu_ns(w->iter);
}
