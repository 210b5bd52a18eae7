/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which thread waits for which other one in one scan of all tasks. First come deadlocks; then
 * convoys (threads that others wait for) with the stacks of the thread in front and of the one that
 * has waited longest; then threads that wait for a process of many threads or for any of several
 * processes; then all waits by system call and kernel function.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/render/escape.h"
#include "formats/render/renderer.h"
#include "formats/render/wait_list.h"
#include "formats/render/wait_text.h"
#include "src/base/clock.h"
#include "src/base/plural.h"
#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/profile/report.h"
#include "src/profile/stack_note.h"
#include "src/profile/wait_graph.h"
#include "src/profile/wait_place.h"

#define MAX_CONVOYS 20
#define MAX_WAITERS 30		/* threads of a convoy or a ring that are shown */
#define MAX_FRAMES 64		/* frames of a stack that are shown */
#define MAX_LEVEL 20		/* indent of waiters below waiters; deeper ones stay there */

extern const struct renderer renderer_waits;

struct waits {
	const struct wait_graph *g;
	const struct definition_store *tables;
	struct syscall_names *calls;
	const char *kernel_suffix;
	FILE *out;
};

static void put_time(struct waits *w, uint64_t ns)
{
	if (ns == UINT64_MAX)
		fputs("for an unknown time", w->out);
	else
		fprintf(w->out, "for %.3f s", (double)ns / NSEC_PER_SEC);
}

static void put_comm(struct waits *w, const struct wait_row *row)
{
	const struct rec_thread *thread = definition_store_find_thread(w->tables, row->rec.thread);
	const char *comm;
	size_t len;

	if (row->absent) {
		fputs(" [not in this snapshot]", w->out);
		return;
	}
	comm = definition_store_string(w->tables, thread ? thread->comm : UINT32_MAX, &len);
	putc(' ', w->out);
	escape_text(w->out, comm, len);
	if (row->tgid && row->tgid != row->tid)
		fprintf(w->out, " (process %u)", row->tgid);
}

static void put_thread(struct waits *w, const struct wait_row *row)
{
	fprintf(w->out, "%u", row->tid);
	put_comm(w, row);
}

/* What the thread does: "SLEEP in futex, futex_wait"; "RUNNING". */
static void put_activity(struct waits *w, const struct wait_row *row)
{
	char number[WAIT_CALL_MAX], buf[FRAME_TEXT_MAX];
	const char *place = wait_place(w->tables, row->rec.kstack, buf);

	fputs(task_state_name(row->rec.state), w->out);
	if (row->rec.syscall)
		fprintf(w->out, " in %s", wait_call_name(w->calls, &row->rec, number));
	if (*place && wait_is_off_cpu(&row->rec)) {
		fputs(", ", w->out);
		escape_text(w->out, place, strlen(place));
	}
}

/* What the thread waits for, and for how long it has waited. */
static void put_wait(struct waits *w, const struct wait_row *row)
{
	char number[WAIT_CALL_MAX], text[WAIT_TEXT_MAX];
	const char *call = wait_call_name(w->calls, &row->rec, number),
		   *object = wait_object_text(w->calls, &row->rec, text);

	putc(' ', w->out);
	put_time(w, wait_row_ns(row));
	if (!strncmp(call, "futex", 5))
		fprintf(w->out, " at futex 0x%" PRIx64, row->rec.wait);
	else
		fprintf(w->out, " in %s%s%s", call, *object ? " for " : "", object);
}

/* The words between a thread that waits and the one that it waits for. */
static const char *owner_word(const struct wait_row *row)
{
	uint8_t kind = row->rec.wait_kind;

	if (kind == WAIT_UNKNOWN || kind == WAIT_FILE_LOCK)
		return "held by";
	return kind == WAIT_CHILD || kind == WAIT_VFORK ? "which is" : "other end:";
}

/* ---- stacks ---- */

static void put_frames(struct waits *w, uint32_t stack, bool is_kernel)
{
	const struct table_node *n;
	char buf[FRAME_TEXT_MAX];
	struct frame_view v;
	int lines = 0;

	for (; stack && (n = definition_store_find_node(w->tables, stack)); stack = n->parent) {
		uint32_t nr = definition_store_frame_depth(w->tables, n->frame);

		if (lines + (int)nr > MAX_FRAMES) {
			fputs("\t\t...\n", w->out);
			return;
		}
		for (uint32_t i = 0; i < nr; i++, lines++) {
			definition_store_frame_view(w->tables, n->frame, i, buf, &v);
			fputs("\t\t", w->out);
			escape_text(w->out, v.name, v.len);
			if (is_kernel)
				escape_text(w->out, w->kernel_suffix, strlen(w->kernel_suffix));
			else if (v.inlined)
				fputs(INLINED_SUFFIX, w->out);
			putc('\n', w->out);
		}
	}
	if (stack)
		fputs("\t\t[missing]\n", w->out);
}

