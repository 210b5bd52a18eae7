/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_names.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/patience.h"
#include "src/capture/processes/jit_answers.h"
#include "src/capture/processes/jit_process.h"
#include "src/capture/processes/jvm_maps.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"
#include "src/model/binary.h"
#include "src/model/per_process.h"
#include "src/model/process.h"

#define READ_NS (2 * NSEC_PER_SEC)	/* after that its file system counts as not answering */
#define PAUSE_MS 50			/* a running recording waits no longer for maps */
/* So much later than the code ran its record may be in the dump, in a buffer of the runtime's. */
#define WRITTEN_NS (NSEC_PER_SEC / 10)
#define HELD_NS (4 * NSEC_PER_SEC)	/* no stack waits longer for a dump */
/*
 * What is read of all maps that grow together: 4 MiB are searched in 2 ms, 0.2 % of a second.
 * Counted in bytes and not in time, so that a busy machine names as much as an idle one.
 */
#define AGAIN_BYTES_PER_SECOND (4ll << 20)
#define AGAIN_CREDIT_BYTES (64ll << 20)

/* The binary that stands for the code that a process makes. */
struct generated {
	uint64_t serial;
	uint32_t binary;		/* 0: none seen yet */
	bool has_changed;		/* code was replaced */
};

struct jit_names {
	struct jit_names_deps deps;
	struct per_process generated;	/* struct generated */
	struct jit_process *v;
	size_t nr, cap;
	struct worker_pool *thread;	/* NULL: none yet */
	struct jit_reading *job;	/* running for job_binary; has borrowed its places */
	uint32_t job_binary;
	bool is_job_stale;		/* what it was asked is forgotten */
	uint64_t nr_lost;		/* requests */
	uint64_t nr_late;		/* see jit_names_late() */
	int64_t credit_bytes;		/* for maps that grow */
	uint64_t credited_ns;		/* when it was counted last */
};

int jit_names_new(const struct jit_names_deps *deps, struct jit_names **jp)
{
	struct jit_names *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->deps = *deps;
	j->generated.size = sizeof(struct generated);
	j->credit_bytes = AGAIN_CREDIT_BYTES;
	j->credited_ns = now_ns();
	*jp = j;
	return 0;
}

/* A job that still runs ends soon: all that it waits for has a time limit. */
void jit_names_free(struct jit_names *j)
{
	if (!j)
		return;
	worker_pool_free(j->thread);
	jit_reading_free(j->job);
	for (size_t i = 0; i < j->nr; i++)
		jit_process_release(&j->v[i]);
	free(j->v);
	per_process_release(&j->generated);
	free(j);
}

bool jit_names_path(const char *path)
{
	return binary_path_is_memory(path);
}

bool jit_names_has(const struct binary *b)
{
	return binary_is_memory(b);
}

static void add_place(struct jit_names *j, struct jit_process *e, const struct process *p)
{
	assert(e->nr_places < JIT_PLACES);
	j->deps.open_tmp(j->deps.ctx, p, &e->places[e->nr_places++].tmp);
}

/* true: p has the code at addr from its parent. After an exec it would be at another address. */
static bool is_inherited(const struct process *p, const struct process *parent, uint64_t addr,
			 uint64_t time_ns)
{
	const struct mapping *own = process_find_mapping(p, addr, time_ns);
	const struct mapping *theirs = parent ? process_find_mapping(parent, addr, time_ns) : NULL;

	return own && theirs && own->start == theirs->start && own->binary == theirs->binary;
}

static struct jit_process *process_of(const struct jit_names *j, uint32_t binary)
{
	for (size_t i = j->nr; i-- > 0 && binary;)
		if (j->v[i].binary == binary)
			return &j->v[i];
	return NULL;
}

static uint32_t new_binary(const struct jit_names *j)
{
	static const struct file_id none;
	const struct binary *b = binaries_add(j->deps.binaries, &none, "", BINARY_ANON);

	return b ? b->index : 0;
}

