/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/table_keeper.h"

#include <stdlib.h>

#include "src/base/worker.h"
#include "src/parse/cache_folder.h"
#include "src/parse/parsers.h"
#include "src/runtimes/runtime.h"
#include "unwind/unwind_table.h"

struct keep_job {
	struct worker_job job;
	struct parsers *parsers;
	struct cache_key key;
	struct unwind_table *table;
	struct runtime_image runtime;
};

static void keep_run(struct worker_job *job)
{
	struct keep_job *k = (struct keep_job *)job;

	parse_keep_table(k->parsers, &k->key, k->table, &k->runtime);
}

static void keep_done(struct worker_job *job, bool cancelled)
{
	struct keep_job *k = (struct keep_job *)job;

	(void)cancelled;
	unwind_table_free(k->table);
	free(k);
}

void table_keeper_take(struct worker_pool *pool, struct parsers *parsers,
		       const struct cache_key *key, struct unwind_table **tp,
		       const struct runtime_image *runtime)
{
	struct keep_job *k = malloc(sizeof(*k));

	if (!k)
		return;
	*k = (struct keep_job){ .job = { .run = keep_run, .done = keep_done },
				.parsers = parsers, .key = *key, .table = *tp,
				.runtime = *runtime };
	*tp = NULL;
	worker_submit(pool, &k->job);
}
