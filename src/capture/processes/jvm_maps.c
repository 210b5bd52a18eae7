/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/jvm_maps.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/foreign/jvm_attach.h"
#include "src/model/binary.h"
#include "src/model/process.h"

#define FIRST_NS NSEC_PER_SEC		/* after it was met */
#define FINISH_NS (5 * NSEC_PER_SEC)
#define THREADS 2
#define MAX_SAID 4			/* JVMs of which is said that there is no map */
#define LIBRARY "/libjvm.so"

struct jvm {
	struct worker_job job;
	struct jvm_attach *attach;
	uint32_t tgid;
	uint64_t start_boottime_ns, first_ns;
	char comm[16];
	int err;			/* its answer */
	bool is_asked, is_running;
};

struct jvm_maps {
	struct jvm_attach *attach;
	const struct binaries *binaries;
	struct worker_pool *threads;	/* NULL: none yet */
	struct jvm **v;
	size_t nr, cap;
};

/* ---- in a thread ---- */

static void run(struct worker_job *job)
{
	struct jvm *v = (struct jvm *)job;
	const struct helper_wait wait = { .unwanted = job->unwanted };

	v->err = jvm_attach_ask(v->attach, (pid_t)v->tgid, v->start_boottime_ns, &wait);
}

static void done(struct worker_job *job, bool cancelled)
{
	struct jvm *v = (struct jvm *)job;

	v->is_running = false;
	if (cancelled)
		v->err = -ECANCELED;
}

/* ---- in the owner's thread ---- */

int jvm_maps_new(const struct binaries *binaries, struct helper_deaths *deaths,
		 struct jvm_maps **mp)
{
	struct jvm_maps *m = calloc(1, sizeof(*m));
	int err = m ? jvm_attach_new(deaths, &m->attach) : -ENOMEM;

	if (err) {
		jvm_maps_free(m);
		return err;
	}
	m->binaries = binaries;
	*mp = m;
	return 0;
}

void jvm_maps_free(struct jvm_maps *m)
{
	if (!m)
		return;
	worker_pool_free(m->threads);
	jvm_attach_free(m->attach);
	for (size_t i = 0; i < m->nr; i++)
		free(m->v[i]);
	free(m->v);
	free(m);
}

static bool has_library(const struct jvm_maps *m, const struct process *p)
{
	for (size_t i = 0; i < process_nr_mappings(p); i++) {
		const struct binary *b = binaries_get(m->binaries, process_mapping(p, i)->binary);
		size_t len = b && b->path ? strlen(b->path) : 0;

		if (len >= strlen(LIBRARY) && !strcmp(b->path + len - strlen(LIBRARY), LIBRARY))
			return true;
	}
	return false;
}

void jvm_maps_add(struct jvm_maps *m, const struct process *p)
{
	struct jvm *v = m && has_library(m, p) ? calloc(1, sizeof(*v)) : NULL;
	struct jvm **place = v ? array_push(&m->v, &m->nr, &m->cap) : NULL;

	if (!place) {
		free(v);
		return;
	}
	*place = v;
	v->attach = m->attach;
	v->tgid = p->tgid;
	v->start_boottime_ns = p->start_boottime_ns;
	v->first_ns = now_ns() + FIRST_NS;
	memcpy(v->comm, p->comm, sizeof(v->comm));
	v->job.run = run;
	v->job.done = done;
}

static void begin(struct jvm_maps *m, struct jvm *v)
{
	if (!m->threads)
		m->threads = worker_pool_new(THREADS);
	v->is_asked = true;
	v->err = m->threads ? 0 : -ENOMEM;
	if (v->err)
		return;
	v->is_running = true;
	worker_submit(m->threads, &v->job);
}

/* JVMs that have ended are forgotten, so that a recording of days does not keep them all. */
static void forget_ended(struct jvm_maps *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->nr; i++) {
		if (m->v[i]->is_asked && !m->v[i]->is_running && m->v[i]->err == -ESRCH)
			free(m->v[i]);
		else
			m->v[kept++] = m->v[i];
	}
	m->nr = kept;
}

void jvm_maps_tick(struct jvm_maps *m)
{
	for (size_t i = 0; m && i < m->nr; i++)
		if (!m->v[i]->is_asked && m->v[i]->first_ns <= now_ns())
			begin(m, m->v[i]);
	if (m && m->threads)
		worker_reap(m->threads);
}

static bool any_runs(const struct jvm_maps *m)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->v[i]->is_running)
			return true;
	return false;
}

static void wait_for_all(struct jvm_maps *m, struct patience *wait)
{
	struct pollfd pfd = { .fd = m->threads ? worker_fd(m->threads) : -1, .events = POLLIN };
	uint64_t until_ns = now_ns() + FINISH_NS;

	while (any_runs(m)) {
		if (now_ns() >= until_ns || !patience_lasts(wait))
			worker_unwanted(m->threads);	/* they come back soon */
		poll(&pfd, 1, 10);
		worker_reap(m->threads);
	}
}

void jvm_maps_renew(struct jvm_maps *m, struct patience *wait)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		if (m->v[i]->is_asked && !m->v[i]->is_running && !m->v[i]->err)
			begin(m, m->v[i]);
	while (any_runs(m) && patience_lasts(wait)) {
		struct pollfd pfd = { .fd = worker_fd(m->threads), .events = POLLIN };

		poll(&pfd, 1, 10);
		worker_reap(m->threads);
	}
	forget_ended(m);
}

static void say(const struct jvm *v)
{
	static const struct {
		int err;
		const char *why;
	} causes[] = {
		{ -EPERM, "only its user or root may ask it. Try: sudo" },
		{ -ENOTSUP, "it was started with -Xrs or -XX:+DisableAttachMechanism, or is no "
			    "HotSpot. Try: -XX:+UnlockDiagnosticVMOptions "
			    "-XX:+DumpPerfMapAtExit for it" },
		{ -ENOSYS, "it is older than JDK 17. Try: perf-map-agent" },
		{ -EACCES, "its user cannot write to its /tmp, or another one has made .java_pidN "
			   "there. Try: jcmd PID Compiler.perfmap" },
		{ -EREMOTEIO, "it has refused. Try: jcmd PID Compiler.perfmap" },
		{ -ETIMEDOUT, "no answer in time. Try: jcmd PID Compiler.perfmap" },
		{ -ECANCELED, "no answer in time. Try: jcmd PID Compiler.perfmap" },
	};
	const char *why = strerror(-v->err);

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].err == v->err)
			why = causes[i].why;
	note_kept("process %u (%.15s): no names of its Java code: %s", v->tgid, v->comm, why);
}

/* What is being written now is new enough. */
void jvm_maps_finish(struct jvm_maps *m, struct patience *wait)
{
	size_t nr_said = 0;

	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		if (!m->v[i]->is_running && m->v[i]->err != -ESRCH)
			begin(m, m->v[i]);
	wait_for_all(m, wait);
	for (size_t i = 0; i < m->nr; i++)
		if (m->v[i]->err && m->v[i]->err != -ESRCH && nr_said++ < MAX_SAID)
			say(m->v[i]);
}

uint64_t jvm_maps_cpu_ns(const struct jvm_maps *m)
{
	return m ? jvm_attach_cpu_ns(m->attach) : 0;
}
