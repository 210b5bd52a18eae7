/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of binaries: which there are, which are being built, which are wanted. They are
 * built by worker threads, which have parser processes do it, and go to on_table.
 *
 *	table_store_new(&deps, &ts)
 *	table_store_admit(ts, b, data, len)	b is known from now on
 *	table_store_want(ts, b, page)		a stack needs this page of its table now
 *	table_store_drop(ts, b)			its table was thrown out; it may be wanted again
 *	table_store_stop(ts)			no table is begun any more; before the pool is freed
 *	table_store_free(ts)			after worker_wait()
 *
 * The problem. The table of a large file (librustc_driver.so, 150 MB) takes a fifth of a second and
 * 4 MiB, and a command like rustc is over by then. Most of it no stack ever needs.
 *
 * The idea. The table of a small file is built as a whole, that of a large one page by page: a
 * stack that meets a page of 64 KiB of code for the first time waits for it, about a millisecond.
 * All pages that are wanted when a worker is free are built together. A file that cannot be read in
 * parts gives all its pages with the first. Files of processes with a runtime are built as a whole,
 * because frames of runtimes are known only to stacks that do not wait.
 *
 * Copies of a file (libc in each container) share one table. Files with equal build-id, size and
 * addresses are copies.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/binary.h"
#include "unwind/unwind_table.h"

struct parsers;
struct runtime_image;
struct symbolizer;
struct table_store;
struct worker_pool;

struct table_store_deps {
	struct binaries *binaries;
	struct worker_pool *pool;
	struct symbolizer *symbolizer;	/* has the files, open */
	struct parsers *parsers;
	bool want_tables;		/* false: no tables are built */
	bool at_once;			/* build small tables of all files; else on demand only */
	uint64_t large_bytes;		/* a file of this size is large; 0: 2 MiB */
	/*
	 * Gets the table of a binary when it is built, or more pages of it, borrowed for the call;
	 * NULL: there will never be one. Returns an error if there is no room for the table; it is
	 * then built again later, but not after -E2BIG. Called from worker_reap().
	 */
	int (*on_table)(void *ctx, uint32_t binary, const struct unwind_table *t);
	/* binary is a runtime; called before on_table(). NULL: not wanted. */
	void (*on_runtime)(void *ctx, uint32_t binary, const struct runtime_image *image);
	/* binary shares the table of other, for which on_table() was called already. */
	void (*on_same)(void *ctx, uint32_t binary, uint32_t other);
	void *ctx;
};

struct table_store_stats {
	uint64_t unanswered;		/* questions about files: is_no_answer() */
	uint64_t tables, without_table;	/* built; files without unwind information */
	uint64_t pages;			/* built one by one */
	uint64_t shared;		/* files that use the table of another file */
};

int table_store_new(const struct table_store_deps *deps, struct table_store **sp);
void table_store_stop(struct table_store *ts);
void table_store_free(struct table_store *ts);		/* NULL is fine */

/*
 * Makes b known, whose identity is read. data: its bytes, which the store borrows for good; NULL:
 * the symbolizer has its file.
 */
void table_store_admit(struct table_store *ts, const struct binary *b, const void *data,
		       size_t len);

/*
 * Asks for a page of the table of a binary: it is built before tables that no stack has asked for.
 * true: it is being built, or will be (there was no room for it a moment ago); false: it is there
 * already, or there will never be one.
 */
bool table_store_want(struct table_store *ts, uint32_t binary, uint32_t page);
/*
 * Has all of it built, now, whether a stack has asked for it or not; once, and not with large_bytes
 * set. May be called from on_runtime().
 */
void table_store_want_all(struct table_store *ts, uint32_t binary);
/*
 * A page that may be wanted soon: it is built with the next page that is wanted. UINT32_MAX: all
 * pages.
 */
void table_store_hint(struct table_store *ts, uint32_t binary, uint32_t page);
bool table_store_is_pending(const struct table_store *ts, uint32_t binary, uint32_t page);
void table_store_drop(struct table_store *ts, uint32_t binary);

/* Number of tables that are queued or being built. */
unsigned table_store_pending(const struct table_store *ts);
bool table_store_has_few(const struct table_store *ts);	/* table_turns_have_few() */
/* Whether one of these is that of an interpreter, as far as a file's name tells. */
bool table_store_lacks_interpreter(const struct table_store *ts);
void table_store_stats(const struct table_store *ts, struct table_store_stats *out);
