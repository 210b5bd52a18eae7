/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a page that is made once says in words and sums. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/page/page_data.h"
#include "formats/render/page/page_facts.h"
#include "formats/render/page/page_message.h"
#include "formats/render/renderer.h"
#include "src/base/bytes.h"
#include "src/profile/profile.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/report_text.h"

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

static void put_query(struct json_writer *w, const struct page_data *d)
{
	put_wishes(w, d->opts);
	json_put_bool(w, "all_threads", d->opts->all_threads);
	json_put_u64(w, "begin_ns", d->begin_ns == UINT64_MAX ? 0 : d->begin_ns);
	json_put_u64(w, "strip_from_ns", report_info(d->rep)->first_real_ns - d->begin_ns);
	json_put_u64(w, "strip_ns", d->strip_ns);
	json_put_u64(w, "left_out", d->left_out);
}

/* The title says what is shown, so it differs between events unless the user has given one. */
static void put_sums(struct json_writer *w, const struct page_data *d, const struct page_event *e)
{
	struct report_amount amount = { e->info, e->nr_samples, e->weight, e->scans };
	char subject[128], text[768];
	const char *title = d->opts->title;

	if (!title || !*title) {
		report_subject_text(&e->subject, d->rep, subject, sizeof(subject));
		report_title_text(subject, &amount, text, sizeof(text));
		title = text;
	}
	page_facts_put_sums(w, &amount, title);
}

static void put_now(struct json_writer *w, const void *data)
{
	const struct page_data *d = data;

	json_begin(w, '{');
	json_put_u64(w, "quiet", d->quiet.nr);
	json_key(w, "events");
	json_begin(w, '[');
	for (size_t i = 0; i < d->nr_events; i++)
		put_sums(w, d, &d->events[i]);
	json_end(w, ']');
	json_end(w, '}');
}

static void put_facts(struct json_writer *w, const void *data)
{
	const struct page_data *d = data;

	json_begin(w, '{');
	put_query(w, d);
	page_facts_put_words(w);
	json_key(w, "events");
	json_begin(w, '[');
	for (size_t i = 0; i < d->nr_events; i++)
		page_facts_put_event(w, d->events[i].info, d->events[i].usual);
	json_end(w, ']');
	json_end(w, '}');
}

int page_head_put(const struct page_data *d, struct byte_buf *out)
{
	int err = page_message_json(out, "facts", put_facts, d);

	return err ? err : page_message_json(out, "now", put_now, d);
}
