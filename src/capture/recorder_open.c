/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The start of a recording. Its steps take long, so those that do not need each other run at once:
 *
 *	workers		unwind tables
 *	one of them	for scans: the kernel's symbols (recorder_kernel.c)
 *	one thread	loads the BPF programs
 *	this thread	reads /proc, queues tables; waits for all, for tables 40 ms at most
 *
 * With targets (-p, -t) only those that the user named are looked at meanwhile. Their children are
 * in a BPF map, which is looked through after the load.
 *
 * Capabilities belong to threads (src/rights/capabilities.h), and the start needs more of them than
 * the rest. Threads that stay begin by giving up what only the start needs; the one that loads
 * programs ends with the start; and this thread follows when all is open
 * (src/recording/recording.c).
 */
#include "src/capture/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/child_forker.h"
#include "src/base/fail.h"
#include "src/base/kept_notes.h"
#include "src/base/file_limit.h"
#include "src/base/helper_deaths.h"
#include "src/base/opt.h"
#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/base/process_limits.h"
#include "src/capture/bpf/capture_bpf.h"
#include "src/capture/low_latency.h"
#include "src/capture/processes/binary_store.h"
#include "src/capture/processes/cmdlines.h"
#include "src/capture/processes/jvm_maps.h"
#include "src/capture/processes/process_tracker.h"
#include "src/capture/processes/table_store.h"
#include "src/capture/recorder_parts.h"
#include "src/capture/session/session.h"
#include "src/capture/stacks/deferred_stacks.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/capture/tables/unwind_loader.h"
#include "src/capture/waits/wait_peers.h"
#include "src/foreign/debug_server.h"
#include "src/foreign/file_opener.h"
#include "src/parse/parsers.h"
#include "src/proc/pid_namespace.h"
#include "src/proc/procfs.h"
#include "src/proc/target_rules.h"
#include "src/rights/message_user.h"
#include "src/rights/recording_rights.h"
#include "src/symbolize/symbolizer.h"
#include "unwind/unwind_limits.h"

/*
 * The start waits for the tables of processes that run already, but no longer than this: huge
 * binaries must not delay it. Stacks that need a table which is not there yet wait for it
 * themselves.
 */
#define TABLES_WAIT_NS (40 * NSEC_PER_MSEC)
#define MAX_CHILDREN 256		/* that are looked up one by one */
#define FEW_BYTES (64u << 10)		/* of a file: its code is about one page of a table */
#define ATTACH_NS (2000 * NSEC_PER_MSEC)	/* for runtimes of processes that run already */
#define KNOW_NS (1000 * NSEC_PER_MSEC)	/* for runtimes to be known, without scans */
#define FEW_FILES 4096			/* descriptors */

static bool wants_tables(const struct recorder_options *o)
{
	return !o->kernel_only;
}

static int on_table(void *ctx, uint32_t binary, const struct unwind_table *t)
{
	struct recorder *r = ctx;
	uint32_t *early;

	if (r->loader && t)
		return unwind_loader_table(r->loader, binary, t);
	if (r->loader)
		unwind_loader_no_table(r->loader, binary);
	if (r->loader || !wants_tables(&r->opts))
		return 0;
	/* /proc is read while the programs are loaded; tables are taken only behind that. */
	early = array_push(&r->without, &r->nr_without, &r->cap_without);
	if (early)
		*early = binary;
	return 0;
}

/* Processes that had mapped it before it was known to be a runtime. */
static void publish_runtimes(struct recorder *r)
{
	for (struct process *p = r->processes.all; p; p = p->next)
		if (p->died_ns == TIME_NEVER)
			process_runtimes_publish(r->runtimes, p);
}

/*
 * Frames of runtimes are known only to stacks that are unwound at once, so no table that the
 * process may need is waited for until a stack goes through it.
 */
static void want_all_tables(void *ctx, const struct process *p)
{
	struct recorder *r = ctx;

	for (size_t i = 0; i < p->nr_live; i++)
		if (p->maps[i].binary)
			binary_store_want_all(r->store, p->maps[i].binary);
}

