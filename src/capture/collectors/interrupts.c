/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collector of -e irq: time in interrupt handlers, by vector (bpf/irq.bpf.h). A sample has the
 * vector as its outermost frame, the part of the kernel stack that belongs to the handler, and
 * nanoseconds as its weight.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/bpf/load_errors.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/cpu_events.h"
#include "src/capture/collectors/ring_queue.h"
#include "src/capture/recorder.h"
#include "src/proc/cpus.h"
#include "src/capture/session/vector_names.h"

#define LOOK_EVERY_NS (100 * NSEC_PER_MSEC)
#define WATCH_EVERY_NS NSEC_PER_SEC
/* Not a divisor of the kernel's own timers, so that they do not always meet. */
#define TICK_HZ 997

/* The last stack of a vector, as it was handed out. */
struct last_stack {
	uint32_t vector;
	struct wire_sample head;
	uint64_t frames[WIRE_MAX_KERNEL + 1];
};

struct interrupts {
	struct recorder *recorder;
	struct capture_bpf *bpf;
	struct ring_queue queue;
	struct bpf_link **links;
	size_t nr_links, cap_links;
	struct cpu_events ticks;	/* they show where in soft interrupts the time goes */
	const struct cpu_list *cpus;	/* -C: those that the user named */
	bool all_cpus;
	struct last_stack *last;
	size_t nr_last, cap_last;
	uint16_t number;
	uint64_t next_look_ns, next_watch_ns, samples, bad;
	uint64_t ns;			/* of all handlers, at the end */
};

static bool is_wanted(const struct capture_options *o)
{
	return o->events.named & 1u << COLLECTOR_INTERRUPTS;
}

static void stop_all(struct interrupts *s)
{
	while (s->nr_links)
		bpf_link__destroy(s->links[--s->nr_links]);
	cpu_events_stop(&s->ticks);
}

static void interrupts_close(void *state)
{
	struct interrupts *s = state;

	if (!s)
		return;
	stop_all(s);
	cpu_events_close(&s->ticks);
	ring_queue_close(&s->queue);
	free(s->links);
	free(s->last);
	free(s);
}

static int open_ticks(struct interrupts *s, const struct capture_options *o)
{
	static const char clock[] = "cpu-clock";
	struct event_spec spec = { .type = event_type_find(clock, sizeof(clock) - 1),
				   .freq_hz = TICK_HZ };
	struct cpu_list online = { 0 };
	int err;

	s->cpus = &o->cpus;
	s->all_cpus = !o->cpus.nr;
	snprintf(spec.name, sizeof(spec.name), "%s", clock);
	err = s->all_cpus ? cpus_online(&online) : 0;
	if (!err)
		err = cpu_events_open(&s->ticks, &spec, s->all_cpus ? &online : &o->cpus,
				      s->all_cpus);
	cpus_release(&online);
	return err;
}

static int add_event(struct interrupts *s)
{
	struct session_event event = { .name = "irq", .unit = "ns", .kind = EVENT_TRACEPOINT };
	int number = recorder_add_event(s->recorder, &event);
	struct irq_control *control;

	if (number < 0)
		return number;
	s->number = (uint16_t)number;
	control = capture_bpf_variable(s->bpf, "irq_control", sizeof(*control));
	control->event = s->number;
	return 0;
}

static int interrupts_open(const struct collector_context *ctx, void **state)
{
	struct interrupts *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "record interrupts");
	s->recorder = ctx->recorder;
	s->bpf = recorder_bpf(ctx->recorder);
	err = ring_queue_open(&s->queue, capture_bpf_map(s->bpf, "irq_ring"));
	if (!err)
		err = open_ticks(s, ctx->options);
	if (!err)
		err = add_event(s);
	if (err)
		interrupts_close(s);
	else
		*state = s;
	return err;
}

/* name: of the tracepoint. One that the kernel lacks is no error if may_lack. */
static int attach(struct interrupts *s, const char *program, const char *name, bool may_lack)
{
	const struct bpf_program *prog = capture_bpf_program(s->bpf, program);
	struct bpf_link *link = bpf_program__attach_raw_tracepoint(prog, name), **place;

	if (!link && errno == ENOENT && may_lack)
		return 0;
	if (!link)
		return load_errors_explain(-errno);
	place = array_push(&s->links, &s->nr_links, &s->cap_links);
	if (place)
		*place = link;
	else
		bpf_link__destroy(link);
	return place ? 0 : fail(-ENOMEM, "record interrupts");
}

