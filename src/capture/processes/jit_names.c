/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jit_names.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/foreign/file_opener.h"
#include "src/parse/parsers.h"
#include "src/proc/procfs.h"
#include "src/model/binary.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "src/symbolize/perf_map.h"

#define READ_NS (2 * NSEC_PER_SEC)	/* after that its file system counts as not answering */
#define PAUSE_MS 50			/* a running recording waits no longer for maps */
#define PLACES 2			/* its own map, and that of its parent */

/* The reading of the maps of one process. The thread touches nothing but this struct. */
struct map_job {
	struct worker_job job;
	struct process_tmp places[PLACES];
	size_t nr_places;
	struct file_opener *opener;
	struct parsers *parsers;
	uint64_t until_ns;
	struct perf_map_query *v;
	size_t nr;
	struct byte_buf names;
	int err;			/* as of read_map() */
	bool done;
};

struct jit_request {
	uint64_t addr;
	uint32_t cookie;
};

struct jit_process {
	uint32_t tgid, binary;
	uint64_t serial;
	bool has_ended;
	char comm[16];
	struct process_tmp places[PLACES];
	size_t nr_places;
	struct jit_request *v;
	size_t nr, cap;
};

/* The binary that stands for the code that a process makes. */
struct generated {
	uint64_t serial;
	uint32_t binary;		/* 0: none seen yet */
};

struct jit_names {
	struct jit_names_deps deps;
	struct per_process generated;	/* struct generated */
	struct jit_process *v;
	size_t nr, cap;
	struct worker_pool *thread;	/* NULL: none yet */
	struct map_job *job;		/* running for job_binary; has borrowed its places */
	uint32_t job_binary;
	uint64_t nr_lost;		/* requests */
};

/* ---- in the thread ---- */

/* 0; -ENOENT: there is no map; -EACCES: it must not be used; or an error of parse_perf_map(). */
static int read_map(struct map_job *m, const struct process_tmp *at)
{
	const struct helper_wait wait = { .until_ns = m->until_ns, .unwanted = m->job.unwanted };
	struct stat st;
	int fd = file_opener_perf_map(m->opener, at, &wait, &st), err;

	if (fd < 0)
		return fd;
	err = parse_perf_map(m->parsers, fd, &st, &wait, m->v, m->nr, &m->names);
	close(fd);
	return err;
}

static void map_run(struct worker_job *job)
{
	struct map_job *m = (struct map_job *)job;

	m->err = -ENOENT;
	for (size_t i = 0; i < m->nr_places; i++) {
		int err = read_map(m, &m->places[i]);

		m->err = m->err == -ENOENT ? err : m->err;
	}
}

static void map_done(struct worker_job *job, bool cancelled)
{
	struct map_job *m = (struct map_job *)job;

	m->done = true;
	if (cancelled)
		m->err = -ECANCELED;
}

/* ---- in the owner's thread ---- */

static void close_places(struct process_tmp *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].dir >= 0)
			close(v[i].dir);
}

static void free_job(struct map_job *m)
{
	if (!m)
		return;
	bb_release(&m->names);
	free(m->v);
	free(m);
}

int jit_names_new(const struct jit_names_deps *deps, struct jit_names **jp)
{
	struct jit_names *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->deps = *deps;
	j->generated.size = sizeof(struct generated);
	*jp = j;
	return 0;
}

/* A job that still runs ends soon: all that it waits for has a time limit. */
void jit_names_free(struct jit_names *j)
{
	if (!j)
		return;
	worker_pool_free(j->thread);
	free_job(j->job);
	for (size_t i = 0; i < j->nr; i++) {
		close_places(j->v[i].places, j->v[i].nr_places);
		free(j->v[i].v);
	}
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
	assert(e->nr_places < PLACES);
	j->deps.open_tmp(j->deps.ctx, p, &e->places[e->nr_places++]);
}

/* true: p has the code at addr from its parent. After an exec it would be at another address. */
static bool is_inherited(const struct process *p, const struct process *parent, uint64_t addr,
			 uint64_t time_ns)
{
	const struct mapping *own = process_find_mapping(p, addr, time_ns);
	const struct mapping *theirs = parent ? process_find_mapping(parent, addr, time_ns) : NULL;

	return own && theirs && own->start == theirs->start && own->binary == theirs->binary;
}

