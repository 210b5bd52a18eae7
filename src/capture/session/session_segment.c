/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The beginning and the end of a part of a recording, and how the next part takes over.
 *
 * The problem. Definitions are never removed from a segment of a trace, because ids ascend and any
 * later record may refer to them. So a recording of days would remember each frame, stack, string
 * and thread that it has ever met.
 *
 * The idea. When they have become many the segment is ended, and the recording goes on in another
 * one, in which nothing is defined yet (TRACE.md 4.1, `recording.part`). What is met again is
 * defined again.
 *
 * What holds ids of the old segment must not outlive it:
 *
 *	definitions, stacks	are made anew, and freed
 *	binaries, mappings	their marks say what is written: taken back (definitions.c)
 *	last rows of threads	are forgotten. The next scan has to take every row anew
 *				(task_snapshot_anew())
 *	names of descriptors	are forgotten
 *	threads without names	are forgotten, and asked about anew where they are met again
 *	names of frames		what is asked for is waited for, and then forgotten, so that an
 *				answer never names the frame that has the number next
 *	peers, rows to repeat	there are none between two scans (session_is_quiet())
 *
 * Stacks that wait for tables, and those that the kernel side has handed out under an id, are kept
 * as they came from the kernel, without ids of the trace: they go into the next segment.
 */
#include <errno.h>
#include <sys/resource.h>

#include "src/base/clock.h"
#include "src/capture/session/definitions.h"
#include "src/capture/session/last_samples.h"
#include "src/capture/session/runtime_threads.h"
#include "src/capture/session/session_meta.h"
#include "src/capture/session/session_parts.h"
#include "src/capture/waits/descriptor_names.h"
#include "src/capture/waits/stuck_files.h"
#include "src/model/stacks.h"

static int put_event(struct session *s, const struct session_event *e, uint32_t id)
{
	struct record rec = { .tag = REC_EVENT };

	rec.event = (struct rec_event){
		.id = id,
		.name = definitions_string(s->defs, e->name),
		.kind = e->kind,
		.freq_mhz = (uint64_t)(e->freq_hz * 1000 + 0.5),
		.period = e->period,
		.unit = definitions_string(s->defs, e->unit),
	};
	return session_emit(s, &rec);
}

static int begin(struct session *s)
{
	int err = session_meta(s->deps.sink, s->deps.sink_ctx, &s->info, s->part);

	if (!err)
		err = session_clock(s);
	for (uint32_t i = 0; i < s->nr_events && !err; i++)
		err = put_event(s, &s->events[i], i + 1);
	return err;
}

int session_begin(struct session *s, const struct session_info *info)
{
	s->info = *info;
	return begin(s);
}

static uint64_t own_cpu_ns(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
}

/* What total has grown by since the END before. */
static uint64_t since(uint64_t *told, uint64_t total)
{
	uint64_t added = total > *told ? total - *told : 0;

	*told += added;
	return added;
}

int session_end(struct session *s, const struct rec_end *end)
{
	struct record rec = { .tag = REC_END, .end = *end };
	int err = session_clock(s);

	if (!rec.end.time_ns)
		rec.end.time_ns = now_ns();
	rec.end.samples = since(&s->told.samples, s->stats.samples);
	rec.end.scans = s->scans;
	rec.end.lost = s->lost;
	rec.end.unresolved =
		since(&s->told.unresolved, s->stats.unresolved + s->definer.unresolved);
	rec.end.cpu_time_ns = since(&s->told.cpu_time_ns, end->cpu_time_ns + own_cpu_ns());
	return err ? err : session_emit(s, &rec);
}

struct session_stats session_stats(const struct session *s)
{
	struct session_stats st = s->stats;

	st.frames = s->earlier_frames + stacks_frames(s->stacks);
	st.nodes = s->earlier_nodes + stacks_nodes(s->stacks);
	st.threads = s->met.nr_threads;
	st.processes = s->met.nr_processes;
	return st;
}

size_t session_memory(const struct session *s)
{
	return stacks_memory(s->stacks) + definitions_memory(s->defs);
}

uint64_t session_tasks(const struct session *s)
{
	return definitions_threads(s->defs) + definitions_processes(s->defs);
}

uint32_t session_part(const struct session *s)
{
	return s->part;
}

bool session_is_quiet(const struct session *s)
{
	return !s->peers.nr && !s->nr_same;
}

static void take_over(struct session *s, struct definitions *defs, struct stacks *stacks)
{
	s->earlier_frames += stacks_frames(s->stacks);
	s->earlier_nodes += stacks_nodes(s->stacks);
	definitions_free(s->defs);
	stacks_free(s->stacks);
	s->defs = s->definer.deps.defs = defs;
	s->stacks = s->definer.deps.stacks = stacks;
	definitions_begin(defs);
	last_samples_forget(s->last_samples);
	descriptor_names_forget(s->files);
	stuck_files_forget(s->stuck);
	runtime_threads_forget(s->threads);
	s->scans = s->lost = 0;
	s->part++;
}

int session_continue(struct session *s, const struct rec_end *end, int (*begin_segment)(void *ctx),
		     void *ctx)
{
	struct definitions *defs = NULL;
	struct stacks *stacks = stacks_new();
	int err = stacks ? definitions_new(s->deps.sink, s->deps.sink_ctx, s->deps.binaries, &defs)
			 : -ENOMEM;

	/* Without memory for it the old part goes on. */
	if (err) {
		stacks_free(stacks);
		return 0;
	}
	err = session_end(s, end);
	if (!err)
		err = begin_segment(ctx);
	take_over(s, defs, stacks);
	return err ? err : begin(s);
}
