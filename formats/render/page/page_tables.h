/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables in front of the samples of a page, whether it is made once (page_data.h) or fed
 * (src/live/live_page.h): strings, processes, threads. Rows are only added, and keep their numbers.
 *
 *	page_tables_init(t)
 *	page_tables_process(t, &of, &process)	adds a row, as does
 *	page_tables_thread(t, &of, process, &thread)
 *	page_tables_put(t, functions, &known, out)	the rows that a reader does not know
 *	page_tables_release(t)
 *
 * A table is a section: "from, nr", and columns of these rows. A column that is added here comes to
 * both kinds of pages; scripts have the list of columns once, too (assets/page/data.js).
 *
 *	strings		from; UTF-8, each ends in "\n", foreign bytes made visible. String 0 is ""
 *	processes	pid + 1 (0: unknown), name, program, control group, user, life
 *	threads		tid + 1 (0: unknown), name, process, life
 *	functions	page_functions.h: name, shorter forms of it (0: none): as people read it,
 *			without arguments, the method alone; file of the code, source file, line,
 *			kind (enum frame_kind), the first function that is the same for a list of
 *			functions
 *
 * A thread that changes its name or its program is several rows. life is the first of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct byte_buf;
struct definition_store;
struct intern;
struct page_functions;
struct rec_process;
struct rec_thread;

/* What is equal in all rows that are one thread or process. */
struct page_life {
	uint64_t start_ns;		/* since boot; 0: unknown, then segment tells them apart */
	uint32_t id, pid;		/* tid or pid, and pid; plus 1 */
	uint32_t segment;
	uint32_t first;			/* the first row of this life */
};

struct page_process {
	uint32_t pid, name, program, cgroup, uid;	/* pid: plus 1 */
	struct page_life life;
};

struct page_thread {
	uint32_t tid, name, process;	/* tid: plus 1 */
	struct page_life life;
};

struct page_tables {
	struct intern *strings;
	struct page_process *processes;
	size_t nr_processes, cap_processes;
	struct page_thread *threads;
	size_t nr_threads, cap_threads;
	struct hash_index process_lives, thread_lives;	/* the first row of each life */
};

/* Where a row comes from. */
struct page_origin {
	const struct definition_store *tables;
	uint32_t segment;		/* of a report; 0 where all is one */
	const struct rec_process *process;	/* NULL: its record is missing */
	const struct rec_thread *thread;	/* NULL: likewise */
	uint32_t pid;			/* plus 1; 0: unknown */
};

int page_tables_init(struct page_tables *t);		/* 0 or -ENOMEM, as below */
void page_tables_release(struct page_tables *t);

int page_tables_process(struct page_tables *t, const struct page_origin *of, uint32_t *process);
int page_tables_thread(struct page_tables *t, const struct page_origin *of, uint32_t process,
		       uint32_t *thread);

/* How many rows of each table there are, and are known to a reader. */
struct page_rows {
	uint32_t strings, processes, threads, functions;
};

struct page_rows page_tables_rows(const struct page_tables *t, const struct page_functions *f);

/*
 * The sections of these tables (page_message.h): rows that are not known. Without memory out is
 * bad.
 */
void page_tables_put(const struct page_tables *t, const struct page_functions *f,
		     const struct page_rows *known, struct byte_buf *out);