static void on_runtime(void *ctx, uint32_t binary, const struct runtime_image *image)
{
	struct recorder *r = ctx;

	if (process_runtimes_found(r->runtimes, binary, image))
		publish_runtimes(r);
}

static void on_same(void *ctx, uint32_t binary, uint32_t other)
{
	struct recorder *r = ctx;

	if (process_runtimes_same(r->runtimes, binary, other))
		publish_runtimes(r);
	if (r->loader)
		unwind_loader_same(r->loader, binary, other);
}

/* The table of binary was thrown out. It is built again when a stack goes through the binary. */
static void on_evict(void *ctx, uint32_t binary, const char *what)
{
	struct recorder *r = ctx;
	const struct binary *b = binaries_get(&r->binaries, binary);

	if (!r->evicted++)
		note_kept("the table of %s is full: thrown out what was seen least, %s to begin "
			  "with. Try: -p, so that only these processes have tables",
			  what, b ? b->path : "?");
	if (binary < UNWIND_FIRST_WINDOW)
		binary_store_drop_table(r->store, binary);
	else if (r->deferred)
		deferred_stacks_evicted(r->deferred, binary);
}

static int new_slab(void *ctx, uint32_t key)
{
	return capture_bpf_new_slab(((struct recorder *)ctx)->bpf, key);
}

static struct knobs make_knobs(const struct recorder_options *o)
{
	static const uint32_t modes[] = {
		[UNWIND_AUTO] = UNWIND_BY_TABLES | UNWIND_BY_FRAME_POINTERS,
		[UNWIND_FP] = UNWIND_BY_FRAME_POINTERS | UNWIND_LEAF_BY_TABLE,
		[UNWIND_DWARF] = UNWIND_BY_TABLES,
	};
	uint64_t seed = 0;

	/* Without entropy the ids of stacks are what a process may guess: it could hide its own. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = now_ns();
	return (struct knobs){
		.hash_seed = seed,
		.mode = modes[o->unwind],
		.max_frames = o->max_frames ? o->max_frames : UNWIND_MAX_FRAMES,
		.want_user = !o->kernel_only,
		.want_kernel = !o->user_only,
		.only_targets = recorder_has_filter(o),
		.only_tids = o->tids && o->tids->nr,
		.self_tgid = o->self_profile ? NO_PROCESS : (uint32_t)procfs_own_root(),
		.include_idle = o->include_idle,
		.ask = o->programs & CAPTURE_SNAPSHOT,
		.skip_same = o->skip_same,
		.want_args = o->syscall_args,
		.audit = o->audit,
		.deferred = wants_tables(o),
		.faults = o->faults,
		.in_pid_ns = pid_namespace_is_inner(),
		.limit_rate = o->limit_rate,
	};
}

static int raise_file_limit(const struct recorder_options *o)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int err = file_limit_raise(process_limits_files(cpus > 0 ? (unsigned)cpus : 1, o->events));

	message_user_ensure();		/* the first descriptor that is refused is explained */
	return err;
}

static int open_bpf(struct recorder *r, struct unwind_loader **loader)
{
	struct capture_bpf_options b = {
		.programs = r->opts.programs,
		.knobs = make_knobs(&r->opts),
		.samples_hz = r->opts.samples_hz,
		.few_processes = recorder_has_few_targets(&r->opts),
	};
	struct unwind_loader_options l = { .new_slab = new_slab, .on_evict = on_evict, .ctx = r,
					   .table_owner = recorder_table_owner,
					   .process_owner = recorder_process_owner };
	int err = capture_bpf_open(&b, &r->bpf);

	if (err || !wants_tables(&r->opts))
		return err;
	l.attached_ns = now_ns();
	l.runtimes = r->runtimes;
	if (recorder_has_little_memory())
		l.max_rows = recorder_memory_room() / 12 / sizeof(struct unwind_row);
	capture_bpf_fds(r->bpf, &l.fds);
	return unwind_loader_new(&l, loader);
}

