/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/page/page_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/renderer.h"
#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/profile.h"
#include "src/profile/program_name.h"
#include "src/report/query.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/report/trace_events.h"
#include "src/report/weight_text.h"

/* So many ticks make a recording, if none is below 1 us. */
#define TICKS (1u << 20)

/* ---- Reading ---- */

static struct page_event *event_of(struct page_data *d, uint32_t event)
{
	for (size_t i = 0; i < d->nr_events; i++)
		if (d->events[i].event == event)
			return &d->events[i];
	return NULL;
}

/* Ticks of 1, 2, 5, 10, ... us. */
static uint64_t tick_of(const struct report_info *info)
{
	uint64_t duration = info->last_real_ns - info->first_real_ns, tick = 1000;
	static const uint64_t steps[] = { 2, 5, 10 };

	for (uint64_t decade = 1000; duration / tick > TICKS; decade *= 10)
		for (size_t i = 0; i < 3 && duration / tick > TICKS; i++)
			tick = decade * steps[i];
	return tick;
}

static int add_event(struct page_data *d, uint32_t event)
{
	struct page_event *e = &d->events[d->nr_events];

	if (d->nr_events == PAGE_MAX_EVENTS) {
		d->left_out++;
		return 0;
	}
	d->nr_events++;
	e->event = event;
	e->info = &report_events(d->rep)->v[event];
	e->usual = e->info->is_counted ? 1 : e->info->period;
	page_samples_init(&e->samples, tick_of(report_info(d->rep)));
	e->strip = calloc((size_t)PAGE_STRIP * ACTIVITIES, sizeof(*e->strip));
	if (!e->strip)
		return -ENOMEM;
	return fold_new(&d->fold, &e->fold);
}

/* The event that is shown comes first. */
static int choose_events(struct page_data *d)
{
	const struct trace_events *events = report_events(d->rep);
	const struct trace_event *shown = report_event(d->rep);
	const struct query *q = report_query(d->rep);
	bool wants_one = q && (q->event || q->weight != WEIGHT_ANY);
	int err = shown ? add_event(d, (uint32_t)(shown - events->v)) : 0;

	for (uint32_t i = 0; !err && !wants_one && i < events->nr; i++)
		if (&events->v[i] != shown && events->v[i].samples)
			err = add_event(d, i);
	return err;
}

static struct page_origin origin_of(const struct report_sample *s)
{
	uint32_t pid;

	return (struct page_origin){ s->tables, s->segment, s->process, s->thread,
				     report_sample_tgid(s, &pid) ? pid + 1 : 0 };
}

static int process_of(struct page_data *d, const struct report_sample *s, uint32_t *process)
{
	const struct page_origin of = origin_of(s);
	uint32_t id = s->process ? s->process->id : 0;

	if (array_reserve(&d->process_of, &d->cap_process_of, (size_t)id + 1))
		return -ENOMEM;
	if (!d->process_of[id]) {
		if (page_tables_process(&d->t, &of, process))
			return -ENOMEM;
		d->process_of[id] = *process + 1;
	}
	*process = d->process_of[id] - 1;
	return 0;
}

static int add_thread(struct page_data *d, const struct report_sample *s, uint32_t *thread)
{
	const struct page_origin of = origin_of(s);
	uint32_t process;

	if (process_of(d, s, &process) || page_tables_thread(&d->t, &of, process, thread) ||
	    array_reserve(&d->is_quiet, &d->cap_is_quiet, d->t.nr_threads))
		return -ENOMEM;
	d->is_quiet[*thread] = quiet_threads_has(&d->quiet, s->segment, s->rec->thread);
	return 0;
}

static void enter_segment(struct page_data *d, uint32_t segment)
{
	if (d->segment == segment)
		return;
	d->segment = segment;
	if (d->cap_thread_of)
		memset(d->thread_of, 0, d->cap_thread_of * sizeof(*d->thread_of));
	if (d->cap_process_of)
		memset(d->process_of, 0, d->cap_process_of * sizeof(*d->process_of));
}

static int thread_of(struct page_data *d, const struct report_sample *s, uint32_t *thread)
{
	uint32_t id = s->thread ? s->rec->thread : 0;

	enter_segment(d, s->segment);
	if (array_reserve(&d->thread_of, &d->cap_thread_of, (size_t)id + 1))
		return -ENOMEM;
	if (!d->thread_of[id]) {
		if (add_thread(d, s, thread))
			return -ENOMEM;
		d->thread_of[id] = *thread + 1;
	}
	*thread = d->thread_of[id] - 1;
	return 0;
}

/* Scans come in the order of their numbers, so a higher one than before is a new scan. */
static void count_scan(struct page_event *e, const struct report_sample *s)
{
	uint32_t scan = s->rec->scan;

	if (e->last_scan && s->segment != e->last_segment) {
		e->earlier_scans += e->last_scan;
		e->last_scan = 0;
	}
	e->last_segment = s->segment;
	if (scan > e->last_scan) {
		e->scans++;
		e->last_scan = scan;
	}
}

