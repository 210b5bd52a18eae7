/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The views as lines of text, once or each time that there is something new. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/stop_signals.h"
#include "src/live/feed.h"
#include "src/live/live_profile.h"
#include "src/model/definition_store.h"
#include "src/tui/tui.h"
#include "src/tui/tui_draw.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_views.h"

enum { LOOK_MS = 100, ROWS = 40, COLUMNS = 120 };

/* Without the last line, which is about keys, and without what is empty below the last text. */
static void print(struct tui *t)
{
	struct canvas c = t->canvas;

	for (c.rows--; c.rows; c.rows--) {
		const struct cell *row = &c.cells[(c.rows - 1) * c.cols];
		int i = 0;

		while (i < c.cols && row[i].ch == ' ')
			i++;
		if (i < c.cols)
			break;
	}
	canvas_print(&c, stdout);
	fflush(stdout);
}

static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}

static bool wait_a_while(const struct tui *t, struct stop_signals *stop)
{
	struct pollfd p = { .fd = stop->fd, .events = POLLIN };

	if (poll(&p, 1, feed_is_behind(t->feed) ? 0 : LOOK_MS) > 0)
		stop_signals_read(stop);
	return !stop->stopped && !reader_is_gone();
}

/* Whether a function has not been looked up yet. Generated code may never get a name. */
static bool lacks_names(const struct tui *t)
{
	const struct definition_store *tables = live_profile_tables(tui_live(t));
	uint32_t end = definition_store_id_end(tables, REC_FRAME);

	for (uint32_t id = 0; id < end; id++) {
		const struct rec_frame *f = definition_store_find_frame(tables, id);
		const struct table_symbol *s = definition_store_find_symbol(tables, id);

		if (f && f->binary && f->kind != FRAME_JIT && !(s && s->known))
			return true;
	}
	return false;
}

/*
 * Whether the picture is worth printing now: a single one of a live source, once that has run for
 * some time and its names have come, which takes longer than the first samples.
 */
static bool is_time(const struct tui *t, uint64_t begin_ns, bool is_new)
{
	uint64_t ran_ms = (now_ns() - begin_ns) / NSEC_PER_MSEC, settle = t->opts->settle_ms;

	if (t->is_over)
		return true;
	if (!t->profile || !is_new)
		return false;
	if (!t->opts->once)
		return true;
	return ran_ms >= settle && (ran_ms >= settle + t->opts->names_ms || !lacks_names(t));
}

static int run(struct tui *t, struct stop_signals *stop)
{
	uint64_t begin_ns = now_ns();
	bool has_printed = false;
	int rc;

	do {
		rc = tui_state_update(t);
		if (rc < 0)
			return rc;
		if (!is_time(t, begin_ns, rc > 0 || t->opts->once))
			continue;
		if (t->is_over || t->opts->once)
			tui_remake(t);
		if (has_printed)
			putchar('\n');
		tui_draw(t);
		print(t);
		has_printed = true;
		if (t->is_over || t->opts->once)
			break;
	} while (wait_a_while(t, stop));
	return 0;
}

int tui_plain(const struct tui_source *source, const struct tui_options *opts)
{
	struct stop_signals stop = { .watch = NULL };
	struct tui_options plain = *opts;
	struct tui t;
	int err;

	/* It writes UTF-8 whatever the locale, as reports do, and asks how wide characters are. */
	setlocale(LC_CTYPE, "C.UTF-8");
	plain.no_colour = true;
	err = tui_state_open(&t, source, &plain, tui_views_find(opts->view));
	if (!err && canvas_resize(&t.canvas, (int)(opts->rows ? opts->rows : ROWS) + 1,
				  (int)(opts->columns ? opts->columns : COLUMNS)))
		err = fail(-ENOMEM, "show a trace");
	if (!err && source->shut_in)
		err = source->shut_in();
	if (!err)
		err = stop_signals_open(&stop, NULL);
	if (!err)
		err = run(&t, &stop);
	stop_signals_close(&stop);
	tui_state_close(&t);
	return err;
}
