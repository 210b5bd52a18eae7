/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/processes/table_store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/hash_index.h"
#include "src/base/no_answer.h"
#include "src/base/worker.h"
#include "src/capture/processes/page_set.h"
#include "src/capture/processes/table_keeper.h"
#include "src/capture/processes/table_priority.h"
#include "src/capture/processes/table_turns.h"
#include "src/elf/elf_image.h"
#include "src/elf_unwind/elf_unwind_table.h"
#include "src/parse/cache_folder.h"
#include "src/parse/parsers.h"
#include "src/symbolize/symbolizer.h"
#include "unwind/unwind_limits.h"

/* A table for which there was no room is not built again before this time has passed. */
#define RETRY_NS NSEC_PER_SEC
/* So often a question that had no answer is asked again, each time after twice as long. */
#define MAX_RETRIES 5
/* From this size of the file on its table is built in pages. That of libc takes 2 ms as a whole. */
#define LARGE_FILE (2u << 20)
#define MAX_PARTS (UNWIND_MAX_PAGES / 8)	/* with 512 MiB and more of code it is one piece */

enum table_state { TABLE_NONE, TABLE_QUEUED, TABLE_READY, TABLE_NEVER };

/* The store's own knowledge of a binary, beyond its identity. */
struct entry {
	uint8_t state;			/* enum table_state; of a copy: unused */
	bool is_placed;			/* on_table() has taken some of it */
	bool is_interpreter;		/* by its name */
	bool is_whole;			/* table_store_want_all() was called */
	uint32_t original;		/* the binary whose table it uses, or itself; 0: none */
	struct table_job *job;		/* while state is TABLE_QUEUED; NULL: it waits */
	uint64_t retry_ns;
	uint8_t nr_unanswered;		/* questions for it without an answer, in a row */
	const void *data;		/* the vdso's bytes; NULL: it is a file */
	size_t len;
	/* Pages of a large file's table; nr 0: it is built as a whole. */
	struct page_set wanted, built;
};

struct table_store {
	struct table_store_deps deps;
	struct entry *entries;		/* by index of the binary */
	size_t cap_entries;
	struct hash_index originals;	/* by build-id */
	struct table_store_stats stats;
	struct table_turns *turns;	/* whose table is built next */
	unsigned pending;
	uint32_t arriving;		/* the binary whose table is given on just now; or 0 */
};

/* The building of an unwind table, or of some pages. The worker touches nothing but this struct. */
struct table_job {
	struct worker_job job;
	struct table_store *store;
	uint32_t binary;
	struct parse_file file;		/* fd: its own; -1: the image is in memory */
	struct cache_key key;
	bool was_kept;			/* no parser was asked */
	unsigned turn;			/* table_turns_begin() */
	uint64_t begin_ns, end_ns;
	const void *data;
	size_t len;
	uint32_t *pages;		/* NULL: all */
	size_t nr_pages;
	struct unwind_table *table;
	struct runtime_image runtime;
	int err;
};

static void drop_waiting(struct table_store *ts);

int table_store_new(const struct table_store_deps *deps, struct table_store **sp)
{
	struct table_store *ts = calloc(1, sizeof(*ts));

	if (!ts)
		return -ENOMEM;
	ts->deps = *deps;
	ts->turns = table_turns_new();
	if (!ts->turns) {
		free(ts);
		return -ENOMEM;
	}
	*sp = ts;
	return 0;
}

void table_store_free(struct table_store *ts)
{
	if (!ts)
		return;
	drop_waiting(ts);
	assert(!ts->pending);		/* a job would come back to us */
	table_turns_free(ts->turns);
	for (size_t i = 0; i < ts->cap_entries; i++) {
		page_set_release(&ts->entries[i].wanted);
		page_set_release(&ts->entries[i].built);
	}
	ix_release(&ts->originals);
	free(ts->entries);
	free(ts);
}

/* The entry with the state of the table that a binary uses; NULL: it is no ELF file. */
static struct entry *table_entry(const struct table_store *ts, uint32_t binary)
{
	uint32_t original = binary < ts->cap_entries ? ts->entries[binary].original : 0;

	return original ? &ts->entries[original] : NULL;
}

