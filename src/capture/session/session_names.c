/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that have been looked up become SYMBOL, PLACE and FUNC records. */
#include <inttypes.h>
#include <stdio.h>

#include "src/base/clock.h"
#include "src/capture/processes/jit_names.h"
#include "src/capture/session/definitions.h"
#include "src/capture/session/runtime_attacher.h"
#include "src/capture/session/runtime_locks.h"
#include "src/capture/session/runtime_names.h"
#include "src/capture/session/runtime_threads.h"
#include "src/capture/session/session_parts.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/model/binary.h"
#include "src/model/stacks.h"
#include "src/symbolize/symbolizer.h"

static int emit_places(struct session *s, const struct rec_symbol *sym)
{
	struct record rec = { .tag = REC_PLACE };
	int err = 0;

	for (uint32_t i = 0; i < sym->nr_lines && !err; i++)
		if (record_place(sym, i, &rec.place))
			err = session_emit(s, &rec);
	return err;
}

static int on_symbol(void *ctx, uint32_t frame, uint64_t addr, const struct symbol *sym)
{
	struct record rec = { .tag = REC_SYMBOL,
			      .symbol = { .frame = frame, .status = sym->status } };
	struct session *s = ctx;
	const struct stack_frame *f = stacks_frame_at(s->stacks, frame);
	struct rec_line lines[SYMBOL_MAX_DEPTH];
	int err;

	/* A return address was looked up one byte before it, but is shown as it is. */
	if (sym->has_func_addr)
		rec.symbol.offset =
			addr - sym->func_addr + !!(f->flags & FRAME_RETURN_ADDRESS);
	rec.symbol.lines = lines;
	rec.symbol.nr_lines = definitions_lines(s->defs, sym, lines);
	s->stats.unresolved += !rec.symbol.nr_lines;
	s->stats.lines_lost += sym->are_lines_lost;
	if (sym->lack)
		lines_lack_add(&s->stats.lines_lack, sym->lack,
			       binaries_get(s->deps.binaries, f->binary)->path);
	err = session_emit(s, &rec);
	return err ? err : emit_places(s, &rec.symbol);
}

void session_attach(struct session *s, struct patience *wait)
{
	runtime_attacher_poll(s->attacher, wait);
}

int session_attach_fd(const struct session *s)
{
	return runtime_attacher_fd(s->attacher);
}

uint64_t session_next_attach_ns(const struct session *s)
{
	return runtime_attacher_next_ns(s->attacher);
}

int session_names(struct session *s, struct patience *wait)
{
	int err = symbolizer_collect(s->deps.symbolizer, on_symbol, s, wait);
	uint64_t now = now_ns();

	if (!err)
		err = runtime_names_collect(s->runtimes, on_symbol, s, wait);
	if (!err)
		err = jit_names_collect(s->jit, on_symbol, s, wait);
	if (!err)
		err = runtime_threads_collect(s->threads, wait);
	definitions_retire(s->defs, now);
	if (!err && now >= s->next_clock_ns)
		err = session_clock(s);
	return err;
}

/* Looks at runtimes for who holds their locks. */
static int tell_locks(struct session *s)
{
	struct runtime_locks_stats l;
	char text[256];

	runtime_locks_stats(s->locks, &l);
	if (!l.looks)
		return 0;
	snprintf(text, sizeof(text),
		 "looks=%" PRIu64 " failed=%" PRIu64 " late=%" PRIu64 " us=%" PRIu64, l.looks,
		 l.failed, l.late, l.took_ns / 1000);
	return session_tell(s, "runtimes.locks", text);
}

/* Looks at runtimes for the names of their threads. */
static int tell_threads(struct session *s)
{
	struct runtime_threads_stats t;
	char text[256];

	runtime_threads_stats(s->threads, &t);
	if (!t.looks)
		return 0;
	snprintf(text, sizeof(text),
		 "named=%" PRIu64 " looks=%" PRIu64 " failed=%" PRIu64 " us=%" PRIu64, t.named,
		 t.looks, t.failed, t.took_ns / 1000);
	return session_tell(s, "runtimes.threads", text);
}

int session_tell_runtimes(struct session *s)
{
	const struct runtime_image *image;
	struct runtime_names_stats n;
	char text[1024], title[RUNTIME_TITLE_BYTES];
	uint32_t binary;
	size_t len = 0;
	int err;

	for (size_t i = 0; s->deps.runtimes &&
			   (image = process_runtimes_nth(s->deps.runtimes, i, &binary));
	     i++) {
		runtime_title(image, title);
		if (len + sizeof(title) + 16 < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s",
						len ? ", " : "", title,
						image->is_known ? "" : " (not known yet)");
	}
	if (!len)
		return 0;
	session_tell(s, "runtimes", text);
	runtime_names_stats(s->runtimes, &n);
	snprintf(text, sizeof(text),
		 "named=%" PRIu64 " gone=%" PRIu64 " failed=%" PRIu64 " refused=%" PRIu64
		 " late=%" PRIu64 " stacks_cut=%" PRIu64 " kept=%" PRIu64,
		 n.named, n.gone, n.failed, n.refused, n.late, s->definer.marks, n.kept);
	session_tell(s, "runtimes.code", text);
	err = tell_locks(s);
	return err ? err : tell_threads(s);
}

int session_settle_names(struct session *s, struct patience *wait)
{
	int runtime_err = runtime_names_settle(s->runtimes, on_symbol, s, wait);
	int err = symbolizer_settle(s->deps.symbolizer, on_symbol, s, wait);
	int jit_err = jit_names_settle(s->jit, on_symbol, s, wait);
	int thread_err = runtime_threads_collect(s->threads, wait);

	return err ? err : jit_err ? jit_err : runtime_err ? runtime_err : thread_err;
}
