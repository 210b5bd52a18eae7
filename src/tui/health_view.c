/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How good the recording is: what was lost, which stacks are whole, what has no name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/columns.h"
#include "formats/trace/trace_reader.h"
#include "src/base/clock.h"
#include "src/live/live_windows.h"
#include "src/report/report_text.h"
#include "src/report/trace_summary.h"
#include "src/report/weight_text.h"
#include "src/live/feed.h"
#include "src/tui/tui_state.h"
#include "src/tui/tui_view.h"

enum { MAX_LINES = 1000 };

static void put_line(FILE *out, const char *what, const char *text)
{
	if (text && text[0])
		fprintf(out, "%-14s  %s\n", what, text);
}

static void put_losses(FILE *out, const struct report_info *info)
{
	char text[768];

	report_warning_text(info, text, sizeof(text));
	put_line(out, "losses", *text ? text : "none");
}

static void put_file(FILE *out, const struct tui *t)
{
	const struct trace_status *s = feed_status(t->feed);
	char text[256], n[WEIGHT_TEXT_MAX];

	if (!s)
		return;
	snprintf(text, sizeof(text), "%s in %" PRIu64 " chunks, %" PRIu64 " of them damaged",
		 weight_text(s->file_bytes, "bytes", n), s->chunks, s->bad_chunks);
	put_line(out, "trace", text);
	if (feed_recordings(t->feed) > 1) {
		snprintf(text, sizeof(text), "the last of %u in the file, which alone is shown",
			 feed_recordings(t->feed));
		put_line(out, "recording", text);
	}
	if (live_profile_parts(tui_live(t)) > 1) {
		snprintf(text, sizeof(text), "%u, shown as one recording",
			 live_profile_parts(tui_live(t)));
		put_line(out, "parts", text);
	}
	if (s->refused_bytes)
		put_line(out, "", "it is larger than a trace of its kind may be: the rest is not "
				  "read");
}

/* What looking costs: this process alone, because the recorder is another one. */
static void put_cost(FILE *out, const struct tui *t)
{
	const struct live_windows *w = live_profile_windows(tui_live(t));
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID), grown = 0;
	char text[256], a[WEIGHT_TEXT_MAX], b[WEIGHT_TEXT_MAX];

	for (size_t i = 0; i < w->nr; i++)
		grown += w->v[i].nr;
	snprintf(text, sizeof(text), "%s of CPU time; this tree was made in %s",
		 weight_text(cpu, "ns", a), weight_text(t->made_in_ns, "ns", b));
	put_line(out, "this view", text);
	snprintf(text, sizeof(text), "%zu windows of time, %" PRIu64 " entries", w->nr, grown);
	put_line(out, "", text);
}

/* What was given up so that the view stays small. */
static void put_folded(FILE *out, const struct live_profile *l)
{
	char text[256], n[WEIGHT_TEXT_MAX];

	if (!live_profile_epoch(l))
		return;
	snprintf(text, sizeof(text),
		 "%s samples of rare stacks, some minutes old or more, are \"[older stacks]\" now; "
		 "of a part of that time only the frequent ones are told apart",
		 count_text(live_profile_folded(l), n));
	put_line(out, "folded", text);
}

/* What the recorder has said. */
static void put_messages(FILE *out, const struct tui_source *source)
{
	const char *line = source->messages ? source->messages(source->ctx) : "";

	for (const char *what = "recorder"; *line; what = "") {
		size_t len = strcspn(line, "\n");

		fprintf(out, "%-14s  %.*s\n", what, (int)len, line);
		line += len + (line[len] == '\n');
	}
}

static void put_all(FILE *out, const struct tui *t)
{
	const struct live_profile *l = tui_live(t);
	const struct report_info *info = live_profile_info(l);
	const struct profile_facts *f = t->profile ? &t->profile->facts : NULL;
	char text[768];

	put_line(out, "command", live_profile_meta(l, "argv"));
	snprintf(text, sizeof(text), "%s, Linux %s", live_profile_meta(l, "host"),
		 live_profile_meta(l, "kernel.release"));
	put_line(out, "machine", text);
	if (f) {
		put_line(out, "shown", f->amount);
		put_line(out, "stacks", f->stacks);
		put_line(out, "not whole", f->not_whole);
		snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " frames have no name",
			 f->frames_unnamed, f->frames);
		put_line(out, "names", text);
	}
	put_losses(out, info);
	report_scans_text(&info->scans, text, sizeof(text));
	put_line(out, "snapshots", text);
	put_file(out, t);
	put_folded(out, l);
	put_cost(out, t);
	put_line(out, "page", t->source->url);
	put_messages(out, t->source);
}

/* Draws text of lines; returns how many there are. */
static uint32_t draw_text(struct tui *t, struct area a, const char *text)
{
	uint32_t line = 0;

	for (; *text; line++) {
		size_t len = strcspn(text, "\n");

		if (line >= t->scroll && line < t->scroll + (uint32_t)a.rows)
			canvas_put_len(&t->canvas, a.top + (int)(line - t->scroll), 1,
				       t->canvas.cols - 1, STYLE_NORMAL, text, len);
		text += len + (text[len] == '\n');
	}
	return line;
}

static void draw(struct tui *t, struct area a)
{
	char *raw = NULL, *text = NULL;
	size_t len = 0, text_len = 0;
	FILE *out = open_memstream(&raw, &len);
	uint32_t nr;

	if (out && tui_live(t))
		put_all(out, t);
	if (out && !fclose(out) && (out = open_memstream(&text, &text_len))) {
		columns_wrap(out, raw, len, (size_t)t->canvas.cols - 2);
		if (!fclose(out)) {
			nr = draw_text(t, a, text);
			if (t->scroll && t->scroll + (uint32_t)a.rows > nr)
				t->scroll = nr > (uint32_t)a.rows ? nr - (uint32_t)a.rows : 0;
		}
	}
	free(raw);
	free(text);
}

static bool key(struct tui *t, int k)
{
	return tui_scroll_key(t, k, MAX_LINES);
}

const struct tui_view health_view = {
	.name = "health",
	.title = "Health",
	.hint = "arrows scroll",
	.needs_no_tree = true,
	.draw = draw,
	.key = key,
};