uint32_t jit_names_binary(struct jit_names *j, const struct process *p, uint64_t addr,
			  uint64_t time_ns)
{
	static const struct file_id none;
	const struct process *parent =
		p->parent_tgid ? processes_find(j->deps.processes, p->parent_tgid, time_ns) : NULL;
	struct generated *g = per_process_at(&j->generated, p);
	struct jit_process *e;
	struct binary *b;

	if (!g || g->binary)
		return g ? g->binary : 0;
	e = array_push(&j->v, &j->nr, &j->cap);
	b = e ? binaries_add(j->deps.binaries, &none, "", BINARY_ANON) : NULL;
	if (!b) {
		j->nr -= e != NULL;
		return 0;
	}
	*e = (struct jit_process){ .tgid = p->tgid, .binary = b->index, .serial = p->serial };
	memcpy(e->comm, p->comm, sizeof(e->comm));
	add_place(j, e, p);
	if (is_inherited(p, parent, addr, time_ns))
		add_place(j, e, parent);
	g->binary = b->index;
	return b->index;
}

int jit_names_request(struct jit_names *j, const struct process *p, uint32_t cookie, uint64_t addr)
{
	const struct generated *g = per_process_find(&j->generated, p);
	struct jit_process *e = NULL;
	struct jit_request *r;

	for (size_t i = j->nr; i-- > 0 && g && !e;)
		if (j->v[i].binary == g->binary)
			e = &j->v[i];
	if (!e)
		return 0;		/* the process ended too long ago */
	r = array_push(&e->v, &e->nr, &e->cap);
	if (!r)
		return -ENOMEM;
	*r = (struct jit_request){ addr, cookie };
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

	e->has_ended = !p || p->serial != e->serial || !procfs_living_thread((pid_t)e->tgid);
	return e->has_ended;
}

/* true: the process of e is not forgotten yet, so stacks of it may still come (lifetimes.h). */
static bool is_known(const struct jit_names *j, const struct jit_process *e)
{
	const struct process *p = processes_find(j->deps.processes, e->tgid, TIME_NEVER - 1);

	while (p && p->serial != e->serial)
		p = p->older;
	return p;
}

static struct map_job *new_job(const struct jit_names *j, struct jit_process *e)
{
	struct map_job *m = calloc(1, sizeof(*m));

	if (m)
		m->v = calloc(e->nr + 1, sizeof(*m->v));
	if (!m || !m->v) {
		free_job(m);
		return NULL;
	}
	for (size_t i = 0; i < e->nr; i++)
		m->v[i] = (struct perf_map_query){
			.addr = e->v[i].addr, .cookie = e->v[i].cookie, .name = PERF_MAP_NO_NAME,
		};
	m->nr = e->nr;
	memcpy(m->places, e->places, sizeof(m->places));
	m->nr_places = e->nr_places;
	m->opener = j->deps.opener;
	m->parsers = j->deps.parsers;
	m->until_ns = now_ns() + READ_NS;
	m->job.run = map_run;
	m->job.done = map_done;
	return m;
}

/* Starts a job for the process of e. false: that is not possible. */
static bool begin_job(struct jit_names *j, struct jit_process *e)
{
	if (!j->thread)
		j->thread = worker_pool_new(1);
	j->job = j->thread ? new_job(j, e) : NULL;
	if (!j->job)
		return false;
	j->job_binary = e->binary;
	worker_submit(j->thread, &j->job->job);
	return true;
}

static uint8_t status_of(int err)
{
	return err == -ENOENT					    ? SYMBOL_GONE
	       : err == -EACCES || err == -EIO || err == -ETIMEDOUT ? SYMBOL_UNREADABLE
	       : err						    ? SYMBOL_LIMITED
								    : SYMBOL_NONE;
}

static int give_names(const struct map_job *m, symbol_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < m->nr && !err; i++) {
		const struct perf_map_query *q = &m->v[i];
		struct symbol sym = { .status = status_of(m->err) };

		if (q->name != PERF_MAP_NO_NAME)
			sym = (struct symbol){
				.status = SYMBOL_OK_SYMTAB,
				.func_flags = FUNC_JIT,
				.has_func_addr = true,
				.func_addr = q->start,
				.name = (const char *)m->names.v + q->name,
			};
		err = fn(ctx, q->cookie, q->addr, &sym);
	}
	return err;
}

