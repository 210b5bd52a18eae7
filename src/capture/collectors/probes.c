/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector of probes: a stack each time that a function is entered or left, or a tracepoint is
 * passed (bpf/probe.bpf.h). Each probe of the command line is an event of the recording, with the
 * unit "count", however many functions it is put on.
 *
 * A uprobe is in all processes that have the file mapped, or map it later, also where only some of
 * them are recorded: what they start must be recorded from its first call on. The others pay for it
 * with the time that a trap takes, and are counted.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/opt.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/bpf/probe_misses.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/probe_attach.h"
#include "src/capture/collectors/probe_sums.h"
#include "src/capture/collectors/ring_queue.h"
#include "src/capture/collectors/usdt_stack_list.h"
#include "src/capture/collectors/usdt_stacks.h"
#include "src/probes/tracefs.h"
#include "src/capture/recorder.h"

#define LOOK_EVERY_NS (100 * NSEC_PER_MSEC)
#define RUN_US 1000			/* a run of a program that is under way has ended by then */

struct probes {
	const struct capture_options *options;
	struct recorder *recorder;
	struct capture_bpf *bpf;
	struct ring_queue queue;
	struct probe_attach v[WIRE_MAX_EVENTS];
	uint16_t numbers[WIRE_MAX_EVENTS];
	size_t nr;
	int tracefs;			/* -1: not there, or not needed */
	uint32_t next_place;		/* of USDT probes */
	struct probe_sums *sums;
	struct usdt_stacks *stacks;	/* NULL: none are wanted */
	uint64_t next_look_ns, next_sums_ns, samples, bad;
	uint64_t missed[WIRE_MAX_EVENTS];	/* until the stop: probe_attach_missed() */
	uint64_t programs_missed;
};

/* Those of -e alone: a shadow stack is shown on samples. */
static bool is_instead(const struct capture_options *o)
{
	return o->events.probes.nr;
}

static bool is_wanted(const struct capture_options *o)
{
	return o->events.probes.nr || usdt_stacks_of(o)->nr;
}

static const struct opt rows[] = {
	{ 0, "usdt-stack", "ENTRY,RETURN",
	  "functions of an interpreter, or of any program with USDT probes at their entries and "
	  "returns, are frames of the stacks, too: php:function__entry,php:function__return; "
	  "behind these name=argN, class=, file=, line= say which arguments are what; every: each "
	  "entry is an event, too",
	  usdt_stack_list_add, 0, NULL, NULL, NULL },
};

static void release(void *own)
{
	usdt_stack_list_release(own);
}

static unsigned programs(const struct capture_options *o)
{
	return probe_list_programs(&o->events.probes) |
	       usdt_stack_list_programs(usdt_stacks_of(o));
}

static uint8_t event_kind(enum probe_kind kind)
{
	switch (kind) {
	case PROBE_KPROBE: case PROBE_KRETPROBE: case PROBE_FENTRY: case PROBE_FEXIT:
		return EVENT_KPROBE;
	case PROBE_UPROBE: case PROBE_URETPROBE: case PROBE_USDT: return EVENT_UPROBE;
	case PROBE_TRACEPOINT: case PROBE_RAW_TRACEPOINT: case PROBE_KINDS: break;
	}
	return EVENT_TRACEPOINT;
}

static int add_event(struct probes *p, size_t i)
{
	const struct probe_spec *s = &p->v[i].request->spec;
	struct session_event event = { .name = s->name,
				       .unit = p->v[i].request->is_timed ? "ns" : "count",
				       .kind = event_kind(s->kind),
				       .period = p->v[i].request->is_timed ? 0 : 1 };
	int number = recorder_add_event(p->recorder, &event);

	if (number < 0)
		return number;
	p->numbers[i] = (uint16_t)number;
	return 0;
}

/* stack: the probe is at its entries; NULL: it is none of a shadow stack. */
static int open_probe(struct probes *p, const struct probe_request *r,
		      const struct usdt_stack *stack)
{
	const struct capture_options *o = p->options;
	struct uprobe_scope scope = { .pids = o->only_pids, .command = o->command };
	size_t i = p->nr++;
	struct probe_attach *a = &p->v[i];
	struct probe_filter filter;
	int err;

	*a = (struct probe_attach){ .request = r, .tracefs = p->tracefs,
				    .flags = stack ? PROBE_SHADOW_ENTRY : 0 };
	err = probe_attach_find(a, &scope);
	if (!err && stack)
		err = usdt_stacks_places(stack, a, p->bpf, &p->next_place);
	else if (!err && (r->spec.kind == PROBE_USDT || r->nr_values))
		err = usdt_places_put(a, p->bpf, &p->next_place);
	if (!err)
		err = add_event(p, i);
	if (!err)
		err = probe_conditions(a, &filter);
	return err ? err : capture_bpf_probe_filter(p->bpf, p->numbers[i], &filter);
}

