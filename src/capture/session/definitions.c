/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/definitions.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/capture/processes/lifetimes.h"
#include "src/proc/procfs.h"
#include "src/model/binary.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "src/model/same_definition.h"
#include "src/symbolize/symbolizer.h"

#define RETIRE_FROM 4096		/* fewer threads are not worth a look */

struct known_process {
	uint64_t serial;
	uint32_t id;			/* of its PROCESS record; 0: not written yet */
	uint32_t generation;		/* of its mappings when their records were written */
};

struct known_thread {
	struct rec_thread t;
	bool was_met;			/* since the last time threads were retired */
};

struct definitions {
	record_fn sink;
	void *sink_ctx;
	int err;
	const struct binaries *binaries;
	struct intern *strings;
	uint32_t nr_binaries, nr_processes, nr_threads;
	struct per_process known;	/* struct known_process */
	struct known_thread *threads;	/* that may be met again */
	size_t nr_known, cap_threads;
	struct hash_index thread_index;
	uint64_t retired_ns;
	struct rec_func *funcs;
	size_t nr_funcs, cap_funcs;
	struct hash_index func_index;
};

int definitions_new(record_fn sink, void *sink_ctx, const struct binaries *bs,
		    struct definitions **dp)
{
	struct definitions *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->sink = sink;
	d->sink_ctx = sink_ctx;
	d->binaries = bs;
	d->known.size = sizeof(struct known_process);
	d->strings = intern_new();
	if (!d->strings || !array_push(&d->funcs, &d->nr_funcs, &d->cap_funcs)) {
		definitions_free(d);
		return -ENOMEM;
	}
	*dp = d;
	return 0;
}

void definitions_begin(struct definitions *d)
{
	for (size_t i = 1; i < d->binaries->nr; i++)
		d->binaries->v[i]->record_id = 0;
}

void definitions_free(struct definitions *d)
{
	if (!d)
		return;
	intern_free(d->strings);
	per_process_release(&d->known);
	free(d->threads);
	free(d->funcs);
	ix_release(&d->thread_index);
	ix_release(&d->func_index);
	free(d);
}

int definitions_error(const struct definitions *d)
{
	return d->err;
}

size_t definitions_memory(const struct definitions *d)
{
	return intern_memory(d->strings) + d->known.cap * d->known.size +
	       d->cap_threads * sizeof(*d->threads) + ix_memory(&d->thread_index) +
	       d->cap_funcs * sizeof(*d->funcs) + ix_memory(&d->func_index);
}

uint64_t definitions_threads(const struct definitions *d)
{
	return d->nr_threads;
}

uint64_t definitions_processes(const struct definitions *d)
{
	return d->nr_processes;
}

static void emit(struct definitions *d, const struct record *rec)
{
	if (!d->err)
		d->err = d->sink(d->sink_ctx, rec);
}

uint32_t definitions_string(struct definitions *d, const char *s)
{
	uint32_t before = intern_count(d->strings), id = intern_str(d->strings, s);
	struct record rec = { .tag = REC_STRING };

	if (id == IX_NONE)
		return 0;
	if (id >= before) {
		rec.string.id = id;
		rec.string.bytes = intern_get(d->strings, id, &rec.string.len);
		emit(d, &rec);
	}
	return id;
}

uint32_t definitions_binary(struct definitions *d, uint32_t index)
{
	struct binary *b = binaries_get(d->binaries, index);
	struct record rec = { .tag = REC_BINARY };

	if (!b)
		return 0;
	if (b->record_id)
		return b->record_id;
	rec.binary = (struct rec_binary){
		.kind = b->kind,
		.path = definitions_string(d, b->path),
		.build_id_len = b->build_id_len,
		.size_bytes = b->size_bytes,
		.mtime_ns = b->mtime_ns,
		.dev = b->dev,
		/* The memory of a process has this number in all parts of the recording. */
		.ino = b->kind == BINARY_ANON ? b->index : b->ino,
		.flags = b->flags,
		.segments = b->segments,
		.nr_segments = b->nr_segments,
	};
	memcpy(rec.binary.build_id, b->build_id, sizeof(b->build_id));
	rec.binary.id = b->record_id = ++d->nr_binaries;
	emit(d, &rec);
	return b->record_id;
}