/* The vdso is our own, so it may be parsed here. */
static int table_of_vdso(const struct table_job *t, struct unwind_table **tp)
{
	struct elf_image *img;
	int err = elf_image_open_memory(t->data, t->len, &img);

	if (err)
		return err;
	err = unwind_table_from_image(img, tp);
	elf_image_close(img);
	return err;
}

static void table_run(struct worker_job *job)
{
	struct table_job *t = (struct table_job *)job;
	struct parse_table_request r = {
		.file = t->file, .pages = t->pages, .nr_pages = t->nr_pages,
		.unwanted = job->unwanted, .key = &t->key, .was_kept = &t->was_kept,
		.runtime = t->store->deps.on_runtime ? &t->runtime : NULL,
	};

	t->begin_ns = now_ns();
	t->err = t->file.fd < 0 ? table_of_vdso(t, &t->table)
				: parse_table(t->store->deps.parsers, &r, &t->table);
	t->end_ns = now_ns();
}

/* ---- what was built ---- */

/*
 * Gives the table of original to its copies: those that were met while it was being built, and
 * those that lost it when it was thrown out.
 */
static void publish_copies(struct table_store *ts, uint32_t original)
{
	for (uint32_t i = 1; i < ts->cap_entries; i++)
		if (ts->entries[i].original == original && i != original)
			ts->deps.on_same(ts->deps.ctx, i, original);
}

/* The pages that were asked for, without rows. NULL: out of memory. */
static struct unwind_table *empty_pages(const struct table_store *ts, const struct table_job *t)
{
	const struct binary *b = binaries_get(ts->deps.binaries, t->binary);
	const struct entry *e = &ts->entries[t->binary];
	const struct cfi_rows none = { 0 };
	struct unwind_part *part;
	int err = unwind_part_begin(b->vaddr_lo, e->wanted.nr, &part);

	for (size_t i = 0; i < t->nr_pages && !err; i++)
		err = unwind_part_add(part, &none, t->pages[i], 1);
	return part ? unwind_part_end(part) : NULL;
}

/* Notes which pages there are now. A table without absent pages is complete. */
static void note_pages(struct table_store *ts, struct entry *e, const struct table_job *t)
{
	for (uint32_t i = 0; i < e->built.nr; i++)
		if (i >= t->table->nr_pages || t->table->pages[i].first != UNWIND_PAGE_ABSENT)
			page_set_add(&e->built, i);
	ts->stats.pages += t->nr_pages;
}

/* Gives on what was built: 0, or the error of on_table(). *has_rows: there is a table. */
static int give_on(struct table_store *ts, struct entry *e, struct table_job *t, bool *has_rows)
{
	int err;

	/* Pages that could not be built have no rows, those that were built before stay. */
	if (!t->table && e->is_placed)
		t->table = empty_pages(ts, t);
	*has_rows = t->table && (t->table->nr_rows || t->nr_pages);
	err = ts->deps.on_table(ts->deps.ctx, t->binary, *has_rows ? t->table : NULL);
	if (*has_rows && err == -E2BIG) {
		*has_rows = false;	/* it is not built again and again */
		err = ts->deps.on_table(ts->deps.ctx, t->binary, NULL);
	}
	return *has_rows ? err : 0;
}

/*
 * There was no answer: the parser got no CPU, no memory or no descriptor, or it died. That says
 * nothing of the file, so it is asked about again. A file that breaks each parser is left alone:
 * then it stays without a table, but is never said to have none.
 */
static void not_answered(struct table_store *ts, struct entry *e)
{
	ts->stats.unanswered++;
	e->retry_ns = e->nr_unanswered < MAX_RETRIES
			      ? now_ns() + (RETRY_NS << e->nr_unanswered)
			      : UINT64_MAX;
	e->nr_unanswered += e->nr_unanswered < MAX_RETRIES;
	e->state = e->is_placed ? TABLE_READY : TABLE_NONE;
}

