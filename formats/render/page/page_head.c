/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The head of a page's data: the facts in words, and what each event is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/page/page_data.h"
#include "formats/render/renderer.h"
#include "src/base/bytes.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/report_text.h"
#include "src/report/state_words.h"
#include "src/report/trace_events.h"

/* What the page shows at first: as the options say. */
static void put_wishes(struct json_writer *w, const struct render_opts *opts)
{
	static const char *const levels[FOLD_BY_KINDS] = {
		[FOLD_BY_COMM] = "comm",     [FOLD_BY_NONE] = "none",
		[FOLD_BY_PROGRAM] = "program", [FOLD_BY_PROCESS] = "process",
		[FOLD_BY_THREAD] = "thread", [FOLD_BY_CPU] = "cpu",
		[FOLD_BY_STATE] = "state",   [FOLD_BY_CGROUP] = "cgroup",
		[FOLD_BY_USER] = "user",     [FOLD_BY_HOST] = "host",
	};
	const struct fold_by *by = &opts->view.by;
	const struct view *turn = &opts->view.turn;
	const char *part = turn->callers ? turn->callers : turn->callees;

	json_key(w, "wishes");
	json_begin(w, '{');
	json_key(w, "by");
	json_begin(w, '[');
	for (size_t i = 0; i < by->nr; i++)
		json_string(w, levels[by->v[i]], strlen(levels[by->v[i]]));
	json_end(w, ']');
	json_put_bool(w, "inverted", turn->inverted);
	json_put_text(w, "part", part ? part : "");
	json_put_bool(w, "folded", opts->style.fold_recursion);
	json_put_u64(w, "top", opts->top);
	json_put_number(w, "min_percent", opts->min_percent);
	json_end(w, '}');
}

static void put_facts(struct json_writer *w, const struct page_data *d)
{
	put_wishes(w, d->opts);
	json_put_bool(w, "all_threads", d->opts->all_threads);
	json_put_u64(w, "begin_ns", d->begin_ns == UINT64_MAX ? 0 : d->begin_ns);
	json_put_u64(w, "strip_from_ns", report_info(d->rep)->first_real_ns - d->begin_ns);
	json_put_u64(w, "strip_ns", d->strip_ns);
	json_put_u64(w, "left_out", d->left_out);
	json_put_u64(w, "quiet", d->quiet.nr);
}

/* The title says what is shown, so it differs between events unless the user has given one. */
static void put_title(struct json_writer *w, const struct page_data *d, const struct page_event *e,
		      const struct report_amount *amount)
{
	char subject[128], text[768];

	json_key(w, "title");
	if (d->opts->title && *d->opts->title) {
		json_visible(w, d->opts->title, strlen(d->opts->title));
		return;
	}
	report_subject_text(&e->subject, d->rep, subject, sizeof(subject));
	report_title_text(subject, amount, text, sizeof(text));
	json_visible(w, text, strlen(text));
}

static void put_event(struct json_writer *w, const struct page_data *d,
		      const struct page_event *e)
{
	struct report_amount amount = { e->info, e->nr_samples, e->weight, e->scans };
	char label[EVENT_LABEL_MAX], text[512], exact[24];

	json_begin(w, '{');
	json_put_text(w, "label", trace_event_label(e->info, label));
	report_rate_text(e->info, text, sizeof(text));
	json_put_text(w, "rate", text);
	json_put_text(w, "unit", e->info->unit);
	json_put_text(w, "name", e->info->name);
	json_put_bool(w, "is_cpu", event_is_cpu_time(e->info->kind));
	json_put_bool(w, "is_wall", event_is_wall_time(e->info->kind));
	json_put_bool(w, "is_counted", e->info->is_counted);
	report_amount_text(&amount, text, sizeof(text));
	json_put_text(w, "amount", text);
	put_title(w, d, e, &amount);
	json_put_u64(w, "samples", e->nr_samples);
	snprintf(exact, sizeof(exact), "%llu", (unsigned long long)e->weight);
	json_put_text(w, "weight", exact);
	json_put_u64(w, "usual", e->usual);
	json_put_u64(w, "tick_ns", e->samples.tick_ns);
	json_put_u64(w, "coarser", e->samples.coarser);
	json_end(w, '}');
}

static void put_head(struct json_writer *w, const void *data)
{
	const struct page_data *d = data;

	json_begin(w, '{');
	put_facts(w, d);
	json_key(w, "activities");
	json_begin(w, '[');
	for (unsigned i = 0; i < ACTIVITIES; i++) {
		const char *name = activity_name((enum activity)i);

		json_string(w, name, strlen(name));
	}
	json_end(w, ']');
	json_key(w, "events");
	json_begin(w, '[');
	for (size_t i = 0; i < d->nr_events; i++)
		put_event(w, d, &d->events[i]);
	json_end(w, ']');
	json_end(w, '}');
}

int page_json_put(void (*put)(struct json_writer *w, const void *ctx), const void *ctx,
		  struct byte_buf *out)
{
	char *p = NULL;
	size_t len = 0;
	struct json_writer w = { .out = open_memstream(&p, &len) };
	int err;

	if (!w.out)
		return -ENOMEM;
	put(&w, ctx);
	err = fclose(w.out) ? -ENOMEM : 0;
	if (!err) {
		bb_uv(out, len);
		bb_bytes(out, p, len);
	}
	free(p);
	return err;
}

int page_head_put(const struct page_data *d, struct byte_buf *out)
{
	return page_json_put(put_head, d, out);
}
