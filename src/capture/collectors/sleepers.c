/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/sleepers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/collectors/off_cpu.h"
#include "src/capture/collectors/task_snapshot.h"
#include "src/capture/recorder.h"
#include "src/capture/session/session.h"
#include "src/capture/stacks/stack_ids.h"
#include "src/proc/pid_namespace.h"

/* Ids of bpf/off_cpu.bpf.h that belong to one stay have the number of a CPU here. */
#define FOUND_BY_SCAN (1ull << 62)
#define RECORD_BYTES_MAX (1u << 20)

/* When to look again for stacks that lacked a table, after the beginning. */
static const uint64_t looks_ns[] = { 300 * NSEC_PER_MSEC, NSEC_PER_SEC, 3 * NSEC_PER_SEC };
#define NR_LOOKS (sizeof(looks_ns) / sizeof(looks_ns[0]))

struct sleepers {
	struct sleepers_deps deps;
	struct task_snapshot *iter;
	size_t looks;			/* that were due */
	uint64_t found, left;		/* all; of the last look: those without a whole stack */
	bool is_last;
};

static void say(void *ctx, const char *text)
{
	(void)ctx;
	note_kept("%s", text);
}

static bool is_urgent(void *ctx)
{
	return recorder_in_a_hurry(((const struct sleepers *)ctx)->deps.recorder);
}

int sleepers_open(const struct sleepers_deps *deps, struct sleepers **sp)
{
	const struct id_list *pids = deps->options->pids, *tids = deps->options->tids;
	struct task_snapshot_options opts = { .aside = true, .say = say, .is_urgent = is_urgent };
	struct sleepers *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "look for threads that sleep");
	s->deps = *deps;
	opts.ctx = s;
	opts.forker = recorder_forker(deps->recorder);
	opts.by_target = pids && pids->nr && !(tids && tids->nr);
	err = task_snapshot_open(deps->bpf, &opts, &s->iter);
	if (err)
		sleepers_close(s);
	else
		*sp = s;
	return err;
}

void sleepers_close(struct sleepers *s)
{
	if (s)
		task_snapshot_close(s->iter);
	free(s);
}

/* Whether it has slept from the beginning on, in a state that is asked for. */
static bool is_sleeper(const struct sleepers *s, const struct wire_stack *stack)
{
	const struct wire_sample *head = stack->head;
	uint32_t wanted = off_cpu_options_of(s->deps.options)->states;

	if (!stack->wait || head->flags & (WIRE_ON_CPU | WIRE_SAME) || head->state >> 16 ||
	    stack->wait->ran_ns > s->deps.begin_ns)
		return false;
	return !wanted || (head->state ? head->state & wanted : wanted & OFF_CPU_RUNNABLE);
}

static int keep(struct sleepers *s, const struct wire_stack *stack)
{
	const struct wire_sample *head = stack->head;
	uint64_t begin = s->deps.begin_ns, id = STACK_IDS_SINGLE | FOUND_BY_SCAN | s->found;
	struct off_cpu_thread t = {
		.start_boottime = head->start_boottime_ns, .left_ns = begin,
		.woken_ns = head->state ? 0 : begin, .stack = id, .tgid = head->tgid,
		.tid = head->tid, .state = head->state, .end = head->end, .wait = *stack->wait,
	};
	struct wire_stack again;
	uint32_t key = head->tid;
	long len = wire_decode(head, RECORD_BYTES_MAX, &again);

	memcpy(t.comm, head->comm, sizeof(t.comm));
	/* One that is there has left a CPU since, and the programs know of it. */
	if (len <= 0 || bpf_map_update_elem(capture_bpf_map(s->deps.bpf, "off_cpu_threads"), &key,
					    &t, BPF_NOEXIST))
		return 0;
	s->found++;
	return stack_ids_put(s->deps.stacks, id, head, (size_t)len);
}

static int on_row(void *ctx, const struct wire_stack *stack)
{
	struct sleepers *s = ctx;

	if (!is_sleeper(s, stack))
		return 0;
	if (stack->regs && !s->is_last) {
		s->left++;
		return 0;
	}
	return keep(s, stack);
}

int sleepers_look(struct sleepers *s)
{
	struct rec_scan receipt = { 0 };
	int err;

	if (pid_namespace_is_inner())
		return 0;
	s->left = 0;
	s->looks += now_ns() >= s->deps.begin_ns + looks_ns[0];
	err = task_snapshot_scan(s->iter, on_row, s, &receipt);
	return err == -EINTR ? 0 : err;
}

int sleepers_look_last(struct sleepers *s)
{
	s->is_last = true;
	return s->left ? sleepers_look(s) : 0;
}

uint64_t sleepers_due(const struct sleepers *s)
{
	return s->left && s->looks < NR_LOOKS ? s->deps.begin_ns + looks_ns[s->looks] : UINT64_MAX;
}

uint64_t sleepers_found(const struct sleepers *s)
{
	return s->found;
}