/*
 * While it checks the programs, the kernel needs 10 MiB of memory. And files of processes must not
 * take the descriptors that programs and maps need.
 */
static bool is_short_of_room(void)
{
	struct rlimit files;

	return recorder_has_little_memory() ||
	       (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < FEW_FILES);
}

static void load_run(struct worker_job *job)
{
	struct load_job *load = (struct load_job *)job;

	load->err = open_bpf(load->recorder, &load->loader);
}

static void load_done(struct worker_job *job, bool cancelled)
{
	(void)job;
	(void)cancelled;
}

/*
 * true: the tables of all mapped files are built at once. A sampler of the whole machine meets only
 * a few of these files, so a table is built when a stack goes through its file. A scan meets them
 * all at once, and all its stacks would have to wait for tables, with their memory. For --unwind fp
 * only the files matter in which threads are interrupted, and these are few.
 */
static bool tables_at_once(const struct recorder_options *o)
{
	return recorder_has_filter(o) ||
	       (o->unwind != UNWIND_FP && o->programs & CAPTURE_SNAPSHOT);
}

static int open_store(struct recorder *r)
{
	struct binary_store_deps store = {
		.binaries = &r->binaries,
		.pool = r->pool,
		.symbolizer = r->symbolizer,
		.opener = r->opener,
		.parsers = r->parsers,
		.want_tables = wants_tables(&r->opts),
		.at_once = tables_at_once(&r->opts),
		/* Where memory is little, only what is met has a place. */
		.large_bytes = recorder_has_little_memory() ? FEW_BYTES : 0,
		.on_table = on_table,
		.on_runtime = on_runtime,
		.on_same = on_same,
		.ctx = r,
	};
	int err = binaries_init(&r->binaries);

	if (!err)
		err = binary_store_new(&store, &r->store);
	if (!err)
		process_runtimes_watch(r->runtimes, want_all_tables, r);
	return err;
}

static int open_tracker(struct recorder *r)
{
	struct process_tracker_deps tracker = {
		.processes = &r->processes, .binaries = &r->binaries,
		.wanted = recorder_has_filter(&r->opts) ? recorder_wants_process : NULL,
		.ctx = r,
		.joins = r->opts.rules && target_rules_are_open(r->opts.rules)
				 ? recorder_lets_join : NULL,
		.begin_thread = recorder_begin_thread,
		.hurry = recorder_wants_to_end,
		/* between two scans no event is urgent */
		.patient = r->opts.programs == CAPTURE_SNAPSHOT,
		.on_code = r->opts.user_only ? NULL : recorder_kernel_code,
		.on_forget = recorder_forget_process,
	};
	int err = open_store(r);

	if (!err && r->opts.cmdlines)
		err = cmdlines_new(recorder_begin_thread, &r->cmdlines);
	tracker.store = r->store;
	tracker.cmdlines = r->cmdlines;
	tracker.costs = r->costs;
	return err ? err : process_tracker_new(&tracker, &r->tracker);
}

/* Looks at the processes that the user has named. What is wrong with one is said later. */
static int look_at_named(struct recorder *r)
{
	const struct id_list *pids = r->opts.pids, *tids = r->opts.tids;
	struct proc_status status;
	int err = 0;

	r->is_naming = true;
	if (pids && pids->nr)
		err = process_tracker_scan(r->tracker, pids->v, pids->nr);
	for (size_t i = 0; tids && i < tids->nr && !err; i++)
		if (!procfs_status((pid_t)tids->v[i], &status))
			err = process_tracker_scan(r->tracker, &status.tgid, 1);
	r->is_naming = false;
	return err;
}

/* Looks at the children that targets got since, unless events have told of them. */
static int look_at_children(struct recorder *r)
{
	uint32_t tgids[MAX_CHILDREN];
	size_t nr = capture_bpf_targets(r->bpf, tgids, MAX_CHILDREN);
	int err = 0;

	if (nr > MAX_CHILDREN)
		return process_tracker_scan(r->tracker, NULL, 0);
	for (size_t i = 0; i < nr && !err; i++)
		if (!processes_find(&r->processes, tgids[i], TIME_NEVER))
			err = process_tracker_scan(r->tracker, &tgids[i], 1);
	return err;
}

