/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Has a worker write the table of an interpreter to the cache (src/parse/table_cache.h), after the
 * recording has got it: nothing waits for the disk.
 */
#pragma once

struct cache_key;
struct parsers;
struct runtime_image;
struct unwind_table;
struct worker_pool;

/*
 * Takes the table, and sets *tp to NULL; without memory it stays the caller's, and is not kept.
 * What the key refers to must live as long as the pool.
 */
void table_keeper_take(struct worker_pool *pool, struct parsers *parsers,
		       const struct cache_key *key, struct unwind_table **tp,
		       const struct runtime_image *runtime);