static int attach_locals(struct interrupts *s)
{
	const char *name;
	char text[64];
	int err = 0;

	for (size_t i = 0; !err && (name = interrupt_local(i)); i++) {
		snprintf(text, sizeof(text), "%s_exit", name);
		err = attach(s, "on_vector_exit", text, true);
		snprintf(text, sizeof(text), "%s_entry", name);
		if (!err)
			err = attach(s, "on_vector_entry", text, true);
	}
	return err;
}

/* The ends come first, so that no time is added to what has begun without being seen. */
static int interrupts_start(void *state, uint64_t begin_ns)
{
	static const struct {
		const char *name, *program;
	} tracepoints[] = {
		{ "irq_handler_exit", "on_irq_exit" }, { "irq_handler_entry", "on_irq_entry" },
		{ "softirq_exit", "on_softirq_exit" }, { "softirq_entry", "on_softirq_entry" },
	};
	struct interrupts *s = state;
	int err = 0;

	s->next_look_ns = begin_ns + LOOK_EVERY_NS;
	s->next_watch_ns = begin_ns + WATCH_EVERY_NS;
	for (size_t i = 0; i < 4 && !err; i++)
		err = attach(s, tracepoints[i].program, tracepoints[i].name, false);
	if (!err)
		err = attach_locals(s);
	return err ? err
		   : cpu_events_start(&s->ticks, capture_bpf_program(s->bpf, "on_irq_tick"),
				      s->number);
}

static size_t interrupts_fds(const void *state, int fds[COLLECTOR_FDS])
{
	fds[0] = ring_queue_fd(&((const struct interrupts *)state)->queue);
	return 1;
}

static uint64_t interrupts_due(const void *state)
{
	return ((const struct interrupts *)state)->next_look_ns;
}

/* ---- stacks ---- */

static struct last_stack *last_of(struct interrupts *s, uint32_t vector)
{
	struct last_stack *l;

	for (size_t i = 0; i < s->nr_last; i++)
		if (s->last[i].vector == vector)
			return &s->last[i];
	l = array_push(&s->last, &s->nr_last, &s->cap_last);
	if (l)
		*l = (struct last_stack){ .vector = vector };
	return l;
}

static bool is_wanted_cpu(const struct interrupts *s, uint32_t cpu)
{
	return s->all_cpus || cpus_has(s->cpus, cpu);
}

static int on_record(void *ctx, const void *data, size_t len)
{
	struct interrupts *s = ctx;
	struct last_stack *l;
	struct wire_stack stack;
	uint64_t root;

	if (wire_decode(data, len, &stack) <= 0 || !stack.head->nr_kernel) {
		s->bad++;
		return 0;
	}
	if (!is_wanted_cpu(s, stack.head->cpu))
		return 0;
	root = stack.kernel[stack.head->nr_kernel - 1];
	l = WIRE_IS_VECTOR(root) ? last_of(s, (uint32_t)root) : NULL;
	if (l) {
		l->head = *stack.head;
		memcpy(l->frames, stack.kernel, stack.head->nr_kernel * sizeof(uint64_t));
	}
	s->samples++;
	return recorder_stack(s->recorder, &stack, 0);
}

static void say_nothing(void *ctx, const struct cpu_change *change)
{
	(void)ctx;
	(void)change;
}

static void watch_cpus(struct interrupts *s)
{
	struct cpu_list online = { 0 };
	bool all = s->all_cpus && !cpus_online(&online);

	s->next_watch_ns = now_ns() + WATCH_EVERY_NS;
	cpu_events_watch(&s->ticks, all ? &online : NULL, say_nothing, NULL);
	cpus_release(&online);
}

static int interrupts_take(void *state)
{
	struct interrupts *s = state;
	int more = ring_queue_drain(&s->queue), err;

	s->next_look_ns = now_ns() + LOOK_EVERY_NS;
	if (now_ns() >= s->next_watch_ns)
		watch_cpus(s);
	err = more < 0 ? more : recorder_update(s->recorder);
	if (!err)
		err = ring_queue_for_each(&s->queue, on_record, s);
	return err ? err : more;
}

static void interrupts_stop(void *state)
{
	stop_all(state);
}

/* ---- the end ---- */

