/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/process_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/timed_reader.h"
#include "src/capture/processes/binary_store.h"
#include "src/capture/processes/jit_names.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "src/proc/process_tasks.h"
#include "src/proc/procfs.h"

#define PROC_MS 500			/* limit for a file of /proc, which takes 0.1 ms normally */
#define LOOK_AGAIN_NS (100 * NSEC_PER_MSEC)
#define NEW_MAPS_TO_LOOK 64
#define LOOK_SHARE 20			/* all mappings of a process: for 1/20 of the time */
/* Single mappings of all processes: in each second for so long. */
#define ASK_WINDOW_NS NSEC_PER_SEC
#define ASK_NS (100 * NSEC_PER_MSEC)

/* What is known of a process, beside the model. */
struct looked {
	uint64_t serial;
	struct process_tmp tmp;		/* opened when it mapped memory for generated code */
	bool has_tmp;
	bool is_silent;			/* it is locked: /proc does not answer */
	uint32_t nr_new_maps;		/* mappings told by events since looked_ns */
	uint64_t looked_ns;		/* when its /proc/PID/maps was read, */
	uint64_t took_ns;		/* and how long that took */
};

struct process_maps {
	struct process_maps_deps deps;
	struct per_process looked;	/* struct looked */
	struct timed_reader *proc;	/* reads what may block for ever */
	uint64_t asked_since_ns, asked_ns;	/* time that single mappings took since then */
	bool has_said_crowded;
};

int process_maps_new(const struct process_maps_deps *deps, struct process_maps **pmp)
{
	struct process_maps *pm = calloc(1, sizeof(*pm));

	if (!pm)
		return -ENOMEM;
	pm->deps = *deps;
	pm->looked.size = sizeof(struct looked);
	pm->proc = procfs_reader_new(PROC_MS, deps->begin_thread);
	if (!pm->proc) {
		free(pm);
		return fail(-ENOMEM, "start a thread that reads /proc");
	}
	*pmp = pm;
	return 0;
}

void process_maps_free(struct process_maps *pm)
{
	if (!pm)
		return;
	timed_reader_free(pm->proc);
	per_process_release(&pm->looked);
	free(pm);
}

void process_maps_forget(struct process_maps *pm, const struct process *p)
{
	struct looked *own = per_process_find(&pm->looked, p);

	if (own && own->has_tmp && own->tmp.dir >= 0)
		close(own->tmp.dir);
	if (own)
		own->has_tmp = false;
}

static bool in_a_hurry(const struct process_maps *pm)
{
	return pm->deps.hurry && pm->deps.hurry(pm->deps.ctx);
}

/* ---- one mapping ---- */

static struct mapping mapping_of(const struct proc_map *map, uint64_t time_ns)
{
	return (struct mapping){
		.start = map->start, .end = map->end, .pgoff_bytes = map->pgoff_bytes,
		.prot = map->prot, .dev = map->dev, .ino = map->ino, .born_ns = time_ns,
		.died_ns = TIME_NEVER,
	};
}

static uint64_t to_vaddr(const struct process_maps *pm, uint32_t binary, const struct mapping *m)
{
	const struct binary *b = binaries_get(pm->deps.binaries, binary);

	return b ? binary_to_vaddr(b, m->start, m->pgoff_bytes) : 0;
}

/* Opens the file of m, if that may be done now. */
static void read_file(const struct process_maps *pm, pid_t tid, const struct proc_map *map,
		      struct mapping *m, bool is_met)
{
	uint32_t binary = binary_store_map(pm->deps.store, tid, map, is_met);

	m->is_unread = binary == BINARY_STORE_UNREAD;
	m->binary = m->is_unread ? 0 : binary;
	m->to_vaddr = to_vaddr(pm, m->binary, m);
}

/* Whether p is known to have that file mapped there, and the file is open. */
static bool is_known(const struct process_maps *pm, const struct process *p,
		     const struct mapping *m)
{
	const struct mapping *k = process_mapping_before(p, m->start);

	return k && m->ino && k->start == m->start && k->end == m->end && k->binary &&
	       k->pgoff_bytes == m->pgoff_bytes && k->ino == m->ino && k->dev == m->dev &&
	       binary_store_holds(pm->deps.store, k->binary);
}

static void say_crowded(struct process_maps *pm, const struct process *p)
{
	if (!pm->has_said_crowded)
		note_kept("process %u (%.15s) has more executable mappings than are followed: "
			  "those that stacks meet are looked up, and deep stacks may be cut",
			  p->tgid, p->comm[0] ? p->comm : "?");
	pm->has_said_crowded = true;
}