/* Makes the first binary of p. */
static uint32_t begin_process(struct jit_names *j, const struct process *p, uint64_t addr,
			      uint64_t time_ns)
{
	const struct process *parent =
		p->parent_tgid ? processes_find(j->deps.processes, p->parent_tgid, time_ns) : NULL;
	struct jit_process *e = array_push(&j->v, &j->nr, &j->cap);
	uint32_t binary = e ? new_binary(j) : 0;

	if (!binary) {
		j->nr -= e != NULL;
		return 0;
	}
	*e = (struct jit_process){ .tgid = p->tgid, .binary = binary, .serial = p->serial,
				   .pause_ns = AGAIN_NS };
	memcpy(e->comm, p->comm, sizeof(e->comm));
	add_place(j, e, p);
	if (is_inherited(p, parent, addr, time_ns))
		add_place(j, e, parent);
	if (j->deps.symbolizer)
		jit_process_find_dump(e, p, j->deps.binaries);
	jvm_maps_add(j->deps.jvms, p);
	return binary;
}

/* The binary for code that has taken the place of other code, or else the first one. */
static uint32_t binary_at(struct jit_names *j, const struct generated *g, uint64_t addr,
			  uint64_t time_ns)
{
	struct jit_process *e = g->has_changed ? process_of(j, g->binary) : NULL;
	uint32_t generation = e ? jit_code_generation(&e->code, addr, time_ns) : 0;
	uint32_t *later = generation ? &e->later[generation - 1] : NULL;

	assert(generation <= JIT_CODE_GENERATIONS);
	if (later && !*later)
		*later = new_binary(j);
	return later && *later ? *later : g->binary;
}

uint32_t jit_names_binary(struct jit_names *j, const struct process *p, uint64_t addr,
			  uint64_t time_ns)
{
	struct generated *g = per_process_at(&j->generated, p);

	if (!g)
		return 0;
	if (!g->binary)
		g->binary = begin_process(j, p, addr, time_ns);
	return binary_at(j, g, addr, time_ns);
}

uint32_t jit_names_changes(const struct jit_names *j, const struct process *p, uint64_t time_ns)
{
	const struct generated *g = per_process_find(&j->generated, p);
	const struct jit_process *e = g && g->has_changed ? process_of(j, g->binary) : NULL;

	return e ? jit_process_changes(e, time_ns) : 0;
}

bool jit_names_has_code(const struct jit_names *j, const struct process *p)
{
	const struct generated *g = per_process_find(&j->generated, p);

	return g && g->binary;
}

bool jit_names_must_wait(const struct jit_names *j, const struct process *p, uint64_t time_ns)
{
	const struct generated *g = per_process_find(&j->generated, p);
	struct jit_process *e = g ? process_of(j, g->binary) : NULL;

	if (!e)
		return false;
	e->is_met = true;
	return e->dump && e->dump_read_ns < time_ns + WRITTEN_NS && now_ns() < time_ns + HELD_NS;
}

int jit_names_request(struct jit_names *j, const struct process *p, uint32_t cookie, uint64_t addr,
		      uint64_t time_ns)
{
	const struct generated *g = per_process_find(&j->generated, p);
	struct jit_process *e = g ? process_of(j, g->binary) : NULL;
	struct jit_request *r;

	if (!e)
		return 0;		/* the process ended too long ago */
	r = array_push(&e->v, &e->nr, &e->cap);
	if (!r)
		return -ENOMEM;
	*r = (struct jit_request){ addr, time_ns, cookie };
	return 0;
}

/*
 * true: the process of e has ended. The model may learn of that some seconds late: an exit event
 * that is read while the process is still in /proc is not taken for its end (process_tracker.c). So
 * /proc is asked as well.
 */
static bool has_ended(const struct jit_names *j, struct jit_process *e)
{
	const struct process *p =
		e->has_ended ? NULL : processes_find(j->deps.processes, e->tgid, TIME_NEVER);

	e->has_ended = !p || p->serial != e->serial || !process_tasks_living((pid_t)e->tgid);
	return e->has_ended;
}

