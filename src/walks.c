#include "src/walks.h"

#include "src/base/clock.h"
#include "src/capture/recorder.h"

int walks_open(struct walks *w, struct recorder *recorder, const struct task_snapshot_options *opts,
	       uint64_t interval_ns)
{
	w->recorder = recorder;
	w->interval_ns = interval_ns;
	w->begin_ns = now_ns();
	return task_snapshot_open(recorder_bpf(recorder), opts, &w->iter);
}

void walks_close(struct walks *w)
{
	task_snapshot_close(w->iter);
	w->iter = NULL;
}

static int on_row(void *ctx, const struct wire_stack *stack)
{
	struct walks *w = ctx;

	return recorder_stack(w->recorder, stack, w->nr);
}

int walks_one(struct walks *w)
{
	struct rec_walk receipt = { .walk = ++w->nr, .interval_ns = w->interval_ns };
	int err = recorder_update(w->recorder);

	recorder_pass(w->recorder, true);
	if (!err)
		err = task_snapshot_walk(w->iter, on_row, w, &receipt);
	recorder_pass(w->recorder, false);
	recorder_bad_records(w->recorder, RECORDER_WALKS, task_snapshot_bad_records(w->iter));
	if (!err)
		err = recorder_settle(w->recorder, w->nr);
	if (err)
		return err;
	w->walk_ns += receipt.duration_ns;
	w->rows += receipt.rows;
	return session_walk(recorder_session(w->recorder), &receipt);
}

/* A late one does not shift the others. */
uint64_t walks_due(struct walks *w)
{
	uint64_t due = (now_ns() - w->begin_ns) / w->interval_ns + 1;

	if (w->nr && due > w->nr + w->late)
		w->late = (uint32_t)(due - w->nr);
	return w->begin_ns + due * w->interval_ns;
}
