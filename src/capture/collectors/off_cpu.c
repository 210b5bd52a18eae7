/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/collectors/off_cpu.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/bpf/load_errors.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/ring_queue.h"
#include "src/capture/collectors/sleepers.h"
#include "src/capture/recorder.h"
#include "src/capture/stacks/stack_ids.h"

#define LOOK_EVERY_NS (100 * NSEC_PER_MSEC)

enum { ASLEEP, WAITING, WAKERS, NR_EVENTS };

struct off_cpu {
	const struct capture_options *all_options;
	const struct off_cpu_options *options;
	struct recorder *recorder;
	struct capture_bpf *bpf;
	struct off_cpu_control *control;
	struct ring_queue queue;
	struct stack_ids *stacks;
	struct sleepers *sleepers;	/* NULL: they are not looked for */
	struct bpf_link *links[2];
	uint16_t numbers[NR_EVENTS];
	struct byte_buf scratch;	/* the record of a stack, with the head of a stay */
	uint64_t next_look_ns;
	uint64_t samples, bad, without_stack;
	uint64_t end_ns;		/* when stays that go on were counted; 0: not yet */
};

static bool is_wanted(const struct capture_options *o)
{
	return off_cpu_options_of(o)->wanted;
}

/*
 * Whether threads that sleep all the time are a part of the recording. In one of the whole machine
 * they would hide the others; snapshots have them in any case. Of a command nothing sleeps yet.
 */
static bool wants_sleepers(const struct capture_options *o)
{
	return o->scan || o->include_idle || (o->only_pids && o->only_pids->nr) ||
	       (o->tids && o->tids->nr);
}

static unsigned programs(const struct capture_options *o)
{
	return CAPTURE_OFF_CPU | (wants_sleepers(o) ? CAPTURE_SLEEPERS : 0);
}

static int add_events(struct off_cpu *o)
{
	static const char *const names[NR_EVENTS] = { "off-cpu", "cpu-wait", "wakeup" };

	for (int i = 0; i < NR_EVENTS - !o->options->wakers; i++) {
		struct session_event event = { .name = names[i],
					       .unit = "ns",
					       .kind = EVENT_SCHED };
		int number = recorder_add_event(o->recorder, &event);

		if (number < 0)
			return number;
		o->numbers[i] = (uint16_t)number;
	}
	return 0;
}

/* 2^32 stands for all, as 0 does. */
static uint32_t share_of(double probability)
{
	return probability > 0 && probability < 1 ? (uint32_t)(probability * 4294967296.0) | 1 : 0;
}

static void set_control(struct off_cpu *o)
{
	struct off_cpu_control *c = o->control;

	c->min_ns = o->options->min_ns;
	c->max_ns = o->options->max_ns;
	c->states = o->options->states;
	c->wakers = o->options->wakers;
	c->share = share_of(o->options->probability);
	c->budget = (uint32_t)(o->options->budget * 1000 + 0.5);
}

static void off_cpu_close(void *state)
{
	struct off_cpu *o = state;

	if (!o)
		return;
	for (size_t i = 0; i < sizeof(o->links) / sizeof(o->links[0]); i++)
		bpf_link__destroy(o->links[i]);
	sleepers_close(o->sleepers);
	ring_queue_close(&o->queue);
	stack_ids_free(o->stacks);
	bb_release(&o->scratch);
	free(o);
}

static int off_cpu_open(const struct collector_context *ctx, void **state)
{
	struct off_cpu *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return fail(-ENOMEM, "record off-CPU intervals");
	o->all_options = ctx->options;
	o->options = off_cpu_options_of(ctx->options);
	o->recorder = ctx->recorder;
	o->bpf = recorder_bpf(ctx->recorder);
	o->control = capture_bpf_variable(o->bpf, "off_cpu", sizeof(*o->control));
	err = stack_ids_new(&o->stacks);
	if (!err)
		err = ring_queue_open(&o->queue, capture_bpf_map(o->bpf, "off_cpu_ring"));
	if (!err)
		err = add_events(o);
	set_control(o);
	if (err)
		off_cpu_close(o);
	else
		*state = o;
	return err;
}