/* What no stack has taken with it belongs to the last one of the vector, or to the vector alone. */
static int give_rest(struct interrupts *s, uint32_t vector, uint32_t cpu, uint64_t ns,
		     uint64_t end_ns)
{
	struct last_stack *l = last_of(s, vector);
	struct wire_stack stack = { .state = TASK_RUNNING, .end = END_KTHREAD };

	if (!l)
		return fail(-ENOMEM, "record interrupts");
	if (!l->head.nr_kernel) {
		l->head = (struct wire_sample){ .nr_kernel = 1, .event = s->number,
						.flags = WIRE_KTHREAD | WIRE_ON_CPU,
						.comm = INTERRUPT_COMM };
		l->frames[0] = WIRE_VECTOR_FRAME | vector;
	}
	l->head.time_ns = end_ns;
	l->head.cpu = cpu;
	l->head.weight = ns;
	stack.head = &l->head;
	stack.kernel = l->frames;
	s->samples++;
	return recorder_stack(s->recorder, &stack, 0);
}

static int give_rests(struct interrupts *s, uint64_t end_ns)
{
	int map = capture_bpf_map(s->bpf, "irq_totals"), err = 0;
	unsigned cpus = capture_bpf_cpus(s->bpf);
	struct irq_total *v = calloc(cpus, sizeof(*v));
	uint32_t key, *last = NULL;

	if (!v)
		return fail(-ENOMEM, "record interrupts");
	while (!err && !bpf_map_get_next_key(map, last, &key)) {
		last = &key;
		if (bpf_map_lookup_elem(map, &key, v))
			continue;
		for (unsigned cpu = 0; cpu < cpus && !err; cpu++) {
			if (!is_wanted_cpu(s, cpu))
				continue;
			s->ns += v[cpu].ns;
			if (v[cpu].pending_ns)
				err = give_rest(s, key, cpu, v[cpu].pending_ns, end_ns);
		}
	}
	free(v);
	return err;
}

static int read_counts(const struct interrupts *s, struct irq_counts *out)
{
	return capture_bpf_sums(s->bpf, "irq_counters", 0, out->v, IRQ_COUNTERS);
}

/* META irq: see TRACE.md. */
static int tell_counts(const struct interrupts *s)
{
	static const char *const names[IRQ_COUNTERS] = {
		[IRQ_RUNS] = "runs",	   [IRQ_COUNTED] = "counted",
		[IRQ_OF_OTHERS] = "of_others", [IRQ_UNPAIRED] = "unpaired",
		[IRQ_STACKS] = "stacks",   [IRQ_REFUSED] = "refused",
		[IRQ_NO_ROOM] = "no_room",
	};
	struct irq_counts c;
	char text[256];
	size_t n = 0;
	int err = read_counts(s, &c);

	for (int i = 0; i < IRQ_COUNTERS && !err; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s=%" PRIu64 " ", names[i],
				      c.v[i]);
	snprintf(text + n, sizeof(text) - n, "ns=%" PRIu64, s->ns);
	if (err)
		return err;
	note_verbose("interrupts: %s", text);
	return session_tell(recorder_session(s->recorder), "irq", text);
}

static int interrupts_end(void *state, const struct collector_end *end)
{
	struct interrupts *s = state;
	int err = give_rests(s, end->end_ns);

	return err ? err : tell_counts(s);
}

static void interrupts_counts(const void *state, struct collector_counts *add)
{
	add->samples += ((const struct interrupts *)state)->samples;
}

static void interrupts_losses(const void *state, uint64_t totals[LOSS_CAUSES])
{
	const struct interrupts *s = state;
	struct irq_counts c;

	totals[LOSS_BAD_RECORD] += s->bad;
	if (!read_counts(s, &c))
		totals[LOSS_MAP_FULL] += c.v[IRQ_NO_ROOM];
}

const struct collector interrupts_collector = {
	.name = "interrupts",
	.is_instead = is_wanted,
	.programs = CAPTURE_IRQ,
	.is_wanted = is_wanted,
	.open = interrupts_open,
	.start = interrupts_start,
	.fds = interrupts_fds,
	.due_ns = interrupts_due,
	.take = interrupts_take,
	.stop = interrupts_stop,
	.end = interrupts_end,
	.counts = interrupts_counts,
	.losses = interrupts_losses,
	.close = interrupts_close,
};
