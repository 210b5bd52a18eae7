/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/runtime_attacher.h"
#include "src/capture/session/runtime_locks.h"
#include "src/capture/session/runtime_names.h"
#include "src/capture/session/runtime_threads.h"
#include "src/capture/session/session_parts.h"
#include "src/capture/tables/process_runtimes.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/knobs.h"
#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/capture/session/definitions.h"
#include "src/capture/session/interrupted.h"
#include "src/capture/processes/jit_names.h"
#include "src/capture/session/last_samples.h"
#include "src/capture/processes/process_tracker.h"
#include "src/capture/session/session_meta.h"
#include "src/capture/session/shadow_names.h"
#include "src/capture/waits/descriptor_names.h"
#include "src/capture/waits/stuck_files.h"
#include "src/capture/waits/wait_facts.h"
#include "src/model/binary.h"
#include "src/model/stacks.h"
#include "src/symbolize/symbolizer.h"
#include "unwind/unwind_limits.h"

#define CLOCK_EVERY_NS (60 * NSEC_PER_SEC)
#define OWN_ROW_EVERY 128		/* scans */
#define OWN_ROWS_GROUP 64		/* threads */

static void open_definer(struct session *s)
{
	const struct session_deps *d = &s->deps;

	s->definer.deps = (struct stack_definer_deps){
		.sink = d->sink,
		.sink_ctx = d->sink_ctx,
		.defs = s->defs,
		.stacks = s->stacks,
		.jit = s->jit,
		.runtimes = s->runtimes,
		.binaries = d->binaries,
		.symbolizer = d->symbolizer,
		.on_binary = d->on_binary,
		.meet = d->meet,
		.no_names = d->no_names,
		.ctx = d->ctx,
	};
}

static uint32_t intern_text(void *ctx, const char *text)
{
	struct session *s = ctx;

	return definitions_string(s->defs, text);
}

static void on_short_way(void *ctx, uint32_t tgid, uint64_t serial,
			 const struct runtime_image *image, uint64_t bias,
			 const struct unwind_runtime *rt)
{
	struct session *s = ctx;
	const struct process *p = processes_find(process_tracker_processes(s->deps.tracker), tgid,
						 TIME_NEVER);

	if (p && p->serial == serial)
		process_runtimes_shorten(s->deps.runtimes, p, image, bias, rt);
}

/* The names of code that says them itself: generated code, interpreters, shadow stacks. */
/* A runtime calls a thread so: runtime_threads.h. */
static int on_thread_name(void *session, uint32_t thread, const char *name)
{
	struct session *s = session;
	struct record rec = { .tag = REC_THREADNAME };

	rec.threadname = (struct rec_threadname){ thread, definitions_string(s->defs, name) };
	return session_emit(s, &rec);
}

/* What looks at the threads of runtimes: who holds their locks, and what they are called. */
static int make_looks(struct session *s)
{
	const struct session_deps *deps = &s->deps;
	const struct runtime_locks_deps locks = {
		.runtimes = deps->runtimes,
		.begin_thread = deps->begin_thread,
		.forker = deps->forker,
		.costs = deps->costs,
	};
	const struct runtime_threads_deps threads = {
		.runtimes = deps->runtimes,
		.processes = process_tracker_processes(deps->tracker),
		.begin_thread = deps->begin_thread,
		.forker = deps->forker,
		.costs = deps->costs,
		.name = on_thread_name,
		.ctx = s,
	};
	int err = runtime_locks_new(&locks, &s->locks);

	return err ? err : runtime_threads_new(&threads, &s->threads);
}

