/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/task_snapshot.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/collectors/left_readers.h"
#include "src/capture/collectors/running_threads.h"
#include "src/capture/collectors/task_reader.h"

/*
 * Processes that are visited one by one, at most: each costs as much as some 100 tasks passed by.
 */
#define MAX_SCOPES 4
/* Readers that are replaced in one scan, at most: somebody does not want it to be made. */
#define MAX_KILLED 64
/* More than what comes at once and the row that began before it. */
#define BUFFER_BYTES (256 * 1024)

struct task_snapshot {
	struct task_snapshot_options opts;
	struct capture_bpf *bpf;
	struct task_reader *reader;
	struct left_readers left;
	struct running_threads *running;	/* NULL: they are only marked */
	/* Tasks that the last scan met, counted apart from what became of them. */
	uint64_t seen;
	/*
	 * The tids of this scan's rows, as they come. The first nr_sorted are those of readers that
	 * hung.
	 */
	uint32_t *tids;
	size_t nr_tids, cap_tids, nr_sorted;
	struct task_snapshot_stats stats;
	uint64_t cpu_ns;		/* of readers that hung or died */
	uint64_t visits;		/* scan_place.visits when the reader was told to begin */
	uint32_t died_at;		/* thread in whose visit the last reader died; 0: none */
	uint32_t nr_killed;		/* in this scan */
	bool is_anew;			/* the next scan has no row of WIRE_SAME */
	bool is_cut;			/* it was urgent: there is no reader any more */
	uint64_t bad_records;
	uint8_t *buffer;
};

static int open_reader(struct task_snapshot *ts)
{
	struct task_reader_deps deps = {
		.forker = ts->opts.forker,
		.prog_fd = bpf_program__fd(capture_bpf_snapshot(ts->bpf)),
		.place = capture_bpf_scan_place(ts->bpf),
		.is_urgent = ts->opts.is_urgent,
		.ctx = ts->opts.ctx,
	};

	return task_reader_open(&deps, &ts->reader);
}

int task_snapshot_open(struct capture_bpf *bpf, const struct task_snapshot_options *opts,
		       struct task_snapshot **tp)
{
	struct task_snapshot *ts = calloc(1, sizeof(*ts));
	int err = 0;

	if (!ts)
		return -ENOMEM;
	ts->opts = *opts;
	ts->bpf = bpf;
	ts->buffer = malloc(BUFFER_BYTES);
	if (!ts->buffer)
		err = -ENOMEM;
	if (!err && opts->ask)
		err = running_threads_open(bpf, &ts->running);
	if (!err)
		err = open_reader(ts);
	if (err)
		task_snapshot_close(ts);
	else
		*tp = ts;
	return err;
}

void task_snapshot_close(struct task_snapshot *ts)
{
	if (!ts)
		return;
	running_threads_close(ts->running);
	task_reader_close(ts->reader);
	free(ts->tids);
	free(ts->buffer);
	free(ts);
}

/* Hands out the whole rows of the buffer; the number of bytes used, or an error. */
static long hand_out(struct task_snapshot *ts, size_t have, wire_stack_fn fn, void *ctx)
{
	struct wire_stack stack;
	size_t at = 0;

	while (at < have) {
		long n = wire_decode(ts->buffer + at, have - at, &stack);
		int err;

		if (n == 0)
			break;
		if (n < 0) {	/* the rest cannot be told apart any more */
			ts->bad_records++;
			return (long)have;
		}
		err = fn(ctx, &stack);
		if (err)
			return err;
		at += (size_t)n;
	}
	assert(at <= have);
	return (long)at;
}

static void end_reader(struct task_snapshot *ts)
{
	ts->cpu_ns += task_reader_cpu_ns(ts->reader);
	task_reader_close(ts->reader);
	ts->reader = NULL;
}

/*
 * Whether the reader died while it was at the same thread as the one before: then it is no chance,
 * and the thread's process is treated as if the reader had hung there.
 */
static bool died_here_again(struct task_snapshot *ts)
{
	const struct scan_place *place = capture_bpf_scan_place(ts->bpf);
	uint32_t before = ts->died_at;

	ts->died_at = place->visits != ts->visits ? place->tid : 0;
	return ts->died_at && ts->died_at == before;
}

/*
 * The reader was killed, by the kernel for want of memory or by somebody. Another one begins again,
 * with the same scratch: what is dead writes no rows.
 */
