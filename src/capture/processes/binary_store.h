/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files behind mappings. Each file is opened once, while its process is alive, and its identity
 * and segments are read at once. The slow parts are left to worker threads: building the unwind
 * table, which goes to on_table, and later reading the symbols, for which the symbolizer gets what
 * stands for the file (kept_file.h).
 *
 * A user whose processes map very many files has only those opened that stacks meet, and those are
 * closed that stacks have not met for long (user_shares.h). They are opened again when a stack
 * needs them.
 *
 *	binary_store_new(&deps, &st)
 *	binary_store_map(st, pid, map, is_met)	the index of the binary behind a mapping
 *	binary_store_want_table(st, binary, page)	that page of its table is needed now
 *	binary_store_drop_table(st, binary)	its table was thrown out; it may be wanted again
 *	binary_store_free(st)			after worker_wait()
 *
 * table_store.h says how the tables are built.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/proc/procfs.h"
#include "src/model/binary.h"
#include "unwind/unwind_table.h"

struct binary_store;
struct table_store;
struct file_opener;
struct parsers;
struct runtime_image;
struct processes;
struct worker_pool;
struct symbolizer;

struct binary_store_deps {
	struct binaries *binaries;
	struct worker_pool *pool;
	struct symbolizer *symbolizer;
	struct file_opener *opener;	/* these two work in processes of their own */
	struct parsers *parsers;
	bool want_tables;		/* false: no tables are built */
	bool at_once;			/* these are as in struct table_store_deps */
	uint64_t large_bytes;
	/* See struct table_store_deps. */
	int (*on_table)(void *ctx, uint32_t binary, const struct unwind_table *t);
	void (*on_runtime)(void *ctx, uint32_t binary, const struct runtime_image *image);
	void (*on_same)(void *ctx, uint32_t binary, uint32_t other);
	void *ctx;
};

int binary_store_new(const struct binary_store_deps *deps, struct binary_store **sp);
void binary_store_free(struct binary_store *st);	/* NULL is fine */

/*
 * Returns the binary behind a mapping of pid; a new file is opened and registered. 0: the mapping
 * has no file, or out of memory. A file that cannot be opened is counted as unreadable, and is
 * known by its path only. BINARY_STORE_UNREAD: it was not opened now, because its user had too many
 * opened, or there was no answer; to be called again when a stack meets it (is_met).
 */
#define BINARY_STORE_UNREAD UINT32_MAX
uint32_t binary_store_map(struct binary_store *st, pid_t pid, const struct proc_map *map,
			  bool is_met);

/*
 * Whose share it takes: root's, if the file is his; else that of the user whose process had it
 * opened last, or, if that was root's, of its owner.
 */
uint32_t binary_store_user(const struct binary_store *st, uint32_t binary);

/* Whether its file is held. */
bool binary_store_holds(const struct binary_store *st, uint32_t binary);

/*
 * The file of a binary was closed, and may be opened again by now: a stack that needs it has
 * binary_store_give_file() called with a mapping of it. true: it is held again.
 */
bool binary_store_lacks_file(const struct binary_store *st, uint32_t binary);
bool binary_store_give_file(struct binary_store *st, uint32_t binary, pid_t pid,
			    const struct proc_map *map);
/* A stack of that time went through it. */
void binary_store_touch(struct binary_store *st, uint32_t binary, uint64_t time_ns);

#define BINARY_STORE_ALL_PAGES UINT32_MAX	/* a hint */

/*
 * Closes the files of binaries that no process maps who lives, or has ended lately, or whom a stack
 * waits for; but only when many files are open. A file that is mapped again is opened again. Each
 * second, before processes_prune().
 */
void binary_store_close_unused(struct binary_store *st, const struct processes *ps, uint64_t now);

/* See the functions of table_store.h with these names. */
bool binary_store_want_table(struct binary_store *st, uint32_t binary, uint32_t page);
void binary_store_want_all(struct binary_store *st, uint32_t binary);
void binary_store_stop_tables(struct binary_store *st);		/* NULL is fine */
void binary_store_hint_table(struct binary_store *st, uint32_t binary, uint32_t page);
bool binary_store_table_pending(const struct binary_store *st, uint32_t binary, uint32_t page);
void binary_store_drop_table(struct binary_store *st, uint32_t binary);

/* Number of tables that are queued or being built. */
unsigned binary_store_pending(const struct binary_store *st);
/* What else can be asked about tables. */
const struct table_store *binary_store_tables(const struct binary_store *st);

struct binary_store_stats {
	uint64_t opened, unreadable;	/* files */
	uint64_t unanswered;		/* questions about files: is_no_answer() */
	uint64_t tables, without_table, pages, shared;	/* as in struct table_store_stats */
};
void binary_store_stats(const struct binary_store *st, struct binary_store_stats *out);
