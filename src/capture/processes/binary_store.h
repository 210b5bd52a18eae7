/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files behind mappings: opens each once while its process is alive, reads identity and
 * segments at once, and leaves the slow parts to the workers: the unwind table (handed to on_table
 * when it is built) and, later, the symbols (the open file is handed to the symbolizer).
 *
 *	binary_store_new(&deps, &st)
 *	binary_store_map(st, pid, map)		index of the binary behind a mapping
 *	binary_store_want_table(st, binary)	its table is needed now
 *	binary_store_drop_table(st, binary)	its table was thrown out; it may be wanted again
 *	binary_store_free(st)			after worker_wait()
 *
 * Copies of a file (libc in each container) share one table: equal build-id, size and addresses.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/proc/procfs.h"
#include "src/model/binary.h"
#include "unwind/unwind_table.h"

struct binary_store;
struct worker_pool;
struct symbolizer;

struct binary_store_deps {
	struct binaries *binaries;
	struct worker_pool *pool;
	struct symbolizer *symbolizer;
	bool want_tables;		/* false: nobody needs any */
	bool at_once;			/* the table of each file that is mapped is built; else only
					   those asked for */
	/*
	 * The table of a binary is built, and borrowed for the call; NULL: there is none and never
	 * will be. Not 0: it found no place. Called from worker_reap().
	 */
	int (*on_table)(void *ctx, uint32_t binary, const struct unwind_table *t);
	/* The table of binary is that of other, which has had its on_table(). */
	void (*on_same)(void *ctx, uint32_t binary, uint32_t other);
	void *ctx;
};

int binary_store_new(const struct binary_store_deps *deps, struct binary_store **sp);
void binary_store_free(struct binary_store *st);	/* NULL is fine */

/*
 * The binary behind a mapping of pid, opened and registered when it is new. 0: anonymous memory, or
 * the file could not be opened and is not known either (it is then counted).
 */
uint32_t binary_store_map(struct binary_store *st, pid_t pid, const struct proc_map *map);

/*
 * Asks for the table of a binary, before all that nobody asked for. true: it is being built (or
 * will be, when it found no place a moment ago); false: it is there, or will never be.
 */
bool binary_store_want_table(struct binary_store *st, uint32_t binary);
bool binary_store_table_pending(const struct binary_store *st, uint32_t binary);
void binary_store_drop_table(struct binary_store *st, uint32_t binary);

/* Tables asked for that are not built yet. */
unsigned binary_store_pending(const struct binary_store *st);

struct binary_store_stats {
	uint64_t opened, unreadable;	/* files */
	uint64_t tables, without_table;	/* built; files without unwind information */
	uint64_t shared;		/* files that use the table of another */
};
void binary_store_stats(const struct binary_store *st, struct binary_store_stats *out);
