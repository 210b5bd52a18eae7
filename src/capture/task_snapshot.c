#include "src/capture/task_snapshot.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/capture_bpf.h"
#include "src/capture/running_threads.h"

#define BUFFER_BYTES (256 * 1024)	/* the kernel hands out at most 32 KiB a read; a row is below that */

struct task_snapshot {
	struct capture_bpf *bpf;
	struct bpf_link *link;
	struct running_threads *running;	/* NULL: they are only marked */
	uint64_t bad_records;
	uint8_t *buffer;
};

static struct bpf_link *attach(struct capture_bpf *bpf, const struct task_snapshot_options *opts)
{
	struct bpf_program *prog = capture_bpf_snapshot(bpf);
	union bpf_iter_link_info info = { 0 };
	LIBBPF_OPTS(bpf_iter_attach_opts, iter, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_link *link = NULL;

	if (opts->only_tid)
		info.task.tid = opts->only_tid;
	else
		info.task.pid = opts->only_pid;
	if (opts->only_tid || opts->only_pid)
		link = bpf_program__attach_iter(prog, &iter);
	/* Before 6.1 the kernel cannot restrict the walk; the program's own filter does it anyway. */
	return link ? link : bpf_program__attach_iter(prog, NULL);
}

int task_snapshot_open(struct capture_bpf *bpf, const struct task_snapshot_options *opts, struct task_snapshot **tp)
{
	struct task_snapshot *ts = calloc(1, sizeof(*ts));
	int err = 0;

	if (!ts)
		return -ENOMEM;
	ts->bpf = bpf;
	ts->buffer = malloc(BUFFER_BYTES);
	ts->link = ts->buffer ? attach(bpf, opts) : NULL;
	if (opts->ask && ts->link)
		err = running_threads_open(bpf, &ts->running);
	if (err)
		;	/* said */
	else if (!ts->buffer)
		err = -ENOMEM;
	else if (!ts->link)
		err = fail_try(-errno, "probee doctor", "attach the task iterator");
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
	bpf_link__destroy(ts->link);
	free(ts->buffer);
	free(ts);
}

/* Hands out the whole rows of the buffer; the number of bytes used, or an error. */
static long hand_out(struct task_snapshot *ts, size_t have, snapshot_row_fn fn, void *ctx)
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
	return (long)at;
}

static int read_rows(struct task_snapshot *ts, int fd, snapshot_row_fn fn, void *ctx)
{
	size_t have = 0;

	for (;;) {
		ssize_t n = read(fd, ts->buffer + have, BUFFER_BYTES - have);
		long used;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return fail(-errno, "walk the tasks");
		if (!n)
			break;
		have += (size_t)n;
		used = hand_out(ts, have, fn, ctx);
		if (used < 0)
			return (int)used;
		have -= (size_t)used;
		memmove(ts->buffer, ts->buffer + used, have);
	}
	ts->bad_records += have > 0;
	return 0;
}

static void fill_receipt(const struct walk_totals *t, struct rec_walk *r)
{
	r->rows = t->rows;
	r->filtered = t->filtered;
	r->skipped_idle_kthreads = t->idle_kthreads;
	r->tasks_seen = t->rows + t->filtered + t->idle_kthreads;
	r->read_faults = t->reads_failed;
	r->on_cpu = t->on_cpu;
	r->torn = t->torn;
}

/* One thread again. Only kernels since 6.1 can do that without visiting all others. */
static int walk_again(void *ctx, uint32_t tid, snapshot_row_fn fn, void *fn_ctx)
{
	struct task_snapshot *ts = ctx;
	union bpf_iter_link_info info = { .task.tid = tid };
	LIBBPF_OPTS(bpf_iter_attach_opts, iter, .link_info = &info, .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(capture_bpf_snapshot(ts->bpf), &iter);
	int fd, err;

	if (!link)
		return errno == ESRCH ? 0 : -ENOTSUP;
	fd = bpf_iter_create(bpf_link__fd(link));
	err = fd < 0 ? -errno : read_rows(ts, fd, fn, fn_ctx);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return err;
}

struct visitor {
	struct task_snapshot *ts;
	snapshot_row_fn fn;
	void *ctx;
};

static int on_visit(void *ctx, const struct wire_stack *stack)
{
	struct visitor *v = ctx;

	if (v->ts->running && running_threads_wants(stack))
		return running_threads_add(v->ts->running, stack);
	return v->fn(v->ctx, stack);
}

static int walk_all(struct task_snapshot *ts, int fd, snapshot_row_fn fn, void *ctx, struct rec_walk *receipt)
{
	struct walk_totals *totals = capture_bpf_totals(ts->bpf);
	struct visitor v = { ts, fn, ctx };
	struct running_stats running = { 0 };
	int err;

	if (ts->running)
		running_threads_begin(ts->running);
	err = read_rows(ts, fd, on_visit, &v);
	fill_receipt(totals, receipt);
	if (err || !ts->running)
		return err;
	err = running_threads_settle(ts->running, walk_again, ts, fn, ctx);
	running_threads_stats(ts->running, &running);
	receipt->torn = running.uncaught;
	return err;
}

int task_snapshot_walk(struct task_snapshot *ts, snapshot_row_fn fn, void *ctx, struct rec_walk *receipt)
{
	struct walk_totals *totals = capture_bpf_totals(ts->bpf);
	int fd = bpf_iter_create(bpf_link__fd(ts->link)), err;

	if (fd < 0)
		return fail(-errno, "start a walk over the tasks");
	memset(totals, 0, sizeof(*totals));
	receipt->time_ns = now_ns();
	err = walk_all(ts, fd, fn, ctx, receipt);
	receipt->duration_ns = now_ns() - receipt->time_ns;
	close(fd);
	return err;
}

uint64_t task_snapshot_bad_records(const struct task_snapshot *ts)
{
	return ts->bad_records;
}
