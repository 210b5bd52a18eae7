/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a live page that grow with definitions: processes, threads, stacks, counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/live/live_page_parts.h"
#include "src/model/definition_store.h"
#include "src/live/live_profile.h"
#include "src/profile/program_name.h"
#include "src/report/quiet_threads.h"
#include "src/report/report.h"
#include "src/report/state_words.h"

static int process_of(struct live_page *p, uint32_t id, uint32_t *process)
{
	const struct definition_store *tables = live_profile_tables(p->l);
	const struct rec_process *rec = definition_store_find_process(tables, id);
	const struct page_origin of = { tables, 0, rec, NULL, rec ? rec->tgid + 1 : 0 };
	uint32_t end = definition_store_id_end(tables, REC_PROCESS);

	if (id >= end)
		id = 0;
	if (array_reserve(&p->process_of, &p->cap_process_of, (size_t)end + 1))
		return -ENOMEM;
	if (!p->process_of[id]) {
		if (page_tables_process(&p->t, &of, process))
			return -ENOMEM;
		p->process_of[id] = *process + 1;
	}
	*process = p->process_of[id] - 1;
	return 0;
}

static int add_thread(struct live_page *p, uint32_t id, uint32_t *thread)
{
	const struct definition_store *tables = live_profile_tables(p->l);
	const struct rec_thread *rec = definition_store_find_thread(tables, id);
	const struct page_origin of = { tables, 0, NULL, rec, 0 };
	uint32_t process;

	if (process_of(p, rec ? rec->process : 0, &process) ||
	    page_tables_thread(&p->t, &of, process, thread) ||
	    array_reserve(&p->states, &p->cap_states, p->t.nr_threads))
		return -ENOMEM;
	p->states[*thread] = (struct live_thread_state){ .record = id };
	return 0;
}

/* A thread without a record is the page's thread of id 0. */
static int thread_of(struct live_page *p, uint32_t id, uint32_t *thread)
{
	uint32_t end = definition_store_id_end(live_profile_tables(p->l), REC_THREAD);

	if (id >= end)
		id = 0;
	if (array_reserve(&p->thread_of, &p->cap_thread_of, (size_t)end + 1))
		return -ENOMEM;
	if (!p->thread_of[id]) {
		if (add_thread(p, id, thread))
			return -ENOMEM;
		p->thread_of[id] = *thread + 1;
	}
	*thread = p->thread_of[id] - 1;
	return 0;
}

/* Samples of threads that slept, of which those without work are folded. */
static bool folds_idle(const struct live_page *p, const struct live_count *c)
{
	const struct definition_store *tables = live_profile_tables(p->l);

	return !p->shows_idle &&
	       (c->activity == ACTIVITY_SLEEPING || c->activity == ACTIVITY_LOCK) &&
	       event_says_sleep(definition_store_find_event(tables, c->event));
}

int live_tables_update(struct live_page *p)
{
	size_t nr;
	const struct live_count *c = live_profile_counts(p->l, &nr);

	if (array_reserve(&p->stack_of, &p->cap_stack_of, nr) ||
	    array_reserve(&p->thread_of_count, &p->cap_thread_of_count, nr))
		return -ENOMEM;
	for (; p->nr_counts < nr; p->nr_counts++) {
		const struct live_count *count = &c[p->nr_counts];
		uint32_t stack = live_stacks_of(&p->stacks, count, folds_idle(p, count));

		if (stack == IX_NONE ||
		    thread_of(p, c[p->nr_counts].thread, &p->thread_of_count[p->nr_counts]))
			return -ENOMEM;
		p->stack_of[p->nr_counts] = stack;
	}
	return 0;
}

/* ---- threads that slept all the time: quiet_threads.h says which these are ---- */

/*
 * Whether snapshots see the whole machine. A recording says so at its end; until then one that
 * leaves out most tasks does not.
 */
static bool sees_all(const struct live_profile *l)
{
	const char *busy = live_profile_meta(l, "cpu.busy");
	const struct report_scans *scans = &live_profile_info(l)->scans;

	if (scans->count < QUIET_SCANS)
		return false;
	return *busy ? strstr(busy, "walks=1") != NULL : scans->filtered <= scans->tasks_seen / 2;
}

/* Rows that came and went between two updates are known by their counts alone. */
static void note_active(struct live_page *p, unsigned futex)
{
	uint64_t begin_ns, end_ns;
	size_t nr;
	const struct live_count *c = live_profile_counts(p->l, &nr);

	live_profile_times(p->l, &begin_ns, &end_ns);
	for (size_t i = 0; i < p->t.nr_threads; i++) {
		struct live_thread_state *t = &p->states[i];
		const struct rec_sample *rec = live_profile_row(p->l, t->record);

		if (!rec || t->has_been_active)
			continue;
		t->has_rows = true;
		t->has_been_active = quiet_row_is_active(rec, futex, begin_ns);
	}
	for (; p->nr_noted < p->nr_counts && p->nr_noted < nr; p->nr_noted++) {
		const struct live_count *count = &c[p->nr_noted];
		const struct rec_event *e =
			definition_store_find_event(live_profile_tables(p->l), count->event);

		if (e && event_is_wall_time(e->kind) &&
		    (count->activity <= ACTIVITY_DISK || count->activity == ACTIVITY_UNKNOWN))
			p->states[p->thread_of_count[p->nr_noted]].has_been_active = true;
	}
}

int live_tables_find_quiet(struct live_page *p)
{
	unsigned futex = activity_futex(live_profile_meta(p->l, "arch"));
	bool sees = sees_all(p->l);
	int is_changed = 0;

	note_active(p, futex);
	p->nr_quiet = 0;
	for (size_t i = 0; i < p->t.nr_threads; i++) {
		struct live_thread_state *t = &p->states[i];
		bool is_quiet = sees && t->has_rows && !t->has_been_active;

		if (is_quiet != t->is_quiet) {
			t->is_quiet = is_quiet;
			t->changed = p->version + 1;
			is_changed = 1;
		}
		p->nr_quiet += is_quiet;
	}
	return is_changed;
}