static void emit_mapping(struct definitions *d, uint32_t process, const struct mapping *m,
			 uint8_t op, uint64_t time_ns)
{
	struct record rec = { .tag = REC_MAPPING };

	rec.mapping = (struct rec_mapping){
		.time_ns = time_ns,
		.process = process,
		.op = op,
		.prot = m->prot,
		.start = m->start,
		.len = m->end - m->start,
		.pgoff_bytes = m->pgoff_bytes,
		.binary = definitions_binary(d, m->binary),
	};
	emit(d, &rec);
}

/*
 * Writes the changes of the mappings of p. Dead mappings stay in the model for some seconds; each
 * death is written once, at the next use of p, and before the mappings that took the place.
 */
static void emit_mappings(struct definitions *d, uint32_t id, struct process *p, bool first)
{
	for (size_t i = 0; i < p->nr_ended; i++) {
		struct mapping *m = &p->ended[i];

		if (m->written)
			emit_mapping(d, id, m, MAPPING_DEL, m->died_ns);
		m->written = false;
	}
	for (size_t i = 0; i < p->nr_live; i++) {
		struct mapping *m = &p->maps[i];

		if (m->is_unread)
			continue;
		if (!m->written)
			emit_mapping(d, id, m, first ? MAPPING_SNAPSHOT : MAPPING_ADD,
				     m->born_ns);
		m->written = true;
	}
}

static void forget_written(struct process *p)
{
	for (size_t i = 0; i < process_nr_mappings(p); i++)
		process_mapping(p, i)->written = false;
}

static uint32_t emit_process(struct definitions *d, struct process *p, const struct process *parent)
{
	struct record rec = { .tag = REC_PROCESS };
	struct proc_status status = { 0 };
	char cgroup[512] = "";

	if (p->died_ns == TIME_NEVER && !procfs_status((pid_t)p->tgid, &status))
		procfs_cgroup((pid_t)p->tgid, cgroup, sizeof(cgroup));
	rec.process = (struct rec_process){
		.tgid = p->tgid,
		.start_boottime_ns = p->start_boottime_ns,
		.parent = parent ? definitions_process_id(d, parent) : 0,
		.comm = definitions_string(d, p->comm),
		.exe = definitions_binary(d, p->exe),
		.flags = (p->is_kthread ? PROCESS_KTHREAD : 0) |
			 (p->scanned ? PROCESS_FROM_SCAN : 0) |
			 (p->died_ns != TIME_NEVER ? PROCESS_EXITED : 0),
		.ns_tgid = status.ns_tgid == p->tgid ? 0 : status.ns_tgid,
		.uid = status.uid,
		.cgroup = definitions_string(d, cgroup),
		.cmdline = definitions_string(d, p->cmdline),
	};
	rec.process.id = ++d->nr_processes;
	emit(d, &rec);
	return rec.process.id;
}

uint32_t definitions_process_id(const struct definitions *d, const struct process *p)
{
	const struct known_process *k = per_process_find(&d->known, p);

	return k ? k->id : 0;
}

uint32_t definitions_process(struct definitions *d, struct process *p, const struct process *parent)
{
	struct known_process *k = per_process_at(&d->known, p);
	bool first = k && !k->id;

	if (!k)
		return 0;
	if (first) {
		k->id = emit_process(d, p, parent);
		forget_written(p);	/* by other definitions */
	}
	if (first || k->generation != p->generation)
		emit_mappings(d, k->id, p, first);
	k->generation = p->generation;
	return k->id;
}

struct thread_key {
	const struct definitions *d;
	const struct rec_thread *t;
};

static bool same_thread(const void *ctx, uint32_t id)
{
	const struct thread_key *k = ctx;

	return thread_is_equal(&k->d->threads[id].t, k->t);
}