static int find_sleepers(struct off_cpu *o, uint64_t begin_ns)
{
	struct sleepers_deps deps = { .options = o->all_options, .recorder = o->recorder,
				      .bpf = o->bpf, .stacks = o->stacks, .begin_ns = begin_ns };
	int err = sleepers_open(&deps, &o->sleepers);

	if (!err)
		err = recorder_update(o->recorder);
	return err ? err : sleepers_look(o->sleepers);
}

static int off_cpu_start(void *state, uint64_t begin_ns)
{
	struct off_cpu *o = state;
	struct bpf_program *programs[] = { capture_bpf_program(o->bpf, "on_waking"),
					   capture_bpf_program(o->bpf, "on_switch") };
	struct kernel_entries *entries = &o->control->entries;
	int err = o->options->wakers ? recorder_kernel_entries(o->recorder, entries) : 0;

	if (err)
		return err;
	for (size_t i = 0; i < 2; i++) {
		o->links[i] = bpf_program__attach(programs[i]);
		if (!o->links[i])
			return load_errors_explain(-errno);
	}
	o->next_look_ns = begin_ns + LOOK_EVERY_NS;
	return wants_sleepers(o->all_options) ? find_sleepers(o, begin_ns) : 0;
}

static size_t off_cpu_fds(const void *state, int fds[COLLECTOR_FDS])
{
	fds[0] = ring_queue_fd(&((const struct off_cpu *)state)->queue);
	return 1;
}

static uint64_t off_cpu_due(const void *state)
{
	const struct off_cpu *o = state;
	uint64_t sleepers = o->sleepers ? sleepers_due(o->sleepers) : UINT64_MAX;

	return o->next_look_ns < sleepers ? o->next_look_ns : sleepers;
}

/* ---- stays ---- */

static uint64_t scaled(uint64_t ns, uint32_t share)
{
	return share ? (uint64_t)((double)ns * 4294967296.0 / share + 0.5) : ns;
}

/* Decodes a copy of the stack's record, because its head is written to. */
static bool stack_of(struct off_cpu *o, const struct wire_stay *stay, struct wire_stack *out)
{
	size_t len;
	const void *record = stack_ids_find(o->stacks, stay->stack, &len);

	o->scratch.nr = 0;
	if (record)
		bb_bytes(&o->scratch, record, len);
	return record && !o->scratch.bad && wire_decode(o->scratch.v, len, out) > 0;
}

/* A stay whose stack did not come, or was thrown out: its time is not lost. */
static void without_stack(struct off_cpu *o, const struct wire_stay *stay, struct wire_stack *out)
{
	struct wire_sample head = stay->head;

	o->without_stack++;
	head.nr_user = head.nr_kernel = 0;
	head.flags = 0;
	head.end = UNWIND_NOT_DONE;
	o->scratch.nr = 0;
	bb_bytes(&o->scratch, &head, sizeof(head));
	if (!o->scratch.bad && wire_decode(o->scratch.v, sizeof(head), out) <= 0)
		o->bad++;
}

static int give(struct off_cpu *o, struct wire_stack *stack, int event, uint64_t ns)
{
	struct wire_sample *head = (struct wire_sample *)o->scratch.v;

	if (!ns)
		return 0;
	head->event = o->numbers[event];
	head->weight = ns;
	o->samples++;
	return recorder_stack(o->recorder, stack, 0);
}

/* What the kernel can say wrongly, if at all, makes no time negative. */
static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

