/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every thread of one scan, for reading: what it does, since when, what it waits for, who holds
 * that, and its stack. Threads of a process that do the same in the same place are one entry.
 * Processes that are stuck in the kernel come first, then those with a deadlock, then by number.
 *
 *	orders 4321: 6 threads, uid 0: ./orders --port 80
 *	  journal 4324: sleeping for 0.250 s in clock_nanosleep; 3 threads wait for it
 *	      std::this_thread::sleep_for	chrono:80
 *	      ...
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "formats/render/waits/thread_frames.h"
#include "formats/render/waits/wait_text.h"
#include "formats/render/waits/wait_what.h"
#include "src/base/plural.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/profile/display_name.h"
#include "src/report/report.h"
#include "src/report/state_words.h"
#include "src/waits/stuck.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_graph.h"

#define MAX_FRAMES 128			/* of a stack that are shown */
#define MAX_TIDS 8			/* of threads in one entry that are named */
#define NAME_COLUMNS 44
#define CMDLINE_BYTES 120

extern const struct renderer renderer_dump;

struct dump {
	const struct wait_graph *g;
	struct wait_edges e;
	struct syscall_names *calls;
	unsigned futex;
	bool native, each;		/* all frames; each thread by itself */
	bool full_names;
	uint32_t *order;		/* rows that are shown */
	size_t nr;
	FILE *out;
};

/* ---- the order ---- */

enum { FIRST_STUCK, FIRST_RING, FIRST_NONE };

struct sorted {
	uint32_t row, tgid, tid;
	unsigned urgency;		/* of its process: FIRST_... */
};