uint32_t definitions_thread(struct definitions *d, const struct rec_thread *thread,
			    const char *comm)
{
	struct record rec = { .tag = REC_THREAD, .thread = *thread };
	struct thread_key k = { d, &rec.thread };
	struct known_thread *place;
	uint32_t at;

	rec.thread.comm = definitions_string(d, comm);
	at = ix_find(&d->thread_index, thread_hash(&rec.thread), same_thread, &k);
	assert(at == IX_NONE || at < d->nr_known);
	if (at != IX_NONE) {
		d->threads[at].was_met = true;
		return d->threads[at].t.id;
	}
	place = array_push(&d->threads, &d->nr_known, &d->cap_threads);
	if (!place)
		return 0;
	rec.thread.id = d->nr_threads + 1;
	*place = (struct known_thread){ rec.thread, true };
	if (ix_add(&d->thread_index, thread_hash(&rec.thread), (uint32_t)d->nr_known - 1)) {
		d->nr_known--;
		return 0;
	}
	d->nr_threads++;
	emit(d, &rec);
	return rec.thread.id;
}

size_t definitions_retire(struct definitions *d, uint64_t now_ns)
{
	size_t keep = 0;

	if (d->nr_known < RETIRE_FROM || now_ns < d->retired_ns + THREAD_KEPT_NS)
		return d->nr_known;
	for (size_t i = 0; i < d->nr_known; i++) {
		struct known_thread *k = &d->threads[i];

		if (!k->was_met && procfs_thread_is_gone(k->t.tid))
			continue;
		k->was_met = false;
		d->threads[keep++] = *k;
	}
	ix_release(&d->thread_index);
	d->nr_known = keep;
	for (size_t i = 0; i < keep && !d->err; i++)
		d->err = ix_add(&d->thread_index, thread_hash(&d->threads[i].t), (uint32_t)i);
	d->retired_ns = now_ns;
	return keep;
}

struct func_key {
	const struct definitions *d;
	const struct rec_func *f;
};

static bool same_func(const void *ctx, uint32_t id)
{
	const struct func_key *k = ctx;

	return func_is_equal(&k->d->funcs[id], k->f);
}

uint32_t definitions_func(struct definitions *d, const struct symbol_line *l)
{
	struct record rec = { .tag = REC_FUNC };
	struct func_key k = { d, &rec.func };
	struct rec_func *place;
	uint64_t hash;
	uint32_t id;

	rec.func.name = definitions_string(d, l->name);
	rec.func.sysname = definitions_string(d, l->sysname ? l->sysname : l->name);
	rec.func.file = definitions_string(d, l->decl_file ? l->decl_file : l->file);
	rec.func.start_line = l->decl_line;
	rec.func.lang = l->lang;
	rec.func.flags = l->func_flags;
	hash = func_hash(&rec.func);
	id = ix_find(&d->func_index, hash, same_func, &k);
	if (id != IX_NONE)
		return id;
	place = array_push(&d->funcs, &d->nr_funcs, &d->cap_funcs);
	if (!place)
		return 0;
	rec.func.id = (uint32_t)d->nr_funcs - 1;
	*place = rec.func;
	if (ix_add(&d->func_index, hash, rec.func.id))
		return 0;
	emit(d, &rec);
	return rec.func.id;
}

uint32_t definitions_lines(struct definitions *d, const struct symbol *sym,
			   struct rec_line v[SYMBOL_MAX_DEPTH])
{
	const struct symbol_line *lines;
	struct symbol_line only;
	uint32_t nr = (uint32_t)symbol_functions(sym, &only, &lines);

	for (uint32_t i = 0; i < nr; i++) {
		v[i] = (struct rec_line){ definitions_func(d, &lines[i]), lines[i].line,
					  lines[i].column, 0 };
		if (lines[i].line && !symbol_line_is_in_file(&lines[i]))
			v[i].file = definitions_string(d, lines[i].file);
	}
	return nr;
}