/* A mapping that /proc or an event tells of. Its end alone may matter in a crowded process. */
static int take_map(struct process_maps *pm, struct process *p, pid_t tid,
		    const struct proc_map *map, struct mapping *m)
{
	bool was_crowded = p->is_crowded;
	int err;

	if (is_known(pm, p, m))
		return 0;
	if (p->is_crowded)
		m->is_unread = m->ino != 0;
	else
		read_file(pm, tid, map, m, false);
	if (m->binary && !p->exe)
		p->exe = m->binary;
	err = process_map(p, m);
	if (p->is_crowded && !was_crowded)
		say_crowded(pm, p);
	return err;
}

static void say_silent(struct looked *own, struct process *p, const char *file)
{
	own->is_silent = true;
	if (!p->comm[0])
		procfs_comm((pid_t)p->tgid, p->comm, sizeof(p->comm));
	note_kept("process %u (%.15s): it is locked and does not get free, /proc/%u/%s does not "
		  "answer. What code it runs stays unknown", p->tgid, p->comm, p->tgid, file);
}

/* Opens the /tmp of p now, because p may have ended when its names are read. */
static void keep_tmp(struct process_maps *pm, struct looked *own, struct process *p)
{
	if (own->has_tmp || own->is_silent || p->died_ns != TIME_NEVER)
		return;
	if (procfs_tmp_timed(pm->proc, (pid_t)p->tgid, &own->tmp) == -ETIMEDOUT)
		say_silent(own, p, "root");
	own->has_tmp = own->tmp.dir >= 0;
}

int process_maps_event(struct process_maps *pm, struct process *p, pid_t tid,
		       const struct proc_map *map, uint64_t time_ns)
{
	struct looked *own = per_process_at(&pm->looked, p);
	struct mapping m = mapping_of(map, time_ns);

	if (!own)
		return -ENOMEM;
	if (jit_names_path(map->path))
		keep_tmp(pm, own, p);
	own->nr_new_maps++;
	return take_map(pm, p, tid, map, &m);
}

/* ---- all of them ---- */

struct scan {
	struct process_maps *pm;
	struct process *p;
	pid_t tid;
	uint64_t time_ns;
	struct mapping *found;		/* the mappings of now, if want_found */
	size_t nr_found, cap_found;
	bool want_found;
};

static int keep_found(struct scan *s, const struct mapping *m)
{
	struct mapping *slot = array_push(&s->found, &s->nr_found, &s->cap_found);

	if (slot)
		*slot = *m;
	return slot ? 0 : -ENOMEM;
}

static int scan_map(void *ctx, const struct proc_map *map)
{
	struct scan *s = ctx;
	struct mapping m = mapping_of(map, s->time_ns);

	if (in_a_hurry(s->pm))
		return -EINTR;
	if (s->want_found && keep_found(s, &m))
		return -ENOMEM;
	return take_map(s->pm, s->p, s->tid, map, &m);
}

static int scan_maps(struct scan *s)
{
	struct looked *own = per_process_at(&s->pm->looked, s->p);
	int err;

	if (!own)
		return -ENOMEM;
	own->looked_ns = now_ns();
	own->nr_new_maps = 0;
	if (!s->tid)
		return -ESRCH;
	if (own->is_silent)
		return -ETIMEDOUT;
	err = procfs_maps_timed(s->pm->proc, s->tid, scan_map, s);
	if (err == -ETIMEDOUT)
		say_silent(own, s->p, "maps");
	return err;
}

/* Asks /proc for what p is. 0; -ETIMEDOUT: it does not answer; or another -errno. */
static int look_at_stat(struct process_maps *pm, struct process *p, struct proc_stat *stat)
{
	struct looked *own = per_process_at(&pm->looked, p);
	int err;

	if (!own)
		return -ENOMEM;
	if (own->is_silent)
		return -ETIMEDOUT;
	err = procfs_stat_timed(pm->proc, (pid_t)p->tgid, stat);
	if (err == -ETIMEDOUT)
		say_silent(own, p, "stat");
	return err;
}

void process_maps_describe(struct process_maps *pm, struct process *p)
{
	struct proc_stat stat;

	if (p->scanned || p->died_ns != TIME_NEVER || look_at_stat(pm, p, &stat))
		return;
	p->is_kthread = stat.kthread;
	if (!p->start_boottime_ns)
		p->start_boottime_ns = stat.start_boottime_ns;
}

int process_maps_scan(struct process_maps *pm, struct process *p, uint64_t born_ns)
{
	struct scan s = { .pm = pm, .p = p, .tid = (pid_t)p->tgid, .time_ns = born_ns };
	struct proc_stat stat;

	p->scanned = true;
	if (look_at_stat(pm, p, &stat))
		return -ESRCH;
	memcpy(p->comm, stat.comm, sizeof(p->comm));
	p->parent_tgid = stat.ppid;
	p->start_boottime_ns = stat.start_boottime_ns;
	p->is_kthread = stat.kthread;
	if (stat.kthread)
		return 0;
	if (stat.is_dead)
		s.tid = process_tasks_living(s.tid);
	return scan_maps(&s);
}