static void table_built(struct table_store *ts, struct table_job *t)
{
	struct entry *e = &ts->entries[t->binary];
	bool was_placed = e->is_placed, has_rows;

	if (is_no_answer(t->err)) {
		not_answered(ts, e);
		return;
	}
	e->nr_unanswered = 0;
	ts->arriving = t->binary;
	if (t->runtime.kind)
		ts->deps.on_runtime(ts->deps.ctx, t->binary, &t->runtime);
	ts->arriving = 0;
	if (give_on(ts, e, t, &has_rows)) {
		e->retry_ns = now_ns() + RETRY_NS;
		return;
	}
	e->state = has_rows ? TABLE_READY : TABLE_NEVER;
	e->is_placed = has_rows;
	ts->stats.tables += has_rows && !was_placed;
	ts->stats.without_table += !has_rows;
	if (has_rows && t->table->nr_rows)
		binaries_get(ts->deps.binaries, t->binary)->flags |= BINARY_HAS_UNWIND_TABLE;
	if (has_rows && t->nr_pages)
		note_pages(ts, e, t);
	if (!was_placed || !has_rows)
		publish_copies(ts, t->binary);
}

static void queue_table(struct table_store *ts, uint32_t original, int priority);
static void submit_next(struct table_store *ts);

static void free_job(struct table_job *t)
{
	unwind_table_free(t->table);
	if (t->file.fd >= 0)
		close(t->file.fd);
	free(t->pages);
	free(t);
}

static void table_done(struct worker_job *job, bool cancelled)
{
	struct table_job *t = (struct table_job *)job;
	struct table_store *ts = t->store;
	struct entry *e = &ts->entries[t->binary];
	uint32_t binary = t->binary;
	bool again;

	assert(ts->pending && e->job == t);
	ts->pending--;
	e->job = NULL;
	e->state = TABLE_NONE;
	table_turns_over(ts->turns, t->turn, cancelled ? 0 : t->end_ns - t->begin_ns,
			 now_ns());
	if (!cancelled)
		table_built(ts, t);
	if (!cancelled && t->table && t->runtime.kind && !t->was_kept && !t->nr_pages)
		table_keeper_take(ts->deps.pool, ts->deps.parsers, &t->key, &t->table,
				  &t->runtime);
	/* Pages that were wanted in the meantime. */
	again = e->state == TABLE_READY && !e->nr_unanswered &&
		page_set_has_more(&e->wanted, &e->built);
	free_job(t);
	if (cancelled || !ts->deps.want_tables)
		return;
	if (again)
		queue_table(ts, binary, PRIORITY_WANTED);
	submit_next(ts);
}

/* ---- what is to be built ---- */

/* Fills in the job's file and pages. */
static int prepare(struct table_store *ts, struct table_job *t)
{
	const struct entry *e = &ts->entries[t->binary];
	const struct binary *b = binaries_get(ts->deps.binaries, t->binary);
	int fd = e->data ? -1 : symbolizer_fd(ts->deps.symbolizer, t->binary);

	t->data = e->data;
	t->len = e->len;
	t->file = (struct parse_file){ -1, b->uid, b->dev };
	if (!e->data) {
		if (fd < 0)
			return -ENOENT;
		t->key = cache_key_of(b->build_id, b->build_id_len, b->uid,
				      symbolizer_inode(ts->deps.symbolizer, t->binary));
		t->file.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (t->file.fd < 0)
			return -errno;
	}
	return e->wanted.nr ? page_set_list(&e->wanted, &e->built, &t->pages, &t->nr_pages) : 0;
}

/* Has a worker build it. false: it cannot be built now. */
static bool submit(struct table_store *ts, uint32_t original, int priority)
{
	struct entry *e = &ts->entries[original];
	struct table_job *t = calloc(1, sizeof(*t));

	if (!t)
		return false;
	t->job.run = table_run;
	t->job.done = table_done;
	t->job.priority = priority;
	t->store = ts;
	t->binary = original;
	t->file.fd = -1;
	if (prepare(ts, t)) {
		free_job(t);
		return false;
	}
	e->job = t;
	t->turn = table_turns_begin(ts->turns, t->file.owner);
	worker_submit(ts->deps.pool, &t->job);
	return true;
}