static int give_stay(struct off_cpu *o, const struct wire_stay *stay)
{
	uint64_t back = stay->head.time_ns, woken = stay->woken_ns ? stay->woken_ns : back;
	struct wire_wait wait = stay->wait;
	struct wire_sample *head;
	struct wire_stack stack = { 0 };
	int err;

	if (!stack_of(o, stay, &stack))
		without_stack(o, stay, &stack);
	if (o->scratch.bad)
		return fail(-ENOMEM, "record an off-CPU interval");
	head = (struct wire_sample *)o->scratch.v;
	head->time_ns = back;
	head->cpu = UINT32_MAX;
	memcpy(head->comm, stay->head.comm, sizeof(head->comm));
	wait.ran_ns = stay->left_ns;
	stack.wait = &wait;
	err = give(o, &stack, ASLEEP, scaled(between(stay->left_ns, woken), stay->share));
	stack.state = TASK_RUNNABLE;
	return err ? err : give(o, &stack, WAITING, scaled(between(woken, back), stay->share));
}

/* Who ended a sleep: the time that it took weighs on his stack. */
static int give_waker(struct off_cpu *o, const struct wire_stay *stay)
{
	struct wire_sample *head;
	struct wire_stack stack = { 0 };

	if (!stack_of(o, stay, &stack))
		without_stack(o, stay, &stack);
	if (o->scratch.bad)
		return fail(-ENOMEM, "record who wakes threads");
	head = (struct wire_sample *)o->scratch.v;
	head->time_ns = stay->woken_ns;
	head->tgid = stay->head.tgid;
	head->tid = stay->head.tid;
	head->start_boottime_ns = stay->head.start_boottime_ns;
	head->cpu = stay->head.cpu;
	memcpy(head->comm, stay->head.comm, sizeof(head->comm));
	return give(o, &stack, WAKERS, scaled(between(stay->left_ns, stay->woken_ns), stay->share));
}

static int on_record(void *ctx, const void *data, size_t len)
{
	const struct wire_sample *head = data;
	struct off_cpu *o = ctx;
	struct wire_stack stack;

	if (len >= sizeof(struct wire_stay) && head->event == OFF_CPU_STAY)
		return give_stay(o, data);
	if (len >= sizeof(struct wire_stay) && head->event == OFF_CPU_WAKER)
		return give_waker(o, data);
	if (len >= sizeof(*head) && !head->event && wire_decode(data, len, &stack) > 0)
		return stack_ids_put(o->stacks, head->weight, data, len);
	o->bad++;
	return 0;
}

static int off_cpu_take(void *state)
{
	struct off_cpu *o = state;
	int more = ring_queue_drain(&o->queue), err;

	o->next_look_ns = now_ns() + LOOK_EVERY_NS;
	err = more < 0 ? more : recorder_update(o->recorder);
	if (!err && o->sleepers && now_ns() >= sleepers_due(o->sleepers))
		err = sleepers_look(o->sleepers);
	if (!err)
		err = ring_queue_for_each(&o->queue, on_record, o);
	return err ? err : more;
}

static void off_cpu_stop(void *state)
{
	struct off_cpu *o = state;

	for (size_t i = 0; i < sizeof(o->links) / sizeof(o->links[0]); i++) {
		bpf_link__destroy(o->links[i]);
		o->links[i] = NULL;
	}
	o->end_ns = now_ns();
}

/* ---- the end ---- */

/* A thread that has not come back, as if it did so now. */
static int give_open(struct off_cpu *o, const struct off_cpu_thread *t, uint64_t now)
{
	uint64_t away = between(t->left_ns, now);
	struct wire_stay stay = {
		.head = { .time_ns = now, .start_boottime_ns = t->start_boottime, .tgid = t->tgid,
			  .tid = t->tid, .state = t->state, .end = (uint8_t)t->end,
			  .event = OFF_CPU_STAY },
		.stack = t->stack, .left_ns = t->left_ns, .woken_ns = t->woken_ns,
		.share = t->share, .wait = t->wait,
	};

	memcpy(stay.head.comm, t->comm, sizeof(t->comm));
	if (!t->left_ns || away < o->options->min_ns ||
	    (o->options->max_ns && away > o->options->max_ns))
		return 0;
	return give_stay(o, &stay);
}

