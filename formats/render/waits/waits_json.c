/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread waits for which other one in one scan of all tasks, for scripts. One object; its
 * keys are stable, and new ones may be added:
 *
 *	format		1
 *	warning		the trace's losses, in words; absent: none
 *	walk, time_real_ns	number and time of the scan; 0 and no threads: the trace has none
 *	threads		a list of
 *	    tid, pid, comm, state	as in CSV; pid 0: unknown
 *	    absent	true: other threads wait for it, but the scan has no row of it; then only
 *			the waiters are given
 *	    waited_ns	how long it has not run; absent: unknown
 *	    syscall	its name; absent: it is in none
 *	    kernel_function	the place in the kernel
 *	    wait	"futex", "pipe", "fifo", "unix", "tcp", "listener", "socket", "file-lock",
 *			"child", "vfork"; absent: another one
 *	    futex	address, a string as "0x7f00"
 *	    variable	the static variable that the futex lies in; "[FILE+0xADDRESS]" if it has no
 *			name; absent: none is known
 *	    variable_offset	distance from its beginning; absent: it has no name
 *	    fd		descriptor
 *	    inode	of the pipe, socket or file
 *	    file	what the descriptor is: a path, the ends of a socket (TRACE.md); absent:
 *			unknown
 *	    holders	number of processes that hold the other end or the lock; absent: unknown.
 *			1 without owner_pid: a process outside of the PID namespace that was
 *			recorded
 *	    owner_pid	the only one of these processes, or the child
 *	    owner_tid	of a futex: the thread that holds it
 *	    waits_for	tid of the link that is followed
 *	    process	name of its process; absent: unknown
 *	    function	where its program waits: its innermost function that is not one of a
 *			library or a runtime; absent: unknown
 *	    lock	what kind of lock that library or runtime waits for, in words
 *	    lock_class	"held": another thread has it; "maybe": a lock or work; "idle": most
 *			often work
 *	    ask		the tool that knows who has it; absent: none that is known
 *	    launcher	true: a shell or the like that waits for its child
 *	    waiters	number of threads that wait for it directly
 *	    waiters_behind	these, and the threads that wait for them, and so on
 *	edges		waits, equal ones counted, in the order in which --waits shows them: a
 *			list of { section, threads, tid, sum_ns }. section is "ring", "lock",
 *			"other", "many" or "unknown" (src/waits/wait_edges.h); tid is the
 *			thread of them that has waited longest
 *	launchers	number of shells and the like, which are in no edge
 *	rings		a list of { certain, stood_still, tids }: deadlocks; certain ones are of
 *			locks in memory only
 *	heads		tids of threads that others wait for and that wait for no other one, the
 *			one with most waiters first
 *
 * Filters choose edges of which either side passes; threads that are on neither side of one of
 * those are left out. waiters and waiters_behind count all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/json_writer.h"
#include "formats/render/renderer.h"
#include "formats/render/waits/wait_list.h"
#include "formats/render/waits/thread_frames.h"
#include "formats/render/waits/wait_text.h"
#include "formats/render/waits/waits_json.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/report/report.h"
#include "src/waits/stuck.h"
#include "src/waits/wait_edges.h"
#include "src/waits/wait_function.h"
#include "src/waits/wait_graph.h"
#include "src/waits/wait_place.h"

extern const struct renderer renderer_waits_json;

struct waits_json {
	struct json_writer w;
	const struct wait_graph *g;
	const struct wait_edges *e;
	struct syscall_names *calls;
	bool is_lasting;		/* waits_json_put_row() */
	bool stacks;			/* each thread has its frames */
};

static void put_owner(struct json_writer *w, const struct rec_sample *rec)
{
	if (rec->holders)
		json_put_u64(w, "holders", rec->holders - 1);
	if (rec->owner)
		json_put_u64(w, rec->wait_kind == WAIT_UNKNOWN ? "owner_tid" : "owner_pid",
			     rec->owner);
}