/* Starts as many of the waiting tables as may be built now. */
static void submit_next(struct table_store *ts)
{
	struct table_turn turn;

	while (table_turns_next(ts->turns, &turn)) {
		if (submit(ts, turn.binary, turn.priority))
			continue;
		assert(ts->pending);
		ts->pending--;
		ts->entries[turn.binary].state = TABLE_NONE;
	}
}

static void drop_waiting(struct table_store *ts)
{
	struct table_turn turn;

	while (table_turns_drop(ts->turns, &turn)) {
		assert(ts->pending && turn.binary < ts->cap_entries);
		ts->pending--;
		ts->entries[turn.binary].state = TABLE_NONE;
	}
}

static void queue_table(struct table_store *ts, uint32_t original, int priority)
{
	struct entry *e = &ts->entries[original];
	const struct table_turn turn = { original, priority,
					 binaries_get(ts->deps.binaries, original)->uid };

	assert(!e->job && e->original == original);
	if (!e->data && symbolizer_fd(ts->deps.symbolizer, original) < 0)
		return;
	if (table_turns_add(ts->turns, &turn))
		return;
	assert(e->state != TABLE_QUEUED);
	e->state = TABLE_QUEUED;
	ts->pending++;
	submit_next(ts);
}

/* A stack waits for a table that is queued. */
static void hurry(struct table_store *ts, struct entry *e)
{
	if (e->job)
		worker_hurry(ts->deps.pool, &e->job->job, PRIORITY_WANTED);
	else
		table_turns_hurry(ts->turns, (uint32_t)(e - ts->entries), PRIORITY_WANTED);
}

/* A page behind the last one stands for the last one: with it comes how many there are. */
static uint32_t page_of(const struct entry *e, uint32_t page)
{
	return page < e->wanted.nr ? page : e->wanted.nr - 1;
}

/* Whether there is nothing more to build for it. */
static bool has_page(const struct entry *e, uint32_t page)
{
	return e->wanted.nr ? page_set_has(&e->built, page_of(e, page)) : e->state == TABLE_READY;
}

bool table_store_want(struct table_store *ts, uint32_t binary, uint32_t page)
{
	struct entry *e = ts->deps.want_tables ? table_entry(ts, binary) : NULL;

	if (!e || e->state == TABLE_NEVER || has_page(e, page))
		return false;
	if (e->wanted.nr)
		page_set_add(&e->wanted, page_of(e, page));
	if (e->state == TABLE_QUEUED)
		hurry(ts, e);
	else if (e->retry_ns <= now_ns())
		queue_table(ts, (uint32_t)(e - ts->entries), PRIORITY_WANTED);
	else
		return e->retry_ns != UINT64_MAX;
	return e->state == TABLE_QUEUED;
}

void table_store_want_all(struct table_store *ts, uint32_t binary)
{
	struct entry *e = ts->deps.want_tables ? table_entry(ts, binary) : NULL;

	if (!e || e->is_whole || e->state == TABLE_NEVER || ts->deps.large_bytes)
		return;
	e->is_whole = true;
	page_set_fill(&e->wanted);
	if (e->state == TABLE_QUEUED)
		hurry(ts, e);
	else if (e == &ts->entries[ts->arriving])
		return;			/* table_done() asks for the rest */
	else if (e->state == TABLE_NONE || page_set_has_more(&e->wanted, &e->built))
		queue_table(ts, (uint32_t)(e - ts->entries), PRIORITY_WANTED);
}

void table_store_hint(struct table_store *ts, uint32_t binary, uint32_t page)
{
	struct entry *e = ts->deps.want_tables ? table_entry(ts, binary) : NULL;

	if (e && page == UINT32_MAX)
		page_set_fill(&e->wanted);
	else if (e && page < e->wanted.nr)
		page_set_add(&e->wanted, page);
}

bool table_store_is_pending(const struct table_store *ts, uint32_t binary, uint32_t page)
{
	const struct entry *e = table_entry(ts, binary);

	return e && e->state == TABLE_QUEUED && !has_page(e, page);
}

void table_store_drop(struct table_store *ts, uint32_t binary)
{
	struct entry *e = table_entry(ts, binary);

	if (!e || e->state == TABLE_NEVER)
		return;
	if (e->state == TABLE_READY)
		e->state = TABLE_NONE;
	e->is_placed = false;
	page_set_clear(&e->wanted);
	page_set_clear(&e->built);
}