static int replace(struct task_snapshot *ts)
{
	const struct scan_place *place = capture_bpf_scan_place(ts->bpf);
	char text[256];

	if (!ts->stats.killed++) {
		snprintf(text, sizeof(text), "the process that reads the stacks was %s. Another "
			 "one goes on, and nothing is lost",
			 task_reader_was_stopped(ts->reader) ? "stopped" : "killed");
		ts->opts.say(ts->opts.ctx, text);
	}
	ts->cpu_ns += task_reader_cpu_ns(ts->reader);
	task_reader_bury(ts->reader);
	ts->reader = NULL;
	if (++ts->nr_killed > MAX_KILLED)
		return fail_why(-EIO, "walk the tasks: %u readers were killed in one snapshot",
				ts->nr_killed);
	if (died_here_again(ts)) {
		snprintf(text, sizeof(text),
			 "process %u (%.15s): readers die at its thread %u. Its memory is left "
			 "alone from here on, all others are shown",
			 place->tgid, place->comm, place->tid);
		ts->opts.say(ts->opts.ctx, text);
		capture_bpf_leave_alone(ts->bpf, place->tgid);
	}
	return open_reader(ts);
}

/* One more reader hangs in a process of this user. Root has other ways to disturb. */
static void leave_user_alone(struct task_snapshot *ts, uint32_t uid)
{
	struct scan_control *control = capture_bpf_scan_control(ts->bpf);
	char text[256];

	if (!uid || left_readers_of_user(&ts->left, uid) != LEFT_OF_USER ||
	    capture_bpf_leave_alone(ts->bpf, HUNG_USER | uid))
		return;
	control->hung_users++;
	snprintf(text, sizeof(text),
		 "user %u: readers hang in %d processes. The memory of this user's processes is "
		 "left alone until some of them have returned",
		 uid, LEFT_OF_USER);
	ts->opts.say(ts->opts.ctx, text);
}

/*
 * What readers held that have ended since. Called between two scans, when no program runs, so that
 * the reader that is there can move to another scratch: stacks of the kernel are remembered for the
 * first one only (bpf/kernel_memo.bpf.h).
 */
static void take_back(struct task_snapshot *ts)
{
	struct scan_control *control = capture_bpf_scan_control(ts->bpf);
	struct left_reader r;

	while (left_readers_take_back(&ts->left, &r)) {
		if (!r.again)
			capture_bpf_read_again(ts->bpf, r.tgid);
		if (r.uid && left_readers_of_user(&ts->left, r.uid) == LEFT_OF_USER - 1) {
			capture_bpf_read_again(ts->bpf, HUNG_USER | r.uid);
			control->hung_users--;
		}
		control->slot = left_readers_slot(&ts->left);
		control->no_reads = left_readers_free_slots(&ts->left) == 1;
	}
}

static void say_hangs(struct task_snapshot *ts, bool again)
{
	const struct scan_place *place = capture_bpf_scan_place(ts->bpf);
	char text[256], where[64];

	task_reader_waits_in(ts->reader, where, sizeof(where));
	snprintf(text, sizeof(text),
		 "process %u (%.15s): reading the memory of its thread %u hangs%s%s. It is left "
		 "alone %s, all others are shown",
		 place->tgid, place->comm, place->tid, where[0] ? " in " : "", where,
		 again ? "from here on" : "until that ends");
	ts->opts.say(ts->opts.ctx, text);
}

/*
 * The reader hangs in the memory of some process: it is left behind with its scratch, the memory of
 * that process is left alone, and another reader goes on. The reader that gets the last scratch
 * reads no memory at all.
 */
static int give_up(struct task_snapshot *ts)
{
	struct scan_place *place = capture_bpf_scan_place(ts->bpf);
	struct scan_control *control = capture_bpf_scan_control(ts->bpf);
	struct left_reader left = { task_reader_pid(ts->reader), place->tgid, place->uid, false };

	assert(control->slot < SCAN_SLOTS);
	left_readers_add(&ts->left, control->slot, &left);
	say_hangs(ts, left.again);
	ts->stats.hung++;
	end_reader(ts);
	if (control->no_reads)
		return fail_why(-EIO, "walk the tasks: readers hang although they read no memory");
	capture_bpf_leave_alone(ts->bpf, place->tgid);
	leave_user_alone(ts, place->uid);
	control->given_up = place->reader;
	control->slot = left_readers_slot(&ts->left);
	control->no_reads = left_readers_free_slots(&ts->left) == 1;
	return open_reader(ts);
}

/* err: why the reader delivers no more. -EAGAIN: another one has taken its place. */
static int without_reader(struct task_snapshot *ts, int err)
{
	if (err == -ETIMEDOUT)
		err = give_up(ts);
	else if (err == -ECHILD)
		err = replace(ts);
	else
		return err;
	return err ? err : -EAGAIN;
}