static int make_names(struct session *s)
{
	const struct session_deps *deps = &s->deps;
	struct jit_names_deps jit = {
		.binaries = deps->binaries,
		.processes = process_tracker_processes(deps->tracker),
		.open_tmp = process_tracker_open_tmp,
		.ctx = deps->tracker,
		.opener = deps->opener,
		.parsers = deps->parsers,
		.symbolizer = deps->symbolizer,
		.jvms = deps->jvms,
	};
	const struct runtime_names_deps runtimes = {
		.binaries = deps->binaries,
		.runtimes = deps->runtimes,
		.begin_thread = deps->begin_thread,
		.forker = deps->forker,
		.costs = deps->costs,
		.on_short_way = on_short_way,
		.ctx = s,
		.process_owner = deps->process_owner,
		.owner_ctx = deps->ctx,
	};
	const struct runtime_attacher_deps attacher = {
		.runtimes = deps->runtimes,
		.processes = process_tracker_processes(deps->tracker),
		.begin_thread = deps->begin_urgent,
		.forker = deps->forker,
		.costs = deps->costs,
	};
	int err = jit_names_new(&jit, &s->jit);

	if (!err)
		err = runtime_names_new(&runtimes, &s->runtimes);
	if (!err)
		err = runtime_attacher_new(&attacher, &s->attacher);
	return err ? err : shadow_names_new(&s->definer.shadows);
}

int session_new(const struct session_deps *deps, struct session **sp)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->deps = *deps;
	s->part = 1;
	s->stacks = stacks_new();
	s->last_samples = last_samples_new();
	err = s->stacks && s->last_samples
		      ? definitions_new(deps->sink, deps->sink_ctx, deps->binaries, &s->defs)
		      : -ENOMEM;
	if (!err)
		err = wait_facts_new(&s->waits);
	if (!err)
		err = descriptor_names_new(intern_text, s, &s->files);
	if (!err)
		err = stuck_files_new(intern_text, s, &s->stuck);
	if (!err)
		err = make_names(s) ?: make_looks(s);
	if (err) {
		session_free(s);
		return err;
	}
	open_definer(s);
	*sp = s;
	return 0;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	definitions_free(s->defs);
	jit_names_free(s->jit);
	runtime_attacher_free(s->attacher);
	runtime_names_free(s->runtimes);
	runtime_locks_free(s->locks);
	runtime_threads_free(s->threads);
	stacks_free(s->stacks);
	last_samples_free(s->last_samples);
	free(s->same);
	stack_definer_release(&s->definer);
	wait_facts_free(s->waits);
	descriptor_names_free(s->files);
	stuck_files_free(s->stuck);
	peer_samples_release(&s->peers);
	met_tasks_release(&s->met);
	free(s);
}

void session_kernel(struct session *s, const struct session_kernel *k)
{
	s->definer.deps.kernel = k->symbols;
	s->definer.deps.kernel_debug = k->debug;
	s->definer.deps.kernel_code = k->code;
}

int session_emit(struct session *s, const struct record *rec)
{
	int err = definitions_error(s->defs);

	if (err)
		return err;
	s->scans += rec->tag == REC_SCAN;
	s->lost += rec->tag == REC_LOST ? rec->lost.count : 0;
	return s->deps.sink(s->deps.sink_ctx, rec);
}

int session_tell(struct session *s, const char *key, const char *value)
{
	return session_emit(
		s, &(struct record){ .tag = REC_META, .meta = { key, value, strlen(value) } });
}

int session_note(struct session *s, uint8_t severity, const char *text)
{
	struct record rec = { .tag = REC_NOTE };

	rec.note = (struct rec_note){
		.severity = severity, .time_ns = now_ns(), .text = text, .len = strlen(text)
	};
	return session_emit(s, &rec);
}

int session_clock(struct session *s)
{
	struct record rec = { .tag = REC_CLOCK };
	uint64_t before = now_ns();

	rec.clock.real_ns = clock_ns(CLOCK_REALTIME);
	rec.clock.boot_ns = clock_ns(CLOCK_BOOTTIME);
	rec.clock.mono_ns = before + (now_ns() - before) / 2;
	rec.clock.uncertainty_ns = now_ns() - before;
	s->next_clock_ns = before + CLOCK_EVERY_NS;
	return session_emit(s, &rec);
}

int session_add_event(struct session *s, const struct session_event *event)
{
	if (s->nr_events == WIRE_MAX_EVENTS)
		return fail_why(-E2BIG, "more than %d events in one recording", WIRE_MAX_EVENTS);
	s->events[s->nr_events++] = *event;
	return (int)s->nr_events;
}