static int give_none(const struct jit_process *e, size_t nr, uint8_t status, symbol_fn fn,
		     void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = fn(ctx, e->v[i].cookie, e->v[i].addr, &(struct symbol){ .status = status });
	return err;
}

static struct jit_process *process_of_job(struct jit_names *j)
{
	for (size_t i = 0; i < j->nr; i++)
		if (j->v[i].binary == j->job_binary)
			return &j->v[i];
	return NULL;
}

/* Forgets the first nr requests, which are answered. Others may have come since the job began. */
static void forget_requests(struct jit_process *e, size_t nr)
{
	e->nr -= nr;
	memmove(e->v, e->v + nr, e->nr * sizeof(*e->v));
}

static void say_why(const struct jit_process *e, int err)
{
	if (err == -EACCES)
		note("process %u (%.15s): its /tmp/perf-PID.map is not a regular file of its user: "
		     "not read",
		     e->tgid, e->comm);
	else if (err == -E2BIG)
		note("process %u (%.15s): its /tmp/perf-PID.map is too large, only the latest "
		     "names are read",
		     e->tgid, e->comm);
	else if (err == -ETIMEDOUT)
		note("process %u (%.15s): its /tmp/perf-PID.map cannot be read, the file system "
		     "does not answer",
		     e->tgid, e->comm);
}

/* Ends a job that is done. */
static int end_job(struct jit_names *j, symbol_fn fn, void *ctx)
{
	struct jit_process *e = process_of_job(j);
	struct map_job *m = j->job;
	int err;

	assert(e && e->nr >= m->nr);	/* a process with requests is kept */
	j->job = NULL;
	if (m->err == -ETIMEDOUT || m->err == -EPIPE || m->err == -ECANCELED || m->err == -EBUSY)
		j->nr_lost += m->nr;
	say_why(e, m->err);
	err = give_names(m, fn, ctx);
	forget_requests(e, m->nr);
	free_job(m);
	return err;
}

/* Starts the next job. The requests of processes that live are kept, unless all is set. */
static int begin_next(struct jit_names *j, symbol_fn fn, void *ctx, bool all)
{
	int err = 0;

	for (size_t i = 0; i < j->nr && !err && !j->job; i++) {
		struct jit_process *e = &j->v[i];

		if (!e->nr || !(has_ended(j, e) || all) || begin_job(j, e))
			continue;
		err = give_none(e, e->nr, SYMBOL_LIMITED, fn, ctx);
		forget_requests(e, e->nr);
	}
	return err;
}

static void forget_ended(struct jit_names *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->nr; i++) {
		struct jit_process *e = &j->v[i];

		if (!e->nr && !is_known(j, e)) {
			close_places(e->places, e->nr_places);
			free(e->v);
		} else {
			j->v[kept++] = *e;
		}
	}
	j->nr = kept;
}

/* Waits for the job. false: it is not done yet. */
static bool wait_for_job(struct jit_names *j, struct patience *wait)
{
	struct pollfd pfd = { .fd = worker_fd(j->thread), .events = POLLIN };
	uint64_t until_ns = now_ns() + PAUSE_MS * NSEC_PER_MSEC;

	while (worker_reap(j->thread), !j->job->done) {
		if (wait && !patience_lasts(wait))
			worker_unwanted(j->thread);	/* it comes back soon */
		else if (!wait && now_ns() >= until_ns)
			return false;
		poll(&pfd, 1, 10);
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
		err = give_none(e, e->nr, SYMBOL_LIMITED, fn, ctx);
		forget_requests(e, e->nr);
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
	int err = j->nr && !j->job ? next(j, fn, ctx, wait) : 0;

	while (!err && j->job && wait_for_job(j, wait)) {
		err = end_job(j, fn, ctx);
		if (!err)
			err = next(j, fn, ctx, wait);
	}
	forget_ended(j);
	return err;
}

uint64_t jit_names_lost(const struct jit_names *j)
{
	return j->nr_lost;
}
