/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a recorder. Only two files include this: recorder.c, which keeps it going, and
 * recorder_open.c, which puts it together and takes it apart.
 */
#pragma once

#include "src/base/clock.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/capture/losses.h"
#include "src/capture/recorder.h"
#include "src/model/binary.h"
#include "src/model/process.h"

/*
 * The reading of the kernel's symbols, in a thread of its own: the kernel shows their addresses
 * only to threads with CAP_SYSLOG, which the workers give up at once.
 */
struct kernel_job {
	struct worker_job job;
	struct worker_pool *pool;	/* NULL: it has ended, or was not wanted */
	struct kernel_symbols *symbols;
	bool done;
};

/* The loading of the BPF programs, which the kernel checks while /proc is read. */
struct load_job {
	struct worker_job job;
	struct recorder *recorder;
	int err;
};

struct recorder {
	struct recorder_options opts;
	struct capture_bpf *bpf;
	struct helper_keeper *keeper;		/* of the processes of the next two */
	struct file_opener *opener;
	struct parsers *parsers;
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
	struct wait_peers *peers;	/* NULL: no scans */
	uint64_t evicted;		/* binaries whose table was thrown out */
	/* Of the waits at the end, and after the first scan. */
	struct patience patience;
	uint64_t patience_begin_ns, patience_used_ns;
	bool has_said_waiting;
	uint64_t next_flush_ns, last_update_ns;
};

/* true: the user asked for certain processes or threads, not for all. */
bool recorder_has_filter(const struct recorder_options *o);