void session_set_rate(struct session *s, uint32_t number, double freq_hz, uint64_t period)
{
	s->events[number - 1].freq_hz = freq_hz;
	s->events[number - 1].period = period;
}

static uint32_t thread_of(struct session *s, const struct wire_sample *h, struct process *p)
{
	bool is_new = p && !definitions_process_id(s->defs, p);
	struct process *parent =
		is_new && p->parent_tgid
			? processes_find(process_tracker_processes(s->deps.tracker), p->parent_tgid,
					 p->born_ns)
			: NULL;
	struct rec_thread t = { .tid = h->tid, .start_boottime_ns = h->start_boottime_ns };
	uint64_t defined = definitions_threads(s->defs);
	char comm[WIRE_COMM + 1] = "";
	uint32_t id;

	memcpy(comm, h->comm, WIRE_COMM);
	/* A later part of the recording must not have another time. */
	if (is_new && met_tasks_process(&s->met, p) && h->tid == h->tgid)
		p->start_boottime_ns = h->start_boottime_ns;
	if (is_new)
		process_tracker_describe(s->deps.tracker, p);
	t.process = p ? definitions_process(s->defs, p, parent) : 0;
	id = definitions_thread(s->defs, &t, comm);
	if (definitions_threads(s->defs) == defined)
		return id;
	met_tasks_thread(&s->met, p, &t, comm);
	if (p)
		runtime_threads_meet(s->threads, p, id, t.tid, comm);
	return id;
}

bool session_has_process(const struct session *s, const struct process *p)
{
	return definitions_process_id(s->defs, p);
}

static void count_stack(struct session *s, const struct rec_sample *sample)
{
	assert(sample->end < STACK_ENDS);	/* wire_decode() has checked it */
	s->stats.samples++;
	s->stats.ends[sample->end]++;
	if (sample->scan)
		s->scan_ends[sample->end]++;
	if (!stack_end_has_stack(sample->end))
		return;
	s->stats.user_stacks++;
	s->stats.whole += stack_end_is_root(sample->end);
	s->stats.guessed += !!(sample->flags & SAMPLE_HAS_GUESS);
}

/* true: the rows are equal. Time and number of the scan are not compared: REPEAT has its own. */
static bool has_same_state(const struct rec_sample *a, const struct rec_sample *b)
{
	return a->cpu == b->cpu && a->state == b->state && a->flags == b->flags;
}

static int note_same(struct session *s, uint32_t thread)
{
	uint32_t *slot = array_push(&s->same, &s->nr_same, &s->cap_same);

	if (slot)
		*slot = thread;
	return slot ? 0 : -ENOMEM;
}

/* Writes the rows of the threads that have not changed as one REPEAT with runs of ids. */
static int repeat_same(struct session *s, const struct rec_scan *scan)
{
	struct record rec = { .tag = REC_REPEAT };
	struct rec_run *runs = malloc((s->nr_same + 1) * sizeof(*runs));
	uint32_t nr = 0;
	int err;

	if (!runs)
		return -ENOMEM;
	if (s->nr_same)
		qsort(s->same, s->nr_same, sizeof(*s->same), compare_u32);
	for (size_t i = 0; i < s->nr_same; i++) {
		if (nr && runs[nr - 1].thread + runs[nr - 1].nr == s->same[i])
			runs[nr - 1].nr++;
		else
			runs[nr++] = (struct rec_run){ s->same[i], 1 };
	}
	rec.repeat = (struct rec_repeat){
		.time_ns = scan->time_ns, .scan = scan->scan, .runs = runs, .nr_runs = nr
	};
	err = nr ? session_emit(s, &rec) : 0;
	s->nr_same = 0;
	free(runs);
	return err;
}

/*
 * true: the thread gets a row of its own in this scan, even if it is its last one again. Each
 * thread has its turn once in OWN_ROW_EVERY scans, because after a damaged chunk of the trace a
 * reader does not know which rows the REPEATs repeat. Threads take turns in groups, because
 * consecutive ids are short both in SAMPLES and in REPEAT.
 */