/* NULL: the process of e is forgotten, so no stacks of it can come (lifetimes.h). */
static const struct process *process_by_serial(const struct jit_names *j,
					       const struct jit_process *e)
{
	const struct process *p = processes_find(j->deps.processes, e->tgid, TIME_NEVER - 1);

	while (p && p->serial != e->serial)
		p = p->older;
	return p;
}

/* The file of a dump was opened when it was mapped (binary_store.h). */
static void set_dump(const struct jit_names *j, struct jit_process *e, struct jit_reading *r)
{
	const struct binary *b;

	if (!j->deps.symbolizer)
		return;
	jit_process_find_dump(e, process_by_serial(j, e), j->deps.binaries);
	if (!e->dump)
		return;
	b = binaries_get(j->deps.binaries, e->dump);
	r->dump = (struct parse_file){
		.fd = fcntl(symbolizer_fd(j->deps.symbolizer, e->dump), F_DUPFD_CLOEXEC, 3),
		.owner = b->uid, .dev = b->dev,
	};
}

/* Starts to read the map of e. false: that is not possible. */
static bool begin_job(struct jit_names *j, struct jit_process *e, bool is_growing)
{
	struct jit_reading *r;

	assert(!j->job);
	if (!j->thread)
		j->thread = worker_pool_new(1);
	e->is_met = false;
	r = j->job = j->thread ? jit_reading_new(JIT_QUESTIONS(e)) : NULL;
	if (!r)
		return false;
	r->is_growing = is_growing;
	jit_process_ask(e, r);
	set_dump(j, e, r);
	r->opener = j->deps.opener;
	r->parsers = j->deps.parsers;
	r->begin_ns = now_ns();
	r->until_ns = r->begin_ns + READ_NS;
	j->job_binary = e->binary;
	j->is_job_stale = false;
	worker_submit(j->thread, &r->job);
	return true;
}

/* Other code is at an address since then, of which dump_read_ns says what was known before. */
static void put_change(struct jit_names *j, struct jit_process *e, struct generated *g,
		       uint64_t addr, const char *name, uint64_t since_ns, bool is_late)
{
	if (!jit_code_put(&e->code, addr, name, since_ns) || jit_process_changed(e, since_ns))
		return;
	j->nr_late += is_late;
	if (g)
		g->has_changed = true;
}

/* Remembers whose code is where since when. Those that have just been named come first. */
static void put_changes(struct jit_names *j, struct jit_process *e, struct generated *g)
{
	const struct jit_reading *r = j->job;
	const char *names = (const char *)r->names.v;
	uint64_t known_ns = e->dump_read_ns > WRITTEN_NS ? e->dump_read_ns - WRITTEN_NS : 0;

	for (size_t i = 0; i < r->nr; i++)
		if (r->v[i].name != PERF_MAP_NO_NAME && r->v[i].cookie != WATCHED)
			put_change(j, e, g, r->v[i].addr, names + r->v[i].sysname,
				   r->v[i].since_ns, false);
	for (size_t i = 0; i < r->nr; i++)
		if (r->v[i].name != PERF_MAP_NO_NAME && r->v[i].cookie == WATCHED &&
		    !r->v[i].since_ns)
			put_change(j, e, g, r->v[i].addr, names + r->v[i].sysname, r->begin_ns,
				   true);
	for (size_t i = 0; i < r->nr_changes; i++)
		put_change(j, e, g, r->changes[i].addr, names + r->changes[i].sysname,
			   r->changes[i].since_ns, r->changes[i].since_ns < known_ns);
	if (r->dump_read_ns)
		e->dump_read_ns = r->dump_read_ns;
}

/* Delivers the names that were found, and remembers whose code is where. */
static int give_names(struct jit_names *j, struct jit_process *e, symbol_fn fn, void *ctx)
{
	const struct jit_reading *r = j->job;
	const struct process *p = processes_find(j->deps.processes, e->tgid, TIME_NEVER);
	struct generated *g = p && p->serial == e->serial ? per_process_at(&j->generated, p) : NULL;
	int err = 0;

	put_changes(j, e, g);
	for (size_t i = 0; i < r->nr && !err; i++)
		if (r->v[i].name != PERF_MAP_NO_NAME && r->v[i].cookie != WATCHED)
			err = jit_answer_name(r, &r->v[i], fn, ctx);
	return err;
}