/* The shadow stacks, and an event for each whose entries are wanted as such. */
static int open_stacks(struct probes *p)
{
	const struct usdt_stack_list *l = usdt_stacks_of(p->options);
	struct uprobe_scope scope = { .pids = p->options->only_pids,
				      .command = p->options->command };
	const struct usdt_stacks_deps deps = {
		.list = l,
		.scope = &scope,
		.bpf = p->bpf,
		.session = recorder_session(p->recorder),
		.next_place = &p->next_place,
	};
	int err = 0;

	for (size_t i = 0; i < l->nr && !err; i++) {
		if (l->v[i]->every && p->nr == WIRE_MAX_EVENTS)
			err = fail_why(-EINVAL, "--usdt-stack: too many events");
		else if (l->v[i]->every)
			err = open_probe(p, &l->v[i]->entry, l->v[i]);
	}
	return err || !l->nr ? err : usdt_stacks_open(&deps, &p->stacks);
}

static void probes_close(void *state)
{
	struct probes *p = state;

	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++)
		probe_attach_release(&p->v[i]);
	usdt_stacks_close(p->stacks);
	ring_queue_close(&p->queue);
	probe_sums_free(p->sums);
	if (p->tracefs >= 0)
		close(p->tracefs);
	free(p);
}

/* Without cookies all raw tracepoints would be one event. */
static int check_cookies(const struct probes *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++)
		nr += p->v[i].request->spec.kind == PROBE_RAW_TRACEPOINT ||
		      p->v[i].by_raw_tracepoint;
	if (nr < 2 || capture_bpf_has_raw_cookies(p->bpf))
		return 0;
	return fail_why(-ENOTSUP, "several raw tracepoints at once need Linux 6.10. "
			"Try: t:CATEGORY:NAME, with the trace file system mounted");
}

static int probes_open(const struct collector_context *ctx, void **state)
{
	const struct probe_list *l = &ctx->options->events.probes;
	struct probes *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return fail(-ENOMEM, "open probes");
	p->options = ctx->options;
	p->recorder = ctx->recorder;
	p->bpf = recorder_bpf(ctx->recorder);
	p->next_place = 1;
	p->tracefs = probe_list_programs(l) & CAPTURE_TRACEPOINTS ? tracefs_open() : -1;
	err = ring_queue_open(&p->queue, capture_bpf_probe_ring(p->bpf));
	if (!err)
		err = probe_sums_new(capture_bpf_probe_sums(p->bpf), &p->sums);
	for (size_t i = 0; i < l->nr && !err; i++)
		err = open_probe(p, l->v[i], NULL);
	if (!err)
		err = open_stacks(p);
	if (!err)
		err = check_cookies(p);
	if (err)
		probes_close(p);
	else
		*state = p;
	return err;
}

static int probes_start(void *state, uint64_t begin_ns)
{
	struct probes *p = state;
	int err = p->stacks ? usdt_stacks_start(p->stacks) : 0;

	for (size_t i = 0; i < p->nr && !err; i++)
		err = probe_attach(&p->v[i], p->bpf, p->numbers[i]);
	p->next_look_ns = begin_ns + LOOK_EVERY_NS;
	return err;
}

static size_t probes_fds(const void *state, int fds[COLLECTOR_FDS])
{
	fds[0] = ring_queue_fd(&((const struct probes *)state)->queue);
	return 1;
}

static uint64_t probes_due(const void *state)
{
	return ((const struct probes *)state)->next_look_ns;
}

static int give(void *ctx, const struct wire_stack *stack)
{
	struct probes *p = ctx;

	p->samples++;
	return recorder_stack(p->recorder, stack, 0);
}

static int on_record(void *ctx, const void *data, size_t len)
{
	struct probes *p = ctx;
	struct wire_stack stack;
	int err = usdt_stacks_record(p->stacks, p->v, p->nr, recorder_session(p->recorder), data,
				     len);

	if (err > 0)
		return 0;
	if (!err)
		err = wire_decode(data, len, &stack) > 0 ? 0 : -EBADMSG;
	if (!err)
		err = probe_sums_keep(p->sums, data, len, &stack);
	if (err == -EBADMSG) {
		p->bad++;
		return 0;
	}
	if (err)
		return fail(err, "keep a stack");
	return give(p, &stack);
}

/* What was added up, once everything that came before it has been handed out. */
static int take_sums(struct probes *p)
{
	uint64_t now = now_ns();
	int err;

	if (now < p->next_sums_ns && !capture_bpf_probe_control(p->bpf)->stopped)
		return 0;
	p->next_sums_ns = now + LOOK_EVERY_NS;
	usdt_stacks_look(p->stacks, now);
	err = probe_sums_take(p->sums, give, p);
	return err == -ENOMEM ? fail(err, "keep a stack") : err;
}