static bool is_its_turn(uint32_t thread, uint32_t scan)
{
	return (thread / OWN_ROWS_GROUP + scan) % OWN_ROW_EVERY == 0;
}

/* Handles a row with WIRE_SAME: the thread has not run since its last row. */
static int same_again(struct session *s, const struct wire_stack *w, uint32_t scan)
{
	struct last_row *last = last_samples_find(s->last_samples, w->head);
	struct record rec = { .tag = REC_SAMPLE };
	struct peer_row row = { .head = *w->head };
	bool equal;

	rec.sample = last ? last->sample
			  : (struct rec_sample){ .event = w->head->event, .end = END_BUG };
	rec.sample.time_ns = w->head->time_ns;
	rec.sample.cpu = UINT32_MAX;
	rec.sample.state = w->state;
	rec.sample.scan = scan;
	rec.sample.flags &= ~(uint32_t)SAMPLE_LATE;
	equal = last && has_same_state(&last->sample, &rec.sample) &&
		!memcmp(last->comm, w->head->comm, WIRE_COMM);
	if (!last || memcmp(last->comm, w->head->comm, WIRE_COMM))
		rec.sample.thread = thread_of(s, w->head, session_process(s, w->head));
	count_stack(s, &rec.sample);
	row.key = last ? last->peer : row.key;
	if (last_samples_put(s->last_samples, w->head, &rec.sample, &row.key))
		return -ENOMEM;
	equal = equal && !is_its_turn(rec.sample.thread, scan);
	row.is_lock = equal && session_asks_again(s, w->head, &rec.sample);
	if (equal && (row.is_lock || (row.key.end && !peer_is_settled(&rec.sample)))) {
		row.same = true;
		row.sample = rec.sample;
		return peer_samples_add(&s->peers, &row);
	}
	return equal ? note_same(s, rec.sample.thread) : session_emit(s, &rec);
}

/*
 * Writes a row that waited for the holders of its other end. A row that is the last one again, with
 * the same holders, is only noted.
 */
static int put_peer_row(struct session *s, const struct peer_row *row)
{
	const struct last_row *last =
		row->same ? last_samples_find(s->last_samples, &row->head) : NULL;
	int err;

	if (last && last->sample.owner == row->sample.owner &&
	    last->sample.holders == row->sample.holders)
		return note_same(s, row->sample.thread);
	err = session_emit(s, &(struct record){ .tag = REC_SAMPLE, .sample = row->sample });
	return err ? err : last_samples_put(s->last_samples, &row->head, &row->sample, &row->key);
}

static int settle_peers(struct session *s)
{
	int err = peer_samples_ask(&s->peers, s->deps.find_peers, s->deps.ctx);

	if (!err)
		err = session_ask_runtimes(s);
	for (size_t i = 0; i < s->peers.nr && !err; i++)
		err = put_peer_row(s, &s->peers.v[i]);
	peer_samples_clear(&s->peers);
	return err;
}

/* The last rows of threads that have ended are forgotten now and then. */
int session_scan(struct session *s, const struct rec_scan *scan)
{
	struct record rec = { .tag = REC_SCAN, .scan = *scan };
	int err = settle_peers(s);

	rec.scan.kernel_failed = s->scan_kernel_failed;
	memcpy(rec.scan.ends, s->scan_ends, sizeof(s->scan_ends));
	memset(s->scan_ends, 0, sizeof(s->scan_ends));
	s->scan_kernel_failed = 0;
	if (!err)
		err = repeat_same(s, scan);
	if (!err)
		err = runtime_threads_scan(s->threads);
	if (!err && last_samples_nr(s->last_samples) > 2 * scan->rows + 1000)
		err = last_samples_prune(s->last_samples, scan->scan);
	return err ? err : session_emit(s, &rec);
}

/* --audit: the registers and memory from which the stack was unwound go into the trace. */
static int keep_dump(struct session *s, const struct wire_stack *w, const struct rec_sample *sample)
{
	struct record rec = { .tag = REC_RAWSTACK };

	rec.rawstack = (struct rec_rawstack){
		.time_ns = sample->time_ns,
		.thread = sample->thread,
		.ustack = sample->ustack,
		.end = sample->end,
		.regs = w->regs,
		.regs_len = ARCH_NR_REGS * sizeof(uint64_t),
		.start = w->start,
		.bytes = w->memory,
		.len = w->bytes,
	};
	return session_emit(s, &rec);
}