static void say_why(struct jit_process *e, int err)
{
	if (e->has_said_why)
		return;
	e->has_said_why = err == -EACCES || err == -E2BIG || err == -ETIMEDOUT;
	if (err == -EACCES)
		note_kept("process %u (%.15s): its /tmp/perf-PID.map is not a regular file of its "
			  "user: not read", e->tgid, e->comm);
	else if (err == -E2BIG)
		note_kept("process %u (%.15s): its /tmp/perf-PID.map is too large, only the latest "
			  "names are read",
			  e->tgid, e->comm);
	else if (err == -ETIMEDOUT)
		note_kept("process %u (%.15s): its /tmp/perf-PID.map cannot be read, the file "
			  "system does not answer", e->tgid, e->comm);
}

/* Ends the last reading of a map. */
static int end_requests(struct jit_names *j, struct jit_process *e, size_t nr_asked, symbol_fn fn,
			void *ctx)
{
	const struct jit_reading *r = j->job;
	int err;

	if (r->err == -ETIMEDOUT || r->err == -EPIPE || r->err == -EOWNERDEAD ||
	    r->err == -ECANCELED || r->err == -EBUSY)
		j->nr_lost += nr_asked;
	say_why(e, r->err);
	err = jit_answer_rest(r, fn, ctx);
	jit_process_forget(e, nr_asked);
	e->nr_old = 0;
	return err;
}

/* Ends a job that is done. */
static int end_job(struct jit_names *j, symbol_fn fn, void *ctx)
{
	struct jit_process *e = process_of(j, j->job_binary);
	struct jit_reading *r = j->job;
	size_t nr_asked = 0;
	int err;

	assert(r && r->done);
	if (j->is_job_stale) {
		j->job = NULL;
		jit_reading_free(r);
		return 0;
	}
	for (size_t i = 0; i < r->nr; i++)
		nr_asked += r->v[i].cookie != WATCHED;
	assert(e && e->nr >= nr_asked);	/* a process with requests is kept */
	err = give_names(j, e, fn, ctx);
	if (r->is_growing) {
		jit_process_keep(e, r, nr_asked);
		j->credit_bytes -= (int64_t)r->cost_bytes;
	} else if (!err) {
		err = end_requests(j, e, nr_asked, fn, ctx);
	}
	j->job = NULL;
	jit_reading_free(r);
	return err;
}

/* true: another map that grows may be read. */
static bool has_credit(struct jit_names *j, uint64_t now)
{
	int64_t ms = (int64_t)((now - j->credited_ns) / NSEC_PER_MSEC);

	j->credit_bytes += ms * AGAIN_BYTES_PER_SECOND / 1000;
	if (j->credit_bytes > AGAIN_CREDIT_BYTES)
		j->credit_bytes = AGAIN_CREDIT_BYTES;
	j->credited_ns += (uint64_t)ms * NSEC_PER_MSEC;
	return j->credit_bytes > 0;
}

/*
 * The process whose map is to be read next: one that has ended (all: any), or else one whose map
 * has waited for longest. NULL: none.
 */
static struct jit_process *next_process(struct jit_names *j, bool all, bool *is_growing)
{
	struct jit_process *best = NULL;
	uint64_t now = now_ns();

	*is_growing = false;
	for (size_t i = 0; i < j->nr; i++) {
		struct jit_process *e = &j->v[i];

		const bool is_asked = e->nr || e->is_met;

		if ((e->nr || (e->is_met && e->dump)) && (has_ended(j, e) || all))
			return e;
		if (is_asked && e->next_ns <= now && (!best || e->next_ns < best->next_ns))
			best = e;
	}
	*is_growing = true;
	return has_credit(j, now) ? best : NULL;
}