static int begin_rows(struct task_snapshot *ts, const struct reader_scope *scope)
{
	if (ts->is_cut)
		return -EINTR;
	ts->visits = capture_bpf_scan_place(ts->bpf)->visits;
	return without_reader(ts, task_reader_begin(ts->reader, scope));
}

/*
 * One scan by one reader. -EAGAIN: it hung or died, and another one has taken its place. -EINTR: it
 * was left behind.
 */
static int read_rows(struct task_snapshot *ts, const struct reader_scope *scope, wire_stack_fn fn,
		     void *ctx)
{
	int err = begin_rows(ts, scope);
	size_t have = 0;

	while (!err) {
		long n = task_reader_next(ts->reader, ts->buffer + have, BUFFER_BYTES - have), used;

		ts->is_cut = n == -EINTR;
		if (n <= 0) {
			ts->bad_records += have > 0 && !n;
			return without_reader(ts, (int)n);
		}
		have += (size_t)n;
		used = hand_out(ts, have, fn, ctx);
		if (used < 0)
			return (int)used;
		have -= (size_t)used;
		assert(have <= BUFFER_BYTES - TASK_READER_BYTES);	/* less than a row */
		memmove(ts->buffer, ts->buffer + used, have);
	}
	return err;
}

static void fill_receipt(struct task_snapshot *ts, struct rec_scan *r)
{
	const struct scan_totals *t = capture_bpf_totals(ts->bpf);

	r->rows = ts->nr_tids;
	r->filtered = t->filtered;
	r->skipped_idle_kthreads = t->idle_kthreads;
	r->tasks_seen = ts->seen;
	r->on_cpu = t->on_cpu;
	r->read_faults = t->faulted;
	ts->stats.reads += t->reads;
	ts->stats.of_slowed += t->of_slowed;
	ts->stats.faulted += t->faulted;
}

/* Only kernels since 6.1 can visit one thread without visiting all others. */
static int visit_thread(void *ts, uint32_t tid, wire_stack_fn fn, void *ctx)
{
	struct reader_scope scope = { .only_tid = tid, .strictly = true };

	return read_rows(ts, &scope, fn, ctx);
}

struct visitor {
	struct task_snapshot *ts;
	wire_stack_fn fn;
	void *ctx;
};

/* Whether a reader handed out a row of this thread before it hung or died. */
static bool has_row(const struct task_snapshot *ts, uint32_t tid)
{
	return ts->nr_sorted && bsearch(&tid, ts->tids, ts->nr_sorted, sizeof(tid), compare_u32);
}

static int on_visit(void *ctx, const struct wire_stack *stack)
{
	struct visitor *v = ctx;
	struct task_snapshot *ts = v->ts;
	uint32_t *tid;

	if (has_row(ts, stack->head->tid))
		return 0;
	tid = array_push(&ts->tids, &ts->nr_tids, &ts->cap_tids);
	if (!tid)
		return -ENOMEM;
	*tid = stack->head->tid;
	if (ts->running && wire_stack_is_missing(stack))
		return running_threads_add(ts->running, stack);
	return v->fn(v->ctx, stack);
}

/*
 * Visits the targets one by one, in the order in which they come if all tasks are visited. -E2BIG:
 * there are many; -ENOTSUP: the kernel cannot do that. No row has come then.
 */
static int read_targets(struct task_snapshot *ts, struct visitor *v)
{
	uint32_t ids[MAX_SCOPES];
	size_t nr = capture_bpf_targets(ts->bpf, ids, MAX_SCOPES);
	int err = 0;

	if (nr > MAX_SCOPES)
		return -E2BIG;
	qsort(ids, nr, sizeof(*ids), compare_u32);
	for (size_t i = 0; i < nr && !err; i++) {
		struct reader_scope scope = { .only_pid = ids[i], .strictly = true };

		if (i && ids[i] == ids[i - 1])
			continue;
		err = read_rows(ts, &scope, on_visit, v);
		if (err == -ESRCH)	/* it has ended */
			err = 0;
	}
	return err;
}

static int read_wanted(struct task_snapshot *ts, struct visitor *v)
{
	struct reader_scope scope = { .only_tid = ts->opts.only_tid };
	int err = ts->opts.by_target ? read_targets(ts, v) : -E2BIG;

	if (err == -ENOTSUP)
		ts->opts.by_target = false;
	return err == -ENOTSUP || err == -E2BIG ? read_rows(ts, &scope, on_visit, v) : err;
}

