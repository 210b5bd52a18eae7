/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/memory.h"
#include "src/base/stop_signals.h"
#include "src/live/feed.h"
#include "src/tui/screen.h"
#include "src/tui/tui_draw.h"
#include "src/tui/tui_export.h"
#include "src/tui/tui_keys.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_views.h"

enum {
	/* How often the trace is looked at: four times for each picture, within these. */
	LOOK_MS = 100,
	LOOK_LATE_MS = 250,
	LOOK_EARLY_MS = 10,	/* before the first picture */
	EARLY_NS = 3000000000u,	/* which is given up to come soon then */
	LOOK_ENDED_MS = 250,	/* when it has ended: only the size of the terminal changes */
};

struct terminal_run {
	struct tui t;
	struct screen screen;
	struct stop_signals stop;
	bool must_draw;
	uint64_t begin_ns;
};

static void fit_to_terminal(struct terminal_run *s)
{
	int rows, cols;

	screen_size(&s->screen, &rows, &cols);
	if (rows != s->t.canvas.rows || cols != s->t.canvas.cols)
		canvas_resize(&s->t.canvas, rows, cols);
}

static void show(struct terminal_run *s)
{
	fit_to_terminal(s);
	tui_draw(&s->t);
	screen_show(&s->screen, &s->t.canvas);
	s->must_draw = false;
}

static void take_key(struct terminal_run *s, int key, const struct mouse *m)
{
	s->must_draw = true;
	if (key == TUI_CTRL_C)
		s->t.wants_quit = true;
	else if (key == TUI_CTRL_Z)
		screen_stop(&s->screen);
	else if (key == TUI_MOUSE)
		tui_mouse(&s->t, m);
	else if (key != TUI_SIZE && key != TUI_CTRL_L)
		tui_key(&s->t, key);
}

/* Keys that wait are all taken before the screen is drawn: it never lags behind a key held down. */
static void take_keys(struct terminal_run *s)
{
	struct mouse m;
	int key;

	while (!s->t.wants_quit && (key = screen_key(&s->screen, &m)) != TUI_NONE)
		take_key(s, key, &m);
}

/* The first picture is still to come, and soon. */
static bool is_early(const struct terminal_run *s)
{
	return !s->t.profile && now_ns() < s->begin_ns + EARLY_NS;
}

static int look_ms(const struct terminal_run *s)
{
	uint32_t quarter = s->t.opts->refresh_ms ? s->t.opts->refresh_ms / 4 : LOOK_LATE_MS;

	if (s->t.is_over)
		return LOOK_ENDED_MS;
	if (is_early(s))
		return LOOK_EARLY_MS;
	return quarter < LOOK_MS ? LOOK_MS : quarter < LOOK_LATE_MS ? (int)quarter : LOOK_LATE_MS;
}

/* Until something may have come: a key, a signal, more of the trace. False: it is to end. */
static bool wait_a_while(struct terminal_run *s)
{
	struct pollfd p[3] = { { .fd = STDIN_FILENO, .events = POLLIN },
			       { .fd = s->stop.fd, .events = POLLIN },
			       { .fd = s->t.exports.is_busy ? s->t.exports.fd : -1,
				 .events = POLLIN } };
	int ms = look_ms(s), n;

	if (feed_is_behind(s->t.feed))
		ms = 0;
	n = poll(p, 3, ms);
	if (n < 0)
		s->must_draw |= errno == EINTR;		/* the terminal has another size */
	if (n > 0 && p[1].revents)
		stop_signals_read(&s->stop);
	/* The terminal is gone. */
	return !s->stop.stopped && !(n > 0 && p[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static int run(struct terminal_run *s)
{
	int rc;

	s->must_draw = true;
	s->begin_ns = now_ns();
	do {
		take_keys(s);
		rc = tui_state_update(&s->t);
		if (rc < 0)
			return rc;
		s->must_draw |= rc > 0;
		s->must_draw |= tui_export_news(&s->t);
		if (s->must_draw && !s->t.wants_quit)
			show(s);
	} while (!s->t.wants_quit && !(s->t.is_over && s->t.opts->until_end) && wait_a_while(s));
	return 0;
}

/*
 * What needs the right to open files comes first: the terminal's description, the process that
 * opens files. Then the rights go, and only then is the first byte of the trace read.
 */
static int open_all(struct terminal_run *s, const struct tui_source *source,
		    const struct tui_options *opts)
{
	const struct export_from from = { source->fd, source->name, source->shut_in };
	const struct stop_limit limit = { .last = screen_rescue };
	int err = screen_open(&s->screen, opts);

	if (err)
		return err;
	err = export_files_open(&s->t.exports, &from);
	if (!err && source->is_here)
		err = process_memory_open(&s->t.memory, source->shut_in_asked);
	if (!err && source->shut_in)
		err = source->shut_in();
	if (!err)
		err = stop_signals_open(&s->stop, &limit);
	if (!err) {
		s->t.canvas.ascii = !s->screen.has_utf8;
		s->t.is_plain = !s->screen.colours;
	}
	return err;
}

int tui_run(const struct tui_source *source, const struct tui_options *opts)
{
	struct terminal_run *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return fail(-ENOMEM, "show a trace");
	err = tui_state_open(&s->t, source, opts, tui_views_find(opts->view));
	memory_keep_freed();
	if (!err)
		err = open_all(s, source, opts);
	if (!err)
		err = run(s);
	screen_close(&s->screen);
	stop_signals_close(&s->stop);
	export_files_close(&s->t.exports);
	process_memory_close(&s->t.memory);
	tui_state_close(&s->t);
	free(s);
	return err;
}