static void put_stack(struct waits *w, const struct wait_row *row)
{
	char buf[STACK_NOTE_MAX];
	const char *note = row->absent ? NULL : stack_note(row->rec.end, row->rec.ustack != 0, buf);

	if (row->absent)
		return;
	fputs("\tstack of ", w->out);
	put_thread(w, row);
	fputs(":\n", w->out);
	put_frames(w, row->rec.kstack, true);
	put_frames(w, row->rec.ustack, false);
	if (note)
		fprintf(w->out, "\t\t%s\n", note);
}

/* ---- rings ---- */

static void put_ring(struct waits *w, const struct wait_ring *ring)
{
	const struct wait_row *rows = w->g->rows;
	uint32_t i = ring->first, behind = 0;

	fprintf(w->out, "%s: %u thread%s\n", wait_ring_is_sure(ring) ? "DEADLOCK" :
		ring->stood_still ? "Possible deadlock (unless a timeout or a signal ends it)" :
		"Perhaps a deadlock (some ran meanwhile)", ring->nr,
		ring->nr == 1 ? " waits for itself" : "s wait for each other");
	for (uint32_t n = 0; n < ring->nr; n++, i = rows[i].owner) {
		behind += rows[i].nr_behind;
		if (n >= MAX_WAITERS)
			continue;
		putc('\t', w->out);
		put_thread(w, &rows[i]);
		put_wait(w, &rows[i]);
		fprintf(w->out, ", %s %u\n", owner_word(&rows[i]), rows[rows[i].owner].tid);
	}
	if (ring->nr > MAX_WAITERS)
		fprintf(w->out, "\t... and %u more\n", ring->nr - MAX_WAITERS);
	if (behind)
		fprintf(w->out, "\t%u more thread%s behind them\n", behind,
			behind == 1 ? " waits" : "s wait");
	for (uint32_t n = 0; n < ring->nr && n < MAX_WAITERS; n++, i = rows[i].owner)
		put_stack(w, &rows[i]);
	putc('\n', w->out);
}

/* ---- convoys ---- */

/* The row after i in pre-order of the waiters below head; sets *level to its depth. */
static uint32_t next_waiter(const struct wait_graph *g, uint32_t head, uint32_t i, uint32_t *level)
{
	if (g->rows[i].first_waiter != WAIT_NONE) {
		++*level;
		return g->rows[i].first_waiter;
	}
	while (i != head && g->rows[i].next_waiter == WAIT_NONE) {
		i = g->rows[i].owner;
		--*level;
	}
	return i == head ? WAIT_NONE : g->rows[i].next_waiter;
}

static void put_waiters(struct waits *w, uint32_t head)
{
	uint32_t level = 0, lines = 0, i = head;

	while ((i = next_waiter(w->g, head, i, &level)) != WAIT_NONE && lines++ < MAX_WAITERS) {
		for (uint32_t n = 0; n < level && n < MAX_LEVEL; n++)
			putc('\t', w->out);
		put_thread(w, &w->g->rows[i]);
		put_wait(w, &w->g->rows[i]);
		putc('\n', w->out);
	}
	if (i != WAIT_NONE)
		fprintf(w->out, "\t... and %u more\n", w->g->rows[head].nr_behind - MAX_WAITERS);
}

static void put_convoy(struct waits *w, uint32_t head)
{
	const struct wait_row *row = &w->g->rows[head];

	fprintf(w->out, "%u thread%s for ", row->nr_behind,
		row->nr_behind == 1 ? " waits" : "s wait");
	put_thread(w, row);
	if (row->nr_direct != row->nr_behind)
		fprintf(w->out, ", %u of them directly", row->nr_direct);
	if (!row->absent) {
		fputs(", itself ", w->out);
		put_activity(w, row);
		if (wait_is_off_cpu(&row->rec)) {
			putc(' ', w->out);
			put_time(w, wait_row_ns(row));
		}
	}
	putc('\n', w->out);
	put_waiters(w, head);
	put_stack(w, row);
	put_stack(w, &w->g->rows[row->first_waiter]);
	putc('\n', w->out);
}

static int put_convoys(struct waits *w)
{
	uint32_t *heads;
	size_t nr;
	int err = wait_heads(w->g, &heads, &nr);

	for (size_t i = 0; !err && i < nr && i < MAX_CONVOYS; i++)
		put_convoy(w, heads[i]);
	if (!err && nr > MAX_CONVOYS)
		fprintf(w->out, "... and %zu more %s that others wait for\n\n",
			nr - MAX_CONVOYS, plural(nr - MAX_CONVOYS, "thread", "threads"));
	free(heads);
	return err;
}

