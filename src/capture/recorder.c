/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a recording waits for tables. The three cases differ, because the sources of stacks differ:
 *
 * - Samples come on their own, and the ring overflows if it is not read. So the recording never
 *   waits for tables while it samples: deferred stacks pile up beside it, and each
 *   recorder_update() gives on those whose tables are there.
 * - A scan waits while its rows are not read. So when more than 4 MiB of deferred stacks have piled
 *   up, recorder_stack() lets the workers have the CPU for up to 20 ms before it reads on.
 * - After a scan recorder_settle() waits for the scan's deferred stacks, for 1 s. It waits for 10 s
 *   if the caller is patient: after the first and the last scan, if scans are all that is recorded.
 *   At the end of a recording all waits together, for tables and for names, take 10 s. The long
 *   wait ends after 1 s if there is no room for all the tables, or if all that are missing are of
 *   users who have very many. Every wait ends when the user is in a hurry (Ctrl-C). With
 *   --debuginfod names may take a minute more.
 */
#include "src/capture/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/base/child_forker.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/helper_deaths.h"
#include "src/base/memory.h"
#include "src/base/plural.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/processes/jvm_maps.h"
#include "src/capture/processes/binary_store.h"
#include "src/capture/processes/hidden_tasks.h"
#include "src/capture/processes/lifetimes.h"
#include "src/capture/processes/process_tracker.h"
#include "src/capture/processes/table_store.h"
#include "src/capture/recorder_parts.h"
#include "src/capture/session/session.h"
#include "src/capture/stacks/deferred_stacks.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/foreign/debug_server.h"
#include "src/helpers/helper.h"
#include "src/proc/pid_namespace.h"
#include "src/proc/procfs.h"
#include "src/symbolize/lines_lack.h"

#define FLUSH_NS NSEC_PER_SEC
/*
 * A view of a recording under way gets its first samples with the first flush and their names with
 * the second, so these two come sooner than the others.
 */
#define FIRST_FLUSH_NS (100 * NSEC_PER_MSEC)
#define FLUSH_GROWTH 3
#define HOLD_OFF_NS (300 * 1000)
#define DEFERRED_BYTES (4u << 20)		/* of stacks that wait for tables */
#define DEFERRED_PAUSE_MS 20

struct session *recorder_session(struct recorder *r)
{
	return r->session;
}

size_t recorder_waiting_bytes(const struct recorder *r)
{
	return r->deferred ? deferred_stacks_bytes(r->deferred) : 0;
}

struct child_forker *recorder_forker(struct recorder *r)
{
	return r->forker;
}

struct capture_bpf *recorder_bpf(struct recorder *r)
{
	return r->bpf;
}

size_t recorder_fds(const struct recorder *r, int fds[RECORDER_FDS])
{
	size_t n = 0;

	fds[n++] = worker_fd(r->pool);
	fds[n++] = worker_fd(r->code_pool);
	if (session_attach_fd(r->session) >= 0)
		fds[n++] = session_attach_fd(r->session);
	if (process_tracker_fd(r->tracker) >= 0)
		fds[n++] = process_tracker_fd(r->tracker);
	return n;
}

static void tell_hidden(void)
{
	static const char text[] = "/proc hides the processes of other users (hidepid), so their "
				   "stacks have no names. Try: sudo, or with cap_sys_ptrace";

	if (procfs_hides_others())
		note_kept("%s", text);
}

int recorder_begin(struct recorder *r, const struct session_info *info)
{
	char text[256];
	int err;

	losses_init(&r->losses, now_ns());
	r->flush_ns = FIRST_FLUSH_NS;
	r->next_flush_ns = now_ns() + r->flush_ns;
	recorder_time_part(r);
	err = session_begin(r->session, info);
	if (!err && capture_bpf_reduced(r->bpf, text, sizeof(text)))
		err = session_note(r->session, 1, text);
	tell_hidden();
	return err ? err : recorder_tell_kept(r);
}

void recorder_hold_off(const struct recorder *r)
{
	uint64_t passed = now_ns() - r->last_update_ns;

	if (passed < HOLD_OFF_NS)
		nanosleep(&(struct timespec){ .tv_nsec = (long)(HOLD_OFF_NS - passed) }, NULL);
}

int recorder_update(struct recorder *r)
{
	int err;

	r->last_update_ns = now_ns();
	worker_reap(r->pool);
	worker_reap(r->code_pool);
	err = recorder_kernel_take(r);
	if (!err)
		err = process_tracker_update(r->tracker);
	return err || !r->deferred ? err : deferred_stacks_try(r->deferred);
}

/* When many stacks wait, with their memory, the workers get the CPU before more are added. */
static int let_workers_catch_up(struct recorder *r)
{
	struct pollfd pfd = { .fd = worker_fd(r->pool), .events = POLLIN };

	if (deferred_stacks_bytes(r->deferred) <= DEFERRED_BYTES || !binary_store_pending(r->store))
		return 0;
	poll(&pfd, 1, DEFERRED_PAUSE_MS);
	worker_reap(r->pool);
	return deferred_stacks_try(r->deferred);
}