void table_store_stop(struct table_store *ts)
{
	ts->deps.want_tables = false;
	drop_waiting(ts);
}

/* ---- copies ---- */

struct copy_key {
	const struct binaries *bs;
	const struct binary *b;
};

/*
 * A build-id may be set by hand, so the values that a table depends on are compared as well; and
 * the owner, because another user could make a file that has all of these and a table of lies.
 */
static bool same_table(const void *ctx, uint32_t index)
{
	const struct copy_key *k = ctx;
	const struct binary *a = binaries_get(k->bs, index), *b = k->b;

	return a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, b->build_id_len) &&
	       a->size_bytes == b->size_bytes && a->vaddr_lo == b->vaddr_lo &&
	       a->vaddr_hi == b->vaddr_hi && a->nr_segments == b->nr_segments && a->uid == b->uid;
}

static uint32_t find_original(struct table_store *ts, const struct binary *b)
{
	struct copy_key k = { ts->deps.binaries, b };
	uint64_t hash = hash_bytes(7, b->build_id, b->build_id_len);
	uint32_t original;

	if (!b->build_id_len)
		return b->index;
	original = ix_find(&ts->originals, hash, same_table, &k);
	if (original != IX_NONE)
		return original;
	ix_add(&ts->originals, hash, b->index);		/* out of memory: no sharing */
	return b->index;
}

/* Up to the end of the code, as unwind_part_from_image() counts them. */
static uint64_t pages_of(const struct binary *b)
{
	uint64_t end = b->vaddr_lo;

	for (uint32_t i = 0; i < b->nr_segments; i++)
		if (b->segments[i].vaddr + b->segments[i].filesz > end)
			end = b->segments[i].vaddr + b->segments[i].filesz;
	return unwind_nr_pages(b->vaddr_lo, end);
}

/* Out of memory, or with too many pages, it is built as a whole. */
static void divide(const struct table_store *ts, struct entry *e, const struct binary *b)
{
	uint64_t nr = pages_of(b), large = ts->deps.large_bytes ? ts->deps.large_bytes : LARGE_FILE;

	if (e->data || b->size_bytes < large || !nr || nr > MAX_PARTS || e->is_interpreter)
		return;
	if (page_set_init(&e->wanted, (uint32_t)nr) || page_set_init(&e->built, (uint32_t)nr)) {
		page_set_release(&e->wanted);
		page_set_release(&e->built);
	}
}

void table_store_admit(struct table_store *ts, const struct binary *b, const void *data,
		       size_t len)
{
	struct entry *e;

	if (array_reserve(&ts->entries, &ts->cap_entries, (size_t)b->index + 1))
		return;
	ts->entries[b->index] =
		(struct entry){ .original = find_original(ts, b), .data = data, .len = len };
	e = table_entry(ts, b->index);
	if (e != &ts->entries[b->index]) {
		ts->stats.shared++;
		if (e->is_placed || e->state == TABLE_NEVER)
			ts->deps.on_same(ts->deps.ctx, b->index, ts->entries[b->index].original);
		return;
	}
	if (!ts->deps.want_tables)
		return;
	e->is_interpreter = table_is_of_interpreter(b);
	divide(ts, e, b);
	if (e->is_interpreter && !ts->deps.large_bytes)
		queue_table(ts, b->index, PRIORITY_WANTED);
	else if (ts->deps.at_once && !e->wanted.nr)
		queue_table(ts, b->index, table_priority_of(b));
}

unsigned table_store_pending(const struct table_store *ts)
{
	return ts->pending;
}

bool table_store_has_few(const struct table_store *ts)
{
	return table_turns_have_few(ts->turns);
}

bool table_store_lacks_interpreter(const struct table_store *ts)
{
	for (size_t i = 0; ts->pending && i < ts->cap_entries; i++)
		if (ts->entries[i].state == TABLE_QUEUED &&
		    (ts->entries[i].is_interpreter || ts->entries[i].is_whole))
			return true;
	return false;
}

void table_store_stats(const struct table_store *ts, struct table_store_stats *out)
{
	*out = ts->stats;
}
