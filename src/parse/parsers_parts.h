/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that ask parsers share. Internal to src/parse. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/helpers/helper_message.h"

#define MAX_LANES 4

struct debug_server;
struct file_opener;
struct helper;
struct cache_folder;
struct lines_costs;
struct wait_budget;

/*
 * A parser process. It is given the files of one owner only, until another process takes its place:
 * one that was taken over by a file can then lie about files of that file's owner, and about no
 * others. A fresh process takes 1.3 ms.
 */
struct lane {
	struct helper *helper;
	bool is_busy;
	bool is_used;			/* it was given a file */
	uint32_t owner;			/* of that file */
	uint64_t used;			/* count of calls, as of its last one */
};

struct lanes {
	struct lane v[MAX_LANES];
	unsigned nr;
};

struct parsers {
	struct file_opener *opener;
	struct debug_server *server;	/* NULL: none is asked */
	struct cache_folder *cache;	/* NULL: nothing is kept */
	uint64_t program;		/* table_cache_program() */
	struct lanes identity, perf_map, names, lines, tables, code;
	struct wait_budget *identity_budget;
	/* Set by parsers_tell_costs(); NULL: costs are not measured. */
	void (*on_cost)(void *ctx, pid_t pid, uint32_t owner, uint64_t cpu_ns);
	void *cost_ctx;
	struct lines_costs *lines_costs;
	bool takes_time;		/* parsers_take_time() */
	uint64_t nr_calls;
	pthread_mutex_t lock;		/* of all but the helpers */
	pthread_cond_t free_lane;
};

/* A request, of whom it is asked, and how long its answer may take. */
struct question {
	struct lanes *lanes;
	struct helper_message message;
	size_t max;			/* bytes of the answer */
	uint32_t owner;			/* of the file */
	uint64_t dev;			/* of the file system that pays: file_opener_again() */
	/*
	 * Which lane it is to be, if that is the owner's, because a parser keeps symbols: + 1. 0:
	 * any.
	 */
	unsigned wish;
};

/*
 * A parser may be killed for what others have done (for want of memory), and its answer is missing
 * until the end of the recording. So a file counts as unreadable when a second parser has ended.
 * The time counts from when the lane is free, for both together. 0 or -errno, also that of the
 * answer.
 */
int parsers_call(struct parsers *p, const struct question *q, uint64_t ns, struct helper_wait wait,
		 struct helper_message *answer);