static int give_all_open(struct off_cpu *o, uint64_t now)
{
	int map = capture_bpf_map(o->bpf, "off_cpu_threads"), err = 0;
	struct off_cpu_thread t;
	uint32_t key, *last = NULL;

	while (!err && !bpf_map_get_next_key(map, last, &key)) {
		last = &key;
		if (!bpf_map_lookup_elem(map, &key, &t))
			err = give_open(o, &t, now);
	}
	return err;
}

/* META off_cpu: see TRACE.md. */
static int tell_counts(struct off_cpu *o)
{
	static const struct {
		const char *name;
		enum counter counter;
	} counts[] = {
		{ "left", COUNTER_FIRED }, { "idle", COUNTER_IDLE },
		{ "of_others", COUNTER_FILTERED }, { "outside", COUNTER_OUTSIDE },
		{ "not_chosen", COUNTER_NOT_CHOSEN }, { "passed_over", COUNTER_PASSED_OVER },
		{ "no_room", COUNTER_NO_ENTRY }, { "stacks", COUNTER_STACKS },
		{ "back", COUNTER_SUBMITTED }, { "out_of_limits", COUNTER_SHORT },
		{ "refused", COUNTER_RING_FULL }, { "wakers", COUNTER_WAKERS },
	};
	uint64_t c[COUNTERS];
	char text[512];
	size_t n = 0;
	int err = capture_bpf_counters_of(o->bpf, "off_cpu_scratch", c);

	if (err)
		return err;
	c[COUNTER_STACKS] -= c[COUNTER_WAKERS];
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s=%" PRIu64 " ",
				      counts[i].name, c[counts[i].counter]);
	snprintf(text + n, sizeof(text) - n,
		 "without_stack=%" PRIu64 " asleep_before=%" PRIu64 "%s", o->without_stack,
		 o->sleepers ? sleepers_found(o->sleepers) : 0,
		 o->control->misled ? " misled=1" : "");
	note_verbose("off-CPU: %s, %.1f MiB of stacks", text,
		     (double)stack_ids_bytes(o->stacks) / (1 << 20));
	return session_tell(recorder_session(o->recorder), "off_cpu", text);
}

static int off_cpu_end(void *state, const struct collector_end *end)
{
	struct off_cpu *o = state;
	int err = o->sleepers ? sleepers_look_last(o->sleepers) : 0;

	if (!err)
		err = give_all_open(o, end->end_ns < o->end_ns ? end->end_ns : o->end_ns);
	return err ? err : tell_counts(o);
}

static void off_cpu_counts(const void *state, struct collector_counts *add)
{
	add->samples += ((const struct off_cpu *)state)->samples;
}

static void off_cpu_losses(const void *state, uint64_t totals[LOSS_CAUSES])
{
	const struct off_cpu *o = state;
	uint64_t c[COUNTERS];

	totals[LOSS_BAD_RECORD] += o->bad;
	if (capture_bpf_counters_of(o->bpf, "off_cpu_scratch", c))
		return;
	totals[LOSS_RING_FULL] += c[COUNTER_RING_FULL];
	totals[LOSS_MAP_FULL] += c[COUNTER_NO_ENTRY];
	totals[LOSS_RATE_LIMIT] += c[COUNTER_PASSED_OVER];
	totals[LOSS_KERNEL_STACK] += c[COUNTER_KERNEL_STACK];
}

const struct collector off_cpu_collector = {
	.name = "off-cpu",
	.options = off_cpu_rows,
	.nr_options = OFF_CPU_ROWS,
	.options_size = sizeof(struct off_cpu_options),
	.check = off_cpu_check,
	.is_instead = is_wanted,
	.programs_of = programs,
	.is_wanted = is_wanted,
	.open = off_cpu_open,
	.start = off_cpu_start,
	.fds = off_cpu_fds,
	.due_ns = off_cpu_due,
	.take = off_cpu_take,
	.stop = off_cpu_stop,
	.end = off_cpu_end,
	.counts = off_cpu_counts,
	.losses = off_cpu_losses,
	.close = off_cpu_close,
};