/* People read what is for a page; scripts want names as they are. */
static void put_foreign(struct waits_json *j, const char *s, size_t len)
{
	if (j->is_lasting)
		json_visible(&j->w, s, len);
	else
		json_string(&j->w, s, len);
}

static void put_variable(struct waits_json *j, const struct rec_sample *rec)
{
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;

	if (!wait_variable(j->g->tables, rec, buf, &v))
		return;
	json_key(&j->w, "variable");
	put_foreign(j, v.name, v.len);
	if (v.has_offset)
		json_put_u64(&j->w, "variable_offset", v.offset);
}

static void put_name(struct waits_json *j, const char *key, const char *s, size_t len)
{
	if (!len)
		return;
	json_key(&j->w, key);
	put_foreign(j, s, len);
}

/* The object that the call waits for, as TRACE.md says. */
static void put_object(struct waits_json *j, const struct rec_sample *rec)
{
	uint64_t value;
	enum wait_value is = wait_value(j->calls, rec, &value);
	struct json_writer *w = &j->w;
	size_t len;
	const char *file = definition_store_string(j->g->tables, rec->file, &len);
	char hex[24];

	if (is == WAIT_FUTEX) {
		json_put_text(w, "wait", "futex");
		snprintf(hex, sizeof(hex), "0x%" PRIx64, value);
		json_put_text(w, "futex", hex);
	} else if (rec->wait_kind != WAIT_UNKNOWN) {
		json_put_text(w, "wait", wait_kind_name(rec->wait_kind));
	}
	if (is == WAIT_FD)
		json_put_u64(w, "fd", value);
	if (is != WAIT_FUTEX && rec->object)
		json_put_u64(w, "inode", rec->object);
	put_owner(w, rec);
	put_name(j, "file", file, len);
	file = definition_store_string(j->g->tables, rec->mount, &len);
	put_name(j, "mount", file, len);
	if (stuck_is(j->g->tables, rec))
		json_put_bool(w, "stuck", true);
}

/* What wait_edges.h knows of a row. */
static void put_known(struct waits_json *j, uint32_t i, const struct rec_thread *thread)
{
	static const char *const classes[] = {
		[LOCK_HELD] = "held", [LOCK_HELD_ELSEWHERE] = "held",
		[LOCK_MAYBE] = "maybe", [LOCK_IDLE] = "idle",
	};
	const struct wait_known *known = &j->e->known[i];
	const struct rec_process *p =
		thread ? definition_store_find_process(j->g->tables, thread->process) : NULL;
	char text[WAIT_TEXT_MAX];
	const char *name;
	size_t len;

	name = definition_store_string(j->g->tables, p ? p->comm : 0, &len);
	put_name(j, "process", name, len);
	name = definition_store_string(j->g->tables, p ? p->cmdline : UINT32_MAX, &len);
	put_name(j, "cmdline", name, len);
	name = wait_edges_function(j->e, i, &len);
	put_name(j, "function", name, len);
	if (known->lock && wait_is_off_cpu(&j->g->rows[i].rec)) {
		json_put_text(&j->w, "lock", known->lock->what);
		json_put_text(&j->w, "lock_class", classes[known->lock->class]);
		if (*known->lock->ask)
			json_put_text(&j->w, "ask",
				      wait_advice(known->lock->ask, j->g->rows[i].tgid, text));
	}
	if (known->is_launcher)
		json_put_bool(&j->w, "launcher", true);
}

/* Kernels tell the time when a thread last ran a little differently each time they are asked. */
static uint64_t rounded(uint64_t ran_ns, uint64_t waited_ns)
{
	uint64_t step = 1;

	while (step <= waited_ns / 10000)
		step *= 10;
	return ran_ns / step * step;
}