/*
 * Visits all tasks, with as many readers as it takes. A reader that hung or died has not delivered
 * its last rows, so no thread is taken for unchanged by the next one.
 */
static int visit_all(struct task_snapshot *ts, struct visitor *v)
{
	struct scan_totals *totals = capture_bpf_totals(ts->bpf);
	struct scan_control *control = capture_bpf_scan_control(ts->bpf);
	int err;

	control->all_anew = ts->is_anew;
	ts->is_anew = false;
	control->aside = ts->opts.aside;
	ts->nr_tids = ts->nr_sorted = 0;
	ts->nr_killed = 0;
	for (;;) {
		memset(totals, 0, sizeof(*totals));
		err = read_wanted(ts, v);
		if (err != -EAGAIN)
			return err;
		if (ts->nr_tids)
			qsort(ts->tids, ts->nr_tids, sizeof(*ts->tids), compare_u32);
		ts->nr_sorted = ts->nr_tids;
		control->all_anew = true;
	}
}

/*
 * Says so if a memo was wrong (bpf/kernel_memo.bpf.h). That was never seen; it would mean that a
 * kernel unwinds by more than what stands on the stack.
 */
static void look_at_memo(struct task_snapshot *ts)
{
	struct scan_control *control = capture_bpf_scan_control(ts->bpf);

	if (!capture_bpf_totals(ts->bpf)->misled || control->no_memo)
		return;
	control->no_memo = true;
	ts->opts.say(ts->opts.ctx, "a kernel stack was taken for one met before, and was another "
				   "one: all are unwound from here on. "
				   "Kernel stacks of this walk and of those before may be wrong");
}

static int scan_all(struct task_snapshot *ts, wire_stack_fn fn, void *ctx, struct rec_scan *receipt)
{
	struct visitor v = { ts, fn, ctx };
	struct running_stats running = { 0 };
	uint64_t hung = ts->stats.hung;
	int err;

	if (ts->running)
		running_threads_begin(ts->running);
	err = visit_all(ts, &v);
	ts->seen = capture_bpf_totals(ts->bpf)->seen;
	look_at_memo(ts);
	if ((!err || err == -EINTR) && ts->running) {	/* all that were set aside are given */
		int settled = running_threads_settle(ts->running, visit_thread, ts, fn, ctx);

		err = settled ? settled : err;
		running_threads_stats(ts->running, &running);
	}
	fill_receipt(ts, receipt);
	receipt->hung = ts->stats.hung - hung;
	receipt->torn = running.uncaught;
	receipt->vanished = running.gone;
	ts->stats.busy += running.busy;
	ts->stats.still_busy += running.still_busy;
	return err;
}

int task_snapshot_scan(struct task_snapshot *ts, wire_stack_fn fn, void *ctx,
		       struct rec_scan *receipt)
{
	struct scan_control *control = capture_bpf_scan_control(ts->bpf);
	int err;

	take_back(ts);
	control->interval_ns = receipt->interval_ns;
	control->scan = ts->opts.aside ? 0 : receipt->scan;
	receipt->time_ns = control->begin_ns = now_ns();
	err = scan_all(ts, fn, ctx, receipt);
	receipt->duration_ns = now_ns() - receipt->time_ns;
	return err;
}

/* A memory map that is locked is not waited for: the thread has a row already. */
static int on_again(void *ctx, const struct wire_stack *stack)
{
	struct visitor *v = ctx;

	if (v->ts->running && wire_stack_is_missing(stack) && stack->end != UNWIND_BUSY)
		return running_threads_add(v->ts->running, stack);
	return v->fn(v->ctx, stack);
}

int task_snapshot_again(void *snapshot, uint32_t tid, wire_stack_fn fn, void *ctx)
{
	struct task_snapshot *ts = snapshot;
	struct visitor v = { ts, fn, ctx };
	int err, settled;

	if (ts->running)
		running_threads_begin(ts->running);
	err = visit_thread(ts, tid, on_again, &v);
	if (!ts->running)
		return err;
	settled = running_threads_settle(ts->running, visit_thread, ts, fn, ctx);
	return err ? err : settled;
}

void task_snapshot_anew(struct task_snapshot *ts)
{
	ts->is_anew = true;
}

uint64_t task_snapshot_bad_records(const struct task_snapshot *ts)
{
	return ts->bad_records;
}

uint64_t task_snapshot_cpu_ns(const struct task_snapshot *ts)
{
	return ts->cpu_ns + (ts->reader ? task_reader_cpu_ns(ts->reader) : 0);
}

const struct task_snapshot_stats *task_snapshot_stats(const struct task_snapshot *ts)
{
	return &ts->stats;
}