static int probes_take(void *state)
{
	struct probes *p = state;
	int more = ring_queue_drain(&p->queue), err;

	p->next_look_ns = now_ns() + LOOK_EVERY_NS;
	err = more < 0 ? more : recorder_update(p->recorder);
	if (!err)
		err = ring_queue_for_each(&p->queue, on_record, p);
	if (!err)
		err = take_sums(p);
	return err ? err : more;
}

/* How often a program was not run because another one ran; which event it was for is not known. */
static uint64_t programs_missed(const struct probes *p)
{
	static const unsigned kinds[] = { CAPTURE_UPROBES, CAPTURE_KPROBES, CAPTURE_TRACEPOINTS,
					  CAPTURE_RAW_TRACEPOINTS };
	unsigned wanted = programs(p->options);
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (wanted & kinds[i])
			sum += probe_misses_of_program(
				bpf_program__fd(capture_bpf_probe(p->bpf, kinds[i])));
	return sum;
}

/* They are taken away when the trace is whole: see probe_attach_release(). */
static void probes_stop(void *state)
{
	struct probes *p = state;

	capture_bpf_probe_control(p->bpf)->stopped = 1;
	usleep(RUN_US);
	for (size_t i = 0; i < p->nr; i++)
		p->missed[i] = probe_attach_missed(&p->v[i]);
	p->programs_missed = programs_missed(p);
}

/* META probe.N: see TRACE.md. */
static int tell_counts(const struct probes *p, size_t i)
{
	static const char *const names[PROBE_COUNTERS] = {
		[PROBE_FIRED] = "fired",     [PROBE_IDLE] = "idle",
		[PROBE_OUTSIDE] = "outside", [PROBE_OF_OTHERS] = "of_others",
		[PROBE_UNFIT] = "unfit",     [PROBE_NESTED] = "nested",
		[PROBE_QUICK] = "quick",     [PROBE_UNPAIRED] = "unpaired",
		[PROBE_SUBMITTED] = "taken", [PROBE_RING_FULL] = "refused",
		[PROBE_SUMMED] = "summed",
	};
	struct probe_counts c;
	char key[32], text[512];
	size_t n = 0;
	int err = capture_bpf_probe_counts(p->bpf, p->numbers[i], &c);

	for (int k = 0; k < PROBE_COUNTERS && !err; k++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s=%" PRIu64 " ", names[k],
				      c.v[k]);
	snprintf(text + n, sizeof(text) - n, "missed=%" PRIu64, p->missed[i]);
	snprintf(key, sizeof(key), "probe.%u", p->numbers[i]);
	note_verbose("%s: %s", p->v[i].request->spec.name, text);
	return err ? err : session_tell(recorder_session(p->recorder), key, text);
}

static int probes_end(void *state, const struct collector_end *end)
{
	struct probes *p = state;
	char text[32];
	int err = 0;

	(void)end;
	for (size_t i = 0; i < p->nr && !err; i++)
		err = tell_counts(p, i);
	if (!err && programs(p->options) & (CAPTURE_USDT_STACKS | CAPTURE_VALUES))
		err = usdt_stacks_end(p->bpf, recorder_session(p->recorder));
	snprintf(text, sizeof(text), "%" PRIu64, p->programs_missed);
	note_verbose("probes that the kernel passed over while another program ran: %s", text);
	return err ? err : session_tell(recorder_session(p->recorder), "probes.missed", text);
}

static void probes_counts(const void *state, struct collector_counts *add)
{
	add->samples += ((const struct probes *)state)->samples;
}

static void probes_losses(const void *state, uint64_t totals[LOSS_CAUSES])
{
	const struct probes *p = state;
	struct probe_counts c;

	totals[LOSS_BAD_RECORD] += p->bad;
	totals[LOSS_NESTED] += p->programs_missed;
	for (size_t i = 0; i < p->nr; i++) {
		if (capture_bpf_probe_counts(p->bpf, p->numbers[i], &c))
			continue;
		totals[LOSS_RING_FULL] += c.v[PROBE_RING_FULL];
		totals[LOSS_NESTED] += c.v[PROBE_NESTED] + p->missed[i];
	}
}

const struct collector probes_collector = {
	.name = "probes",
	.options = rows,
	.nr_options = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct usdt_stack_list),
	.release = release,
	.is_instead = is_instead,
	.programs_of = programs,
	.is_wanted = is_wanted,
	.open = probes_open,
	.start = probes_start,
	.fds = probes_fds,
	.due_ns = probes_due,
	.take = probes_take,
	.stop = probes_stop,
	.end = probes_end,
	.counts = probes_counts,
	.losses = probes_losses,
	.close = probes_close,
};