static void put_time(struct waits_json *j, const struct wait_row *row)
{
	uint64_t ns = wait_row_ns(row);

	if (ns == UINT64_MAX)
		return;
	if (j->is_lasting)
		json_put_u64(&j->w, "ran_ns", rounded(row->rec.ran_ns, ns));
	else
		json_put_u64(&j->w, "waited_ns", ns);
}

static void put_row(struct waits_json *j, const struct wait_row *row)
{
	const struct rec_sample *rec = &row->rec;
	char number[WAIT_CALL_MAX], buf[FRAME_TEXT_MAX];
	const char *place = wait_is_off_cpu(rec) ? wait_place(j->g->tables, rec->kstack, buf) : "";
	struct json_writer *w = &j->w;

	json_put_text(w, "state", task_state_name(rec->state));
	put_time(j, row);
	if (rec->syscall)
		json_put_text(w, "syscall", wait_call_name(j->calls, rec, number));
	put_name(j, "kernel_function", place, strlen(place));
	put_object(j, rec);
	put_variable(j, rec);
	if (row->owner != WAIT_NONE)
		json_put_u64(w, "waits_for", j->g->rows[row->owner].tid);
}

static int put_frame(void *ctx, const struct thread_frame *f)
{
	struct waits_json *j = ctx;
	const struct definition_store *t = j->g->tables;
	size_t len;
	const char *text = definition_store_string(t, f->view.line_file, &len);

	json_begin(&j->w, '{');
	put_name(j, "function", f->view.name, f->view.len);
	put_name(j, "file", text, len);
	if (f->view.line)
		json_put_u64(&j->w, "line", f->view.line);
	text = definition_store_string(t, f->view.file, &len);
	put_name(j, "binary", text, len);
	json_put_text(&j->w, "kind", f->is_kernel ? "kernel" : f->is_runtime ? "runtime" : "user");
	json_end(&j->w, '}');
	return 0;
}

/* All frames, the innermost first. */
static void put_stack(struct waits_json *j, const struct wait_row *row)
{
	json_key(&j->w, "stack");
	json_begin(&j->w, '[');
	thread_frames_each(j->g->tables, &row->rec, true, put_frame, j);
	json_end(&j->w, ']');
}

static void put_thread(struct waits_json *j, const struct wait_row *row)
{
	const struct rec_thread *thread =
		definition_store_find_thread(j->g->tables, row->rec.thread);
	struct json_writer *w = &j->w;
	const char *comm;
	size_t len;

	json_begin(w, '{');
	json_put_u64(w, "tid", row->tid);
	json_put_u64(w, "pid", row->tgid);
	if (row->absent) {
		json_put_bool(w, "absent", true);
	} else {
		comm = definition_store_string(j->g->tables, thread ? thread->comm : UINT32_MAX,
					       &len);
		json_key(w, "comm");
		put_foreign(j, comm, len);
		put_known(j, (uint32_t)(row - j->g->rows), thread);
		put_row(j, row);
	}
	if (j->stacks && !row->absent)
		put_stack(j, row);
	if (!j->is_lasting) {
		json_put_u64(w, "waiters", row->nr_direct);
		json_put_u64(w, "waiters_behind", row->nr_behind);
	}
	json_end(w, '}');
}

void waits_json_put_row(const struct wait_edges *e, struct syscall_names *calls, uint32_t row,
			FILE *out)
{
	struct waits_json j = { .w = { .out = out }, .g = e->g, .e = e, .calls = calls,
				.is_lasting = true };

	put_thread(&j, &e->g->rows[row]);
}

static void put_ring(struct waits_json *j, const struct wait_ring *ring)
{
	uint32_t i = ring->first;
	struct json_writer *w = &j->w;

	json_begin(w, '{');
	json_put_bool(w, "certain", wait_ring_is_sure(ring));
	json_put_bool(w, "stood_still", ring->stood_still);
	json_key(w, "tids");
	json_begin(w, '[');
	for (uint32_t n = 0; n < ring->nr; n++, i = j->g->rows[i].owner)
		json_u64(w, j->g->rows[i].tid);
	json_end(w, ']');
	json_end(w, '}');
}

