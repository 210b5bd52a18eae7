/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/recording/flight_side.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/capture/recorder.h"
#include "src/capture/session/session.h"
#include "src/flight/flight_link.h"
#include "src/recording/record_options.h"
#include "src/recording/trace_file.h"

#define TELL_NS (100 * NSEC_PER_MSEC)	/* between two messages of a trigger */
#define CUT_NS (20 * NSEC_PER_MSEC)	/* how often it is looked whether a segment has ended */

/* ---- what the records say ---- */

static void see(void *ctx, size_t number, uint64_t time_ns, const char *text)
{
	struct flight_side *f = ctx;
	struct seen_trigger *s = &f->seen[number];

	if (!s->times++) {
		s->time_ns = time_ns;
		snprintf(s->text, sizeof(s->text), "%s", text);
	}
	f->has_seen = true;
}

void flight_side_open(struct flight_side *f, const struct record_args *args,
		      struct trace_file *trace, struct capture_loop *loop)
{
	struct record_consumer rows = {
		.name = "triggers in what is recorded",
		.record = row_watch_record,
		.segment_begins = row_watch_begin_segment,
		.ctx = &f->rows,
	};

	*f = (struct flight_side){ .link = -1, .trace = trace, .loop = loop };
	if (!args->flight.keep_ns)
		return;
	f->link = args->flight_link;
	row_watch_init(&f->rows, &args->flight.triggers, see, f);
	if (row_watch_is_wanted(&f->rows))
		record_tee_add(&trace->tee, &rows);
}

void flight_side_release(struct flight_side *f)
{
	row_watch_release(&f->rows);
}

static void tell_seen(struct flight_side *f)
{
	uint64_t now = now_ns();

	f->has_seen = false;
	for (size_t i = 0; i < TRIGGERS_MAX; i++) {
		struct seen_trigger *s = &f->seen[i];
		struct flight_message m = { .kind = FLIGHT_TRIGGER, .at = i, .times = s->times,
					    .time_ns = s->time_ns };

		if (!s->times)
			continue;
		f->has_seen = true;
		if (now < s->next_ns)
			continue;
		memcpy(m.text, s->text, sizeof(s->text));
		if (!flight_link_send(f->link, &m))
			s->times = 0;
		s->next_ns = now + TELL_NS;
	}
}

/* ---- what the keeper wants ---- */

/* META flight.*, a NOTE, and a scan in the next turn. */
static int mark(struct flight_side *f, const struct flight_message *m)
{
	struct session *s = recorder_session(f->loop->recorder);
	char text[FLIGHT_TEXT + 32];
	int err = session_tell(s, "flight", m->counts);

	if (!err)
		err = session_tell(s, "flight.trigger", m->text);
	snprintf(text, sizeof(text), "%" PRIu64, m->time_ns);
	if (!err)
		err = session_tell(s, "flight.time", text);
	snprintf(text, sizeof(text), "flight recorder: trigger %s", m->text);
	if (!err)
		err = session_clock(s);
	if (!err)
		err = session_note(s, 0, text);
	capture_loop_ask(f->loop);
	f->is_scan_asked = true;
	return err;
}

/* Notes a trigger that no file follows. */
static int note_only(struct flight_side *f, const struct flight_message *m)
{
	char text[FLIGHT_TEXT + 64];

	snprintf(text, sizeof(text), "flight recorder: trigger %s, too soon after the last one",
		 m->text);
	return session_note(recorder_session(f->loop->recorder), 0, text);
}

static int obey(struct flight_side *f, const struct flight_message *m)
{
	switch (m->kind) {
	case FLIGHT_MARK: return mark(f, m);
	case FLIGHT_NOTE: return note_only(f, m);
	case FLIGHT_CUT: f->is_cut_asked = true; return 0;
	case FLIGHT_END: f->is_end_asked = true; return 0;
	}
	return 0;
}

static int take_messages(struct flight_side *f)
{
	struct flight_message m;
	int rc, err = 0;

	while (!err && (rc = flight_link_receive(f->link, &m)) > 0)
		err = obey(f, &m);
	f->is_alone |= !err && rc < 0;
	return err;
}

/* After the scan of the trigger, which may have been asked for in this turn. */
static void cut(struct flight_side *f)
{
	struct flight_message m = { .kind = FLIGHT_CUT_DONE, .at = trace_file_bytes(f->trace) };
	uint32_t part = session_part(recorder_session(f->loop->recorder));

	if (f->is_scan_asked)
		return;
	if (!f->part) {
		f->part = part;
		recorder_ask_cut(f->loop->recorder);
	} else if (f->part != part) {
		f->is_cut_asked = false;
		f->part = 0;
		flight_link_send(f->link, &m);
	}
}

/* ---- hooks ---- */

static size_t hook_fds(void *ctx, struct pollfd *fds)
{
	struct flight_side *f = ctx;
	size_t nr = f->inner.fds(f->inner.ctx, fds);

	fds[nr++] = (struct pollfd){ .fd = f->is_alone ? -1 : f->link, .events = POLLIN };
	return nr;
}

static uint64_t hook_patience(void *ctx)
{
	struct flight_side *f = ctx;
	uint64_t inner = f->inner.patience_ns(f->inner.ctx);
	uint64_t own = f->is_cut_asked ? CUT_NS : f->has_seen ? TELL_NS : inner;

	return own < inner ? own : inner;
}

static bool hook_is_full(void *ctx)
{
	struct flight_side *f = ctx;

	return f->inner.is_full(f->inner.ctx);
}

/* Without a keeper nobody would ever see the recording. */
static bool hook_is_over(void *ctx)
{
	struct flight_side *f = ctx;

	return f->is_alone || (f->is_end_asked && !f->is_scan_asked) ||
	       f->inner.is_over(f->inner.ctx);
}

static int hook_after_take(void *ctx, const struct collector *c)
{
	struct flight_side *f = ctx;

	f->is_scan_asked &= !c->by_scans;
	return f->inner.after_take(f->inner.ctx, c);
}

static int hook_turn(void *ctx)
{
	struct flight_side *f = ctx;
	int err = f->is_alone ? 0 : take_messages(f);

	if (!err && f->has_seen)
		tell_seen(f);
	if (!err && f->is_cut_asked)
		cut(f);
	return err ? err : f->inner.turn(f->inner.ctx);
}

struct capture_hooks flight_side_hooks(struct flight_side *f, struct capture_hooks inner)
{
	f->inner = inner;
	if (f->link < 0)
		return inner;
	return (struct capture_hooks){
		.ctx = f,
		.fds = hook_fds,
		.patience_ns = hook_patience,
		.is_full = hook_is_full,
		.is_over = hook_is_over,
		.after_take = hook_after_take,
		.turn = hook_turn,
	};
}