/* The SAMPLE of a stack. What it refers to is defined on the way. */
static struct rec_sample make_sample(struct session *s, struct process *p,
				     const struct wire_stack *w, uint32_t scan)
{
	const struct wire_sample *h = w->head;
	uint8_t end;
	uint32_t ustack = stack_definer_user(&s->definer, p, w, &end);

	return (struct rec_sample){
		.time_ns = h->time_ns,
		.event = h->event,
		.thread = thread_of(s, h, p),
		.cpu = h->cpu,
		.kstack = stack_definer_kernel(&s->definer, w),
		.ustack = ustack,
		.weight = h->weight,
		.state = w->state,
		.end = end,
		.scan = scan,
		.flags = (h->flags & WIRE_IN_KERNEL ? SAMPLE_IN_KERNEL : 0) |
			 (h->flags & WIRE_GUESSED ? SAMPLE_HAS_GUESS : 0) |
			 (h->nr_kernel == WIRE_MAX_KERNEL ? SAMPLE_KERNEL_TRUNCATED : 0) |
			 (w->again ? SAMPLE_LATE : 0),
	};
}

static void fill_waits(struct session *s, struct process *p, const struct wire_stack *w,
		       uint32_t scan, struct rec_sample *out)
{
	wait_facts_fill(s->waits, w, scan, out);
	out->file = descriptor_names_find(s->files, w, w->head->time_ns);
	if (scan)
		stuck_files_fill(s->stuck, w, out);
	if (wait_facts_is_futex(out))
		out->variable = stack_definer_variable(&s->definer, p, out->wait);
}

bool session_must_wait(struct session *s, const struct wire_stack *w)
{
	const struct process *p = session_process(s, w->head);

	return p && stack_definer_must_wait(&s->definer, p, w);
}

void session_hurry(struct session *s)
{
	jit_names_hurry(s->jit);
}

int session_sample(struct session *s, const struct wire_stack *w, uint32_t scan)
{
	const struct wire_sample *h = w->head;
	struct record rec = { .tag = REC_SAMPLE };
	struct peer_row row = { .head = *h };
	struct wire_sample head;
	struct wire_stack other;
	struct process *p;
	int err;

	if (interrupted_stack(s->definer.deps.kernel, w, &head, &other))
		return session_sample(s, &other, scan);
	if (!h->event || h->event > s->nr_events) {
		s->stats.bad++;
		return 0;
	}
	if (h->flags & WIRE_SAME)
		return same_again(s, w, scan);
	p = session_process(s, h);
	rec.sample = make_sample(s, p, w, scan);
	fill_waits(s, p, w, scan, &rec.sample);
	s->scan_kernel_failed += scan && h->flags & WIRE_KERNEL_FAILED;
	count_stack(s, &rec.sample);
	row.sample = rec.sample;
	row.is_lock = scan && session_asks_runtime(s, p, &rec.sample);
	if (scan && w->object)
		row.key = w->object->other;
	if (row.key.end || row.is_lock) {
		err = peer_samples_add(&s->peers, &row);
	} else {
		err = session_emit(s, &rec);
		if (!err && scan)
			err = last_samples_put(s->last_samples, h, &rec.sample, NULL);
	}
	if (!err && h->flags & WIRE_AUDIT && w->memory)
		err = keep_dump(s, w, &rec.sample);
	return err;
}

/* ---- the end ---- */

uint64_t session_files_unnamed(const struct session *s)
{
	return descriptor_names_left_out(s->files);
}

uint64_t session_names_late(const struct session *s)
{
	return jit_names_late(s->jit);
}

uint64_t session_names_lost(const struct session *s)
{
	struct runtime_names_stats runtimes;

	runtime_names_stats(s->runtimes, &runtimes);
	return symbolizer_lost(s->deps.symbolizer) + jit_names_lost(s->jit) + runtimes.late;
}