static bool is_due(const struct looked *own)
{
	uint64_t pause = own ? own->took_ns * LOOK_SHARE : 0;

	return !own || now_ns() - own->looked_ns >= (pause > LOOK_AGAIN_NS ? pause : LOOK_AGAIN_NS);
}

/*
 * Reads the mappings of p again. Those that are gone die (munmap, dlclose and mremap make no
 * event), and new ones are added.
 */
static bool look_again(struct process_maps *pm, struct process *p)
{
	struct scan s = { .pm = pm, .p = p, .tid = process_tasks_living((pid_t)p->tgid),
			  .time_ns = now_ns(), .want_found = true };
	struct looked *own = per_process_at(&pm->looked, p);
	uint32_t before = p->generation;

	if (own && !scan_maps(&s))
		process_keep(p, s.found, s.nr_found, s.time_ns);
	free(s.found);
	if (own)
		own->took_ns = now_ns() - s.time_ns;
	return p->generation != before;
}

bool process_maps_review(struct process_maps *pm, struct process *p)
{
	const struct looked *own = per_process_find(&pm->looked, p);

	return own && own->nr_new_maps >= NEW_MAPS_TO_LOOK && is_due(own) && look_again(pm, p);
}

/* ---- what a stack needs ---- */

struct question {
	struct process_maps *pm;
	struct process *p;
	pid_t tid;
	enum process_learnt learnt;
};

/* The mapping of p that a stack has met, or of which it needs the file. */
static int on_answer(void *ctx, const struct proc_map *map)
{
	struct question *q = ctx;
	struct process_maps *pm = q->pm;
	struct mapping m = mapping_of(map, now_ns());
	const struct mapping *known = process_mapping_before(q->p, map->start);
	bool is_same = known && known->start <= m.start && known->end >= m.end &&
		       known->ino == m.ino && known->dev == m.dev;

	if (is_same && !known->is_unread) {
		if (known->binary && binary_store_lacks_file(pm->deps.store, known->binary) &&
		    binary_store_give_file(pm->deps.store, known->binary, q->tid, map))
			q->learnt = PROCESS_LEARNT_MORE;
		return 0;
	}
	read_file(pm, q->tid, map, &m, true);
	if (m.is_unread) {
		q->learnt = PROCESS_ASK_LATER;
		return 0;
	}
	q->learnt = PROCESS_LEARNT_MORE;
	if (!is_same)
		return process_meet(q->p, &m);
	process_file_read(q->p, known, m.binary, to_vaddr(pm, m.binary, known));
	return 0;
}

/* Whether single mappings may be asked for: not all the time, on kernels where that takes long. */
static bool may_ask(struct process_maps *pm, uint64_t now)
{
	if (now - pm->asked_since_ns >= ASK_WINDOW_NS) {
		pm->asked_since_ns = now;
		pm->asked_ns = 0;
	}
	return pm->asked_ns < ASK_NS;
}

static enum process_learnt ask(struct process_maps *pm, struct process *p, uint64_t addr)
{
	struct looked *own = per_process_at(&pm->looked, p);
	struct question q = { .pm = pm, .p = p, .tid = process_tasks_living((pid_t)p->tgid) };
	uint64_t begin = now_ns();
	int err;

	if (!own || !q.tid || own->is_silent)
		return PROCESS_LEARNT_NOTHING;
	if (!may_ask(pm, begin))
		return PROCESS_ASK_LATER;
	err = procfs_map_at_timed(pm->proc, q.tid, addr, on_answer, &q);
	pm->asked_ns += now_ns() - begin;
	if (err == -ETIMEDOUT)
		say_silent(own, p, "maps");
	return q.learnt;
}

enum process_learnt process_maps_learn(struct process_maps *pm, struct process *p, uint64_t addr)
{
	const struct mapping *m = process_mapping_before(p, addr);

	if (p->died_ns != TIME_NEVER)
		return PROCESS_LEARNT_NOTHING;
	if (m && addr < m->end) {
		bool lacks = m->is_unread ||
			     (m->binary && binary_store_lacks_file(pm->deps.store, m->binary));

		return lacks ? ask(pm, p, addr) : PROCESS_LEARNT_NOTHING;
	}
	if (p->is_crowded)
		return ask(pm, p, addr);
	return is_due(per_process_find(&pm->looked, p)) && look_again(pm, p)
		       ? PROCESS_LEARNT_MORE
		       : PROCESS_LEARNT_NOTHING;
}

void process_maps_open_tmp(struct process_maps *pm, const struct process *p,
			   struct process_tmp *out)
{
	const struct looked *own = per_process_find(&pm->looked, p);

	if (!own || !own->has_tmp) {
		*out = (struct process_tmp){ .dir = -1, .is_root = true };
		if (!own || !own->is_silent)
			procfs_tmp_timed(pm->proc, (pid_t)p->tgid, out);
		return;
	}
	*out = own->tmp;
	out->dir = fcntl(own->tmp.dir, F_DUPFD_CLOEXEC, 3);
}
