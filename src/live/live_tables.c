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

static uint32_t string_of(struct live_page *p, uint32_t id)
{
	size_t len;
	const char *s = definition_store_string(live_profile_tables(p->l), id, &len);

	return intern_bytes(p->strings, s, len);
}

static uint32_t program_of(struct live_page *p, const struct rec_process *process)
{
	size_t len;
	const char *s = program_name(live_profile_tables(p->l), process, &len);

	return intern_bytes(p->strings, s, len);
}

/* ---- lives ---- */

struct lives {
	const struct live_life *v;	/* of row 0 */
	size_t stride;
	const struct live_life *wanted;
};

static bool is_life(const void *ctx, uint32_t at)
{
	const struct lives *l = ctx;
	const struct live_life *a = (const void *)((const char *)l->v + at * l->stride);

	return a->id == l->wanted->id && a->pid == l->wanted->pid &&
	       a->start_ns == l->wanted->start_ns;
}

/* Sets .first of row at, whose life is set but for that. 0 or -ENOMEM */
static int find_life(struct lives *l, struct hash_index *index, struct live_life *life, uint32_t at)
{
	uint64_t hash = hash_u64(hash_u64(life->id, life->pid), life->start_ns);
	uint32_t first;

	l->wanted = life;
	first = life->id ? ix_find(index, hash, is_life, l) : at;
	life->first = first == IX_NONE ? at : first;
	return first == IX_NONE ? ix_add(index, hash, at) : 0;
}

static int add_process(struct live_page *p, uint32_t id)
{
	const struct rec_process *rec =
		definition_store_find_process(live_profile_tables(p->l), id);
	struct live_page_process *q = array_push(&p->processes, &p->nr_processes,
						 &p->cap_processes);
	uint32_t at = (uint32_t)p->nr_processes - 1;
	struct lives lives;

	if (!q)
		return -ENOMEM;
	if (rec)
		*q = (struct live_page_process){ .pid = rec->tgid + 1,
						 .name = string_of(p, rec->comm),
						 .program = program_of(p, rec),
						 .cgroup = string_of(p, rec->cgroup),
						 .uid = rec->uid };
	if (q->name == IX_NONE || q->program == IX_NONE || q->cgroup == IX_NONE)
		return -ENOMEM;
	q->life = (struct live_life){ rec ? rec->start_boottime_ns : 0, q->pid, q->pid, at };
	lives = (struct lives){ &p->processes[0].life, sizeof(*q), NULL };
	return find_life(&lives, &p->process_lives, &q->life, at);
}

static int process_of(struct live_page *p, uint32_t id, uint32_t *process)
{
	uint32_t end = definition_store_id_end(live_profile_tables(p->l), REC_PROCESS);

	if (id >= end)
		id = 0;
	if (array_reserve(&p->process_of, &p->cap_process_of, (size_t)end + 1))
		return -ENOMEM;
	if (!p->process_of[id]) {
		if (add_process(p, id))
			return -ENOMEM;
		p->process_of[id] = (uint32_t)p->nr_processes;
	}
	*process = p->process_of[id] - 1;
	return 0;
}

static int add_thread(struct live_page *p, uint32_t id)
{
	const struct rec_thread *rec = definition_store_find_thread(live_profile_tables(p->l), id);
	struct live_page_thread *t = array_push(&p->threads, &p->nr_threads, &p->cap_threads);
	uint32_t at = (uint32_t)p->nr_threads - 1;
	struct lives lives;

	if (!t)
		return -ENOMEM;
	t->record = id;
	t->tid = rec ? rec->tid + 1 : 0;
	t->name = rec ? string_of(p, rec->comm) : intern_str(p->strings, "[missing]");
	if (t->name == IX_NONE || process_of(p, rec ? rec->process : 0, &t->process))
		return -ENOMEM;
	t->life = (struct live_life){ rec ? rec->start_boottime_ns : 0, t->tid,
				      p->processes[t->process].pid, at };
	lives = (struct lives){ &p->threads[0].life, sizeof(*t), NULL };
	return find_life(&lives, &p->thread_lives, &t->life, at);
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
		if (add_thread(p, id))
			return -ENOMEM;
		p->thread_of[id] = (uint32_t)p->nr_threads;
	}
	*thread = p->thread_of[id] - 1;
	return 0;
}

int live_tables_update(struct live_page *p)
{
	size_t nr;
	const struct live_count *c = live_profile_counts(p->l, &nr);

	if (array_reserve(&p->stack_of, &p->cap_stack_of, nr) ||
	    array_reserve(&p->thread_of_count, &p->cap_thread_of_count, nr))
		return -ENOMEM;
	for (; p->nr_counts < nr; p->nr_counts++) {
		uint32_t stack = live_stacks_of(&p->stacks, &c[p->nr_counts]);

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

static bool is_active(const struct rec_sample *rec, enum activity a, uint64_t begin_ns)
{
	if (a == ACTIVITY_RUNNING || a == ACTIVITY_RUN_QUEUE || a == ACTIVITY_DISK ||
	    a == ACTIVITY_UNKNOWN)
		return true;
	if (a == ACTIVITY_LOCK && rec->owner)
		return true;
	if (a == ACTIVITY_IDLE_KERNEL || a == ACTIVITY_ENDED)
		return rec->ran_ns >= begin_ns;
	return !rec->ran_ns || rec->ran_ns >= begin_ns;
}

/* Rows that came and went between two updates are known by their counts alone. */
static void note_active(struct live_page *p, unsigned futex)
{
	uint64_t begin_ns, end_ns;
	size_t nr;
	const struct live_count *c = live_profile_counts(p->l, &nr);

	live_profile_times(p->l, &begin_ns, &end_ns);
	for (size_t i = 0; i < p->nr_threads; i++) {
		struct live_page_thread *t = &p->threads[i];
		const struct rec_sample *rec = live_profile_row(p->l, t->record);

		if (!rec || t->has_been_active)
			continue;
		t->has_rows = true;
		t->has_been_active = is_active(rec, sample_activity(rec, futex), begin_ns);
	}
	for (; p->nr_noted < p->nr_counts && p->nr_noted < nr; p->nr_noted++) {
		const struct live_count *count = &c[p->nr_noted];
		const struct rec_event *e =
			definition_store_find_event(live_profile_tables(p->l), count->event);

		if (e && event_is_wall_time(e->kind) &&
		    (count->activity <= ACTIVITY_DISK || count->activity == ACTIVITY_UNKNOWN))
			p->threads[p->thread_of_count[p->nr_noted]].has_been_active = true;
	}
}

int live_tables_find_quiet(struct live_page *p)
{
	unsigned futex = activity_futex(live_profile_meta(p->l, "arch"));
	bool sees = sees_all(p->l);
	int is_changed = 0;

	note_active(p, futex);
	p->nr_quiet = 0;
	for (size_t i = 0; i < p->nr_threads; i++) {
		struct live_page_thread *t = &p->threads[i];
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
