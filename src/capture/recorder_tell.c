/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording says of itself at its end: to the user, and in the trace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/memory.h"
#include "src/base/plural.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/processes/binary_store.h"
#include "src/capture/recorder_parts.h"
#include "src/capture/session/session.h"
#include "src/capture/stacks/deferred_stacks.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/foreign/debug_server.h"
#include "src/helpers/helper.h"
#include "src/proc/pid_namespace.h"

/* META unwind.tables: see TRACE.md. */
static int put_table_stats(struct recorder *r)
{
	struct record rec = { .tag = REC_META };
	struct unwind_loader_stats l;
	struct binary_store_stats b;
	char text[512];

	if (!r->loader)
		return 0;
	unwind_loader_stats(r->loader, &l);
	binary_store_stats(r->store, &b);
	snprintf(text, sizeof(text),
		 "rows=%" PRIu64 " rules=%" PRIu64 " pages=%" PRIu64 " slabs=%" PRIu64
		 " bytes=%" PRIu64 " tables=%" PRIu64 " shared=%" PRIu64 " mappings=%" PRIu64
		 " built=%" PRIu64 " without=%" PRIu64 " evicted=%" PRIu64 " refused=%" PRIu64,
		 l.rows, l.rules, l.pages, l.slabs, capture_bpf_table_bytes(r->bpf), l.binaries,
		 b.shared, l.mappings, b.tables, b.without_table, l.evicted, l.refused);
	rec.meta = (struct rec_meta){ "unwind.tables", text, strlen(text) };
	return session_emit(r->session, &rec);
}

/* META unwind.windows: see TRACE.md. */
static int put_window_stats(struct recorder *r)
{
	struct record rec = { .tag = REC_META };
	struct deferred_stacks_stats d = { 0 };
	const struct code_windows_stats *c = &d.code;
	char text[256];

	if (r->deferred)
		deferred_stacks_stats(r->deferred, &d);
	if (!(c->parsed | c->absent | c->busy | c->failed | c->refused))
		return 0;
	snprintf(text, sizeof(text),
		 "parsed=%" PRIu64 " same=%" PRIu64 " absent=%" PRIu64 " busy=%" PRIu64
		 " failed=%" PRIu64 " refused=%" PRIu64 " no-room=%" PRIu64,
		 c->parsed, c->same, c->absent, c->busy, c->failed, c->refused, c->no_room);
	rec.meta = (struct rec_meta){ "unwind.windows", text, strlen(text) };
	return session_emit(r->session, &rec);
}

/*
 * A recording of all processes from inside a PID namespace does not see those outside of it. Their
 * number is told to the user and written into the trace.
 */
static int tell_outside(struct recorder *r)
{
	uint64_t c[COUNTERS], threads;
	char words[64], samples[48] = "";
	int err;

	if (recorder_has_filter(&r->opts) || !pid_namespace_is_inner())
		return 0;
	err = capture_bpf_counters(r->bpf, c);
	if (err)
		return err;
	threads = pid_namespace_outside();
	snprintf(words, sizeof(words), "threads=%" PRIu64, threads);
	if (r->opts.programs & CAPTURE_SAMPLER) {
		snprintf(words, sizeof(words), "threads=%" PRIu64 " samples=%" PRIu64, threads,
			 c[COUNTER_OUTSIDE]);
		snprintf(samples, sizeof(samples), ", with %" PRIu64 " samples",
			 c[COUNTER_OUTSIDE]);
	}
	note("from inside a PID namespace: %" PRIu64
	     " threads of the machine are outside of it and left out%s",
	     threads, samples);
	return session_tell(r->session, "pid_namespace.outside", words);
}

/* Says of how many rows the file is not named, because names took all the memory they may. */
static int tell_unnamed(struct recorder *r)
{
	uint64_t rows = session_files_unnamed(r->session);
	char text[128];

	if (!rows)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64 " thread states do not say which file or socket "
		 "their call works on: names took all the memory they may", rows);
	note_kept("%s", text);
	return 0;
}

/* Says what helpers did not answer, and what the main process had no memory for. */
static int tell_missing(struct recorder *r)
{
	struct binary_store_stats b;
	struct helper_stats h;
	char text[384];

	binary_store_stats(r->store, &b);
	helper_keeper_stats(r->keeper, &h);
	snprintf(text, sizeof(text),
		 "%" PRIu64 " %s about files of programs %s no answer. Of all that helper "
		 "processes were asked, %" PRIu64 " ended with their helper, %" PRIu64
		 " took too long, and %" PRIu64 " were not begun. Names may be missing, and stacks "
		 "may not be whole. Try: probee symbolize --binary-dir /",
		 b.unanswered, plural(b.unanswered, "question", "questions"),
		 plural(b.unanswered, "has", "have"), h.died, h.stalled, h.refused);
	if (b.unanswered)
		note_kept("%s", text);
	if (memory_refusals())
		note_kept("memory was refused: names, tables or stacks may be missing");
	return 0;
}

/* Says that debug information could not be read. */
static int tell_lack(struct recorder *r)
{
	const struct session_stats stats = session_stats(r->session);
	char text[512];

	if (!lines_lack_text(&stats.lines_lack, text, sizeof(text)))
		return 0;
	note_kept("%s", text);
	return 0;
}

/* Says that servers of debug files were too slow, or did not answer. */
static int tell_server(struct recorder *r)
{
	struct debug_server_stats s = { 0 };
	char text[200];

	if (r->server)
		debug_server_stats(r->server, &s);
	if (!s.late && !s.failed)
		return 0;
	snprintf(text, sizeof(text), "--debuginfod: %" PRIu64 " of %" PRIu64 " debug files %s: %s",
		 s.late + s.failed, s.asked, s.late ? "did not come in time" : "did not come",
		 s.late ? "10 s a file, 60 s in all" : strerror(-s.error));
	note_kept("%s", text);
	return 0;
}

/* A sample may have the name of code that was at its address a moment before or after. */
static int tell_late(struct recorder *r)
{
	uint64_t late = session_names_late(r->session);
	char text[256];

	if (!late)
		return 0;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " function%s of generated code took the place of others, and it is not "
		 "known when: up to a second before, samples may have the name of either. Try: a "
		 "jitdump, which says when",
		 late, plural(late, "", "s"));
	note_kept("%s", text);
	return 0;
}

int recorder_tell_kept(struct recorder *r)
{
	char text[KEPT_NOTE_MAX];
	int err = 0;

	while (!err && kept_note_take(text))
		err = session_note(r->session, 1, text);
	return err;
}

static int tell_runtimes(struct recorder *r)
{
	return session_tell_runtimes(r->session);
}

int recorder_tell(struct recorder *r)
{
	static int (*const parts[])(struct recorder *r) = {
		tell_server,	 tell_lack,	   tell_late,	  recorder_report_losses,
		tell_outside,	 put_table_stats,  put_window_stats, tell_runtimes,
		tell_missing,	 tell_unnamed,	   recorder_tell_kept,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !err; i++)
		err = parts[i](r);
	return err;
}