static void put_edges(struct waits_json *j)
{
	static const char *const sections[EDGE_SECTIONS] = {
		[EDGES_RING] = "ring", [EDGES_LOCK] = "lock", [EDGES_OTHER] = "other",
		[EDGES_MANY] = "many", [EDGES_UNKNOWN] = "unknown",
	};
	struct json_writer *w = &j->w;

	json_key(w, "edges");
	json_begin(w, '[');
	for (size_t i = 0; i < j->e->nr && !ferror(w->out); i++) {
		const struct wait_edge *edge = &j->e->edges[i];

		json_begin(w, '{');
		json_put_text(w, "section", sections[edge->section]);
		json_put_u64(w, "threads", edge->nr);
		json_put_u64(w, "tid", j->g->rows[edge->row].tid);
		json_put_u64(w, "sum_ns", edge->sum_ns);
		json_end(w, '}');
	}
	json_end(w, ']');
	json_put_u64(w, "launchers", j->e->launchers);
}

static int put_heads(struct waits_json *j)
{
	uint32_t *heads;
	size_t nr;
	int err = wait_heads(j->g, &heads, &nr);

	json_key(&j->w, "heads");
	json_begin(&j->w, '[');
	for (size_t i = 0; !err && i < nr; i++)
		if (j->g->rows[heads[i]].shown)
			json_u64(&j->w, j->g->rows[heads[i]].tid);
	json_end(&j->w, ']');
	free(heads);
	return err;
}

static int put_all(struct waits_json *j, const char *warning)
{
	const struct wait_graph *g = j->g;
	struct json_writer *w = &j->w;
	int err;

	json_begin(w, '{');
	json_put_u64(w, "format", 1);
	if (*warning)
		json_put_text(w, "warning", warning);
	json_put_u64(w, "walk", g->scan);
	if (g->nr)
		json_put_u64(w, "time_real_ns", g->rows[0].real_ns);
	json_key(w, "threads");
	json_begin(w, '[');
	for (size_t i = 0; i < g->nr && !ferror(w->out); i++)
		if (g->rows[i].shown)
			put_thread(j, &g->rows[i]);
	json_end(w, ']');
	put_edges(j);
	json_key(w, "rings");
	json_begin(w, '[');
	for (size_t i = 0; i < g->nr_rings; i++)
		if (g->rows[g->rings[i].first].shown)
			put_ring(j, &g->rings[i]);
	json_end(w, ']');
	err = put_heads(j);
	json_end(w, '}');
	putc('\n', w->out);
	return err;
}

static int waits_json_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *arch = report_meta(rep, "arch", NULL);
	struct wait_graph g = { 0 };
	struct wait_edges e = { 0 };
	struct waits_json j = { .w = { .out = out },
				.g = &g,
				.e = &e,
				.stacks = opts->wait_stacks,
				.calls = syscall_names_new(arch ? arch : "") };
	int err = j.calls ? wait_graph_read(rep, opts->scan, &g) : -ENOMEM;

	if (!err)
		err = wait_graph_link(&g);
	if (!err)
		err = wait_edges_make(&g, opts->all_waits || opts->wait_stacks, &e);
	if (!err)
		err = put_all(&j, report_warning(rep));
	wait_edges_release(&e);
	wait_graph_release(&g);
	syscall_names_free(j.calls);
	return err ? err : ferror(out) ? -errno : 0;
}

static bool made(const char *head)
{
	return !strncmp(head, "{\"format\":1,", 12);
}

const struct renderer renderer_waits_json = {
	.name = "waits-json",
	.suffixes = ".waits.json",
	.made = made,
	.of_scans = true,
	.stream = waits_json_stream,
	.help = "the same as JSON for scripts",
};