int recorder_stack(struct recorder *r, const struct wire_stack *stack, uint32_t scan)
{
	struct cost_piece piece = user_costs_begin(r->costs, stack->head->tgid);
	int err;

	if (!r->deferred || !deferred_stacks_wants(stack)) {
		err = recorder_give(r, stack, scan);
		user_costs_end(r->costs, piece);
		return err;
	}
	/* Tables that are ready help this stack, and the kernel side with all later ones. */
	worker_reap(r->pool);
	err = deferred_stacks_add(r->deferred, stack, scan);
	user_costs_end(r->costs, piece);
	/* A scan waits while its rows are not read. Samples do not: the ring would overflow. */
	return err || !scan ? err : let_workers_catch_up(r);
}

/* Binaries that were seen in stacks lately are the last to lose their tables and their files. */
void recorder_on_binary(void *ctx, uint32_t binary, uint64_t time_ns)
{
	struct recorder *r = ctx;

	binary_store_touch(r->store, binary, time_ns);
	if (r->loader)
		unwind_loader_touch(r->loader, binary, time_ns);
}

bool recorder_meet(void *ctx, struct process *p, const struct mapping *m, uint64_t addr)
{
	struct recorder *r = ctx;

	if (!m->is_unread && !binary_store_lacks_file(r->store, m->binary))
		return false;
	return process_tracker_learn(r->tracker, p, addr) == PROCESS_LEARNT_MORE;
}

bool recorder_wants_to_end(void *ctx)
{
	return recorder_in_a_hurry(ctx);
}

static uint64_t thrown_out(const struct recorder *r)
{
	struct unwind_loader_stats st;

	unwind_loader_stats(r->loader, &st);
	return st.evicted + st.refused;
}

/* Asked when it takes long: tells the user once, and returns whether the user is in a hurry. */
static bool is_in_a_hurry(void *ctx)
{
	struct recorder *r = ctx;
	unsigned nr = binary_store_pending(r->store);
	char what[64] = "names of functions";

	if (nr)
		snprintf(what, sizeof(what), "unwind tables of %u file%s", nr, plural(nr, "", "s"));
	if (now_ns() > r->patience_begin_ns + SETTLE_NS && !r->has_said_waiting) {
		note_for_now("waiting for %s, at most %u s in all (Ctrl-C: no longer)", what,
			     (unsigned)((r->patience.until_ns - r->patience_begin_ns) /
					NSEC_PER_SEC));
		r->has_said_waiting = true;
	}
	return recorder_in_a_hurry(r);
}

/* Waits that follow each other share their time: the last scan, the end, its names. */
static struct patience *begin_patience(struct recorder *r)
{
	uint64_t now = now_ns();

	if (now < r->patience_used_ns + NSEC_PER_SEC)
		return &r->patience;
	r->patience_begin_ns = now;
	r->has_said_waiting = false;
	r->patience = (struct patience){
		.until_ns = now + SETTLE_PATIENT_NS, .hurry = is_in_a_hurry, .ctx = r,
	};
	return &r->patience;
}

static void end_patience(struct recorder *r)
{
	r->patience_used_ns = now_ns();
}

/* If there is no room for all the tables, more time does not help. */
static bool has_no_room(const struct recorder *r, uint64_t begin_ns, uint64_t thrown)
{
	return now_ns() > begin_ns + SETTLE_NS && thrown_out(r) != thrown;
}

/* Nor does it if one user has so many files that their tables take for ever. */
static bool is_flooded(const struct recorder *r, uint64_t begin_ns)
{
	return now_ns() > begin_ns + SETTLE_NS && binary_store_pending(r->store) &&
	       !table_store_has_few(binary_store_tables(r->store));
}

static int settle(struct recorder *r, uint32_t scan, struct patience *patience, revisit_fn again,
		  void *ctx)
{
	struct pollfd pfd = { .fd = worker_fd(r->pool), .events = POLLIN };
	uint64_t thrown = r->loader ? thrown_out(r) : 0, begin = now_ns();
	int err = recorder_update(r);

	if (err || !r->deferred)
		return err;
	err = deferred_stacks_again(r->deferred, scan, again, ctx);
	while (!err && deferred_stacks_waiting(r->deferred, scan) && patience_lasts(patience) &&
	       !has_no_room(r, begin, thrown) && !is_flooded(r, begin)) {
		poll(&pfd, 1, 10);
		err = recorder_update(r);
		if (!err)
			err = deferred_stacks_again(r->deferred, scan, again, ctx);
	}
	return err ? err : deferred_stacks_flush(r->deferred, scan);
}

int recorder_settle(struct recorder *r, uint32_t scan, bool patient, revisit_fn again, void *ctx)
{
	struct patience brief = {
		.until_ns = now_ns() + SETTLE_NS, .hurry = recorder_wants_to_end, .ctx = r,
	};
	int err = settle(r, scan, patient ? begin_patience(r) : &brief, again, ctx);

	if (patient)
		end_patience(r);
	return err;
}

static bool was_met(const void *session, const struct process *p)
{
	return session_has_process(session, p);
}