static void count(struct page_event *e, const struct report_sample *s)
{
	e->nr_samples++;
	e->weight = weight_sum(e->weight, s->weight);
	report_subject_sample(&e->subject, s);
	if (!e->usual)
		e->usual = s->weight;
	count_scan(e, s);
}

static void add_to_strip(const struct page_data *d, struct page_event *e,
			 const struct report_sample *s, enum activity activity)
{
	uint64_t first = report_info(d->rep)->first_real_ns;
	uint64_t column = s->real_ns > first ? (s->real_ns - first) / d->strip_ns : 0;
	uint64_t *sum;

	column = column < PAGE_STRIP ? column : PAGE_STRIP - 1;
	sum = &e->strip[column * ACTIVITIES + activity];
	*sum = weight_sum(*sum, s->weight);
}

/* The first answer is about the event that the report shows. */
static int note_answer(struct page_data *d, const struct page_event *e,
		       const struct report_sample *s)
{
	if (e->info != report_event(d->rep))
		return 0;
	answer_scan(d->answer, s->segment, s->rec->scan);
	return answer_sample(d->answer, s, 1);
}

static int take(void *data, const struct report_sample *s)
{
	struct page_data *d = data;
	struct page_event *e = event_of(d, s->event);
	struct page_entry entry = { .tick = s->real_ns,
				    .weight = s->weight,
				    .count = 1,
				    .cpu = s->rec->cpu };

	if (!e)
		return 0;
	count(e, s);
	entry.scan = s->rec->scan ? e->earlier_scans + s->rec->scan : 0;
	entry.activity = (uint8_t)sample_activity(s->rec, s->futex);
	add_to_strip(d, e, s, entry.activity);
	if (thread_of(d, s, &entry.thread) || fold_node(e->fold, s, &entry.node) ||
	    note_answer(d, e, s))
		return -ENOMEM;
	return page_samples_add(&e->samples, &entry);
}

static const struct definition_store *tables_of(const void *report, uint32_t segment)
{
	return report_tables(report, segment);
}

/* The first entry of a thread is its oldest one. */
static void note_begin(struct page_data *d, const struct page_samples *s, size_t thread)
{
	struct page_row_reader r = page_samples_read(s, thread);
	struct page_entry first;

	if (page_row_next(&r, &first)) {
		uint64_t at = weight_times(first.tick, s->tick_ns);

		d->begin_ns = at < d->begin_ns ? at : d->begin_ns;
	}
}

static int end_event(struct page_data *d, struct page_event *e)
{
	bool is_shown = e->info == report_event(d->rep);
	int err = is_shown ? fold_take_report(e->fold, d->rep, &e->profile)
			   : fold_take(e->fold, tables_of, d->rep, &e->profile);

	fold_free(e->fold);
	e->fold = NULL;
	if (!err)
		err = page_samples_end(&e->samples);
	d->nr_entries += e->samples.nr;
	for (size_t i = 0; !err && i < e->samples.nr_rows; i++)
		note_begin(d, &e->samples, i);
	return err;
}

int page_data_read(struct report *rep, const struct render_opts *opts, struct page_data *d)
{
	const struct report_info *info = report_info(rep);
	const struct query *q = report_query(rep);
	int err;

	*d = (struct page_data){ .rep = rep, .opts = opts, .begin_ns = UINT64_MAX };
	d->strip_ns = (info->last_real_ns - info->first_real_ns) / PAGE_STRIP + 1;
	d->fold.style = opts->style;
	d->fold.style.fold_recursion = false;	/* the page does that, so that it can be undone */
	d->fold.by = (struct fold_by){ .v = { FOLD_BY_NONE }, .nr = 1 };
	d->fold.fold_idle = !opts->idle && !(q && (q->states || q->activities || q->names.nr));
	fold_limit(&d->fold, rep);
	err = page_tables_init(&d->t);
	d->functions.strings = d->t.strings;
	d->functions.full_names = opts->full_names;
	if (!err && !opts->all_threads)
		err = report_find_quiet(rep, &d->quiet);
	if (!err)
		err = choose_events(d);
	if (!err)
		err = answer_new(&d->answer);
	if (!err)
		err = report_all_samples(rep, take, d);
	for (size_t i = 0; !err && i < d->nr_events; i++)
		err = end_event(d, &d->events[i]);
	if (!err)
		err = answer_add_scans(d->answer, rep);
	if (!err)
		err = answer_lines(d->answer, rep, &d->lines);
	return err;
}

void page_data_release(struct page_data *d)
{
	for (size_t i = 0; i < d->nr_events; i++) {
		fold_free(d->events[i].fold);
		profile_free(d->events[i].profile);
		page_samples_release(&d->events[i].samples);
		free(d->events[i].strip);
	}
	answer_free(d->answer);
	quiet_threads_release(&d->quiet);
	page_functions_release(&d->functions);
	page_tables_release(&d->t);
	free(d->is_quiet);
	free(d->thread_of);
	free(d->process_of);
}

const struct profile *page_data_profile(const struct page_data *d)
{
	return d->nr_events ? d->events[0].profile : NULL;
}
