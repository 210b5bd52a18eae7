/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/tui/tui_export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/render/renderer.h"
#include "formats/trace/trace_reader.h"
#include "src/live/feed.h"
#include "src/model/definition_store.h"
#include "src/report/weight_text.h"
#include "src/tui/sample_export.h"
#include "src/tui/tui_state.h"

/* The renderer of a name; NULL: there is none, and what to do is said. */
static const struct renderer *choose(struct tui *t, const char *name)
{
	const struct renderer *r = renderer_of_file(name);

	if (strchr(name, '/'))
		tui_say(t, "Only into the directory where probee was started: no / in the name.");
	else if (!r)
		tui_say(t, "The ending of the name says what is written: .svg, .html, .folded, "
			   ".json, .pb.gz, .csv, .txt, callgrind.out...");
	else
		return r;
	return NULL;
}

static void say_written(struct tui *t, const char *path, uint64_t bytes)
{
	char size[WEIGHT_TEXT_MAX];

	tui_say(t, "%s: %s written", path, weight_text(bytes, "bytes", size));
}

/* ---- trees ---- */

static void write_tree(struct tui *t, const struct renderer *r, const char *path)
{
	const struct render_opts opts = { .kernel_suffix = "_[k]" };
	int fd = export_files_make(&t->exports, path), err;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	long len;

	if (!out) {
		tui_say(t, "%s is not written: %s", path, strerror(fd < 0 ? -fd : ENOMEM));
		if (fd >= 0)
			close(fd);
		return;
	}
	err = r->render(t->profile, &opts, out);
	len = ftell(out);
	if (fclose(out) && !err)
		err = -errno;
	if (err)
		tui_say(t, "%s is not whole: %s", path, strerror(-err));
	else
		say_written(t, path, (uint64_t)len);
}

/* ---- samples ---- */

static uint32_t place_of(const struct renderer *r)
{
	uint32_t i = 0;

	while (renderers[i] && renderers[i] != r)
		i++;
	return i;
}

/* The time that is seen, as dates. The last one of several recordings in the file is seen. */
static void set_time(const struct tui *t, const struct live_choice *seen, struct sample_wish *wish)
{
	const struct live_profile *l = tui_live(t);
	const struct trace_status *status = feed_status(t->feed);
	uint64_t begin, end;

	live_profile_times(l, &begin, &end);
	if (seen->from_ns || (status && status->nr_segments > 1))
		wish->from_ns = live_profile_date(l, seen->from_ns > begin ? seen->from_ns : begin);
	if (seen->to_ns)
		wish->to_ns = live_profile_date(l, seen->to_ns);
}

/* False: the trace is not there any more, which is said. */
static bool make_wish(struct tui *t, const struct renderer *r, struct sample_wish *wish)
{
	const struct definition_store *d = tui_live(t) ? live_profile_tables(tui_live(t)) : NULL;
	const struct rec_event *e = d ? definition_store_find_event(d, t->event) : NULL;
	struct live_choice seen = tui_choice(t);

	if (t->source->frees && !t->source->kept_bytes) {
		tui_say(t, "%s files need the samples, which this recording does not keep. "
			   "Try: probee top -o FILE", r->name);
		return false;
	}
	*wish = (struct sample_wish){ .renderer = place_of(r), .tgid = seen.tgid, .tid = seen.tid,
				      .activities = seen.activities,
				      .may_grow = t->source->is_live && !t->is_over };
	set_time(t, &seen, wish);
	if (t->source->frees)
		feed_kept(t->feed, &wish->begin, &wish->end);
	if (e)
		snprintf(wish->event, sizeof(wish->event), "%s",
			 definition_store_string(d, e->name, NULL));
	return true;
}

static void begin_samples(struct tui *t, const struct renderer *r, const char *path)
{
	struct sample_wish wish;
	int err;

	if (!make_wish(t, r, &wish))
		return;
	err = export_files_begin(&t->exports, path, &wish);
	if (err) {
		tui_say(t, "%s is not written: %s", path, strerror(-err));
		return;
	}
	snprintf(t->export_name, sizeof(t->export_name), "%s", path);
	tui_say(t, "%s is being written; Esc: not", path);
}

void tui_export(struct tui *t, const char *path)
{
	const struct renderer *r = choose(t, path);

	if (!r)
		return;
	if (t->exports.is_busy)
		tui_say(t, "%s is still being written; Esc: not", t->export_name);
	else if (r->render)
		write_tree(t, r, path);
	else
		begin_samples(t, r, path);
}

/* ---- what becomes of it ---- */

static void say_end(struct tui *t, const struct export_news *n)
{
	if (!n->result)
		say_written(t, t->export_name, n->bytes);
	else if (n->result == -ECANCELED)
		tui_say(t, "%s is not written", t->export_name);
	else if (n->result == -ETIME)
		tui_say(t, "%s is not written: it took more than %d s. Try: a part of the time, [",
			t->export_name, EXPORT_SECONDS);
	else
		tui_say(t, "%s is not written: %s", t->export_name,
			n->text[0] ? n->text : strerror(-n->result));
}

bool tui_export_news(struct tui *t)
{
	struct export_news n;
	char size[WEIGHT_TEXT_MAX];

	if (!export_files_news(&t->exports, &n))
		return false;
	if (n.is_over)
		say_end(t, &n);
	else if (n.seconds && !t->prompt.kind)
		tui_say(t, "%s: %u s, %s so far; Esc: not", t->export_name, n.seconds,
			weight_text(n.bytes, "bytes", size));
	return true;
}

bool tui_export_key(struct tui *t, int key)
{
	if (!t->exports.is_busy || (key != TUI_ESC && key != 'q') || t->is_leaving)
		return false;
	if (key == TUI_ESC) {
		export_files_cancel(&t->exports);
	} else {
		t->is_leaving = true;
		tui_say(t, "%s is still being written. q: leave without it", t->export_name);
	}
	return true;
}