static int take_load(struct recorder *r, const struct load_job *load)
{
	struct process_runtimes_fds fds;

	r->loader = load->loader;
	if (r->loader) {
		capture_bpf_runtimes(r->bpf, &fds.programs, &fds.runtimes);
		process_runtimes_set(r->runtimes, &fds);
		publish_runtimes(r);
	}
	for (size_t i = 0; i < r->nr_without && r->loader; i++)
		unwind_loader_no_table(r->loader, r->without[i]);
	return load->err;
}

/*
 * Loads the BPF programs in a thread, because that takes as long as all other steps together; these
 * are done meanwhile.
 */
static int begin_load(struct recorder *r, struct load_job *load)
{
	int before = recorder_be_urgent(RECORDER_NICE);

	load->pool = worker_pool_new(1);
	recorder_be_as_before(before);
	if (!load->pool)
		return fail(-ENOMEM, "start a thread that loads BPF programs");
	load->recorder = r;
	load->job = (struct worker_job){ .run = load_run, .done = load_done };
	worker_submit(load->pool, &load->job);
	if (is_short_of_room())
		worker_wait(load->pool);
	return 0;
}

/* Takes over what the thread has loaded. */
static int end_load(struct recorder *r, struct load_job *load)
{
	if (!load->pool)
		return 0;
	worker_wait(load->pool);
	worker_pool_free(load->pool);
	return take_load(r, load);
}

static int look(struct recorder *r)
{
	int err = open_tracker(r);

	if (err)
		return err;
	return recorder_has_filter(&r->opts) ? look_at_named(r)
					     : process_tracker_scan(r->tracker, NULL, 0);
}

/* Waits until no table is missing that counts, or the time is over. */
static int wait_for_some(struct recorder *r, uint64_t until,
			 bool (*lacks)(const struct table_store *st))
{
	/* poll() passes over a negative descriptor. */
	struct pollfd pfd[2] = {
		{ .fd = worker_fd(r->pool), .events = POLLIN },
		{ .fd = process_tracker_fd(r->tracker), .events = POLLIN },
	};
	int err = recorder_update(r);

	while (!err && lacks(binary_store_tables(r->store)) && now_ns() < until) {
		poll(pfd, 2, 50);
		err = recorder_update(r);
	}
	return err;
}

static bool lacks_any(const struct table_store *ts)
{
	return table_store_pending(ts);
}

static int wait_for_tables(struct recorder *r)
{
	return wait_for_some(r, now_ns() + TABLES_WAIT_NS, lacks_any);
}

/*
 * Waits until the interpreters are known: a stack that comes earlier lacks their frames. More
 * samples will come soon, but a sleeping thread is not unwound again.
 */
static int attach_runtimes(struct recorder *r)
{
	struct patience attach = { .until_ns = now_ns() + ATTACH_NS };
	bool scans = r->opts.programs & CAPTURE_TASKS;
	int err = wait_for_some(r, scans ? attach.until_ns : now_ns() + KNOW_NS,
				table_store_lacks_interpreter);

	if (!err)
		session_attach(r->session, &attach);
	return err;
}

static int find_peers(void *ctx, struct peer_question *questions, size_t nr)
{
	return wait_peers_find(((struct recorder *)ctx)->peers, questions, nr);
}

static int open_session(struct recorder *r)
{
	bool scans = r->opts.programs & CAPTURE_SNAPSHOT;
	int err = scans ? wait_peers_new(r->bpf, &r->peers) : 0;
	struct session_deps deps = {
		.sink = r->opts.sink, .sink_ctx = r->opts.sink_ctx,
		.tracker = r->tracker,
		.binaries = &r->binaries,
		.symbolizer = r->symbolizer,
		.opener = r->opener,
		.parsers = r->parsers,
		.jvms = r->jvms,
		.runtimes = r->runtimes,
		.begin_thread = recorder_begin_thread,
		.begin_urgent = recorder_begin_urgent_thread,
		.on_binary = recorder_on_binary,
		.meet = recorder_meet,
		.forker = r->forker, .costs = r->costs,
		.process_owner = recorder_process_owner,
		.find_peers = scans ? find_peers : NULL,
		.no_names = r->opts.no_names,
		.ctx = r,
	};

	return err ? err : session_new(&deps, &r->session);
}