/* Starts the next job. */
static int begin_next(struct jit_names *j, symbol_fn fn, void *ctx, bool all)
{
	bool is_growing;
	int err = 0;

	while (!err && !j->job) {
		struct jit_process *e = next_process(j, all, &is_growing);

		if (!e || begin_job(j, e, is_growing) || is_growing)
			break;
		err = jit_answer_none(e, e->nr, SYMBOL_LIMITED, fn, ctx);
		jit_process_forget(e, e->nr);
		e->nr_old = 0;
	}
	return err;
}

static void forget_ended(struct jit_names *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->nr; i++) {
		struct jit_process *e = &j->v[i];

		if (!e->nr && !(j->job && j->job_binary == e->binary) && !process_by_serial(j, e)) {
			jit_process_release(e);
		} else {
			j->v[kept++] = *e;
		}
	}
	j->nr = kept;
}

/* Looks after the job, for 10 ms. true: it is done. */
static bool poll_job(struct jit_names *j)
{
	struct pollfd pfd = { .fd = worker_fd(j->thread), .events = POLLIN };

	worker_reap(j->thread);
	if (!j->job->done)
		poll(&pfd, 1, 10);
	worker_reap(j->thread);
	return j->job->done;
}

/* Waits for the job. false: it is not done yet. */
static bool wait_for_job(struct jit_names *j, struct patience *wait)
{
	uint64_t until_ns = now_ns() + PAUSE_MS * NSEC_PER_MSEC;

	while (!poll_job(j)) {
		if (wait && !patience_lasts(wait))
			worker_unwanted(j->thread);	/* it comes back soon */
		else if (!wait && now_ns() >= until_ns)
			return false;
	}
	return true;
}

/* Answers what nobody waits for any more. */
static int give_up(struct jit_names *j, symbol_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < j->nr && !err; i++) {
		struct jit_process *e = &j->v[i];

		j->nr_lost += e->nr;
		err = jit_answer_none(e, e->nr, SYMBOL_LIMITED, fn, ctx);
		jit_process_forget(e, e->nr);
		e->nr_old = 0;
	}
	return err;
}

static int next(struct jit_names *j, symbol_fn fn, void *ctx, struct patience *wait)
{
	if (wait && !patience_lasts(wait))
		return give_up(j, fn, ctx);
	return begin_next(j, fn, ctx, wait);
}

int jit_names_collect(struct jit_names *j, symbol_fn fn, void *ctx, struct patience *wait)
{
	int err;

	if (wait)
		jvm_maps_finish(j->deps.jvms, wait);
	else
		jvm_maps_tick(j->deps.jvms);
	err = j->nr && !j->job ? next(j, fn, ctx, wait) : 0;
	while (!err && j->job && wait_for_job(j, wait)) {
		err = end_job(j, fn, ctx);
		if (!err)
			err = next(j, fn, ctx, wait);
	}
	forget_ended(j);
	return err;
}

static void forget_requests(struct jit_names *j)
{
	for (size_t i = 0; i < j->nr; i++) {
		struct jit_process *e = &j->v[i];

		j->nr_lost += e->nr;
		free(e->v);
		e->v = NULL;
		e->nr = e->cap = e->nr_old = 0;
		e->next_ns = 0;
		e->pause_ns = AGAIN_NS;
	}
	j->is_job_stale = true;
}

int jit_names_settle(struct jit_names *j, symbol_fn fn, void *ctx, struct patience *wait)
{
	int err = 0;

	jvm_maps_renew(j->deps.jvms, wait);
	while (!err && patience_lasts(wait)) {
		if (!j->job)
			err = begin_next(j, fn, ctx, true);
		if (err || !j->job)
			break;
		if (poll_job(j))
			err = end_job(j, fn, ctx);
	}
	forget_requests(j);
	forget_ended(j);
	return err;
}

void jit_names_hurry(struct jit_names *j)
{
	for (size_t i = 0; i < j->nr; i++)
		if (j->v[i].is_met && j->v[i].dump)
			j->v[i].next_ns = 0;
}

uint64_t jit_names_lost(const struct jit_names *j)
{
	return j->nr_lost;
}

uint64_t jit_names_late(const struct jit_names *j)
{
	return j->nr_late;
}