/* ---- waits that are not followed ---- */

static bool is_loose(const struct wait_row *row)
{
	const struct rec_sample *rec = &row->rec;

	return !row->absent && row->owner == WAIT_NONE && (rec->owner || rec->holders) &&
	       rec->wait_kind != WAIT_UNKNOWN;
}

static void put_loose(struct waits *w, const struct wait_row *row)
{
	uint32_t nr = row->rec.holders;

	putc('\t', w->out);
	put_thread(w, row);
	put_wait(w, row);
	if (row->peer != WAIT_NONE) {
		const struct wait_row *peer = &w->g->rows[row->peer];

		fprintf(w->out, ", %s process %u", owner_word(row), row->rec.owner);
		if (peer->tid != row->rec.owner)
			fputs(" with", w->out);
		else
			put_comm(w, peer);
		fprintf(w->out, ", %u %s\n", peer->nr_threads,
			plural(peer->nr_threads, "thread", "threads"));
	} else if (nr == 1) {
		fputs(", other end: held by no process\n", w->out);
	} else if (nr == 2) {
		fputs(", other end: held by a process outside of the PID namespace\n", w->out);
	} else {
		fprintf(w->out, ", other end: held by %u processes\n", nr - 1);
	}
}

static int put_all_loose(struct waits *w)
{
	uint32_t *rows = malloc((w->g->nr + 1) * sizeof(*rows));
	size_t nr = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->g->nr; i++)
		if (is_loose(&w->g->rows[i]))
			rows[nr++] = i;
	wait_sort(w->g, rows, nr);
	if (nr)
		fprintf(w->out, "%zu %s for one of many\n", nr,
			plural(nr, "thread waits", "threads wait"));
	for (size_t i = 0; i < nr && i < MAX_WAITERS; i++)
		put_loose(w, &w->g->rows[rows[i]]);
	if (nr > MAX_WAITERS)
		fprintf(w->out, "\t... and %zu more\n", nr - MAX_WAITERS);
	fputs(nr ? "\n" : "", w->out);
	free(rows);
	return 0;
}

/* ---- all of it ---- */

static void put_title(struct waits *w)
{
	const struct wait_row *row = &w->g->rows[0];
	time_t t = (time_t)(row->real_ns / NSEC_PER_SEC);
	char date[32] = "";
	struct tm tm = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < w->g->nr; i++)
		nr += !w->g->rows[i].absent;
	localtime_r(&t, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(w->out, "Snapshot %u, %s: %zu %s\n\n", w->g->scan, date, nr,
		plural(nr, "thread", "threads"));
}

static int put_all(struct waits *w)
{
	int err;

	put_title(w);
	for (size_t i = 0; i < w->g->nr_rings; i++) {
		if (i == MAX_CONVOYS) {
			fprintf(w->out, "... and %zu more deadlocks\n\n",
				w->g->nr_rings - MAX_CONVOYS);
			break;
		}
		put_ring(w, &w->g->rings[i]);
	}
	err = put_convoys(w);
	if (!err)
		err = put_all_loose(w);
	return err ? err : wait_list_put(w->g, w->calls, w->out);
}

static void put_nothing(uint32_t scan, FILE *out)
{
	if (scan)
		fprintf(out, "There are no rows of snapshot %u here\n", scan);
	else
		fputs("There are no rows of snapshots here: record with probee snapshot\n", out);
}

static int waits_stream(struct report *rep, const struct render_opts *opts, FILE *out)
{
	const char *arch = report_meta(rep, "arch", NULL);
	struct wait_graph g = { 0 };
	struct waits w = { .g = &g, .out = out, .calls = syscall_names_new(arch ? arch : "") };
	int err = w.calls ? wait_graph_read(rep, opts->scan, &g) : -ENOMEM;

	w.kernel_suffix = opts->kernel_suffix ? opts->kernel_suffix : "_[k]";
	w.tables = g.tables;
	if (!err && !g.nr)
		put_nothing(opts->scan, out);
	else if (!err)
		err = wait_graph_link(&g);
	if (!err && g.nr)
		err = put_all(&w);
	wait_graph_release(&g);
	syscall_names_free(w.calls);
	return err ? err : ferror(out) ? -errno : 0;
}

static bool made(const char *head)
{
	unsigned scan;

	return sscanf(head, "Snapshot %u, ", &scan) == 1 ||
	       !strncmp(head, "There are no rows of snapshot", 29);
}

const struct renderer renderer_waits = {
	.name = "waits", .suffixes = ".waits", .of_scans = true,
	.made = made,
	.is_for_reading = true, .stream = waits_stream,
	.help = "who waits for whom in the last snapshot: deadlocks, convoys, all other waits",
};
