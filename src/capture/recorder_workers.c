/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes and threads that work for a recorder. */
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/child_forker.h"
#include "src/base/fail.h"
#include "src/base/helper_deaths.h"
#include "src/base/memory_limit.h"
#include "src/base/short_slice.h"
#include "src/base/worker.h"
#include "src/capture/processes/jvm_maps.h"
#include "src/capture/recorder_parts.h"
#include "src/foreign/debug_server.h"
#include "src/foreign/file_opener.h"
#include "src/parse/parsers.h"
#include "src/rights/recording_rights.h"
#include "src/symbolize/symbol_batch.h"
#include "src/symbolize/symbolizer.h"

#define MAX_THREADS 4
#define LITTLE_ROOM (128ull << 20)	/* bytes of memory */

uint64_t recorder_memory_room(void)
{
	struct memory_limit m;

	if (!memory_limit_read("", &m))
		return UINT64_MAX;
	return m.used_bytes < m.limit_bytes ? m.limit_bytes - m.used_bytes : 0;
}

bool recorder_has_little_memory(void)
{
	return recorder_memory_room() < LITTLE_ROOM;
}

/* Each thread needs the memory of what it works on. */
static unsigned nr_threads(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (recorder_has_little_memory())
		return 1;
	return cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (unsigned)cpus;
}

/* Gives this thread a lower nice value if that is allowed. Returns the one that it had. */
int recorder_be_urgent(int nice)
{
	int before = getpriority(PRIO_PROCESS, 0);

	return nice < before && !setpriority(PRIO_PROCESS, 0, nice) ? before : nice;
}

void recorder_be_as_before(int before)
{
	if (getpriority(PRIO_PROCESS, 0) < before)
		setpriority(PRIO_PROCESS, 0, before);
}

/*
 * Threads inherit the nice value of the thread that starts them. Stacks wait for tables, and the
 * end of a recording for names, on a machine whose CPUs may all be busy, so workers get a lower one
 * if that is allowed. They compute little, because helpers do that, but they ask often, and without
 * it each question waits for a CPU.
 */
static struct worker_pool *new_pool(unsigned nr, void (*begin)(void))
{
	int before = recorder_be_urgent(RECORDER_NICE);
	struct worker_pool *pool = worker_pool_new_with(nr, begin);

	recorder_be_as_before(before);
	return pool;
}

/* What the process that forks all helpers does first. */
static void begin_keeper(void)
{
	recording_rights_keep(ROLE_OPENER);
}

/*
 * The process that forks those that walk tasks and read memory. The latter are urgent: they compute
 * little, but a runtime that starts is asked some twenty questions before it has frames, and on
 * CPUs that it keeps busy each of them waits for milliseconds otherwise.
 */
static void begin_forker(void)
{
	recorder_be_urgent(RECORDER_NICE);
	recording_rights_keep(ROLE_READER | ROLE_MEMORY);
}

/* The processes that touch foreign files. They are forked before there are threads. */
int recorder_helpers_open(struct recorder *r)
{
	static const struct helper_kind *const kinds[] = {
		&file_opener_kind, &table_parser_kind, &name_parser_kind, &line_parser_kind,
	};
	struct helper_keeper_options opts = {
		.kinds = kinds,
		.nr_kinds = sizeof(kinds) / sizeof(kinds[0]),
		.nice = RECORDER_NICE,
		.begin = begin_keeper,
	};
	int err;

	r->deaths = helper_deaths_new();
	err = r->deaths ? child_forker_new(begin_forker, r->deaths, &r->forker) : -ENOMEM;

	opts.deaths = r->deaths;
	if (!err)
		err = helper_keeper_new(&opts, &r->keeper);
	if (!err)
		err = file_opener_new(r->keeper, &r->opener);
	if (!err)
		err = parsers_new(r->keeper, r->opener, nr_threads(), &r->parsers);
	if (!err && r->opts.asks_jvms)
		err = jvm_maps_new(&r->binaries, r->deaths, &r->jvms);
	if (err)
		return fail(err, "start helper processes");
	if (r->opts.debug_urls)
		err = debug_server_new(r->opts.debug_urls, r->deaths, &r->server);
	parsers_ask_server(r->parsers, r->server);
	return err ? err : recorder_costs_open(r);
}

/* What threads do first that ask for memory and wait for each answer. */
void recorder_begin_urgent_thread(void)
{
	recorder_be_urgent(RECORDER_NICE);
	recorder_begin_thread();
}

/* What threads that stay do first. */
void recorder_begin_thread(void)
{
	short_slice_begin(0, false);
	recording_rights_keep(ROLE_MAIN);
}

int recorder_workers_open(struct recorder *r)
{
	struct symbolizer_options names = { .look_up = parse_names, .look_up_lines = parse_lines,
					    .ctx = r->parsers, .max_depth = r->opts.inline_depth };

	if (!names.max_depth || names.max_depth > SYMBOL_MAX_DEPTH)
		names.max_depth = SYMBOL_MAX_DEPTH;
	r->pool = new_pool(nr_threads(), recorder_begin_thread);
	/* One of its threads may be kept busy by source lines. */
	r->name_pool = new_pool(nr_threads() + 1, recorder_begin_thread);
	r->code_pool = new_pool(1, recorder_begin_thread);
	if (r->pool && r->name_pool && r->code_pool)
		r->symbolizer = symbolizer_new(r->name_pool, &names);
	if (!r->symbolizer)
		return fail(-ENOMEM, "start worker threads");
	recorder_kernel_open(r);
	return 0;
}