uint64_t recorder_hidden(const struct recorder *r, uint64_t begin_ns, char *text, size_t size)
{
	struct hidden_scope scope = {
		r->opts.pids, r->opts.tids, was_met, r->session, (uint32_t)procfs_own_root(),
	};

	return hidden_tasks(&r->processes, &scope, begin_ns, text, size);
}

void recorder_iter_begin(struct recorder *r)
{
	if (r->loader)
		unwind_loader_iterating(r->loader, true);
}

void recorder_iter_end(struct recorder *r)
{
	if (r->loader)
		unwind_loader_iterating(r->loader, false);
}

bool recorder_is_whole_machine(const struct recorder *r)
{
	return !recorder_has_filter(&r->opts) && !pid_namespace_is_inner();
}

int recorder_add_event(struct recorder *r, const struct session_event *event)
{
	return session_add_event(r->session, event);
}

int recorder_show(struct recorder *r)
{
	int err = session_names(r->session, NULL);

	return err || !r->opts.flush ? err : r->opts.flush(r->opts.sink_ctx);
}

uint64_t recorder_next_service_ns(const struct recorder *r)
{
	uint64_t attach_ns = session_next_attach_ns(r->session);

	return attach_ns < r->next_flush_ns ? attach_ns : r->next_flush_ns;
}

int recorder_service(struct recorder *r)
{
	uint64_t now = now_ns();
	int err;

	session_attach(r->session, NULL);
	if (now < r->next_flush_ns)
		return 0;
	r->flush_ns = r->flush_ns * FLUSH_GROWTH < FLUSH_NS ? r->flush_ns * FLUSH_GROWTH : FLUSH_NS;
	r->next_flush_ns = now + r->flush_ns;
	if (r->part_until_ns > now && r->part_until_ns < r->next_flush_ns)
		r->next_flush_ns = r->part_until_ns;
	/* Below, processes are forgotten that stacks may need. */
	err = recorder_kernel_settle(r);
	if (!err)
		err = session_names(r->session, NULL);
	if (!err)
		err = recorder_code_take(r);
	if (!err)
		err = recorder_report_losses(r);
	if (!err)
		err = recorder_tell_kept(r);
	if (r->deferred)
		deferred_stacks_await(r->deferred);
	if (!err)
		err = process_tracker_watch(r->tracker);
	process_tracker_prune(r->tracker, now);
	if (!err && r->opts.flush)
		err = r->opts.flush(r->opts.sink_ctx);
	return err ? err : recorder_look_at_part(r);
}

int recorder_end(struct recorder *r, const struct rec_end *end)
{
	struct rec_end e = *end;
	struct patience *patience = begin_patience(r);
	uint64_t helpers_ns;
	int err = settle(r, 0, patience, NULL, NULL);

	if (!err)
		err = recorder_kernel_settle(r);
	if (!err)
		err = recorder_code_settle(r, patience);
	if (r->server)
		patience->until_ns += DEBUG_SERVER_NS;
	if (!err)
		err = session_names(r->session, patience);
	/* A look at the helpers may find that some have ended. */
	child_forker_look(r->forker);
	helpers_ns = recorder_helpers_cpu_ns(r);
	if (!err)
		err = recorder_tell(r);
	e.cpu_time_ns += helpers_ns;
	return err ? err : session_end(r->session, &e);
}

bool recorder_lost_others(const struct recorder *r, char *buf, size_t size)
{
	return losses_others(&r->losses, buf, size);
}

uint64_t recorder_lost(const struct recorder *r)
{
	return losses_samples(&r->losses);
}

void recorder_describe(const struct recorder *r, char *buf, size_t size)
{
	struct unwind_loader_stats l = { 0 };
	struct binary_store_stats b;
	struct deferred_stacks_stats d = { 0 };
	struct helper_stats h;

	if (r->loader)
		unwind_loader_stats(r->loader, &l);
	if (r->deferred)
		deferred_stacks_stats(r->deferred, &d);
	binary_store_stats(r->store, &b);
	helper_keeper_stats(r->keeper, &h);
	snprintf(buf, size,
		 "%zu processes, %zu binaries (%" PRIu64 " with unwind tables, %" PRIu64
		 " more share them, %" PRIu64 " unreadable), %" PRIu64 " rows, %" PRIu64
		 " rules, %" PRIu64 " slabs, %" PRIu64 " mappings, %.1f MiB; %" PRIu64
		 " tables built, %" PRIu64 " evicted, %" PRIu64 " refused; helpers: %" PRIu64
		 " calls, %" PRIu64 " died, %" PRIu64 " stalled, %" PRIu64 " refused, %" PRIu64
		 " asked again; late stacks: %" PRIu64 ", %" PRIu64 " refused, %.1f MiB at most",
		 r->processes.nr, r->binaries.nr - 1, l.binaries, b.shared, b.unreadable, l.rows,
		 l.rules, l.slabs, l.mappings, (double)capture_bpf_table_bytes(r->bpf) / (1 << 20),
		 b.tables, l.evicted, l.refused, h.calls, h.died, h.stalled, h.refused, h.again,
		 d.added, d.refused,
		 (double)d.peak_bytes / (1 << 20));
}