static int give_deferred(void *ctx, const struct wire_stack *stack, uint32_t scan)
{
	return recorder_give(ctx, stack, scan);
}

/* Only unwinding by tables, be it one frame, can be too early: only then stacks are deferred. */
static int open_deferred(struct recorder *r)
{
	struct knobs k = make_knobs(&r->opts);
	struct deferred_stacks_deps deps = {
		.tracker = r->tracker,
		.store = r->store,
		.binaries = &r->binaries,
		.loader = r->loader,
		.pool = r->code_pool,
		.parsers = r->parsers,
		.forker = r->forker, .costs = r->costs,
		.mode = k.mode,
		.max_frames = k.max_frames,
		.give = give_deferred,
		.ctx = r,
	};

	return k.deferred ? deferred_stacks_new(&deps, &r->deferred) : 0;
}

/*
 * This thread is as urgent as the workers meanwhile: on a busy machine they would take the CPUs
 * from it, for tables that can wait.
 */
static int start_urgently(struct recorder *r, struct load_job *load)
{
	int before = recorder_be_urgent(RECORDER_NICE);
	int err = look(r), load_err = end_load(r, load);

	if (!err)
		err = load_err;
	if (!err)
		err = process_tracker_start(r->tracker, r->loader);
	if (!err)
		err = recorder_add_targets(r);
	if (!err && recorder_has_filter(&r->opts))
		err = look_at_children(r);
	if (!err)
		err = wait_for_tables(r);
	recorder_be_as_before(before);
	return err;
}

int recorder_open(const struct recorder_options *opts, struct recorder **rp)
{
	struct recorder *r = calloc(1, sizeof(*r));
	struct load_job load = { 0 };
	int err;

	if (!r)
		return -ENOMEM;
	r->opts = *opts;
	processes_init(&r->processes);
	err = raise_file_limit(opts);
	if (!err)
		err = recorder_helpers_open(r);
	if (!err)
		err = process_runtimes_new(&r->runtimes);
	if (!err)
		err = begin_load(r, &load);
	if (!err)
		err = recorder_workers_open(r);
	if (!err)
		err = start_urgently(r, &load);
	else
		end_load(r, &load);
	low_latency_begin(0);
	if (!err)
		err = open_session(r);
	if (!err)
		err = open_deferred(r);
	if (!err)
		err = attach_runtimes(r);
	if (err)
		recorder_close(r);
	else
		*rp = r;
	return err;
}

void recorder_close(struct recorder *r)
{
	if (!r)
		return;
	/* What is read last may still make a file or a runtime known. */
	binary_store_stop_tables(r->store);
	worker_pool_free(r->pool);
	worker_pool_free(r->name_pool);
	worker_pool_free(r->code_pool);
	deferred_stacks_free(r->deferred);
	wait_peers_free(r->peers);
	session_free(r->session);
	r->session = NULL;	/* the tracker forgets all processes */
	jvm_maps_free(r->jvms);
	process_tracker_free(r->tracker);
	cmdlines_free(r->cmdlines);
	binary_store_free(r->store);
	symbolizer_free(r->symbolizer);
	parsers_free(r->parsers);
	user_costs_free(r->costs);
	debug_server_free(r->server);
	file_opener_free(r->opener);
	helper_keeper_free(r->keeper);
	child_forker_free(r->forker);
	helper_deaths_free(r->deaths);
	unwind_loader_free(r->loader);
	process_runtimes_free(r->runtimes);
	capture_bpf_close(r->bpf);
	recorder_kernel_close(r);
	processes_release(&r->processes);
	binaries_release(&r->binaries);
	free(r->without);
	free(r);
}
