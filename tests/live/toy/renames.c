/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The collector of --renames and -e renames, which new_kind.sh plants. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf/renames.bpf.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/bpf/load_errors.h"
#include "src/capture/collectors/collector.h"
#include "src/capture/collectors/ring_queue.h"
#include "src/capture/recorder.h"

#define LOOK_EVERY_NS (100 * NSEC_PER_MSEC)

struct renames_options {
	bool wanted;
	uint32_t shortest;
};

struct renames {
	struct recorder *recorder;
	struct capture_bpf *bpf;
	struct ring_queue queue;
	struct bpf_link *link;
	uint64_t next_look_ns, samples, bad;
};

static const struct opt rows[] = {
	{ 0, "renames", NULL, "record where threads give themselves names", opt_flag,
	  offsetof(struct renames_options, wanted), NULL, "Names of threads", NULL },
	{ 0, "shortest-name", "N", "leave out names of fewer characters (default 0)", opt_u32,
	  offsetof(struct renames_options, shortest), NULL, NULL, NULL },
};

static int check(void *own)
{
	const struct renames_options *o = own;

	return o->shortest < 16 ? 0
				: fail_why(-EINVAL, "--shortest-name %u: at most 15", o->shortest);
}

static bool is_wanted(const struct capture_options *o)
{
	const struct renames_options *own = o->own[COLLECTOR_RENAMES];

	return own->wanted || o->events.named & 1u << COLLECTOR_RENAMES;
}

static void renames_close(void *state)
{
	struct renames *s = state;

	if (!s)
		return;
	bpf_link__destroy(s->link);
	ring_queue_close(&s->queue);
	free(s);
}

static int renames_open(const struct collector_context *ctx, void **state)
{
	const struct session_event event = { .name = "renames", .unit = "count",
					     .kind = EVENT_TRACEPOINT, .period = 1 };
	const struct renames_options *own = ctx->options->own[COLLECTOR_RENAMES];
	struct renames *s = calloc(1, sizeof(*s));
	int number, err;

	if (!s)
		return fail(-ENOMEM, "record names");
	number = recorder_add_event(ctx->recorder, &event);
	if (number < 0) {
		free(s);
		return number;
	}
	s->recorder = ctx->recorder;
	s->bpf = recorder_bpf(ctx->recorder);
	*(uint32_t *)capture_bpf_variable(s->bpf, "renames_event", 4) = (uint32_t)number;
	*(uint32_t *)capture_bpf_variable(s->bpf, "renames_shortest", 4) = own->shortest;
	err = ring_queue_open(&s->queue, capture_bpf_map(s->bpf, "renames_ring"));
	if (err)
		renames_close(s);
	else
		*state = s;
	return err;
}

static int renames_start(void *state, uint64_t begin_ns)
{
	struct renames *s = state;

	s->next_look_ns = begin_ns + LOOK_EVERY_NS;
	s->link = bpf_program__attach(capture_bpf_program(s->bpf, "on_rename"));
	return s->link ? 0 : load_errors_explain(-errno);
}

static size_t renames_fds(const void *state, int fds[COLLECTOR_FDS])
{
	fds[0] = ring_queue_fd(&((const struct renames *)state)->queue);
	return 1;
}

static uint64_t renames_due(const void *state)
{
	return ((const struct renames *)state)->next_look_ns;
}

static int on_record(void *ctx, const void *data, size_t len)
{
	struct renames *s = ctx;
	struct wire_stack stack;

	if (wire_decode(data, len, &stack) <= 0) {
		s->bad++;
		return 0;
	}
	s->samples++;
	return recorder_stack(s->recorder, &stack, 0);
}

static int renames_take(void *state)
{
	struct renames *s = state;
	int more = ring_queue_drain(&s->queue), err;

	s->next_look_ns = now_ns() + LOOK_EVERY_NS;
	err = more < 0 ? more : recorder_update(s->recorder);
	if (!err)
		err = ring_queue_for_each(&s->queue, on_record, s);
	return err ? err : more;
}

static void renames_stop(void *state)
{
	struct renames *s = state;

	bpf_link__destroy(s->link);
	s->link = NULL;
}

static int read_counts(const struct renames *s, uint64_t c[RENAMES_COUNTERS])
{
	return capture_bpf_sums(s->bpf, "renames_counters", 0, c, RENAMES_COUNTERS);
}

/* META renames. */
static int renames_end(void *state, const struct collector_end *end)
{
	const struct renames *s = state;
	uint64_t c[RENAMES_COUNTERS];
	char text[192];
	int err = read_counts(s, c);

	(void)end;
	if (err)
		return err;
	snprintf(text, sizeof(text),
		 "fired=%" PRIu64 " of_others=%" PRIu64 " short=%" PRIu64 " taken=%" PRIu64
		 " refused=%" PRIu64,
		 c[RENAMES_FIRED], c[RENAMES_OF_OTHERS], c[RENAMES_SHORT], c[RENAMES_TAKEN],
		 c[RENAMES_REFUSED]);
	return session_tell(recorder_session(s->recorder), "renames", text);
}

static void renames_counts(const void *state, struct collector_counts *add)
{
	add->samples += ((const struct renames *)state)->samples;
}

static void renames_losses(const void *state, uint64_t totals[LOSS_CAUSES])
{
	const struct renames *s = state;
	uint64_t c[RENAMES_COUNTERS];

	totals[LOSS_BAD_RECORD] += s->bad;
	if (!read_counts(s, c))
		totals[LOSS_RING_FULL] += c[RENAMES_REFUSED];
}

const struct collector renames_collector = {
	.name = "renames",
	.options = rows,
	.nr_options = sizeof(rows) / sizeof(rows[0]),
	.options_size = sizeof(struct renames_options),
	.check = check,
	.is_instead = is_wanted,
	.programs = CAPTURE_RENAMES,
	.is_wanted = is_wanted,
	.open = renames_open,
	.start = renames_start,
	.fds = renames_fds,
	.due_ns = renames_due,
	.take = renames_take,
	.stop = renames_stop,
	.end = renames_end,
	.counts = renames_counts,
	.losses = renames_losses,
	.close = renames_close,
};
