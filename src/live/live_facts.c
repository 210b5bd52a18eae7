/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a live page says about its recording in words and sums. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/page/page_facts.h"
#include "formats/render/page/page_message.h"
#include "src/base/clock.h"
#include "src/live/live_page_parts.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/report/report_text.h"
#include "src/report/trace_events.h"
#include "src/report/trace_summary.h"

uint8_t live_page_event(const struct live_page *p, uint32_t event)
{
	for (size_t i = 0; i < p->nr_events; i++)
		if (p->events[i] == event)
			return (uint8_t)i;
	return LIVE_NO_EVENT;
}

/* A sample without a weight of its own whose event says none weighs 1, as in a report. */
static bool is_counted(const struct live_event *sums, const struct rec_event *e)
{
	return !sums->weight && (!e || !e->period);
}

static struct trace_event describe(const struct live_page *p, uint32_t id)
{
	const struct definition_store *d = live_profile_tables(p->l);
	const struct rec_event *e = definition_store_find_event(d, id);
	size_t nr;
	const struct live_event *sums = live_profile_events(p->l, &nr) + id;
	bool counted = is_counted(sums, e);

	return (struct trace_event){
		.name = e ? definition_store_string(d, e->name, NULL) : "samples",
		.unit = counted ? "samples" : definition_store_string(d, e ? e->unit : 0, NULL),
		.kind = e ? e->kind : EVENT_KINDS,
		.freq_mhz = e ? e->freq_mhz : 0,
		.period = e ? e->period : 0,
		.is_counted = counted,
		.samples = sums->samples,
		.weight = counted ? sums->samples : sums->weight,
		.id = id,
	};
}

static bool is_cpu(const struct live_page *p, uint32_t id)
{
	const struct rec_event *e = definition_store_find_event(live_profile_tables(p->l), id);

	return e && event_is_cpu_time(e->kind);
}

static bool is_new_event(const struct live_page *p, const struct live_event *v, uint32_t id)
{
	return v[id].samples && live_page_event(p, id) == LIVE_NO_EVENT;
}

/* CPU time is the first of events that come together. */
static void find_events(struct live_page *p)
{
	size_t nr;
	const struct live_event *v = live_profile_events(p->l, &nr);

	p->left_out = 0;
	for (int wants_cpu = 1; wants_cpu >= 0; wants_cpu--)
		for (uint32_t i = 0; i < nr; i++) {
			if (!is_new_event(p, v, i) || (wants_cpu && !is_cpu(p, i)))
				continue;
			if (p->nr_events < PAGE_MAX_EVENTS)
				p->events[p->nr_events++] = i;
			else
				p->left_out += !wants_cpu;
		}
}

static void put_facts(struct json_writer *w, const struct live_page *p)
{
	char warning[768];

	report_warning_text(live_profile_info(p->l), warning, sizeof(warning));
	json_begin(w, '{');
	page_facts_put_visible(w, "host", live_profile_meta(p->l, "host"));
	page_facts_put_visible(w, "kernel", live_profile_meta(p->l, "kernel.release"));
	page_facts_put_visible(w, "tool", live_profile_meta(p->l, "tool"));
	page_facts_put_visible(w, "argv", live_profile_meta(p->l, "argv"));
	page_facts_put_visible(w, "warning", warning);
	json_put_u64(w, "left_out", p->left_out);
	page_facts_put_words(w);
	json_key(w, "events");
	json_begin(w, '[');
	for (size_t i = 0; i < p->nr_events; i++) {
		const struct trace_event e = describe(p, p->events[i]);

		page_facts_put_event(w, &e, e.is_counted ? 1 : e.period);
	}
	json_end(w, ']');
	json_end(w, '}');
}

int live_facts_update(struct live_page *p)
{
	char *text = NULL;
	size_t len = 0;
	struct json_writer w = { .out = open_memstream(&text, &len) };

	if (!w.out)
		return -ENOMEM;
	find_events(p);
	put_facts(&w, p);
	if (fclose(w.out)) {
		free(text);
		return -ENOMEM;
	}
	if (p->facts && !strcmp(p->facts, text)) {
		free(text);
		return 0;
	}
	free(p->facts);
	p->facts = text;
	p->facts_changed = p->version + 1;
	return 1;
}

static void put_sums(struct json_writer *w, const struct live_page *p, uint32_t id)
{
	const struct trace_event e = describe(p, id);
	uint64_t receipts = live_profile_info(p->l)->scans.count;
	struct report_amount amount = { &e, e.samples, e.weight, live_profile_scan(p->l) };
	char title[768];

	if (receipts > amount.scans)	/* they come later than the rows, but may be of more */
		amount.scans = receipts;
	report_title_text("", &amount, title, sizeof(title));
	page_facts_put_sums(w, &amount, title);
}

static void put_times(struct json_writer *w, const struct live_page *p)
{
	uint64_t begin_ns, end_ns, date, now = clock_ns(CLOCK_REALTIME);

	live_profile_times(p->l, &begin_ns, &end_ns);
	date = begin_ns ? live_profile_date(p->l, begin_ns) : 0;
	json_put_u64(w, "begun_ms", date / NSEC_PER_MSEC);
	json_put_u64(w, "lasted_ns", end_ns - begin_ns);
	date = end_ns ? live_profile_date(p->l, end_ns) : 0;
	json_key(w, "end_ms");
	json_i64(w, (int64_t)(end_ns / NSEC_PER_MSEC) - (int64_t)(p->base_ns / NSEC_PER_MSEC));
	json_put_u64(w, "age_ms", date && now > date ? (now - date) / NSEC_PER_MSEC : 0);
}

static void put_now(struct json_writer *w, const void *page)
{
	const struct live_page *p = page;
	const struct report_info *info = live_profile_info(p->l);
	char text[768];

	json_begin(w, '{');
	put_times(w, p);
	json_put_u64(w, "lost", info->lost_samples);
	json_put_u64(w, "stacks", p->stacks_all);
	json_put_u64(w, "whole", p->stacks_whole);
	json_put_u64(w, "quiet", p->nr_quiet);
	report_scans_text(&info->scans, text, sizeof(text));
	page_facts_put_visible(w, "scans", text);
	json_key(w, "events");
	json_begin(w, '[');
	for (size_t i = 0; i < p->nr_events; i++)
		put_sums(w, p, p->events[i]);
	json_end(w, ']');
	json_end(w, '}');
}

int live_facts_put_now(const struct live_page *p, struct byte_buf *out)
{
	return page_message_json(out, "now", put_now, p);
}
