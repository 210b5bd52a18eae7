/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recorder is made of: shared by recorder.c (its life) and recorder_open.c (how it is put
 * together and taken apart). Nobody else includes this.
 */
#pragma once

#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/capture/losses.h"
#include "src/capture/recorder.h"
#include "src/model/binary.h"
#include "src/model/process.h"

/* The kernel's symbols are read beside the tables. */
struct kernel_job {
	struct worker_job job;
	struct kernel_symbols *symbols;
	bool done;
};

/* The kernel checks our programs while we look who runs. */
struct load_job {
	struct worker_job job;
	struct recorder *recorder;
	int err;
};

struct recorder {
	struct recorder_options opts;
	struct capture_bpf *bpf;
	struct worker_pool *pool, *name_pool;	/* for tables; for names */
	struct symbolizer *symbolizer;
	struct kernel_job kernel;
	struct processes processes;
	struct binaries binaries;
	struct unwind_loader *loader;
	struct binary_store *store;
	struct process_tracker *tracker;
	struct session *session;
	struct losses losses;
	struct deferred_stacks *deferred;
	struct wait_peers *peers;	/* NULL: no walks */
	uint64_t evicted;		/* binaries whose table was thrown out */
	uint64_t next_flush_ns, last_update_ns;
};

/* Somebody in particular is recorded, not everybody. */
bool recorder_has_filter(const struct recorder_options *o);
