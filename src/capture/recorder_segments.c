/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a recording goes on in another segment of its trace, so that its memory does not grow with
 * time (src/capture/session/session_segment.c says what that means for ids).
 *
 * A segment ends when its definitions take more memory than is wanted, when more tasks are defined
 * in it than ids should be used for, when it has the size that the user asked for, or at the times
 * that he asked for. That is looked at once a second, and at those times, behind the flush of the
 * trace, where no scan is under way. Another segment costs what defining everything again costs, in
 * CPU time and in the file, so it comes 10 s after the last one at the soonest, also where a load
 * makes definitions without an end; 1 s where the user wants segments of a size or of a time.
 *
 * Times are those of the clock of the wall: with --segment-time 15s all machines begin a segment at
 * :00, :15, :30 and :45, so that segments of several machines can be laid side by side. Where that
 * would have thousands of them send something in the same second, each has an offset of its own:
 * --segment-time 15s+3.7s. After the clock was set one segment is shorter or longer.
 *
 * Example: compilers run all day and are sampled at 99 Hz on 64 CPUs. Each hour their stacks take
 * 12 MiB, and the trace has one segment for each hour. A web server meets all of its stacks within
 * minutes, they take 3 MiB, and its trace has a single segment.
 *
 * What is looked up for names is waited for, because no name of this segment can be written later:
 * for 1 s at most, as for the tables of a scan; the ring of the sampler takes what comes meanwhile.
 * Names that are not there by then are missing in this segment, and counted. Lines are waited for
 * during 0.25 s of it; a function that lacks them here has them in the next segment.
 */
#include "src/capture/recorder_parts.h"

#include <inttypes.h>

#include "src/base/fail.h"
#include "src/capture/processes/jvm_maps.h"
#include "src/capture/processes/lifetimes.h"
#include "src/helpers/helper.h"

#define PART_MEMORY (12u << 20)
#define PART_TASKS (1u << 20)		/* TRACE.md: 2^22 each at most */
#define PART_NS (10 * NSEC_PER_SEC)
#define SIZED_PART_NS NSEC_PER_SEC

uint64_t recorder_helpers_cpu_ns(const struct recorder *r)
{
	return helper_keeper_cpu_ns(r->keeper) + jvm_maps_cpu_ns(r->jvms);
}

static bool has_size(const struct recorder *r)
{
	uint64_t max = r->opts.max_segment_bytes;

	return max && r->opts.segment_bytes(r->opts.sink_ctx) >= max;
}

uint64_t recorder_until_multiple(uint64_t real_ns, uint64_t ns, uint64_t offset_ns)
{
	return ns - (real_ns + ns - offset_ns % ns) % ns;
}

void recorder_time_part(struct recorder *r)
{
	uint64_t ns = r->opts.segment_ns, left;

	r->part_begin_ns = now_ns();
	r->part_until_ns = 0;
	if (!ns)
		return;
	left = recorder_until_multiple(clock_ns(CLOCK_REALTIME), ns, r->opts.segment_offset_ns);
	/* The timer may have been early; a segment of less than a second would be of no use. */
	if (left < SIZED_PART_NS)
		left += ns;
	r->part_until_ns = r->part_begin_ns + left;
}

static bool is_part_over(const struct recorder *r)
{
	uint64_t now = now_ns(), age = now - r->part_begin_ns;

	if (r->part_until_ns && now >= r->part_until_ns)
		return true;
	if (age >= SIZED_PART_NS && has_size(r))
		return true;
	return age >= PART_NS && (session_memory(r->session) >= PART_MEMORY ||
				  session_tasks(r->session) >= PART_TASKS);
}

static bool is_hurried(void *ctx)
{
	return recorder_in_a_hurry(ctx);
}

static int next_part(struct recorder *r, enum end_reason reason)
{
	struct patience wait = { .until_ns = now_ns() + SETTLE_NS, .hurry = is_hurried, .ctx = r };
	struct rec_end end = {
		.reason = (uint8_t)reason, .target_status = -1,
		.cpu_time_ns = recorder_helpers_cpu_ns(r),
	};
	uint64_t begin = now_ns();
	size_t bytes = session_memory(r->session);
	int err = recorder_code_settle(r, &wait);

	if (!err)
		err = session_settle_names(r->session, &wait);
	if (!err)
		err = recorder_report_losses(r);
	if (!err)
		err = session_continue(r->session, &end, r->opts.begin_segment, r->opts.sink_ctx);
	if (!err)
		err = r->opts.flush(r->opts.sink_ctx);
	recorder_time_part(r);
	note_verbose("part %" PRIu32 " of the recording begins: %.1f MiB of definitions forgotten "
		     "in %.1f ms",
		     session_part(r->session), (double)bytes / (1 << 20),
		     (double)(r->part_begin_ns - begin) / 1e6);
	return err;
}

int recorder_look_at_part(struct recorder *r)
{
	bool is_cut = r->is_cut_asked;

	if (!r->opts.begin_segment || !session_is_quiet(r->session) ||
	    !(is_cut || is_part_over(r)))
		return 0;
	r->is_cut_asked = false;
	return next_part(r, is_cut ? ENDED_TRIGGER : ENDED_CONTINUED);
}

void recorder_ask_cut(struct recorder *r)
{
	r->is_cut_asked = true;
	r->next_flush_ns = 0;
}