static int by_process(const void *x, const void *y)
{
	const struct sorted *a = x, *b = y;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int by_urgency(const void *x, const void *y)
{
	const struct sorted *a = x, *b = y;

	return a->urgency != b->urgency ? (a->urgency < b->urgency ? -1 : 1) : by_process(x, y);
}

static unsigned urgency(const struct dump *d, const struct wait_row *row)
{
	return stuck_is(d->g->tables, &row->rec) ? FIRST_STUCK :
	       row->ring != WAIT_NONE ? FIRST_RING : FIRST_NONE;
}

/* Gives all threads of a process the urgency of the most urgent one. */
static void raise_processes(const struct dump *d, struct sorted *v, size_t nr)
{
	for (size_t i = 0, end; i < nr; i = end) {
		unsigned most = FIRST_NONE;

		for (end = i; end < nr && v[end].tgid == v[i].tgid; end++) {
			unsigned own = urgency(d, &d->g->rows[v[end].row]);

			most = own < most ? own : most;
		}
		for (size_t k = i; k < end; k++)
			v[k].urgency = most;
	}
}

static int sort_rows(struct dump *d)
{
	struct sorted *v = calloc(d->g->nr + 1, sizeof(*v));
	size_t nr = 0;

	d->order = calloc(d->g->nr + 1, sizeof(*d->order));
	for (size_t i = 0; v && d->order && i < d->g->nr; i++) {
		const struct wait_row *row = &d->g->rows[i];

		if (row->passes && !row->absent)
			v[nr++] = (struct sorted){ (uint32_t)i, row->tgid, row->tid, FIRST_NONE };
	}
	if (v && d->order) {
		qsort(v, nr, sizeof(*v), by_process);
		raise_processes(d, v, nr);
		qsort(v, nr, sizeof(*v), by_urgency);
		for (d->nr = 0; d->nr < nr; d->nr++)
			d->order[d->nr] = v[d->nr].row;
	}
	free(v);
	return d->order ? 0 : -ENOMEM;
}

/* ---- one entry ---- */

/* Whether two threads make one entry: both do the same, and no thread waits for them. */
static bool is_like(const struct dump *d, const struct wait_row *a, const struct wait_row *b)
{
	const struct rec_sample *x = &a->rec, *y = &b->rec;

	return !d->each && a->tgid == b->tgid && x->ustack && x->ustack == y->ustack &&
	       x->kstack == y->kstack && x->state == y->state && x->syscall == y->syscall &&
	       a->owner == b->owner && a->ring == WAIT_NONE && b->ring == WAIT_NONE &&
	       !a->nr_direct && !b->nr_direct;
}

static const char *name_of(const struct dump *d, const struct wait_row *row, size_t *len)
{
	const struct rec_thread *t = definition_store_find_thread(d->g->tables, row->rec.thread);

	return definition_store_string(d->g->tables, t ? t->comm : UINT32_MAX, len);
}

static void put_stuck(const struct dump *d, const struct wait_row *row)
{
	uint64_t ns = wait_row_ns(row);
	char text[STUCK_TEXT_MAX];

	fputs(": stuck in the kernel for ", d->out);
	stuck_text(d->g->tables, d->calls, &row->rec, ns, row->real_ns - ns, text);
	escape_text(d->out, text, strlen(text));
}

static void put_state(const struct dump *d, uint32_t i, uint32_t nr)
{
	const struct wait_row *row = &d->g->rows[i];
	enum activity activity = sample_activity(&row->rec, d->futex);
	uint64_t ns = wait_row_ns(row);
	char seconds[WAIT_SECONDS_MAX];

	if (stuck_is(d->g->tables, &row->rec)) {
		put_stuck(d, row);
		return;
	}
	fprintf(d->out, ": %s", activity_name(activity));
	if (ns != UINT64_MAX && wait_is_off_cpu(&row->rec))
		fprintf(d->out, " for %s%s", nr > 1 ? "up to " : "", wait_seconds(ns, seconds));
	if (row->rec.syscall || row->rec.wait) {
		fputs(wait_is_on_object(&d->e, d->calls, i) ? " on " : " in ", d->out);
		wait_put_what(&d->e, d->calls, i, row->owner == WAIT_NONE, d->out);
	}
	if (row->owner != WAIT_NONE) {
		fputs(", held by ", d->out);
		wait_put_comm(d->g->tables, &d->g->rows[row->owner], d->out);
		fprintf(d->out, " %u", d->g->rows[row->owner].tid);
	}
	if (row->nr_direct)
		fprintf(d->out, "; %u %s for it", row->nr_direct,
			plural(row->nr_direct, "thread waits", "threads wait"));
	if (row->ring != WAIT_NONE)
		fputs(wait_ring_is_sure(&d->g->rings[row->ring]) ? "; DEADLOCK"
								 : "; maybe a deadlock", d->out);
}

struct frames {
	const struct dump *d;
	uint32_t nr;
};

/* "app.py:12", or of what has no line the file that has the code; behind pad blanks. */
static void put_place(const struct dump *d, const struct thread_frame *f, int pad)
{
	const struct definition_store *t = d->g->tables;
	size_t len;
	const char *path = definition_store_string(
		t, f->view.line && f->view.line_file ? f->view.line_file : f->view.file, &len);
	const char *slash = memrchr(path, '/', len);

	if (slash)
		len -= (size_t)(slash + 1 - path), path = slash + 1;
	if (!len)
		return;
	fprintf(d->out, "%*s ", pad, "");
	escape_text(d->out, path, len);
	if (f->view.line)
		fprintf(d->out, ":%u", f->view.line);
}

/* Writes the name as people read it; its length then. */
static size_t put_name(const struct dump *d, const struct frame_view *v)
{
	char *shown = d->full_names ? NULL : malloc(v->len + 1);
	size_t len = shown ? display_name(shown, v->name, v->len) : v->len;

	escape_text(d->out, shown ? shown : v->name, len);
	free(shown);
	return len;
}

static int put_frame(void *ctx, const struct thread_frame *f)
{
	struct frames *w = ctx;
	FILE *out = w->d->out;
	size_t len;

	if (w->nr++ == MAX_FRAMES) {
		fputs("      ...\n", out);
		return 1;
	}
	fputs("      ", out);
	len = put_name(w->d, &f->view);
	if (f->is_kernel)
		fputs("_[k]", out);
	put_place(w->d, f, len < NAME_COLUMNS ? (int)(NAME_COLUMNS - len) : 0);
	putc('\n', out);
	return 0;
}

/* "pool_0 12, 13, pool_1 14": threads of one name are together, as they come. */
static void put_threads(const struct dump *d, size_t at, uint32_t nr)
{
	const char *before = NULL;

	for (uint32_t i = 0; i < nr && i < MAX_TIDS; i++) {
		const struct wait_row *row = &d->g->rows[d->order[at + i]];
		size_t len;
		const char *name = name_of(d, row, &len);

		fputs(i ? ", " : "  ", d->out);
		if (!before || strcmp(name, before)) {
			escape_text(d->out, name, len);
			putc(' ', d->out);
		}
		fprintf(d->out, "%u", row->tid);
		before = name;
	}
	if (nr > MAX_TIDS)
		fprintf(d->out, ", ... (%u threads)", nr);
}

static void put_entry(const struct dump *d, size_t at, uint32_t nr)
{
	const struct wait_row *row = &d->g->rows[d->order[at]];
	struct frames frames = { d, 0 };

	put_threads(d, at, nr);
	put_state(d, d->order[at], nr);
	putc('\n', d->out);
	thread_frames_each(d->g->tables, &row->rec, d->native, put_frame, &frames);
}

/* ---- all of it ---- */

/* Moves the threads that are like the one at `at` behind it; their number with it. */
static uint32_t gather(const struct dump *d, size_t at, size_t end)
{
	uint32_t nr = 1;

	for (size_t i = at + 1; i < end; i++) {
		uint32_t one = d->order[i];

		if (!is_like(d, &d->g->rows[d->order[at]], &d->g->rows[one]))
			continue;
		memmove(&d->order[at + nr + 1], &d->order[at + nr],
			sizeof(*d->order) * (i - at - nr));
		d->order[at + nr++] = one;
	}
	return nr;
}

/* ": java -jar app.jar", or the title that a server has given itself there. */
static void put_cmdline(const struct dump *d, const struct rec_process *p)
{
	size_t len = 0;
	const char *text = p ? definition_store_string(d->g->tables, p->cmdline, &len) : "";

	if (!len)
		return;
	fputs(": ", d->out);
	escape_text(d->out, text, len < CMDLINE_BYTES ? len : CMDLINE_BYTES);
	if (len > CMDLINE_BYTES)
		fputs("...", d->out);
}

static void put_process(const struct dump *d, size_t at, size_t end)
{
	const struct definition_store *t = d->g->tables;
	const struct wait_row *row = &d->g->rows[d->order[at]];
	const struct rec_thread *thread = definition_store_find_thread(t, row->rec.thread);
	const struct rec_process *p = thread ? definition_store_find_process(t, thread->process)
					     : NULL;
	size_t len;
	const char *comm = definition_store_string(t, p ? p->comm : UINT32_MAX, &len);

	escape_text(d->out, len ? comm : "[no name]", len ? len : 9);
	fprintf(d->out, " %u: %zu %s", row->tgid, end - at, plural(end - at, "thread", "threads"));
	if (p)
		fprintf(d->out, ", uid %u", p->uid);
	put_cmdline(d, p);
	putc('\n', d->out);
	for (size_t i = at; i < end && !ferror(d->out);) {
		uint32_t nr = gather(d, i, end);

		put_entry(d, i, nr);
		i += nr;
	}
	putc('\n', d->out);
}

static int put_all(struct dump *d)
{
	int err = wait_edges_make(d->g, true, &d->e);

	if (!err)
		err = sort_rows(d);
	for (size_t i = 0, end; !err && i < d->nr; i = end) {
		uint32_t tgid = d->g->rows[d->order[i]].tgid;

		for (end = i; end < d->nr && d->g->rows[d->order[end]].tgid == tgid;)
			end++;
		put_process(d, i, end);
	}
	free(d->order);
	wait_edges_release(&d->e);
	return err;
}

static int dump_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *arch = report_meta(rep, "arch", NULL);
	struct wait_graph g = { 0 };
	struct dump d = { .g = &g, .calls = syscall_names_new(arch ? arch : ""),
			  .futex = activity_futex(arch ? arch : ""), .native = opts->wait_stacks,
			  .each = opts->all_waits, .full_names = opts->full_names, .out = out };
	int err = d.calls ? wait_graph_read(rep, opts->scan, &g) : -ENOMEM;

	if (!err && !g.nr)
		fputs("There are no rows of snapshots here: record with probee snapshot\n", out);
	else if (!err)
		err = wait_graph_link(&g);
	if (!err && g.nr)
		err = put_all(&d);
	wait_graph_release(&g);
	syscall_names_free(d.calls);
	return err ? err : ferror(out) ? -errno : 0;
}

/* "orders 4321: 6 threads, uid 0" */
static bool made(const char *head)
{
	const char *colon = strchr(head, ':');

	return colon && strchr(head, '\n') > colon &&
	       (!strncmp(colon, ": 1 thread, uid ", 16) || strstr(colon, " threads, uid "));
}

const struct renderer renderer_dump = {
	.name = "dump", .suffixes = ".dump", .of_scans = true, .made = made,
	.is_for_reading = true, .stream = dump_stream,
	.help = "every thread of the last snapshot, for reading: what it does, since when, for "
		"what, who holds that, and its stack (-v: all frames, --all-waits: each by itself)",
};
