/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/code_pages.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/worker.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/model/process.h"

#define NR_PAGES 128
#define MAX_OF_PROCESS (NR_PAGES / 2)
#define PAGE_BYTES 4096
#define MAX_BATCH 16
#define KEPT_NS (250 * NSEC_PER_MSEC)

enum page_state { PAGE_UNUSED, PAGE_WANTED, PAGE_IN_BATCH, PAGE_GOOD, PAGE_BAD };

struct page {
	uint64_t serial, addr;		/* of the process; of its first byte */
	uint64_t read_ns;		/* when reading began */
	uint64_t used_ns;
	uint32_t tgid;
	uint32_t answers;		/* so far, for struct code_wait */
	uint8_t state;			/* enum page_state */
};

/* What the thread works with. */
struct batch_page {
	unsigned place;
	uint32_t tgid;
	uint64_t addr, read_ns;
	int err;
	uint8_t bytes[PAGE_BYTES];
};

struct code_pages {
	struct worker_job job;
	struct worker_pool *pool;
	struct memory_reader *memory;
	struct page v[NR_PAGES];
	struct batch_page batch[MAX_BATCH];
	unsigned nr_batch;		/* 0: the job is not in the pool */
	uint8_t bytes[NR_PAGES][PAGE_BYTES];
};

static void run(struct worker_job *job)
{
	struct code_pages *cp = (struct code_pages *)job;

	for (unsigned i = 0; i < cp->nr_batch; i++) {
		struct batch_page *b = &cp->batch[i];

		b->read_ns = now_ns();
		b->err = memory_reader_get(cp->memory, (pid_t)b->tgid, b->addr, b->bytes,
					   PAGE_BYTES, job->unwanted);
	}
}

static void begin_batch(struct code_pages *cp)
{
	assert(!cp->nr_batch);		/* else the job is in the pool */
	for (unsigned i = 0; i < NR_PAGES && cp->nr_batch < MAX_BATCH; i++) {
		struct batch_page *b = &cp->batch[cp->nr_batch];

		if (cp->v[i].state != PAGE_WANTED)
			continue;
		cp->v[i].state = PAGE_IN_BATCH;
		b->place = i;
		b->tgid = cp->v[i].tgid;
		b->addr = cp->v[i].addr;
		cp->nr_batch++;
	}
	if (cp->nr_batch)
		worker_submit(cp->pool, &cp->job);
}

static void done(struct worker_job *job, bool cancelled)
{
	struct code_pages *cp = (struct code_pages *)job;

	for (unsigned i = 0; i < cp->nr_batch; i++) {
		const struct batch_page *b = &cp->batch[i];
		struct page *p = &cp->v[b->place];

		assert(b->place < NR_PAGES && p->state == PAGE_IN_BATCH);
		p->state = b->err || cancelled ? PAGE_BAD : PAGE_GOOD;
		p->read_ns = b->read_ns;
		p->answers++;
		if (p->state == PAGE_GOOD)
			memcpy(cp->bytes[b->place], b->bytes, PAGE_BYTES);
	}
	cp->nr_batch = 0;
	if (!cancelled && !atomic_load_explicit(job->unwanted, memory_order_relaxed))
		begin_batch(cp);
}

int code_pages_new(struct worker_pool *pool, struct memory_reader *memory, struct code_pages **cpp)
{
	struct code_pages *cp = calloc(1, sizeof(*cp));

	if (!cp)
		return -ENOMEM;
	cp->job = (struct worker_job){ .run = run, .done = done };
	cp->pool = pool;
	cp->memory = memory;
	*cpp = cp;
	return 0;
}

void code_pages_free(struct code_pages *cp)
{
	free(cp);
}

static bool is_pending(const struct page *x)
{
	return x->state == PAGE_WANTED || x->state == PAGE_IN_BATCH;
}

/*
 * The entry for a page of p; one that is not of use any more becomes that if there is none. NULL:
 * there is no room.
 */
static struct page *entry_for(struct code_pages *cp, const struct process *p, uint64_t addr)
{
	struct page *least = NULL;
	unsigned pending = 0;

	for (unsigned i = 0; i < NR_PAGES; i++) {
		struct page *x = &cp->v[i];

		if (x->state != PAGE_UNUSED && x->serial == p->serial && x->addr == addr)
			return x;
		pending += is_pending(x) && x->serial == p->serial;
		if (!is_pending(x) && (!least || x->used_ns < least->used_ns))
			least = x;
	}
	if (!least || pending >= MAX_OF_PROCESS)
		return NULL;
	least->state = PAGE_UNUSED;
	least->serial = p->serial;
	least->tgid = p->tgid;
	least->addr = addr;
	return least;
}

/* The page with addr, up to date; NULL and *err if there is none. */
static const struct page *find(struct code_pages *cp, const struct process *p, uint64_t addr,
			       uint64_t time_ns, struct code_wait *wait, int *err)
{
	bool lives = p->died_ns == TIME_NEVER;
	struct page *x = lives ? entry_for(cp, p, addr & ~(uint64_t)(PAGE_BYTES - 1)) : NULL;
	uint64_t now = now_ns();

	*err = -EFAULT;
	if (!x)
		return NULL;
	x->used_ns = now;
	if (x->state == PAGE_UNUSED ||
	    (!is_pending(x) && x->read_ns < time_ns && now > x->read_ns + KEPT_NS)) {
		x->state = PAGE_WANTED;
		if (!cp->nr_batch)
			begin_batch(cp);
	}
	if (is_pending(x)) {
		*wait = (struct code_wait){ &x->answers, x->answers };
		*err = -EAGAIN;
		return NULL;
	}
	return x->state == PAGE_GOOD ? x : NULL;
}

int code_pages_get(struct code_pages *cp, const struct process *p, uint64_t addr, void *buf,
		   size_t bytes, uint64_t time_ns, struct code_wait *wait)
{
	uint8_t *to = buf;

	while (bytes) {
		size_t at = addr & (PAGE_BYTES - 1), n = PAGE_BYTES - at;
		const struct page *x;
		int err;

		x = find(cp, p, addr, time_ns, wait, &err);
		if (!x)
			return err;
		n = n < bytes ? n : bytes;
		memcpy(to, cp->bytes[x - cp->v] + at, n);
		addr += n;
		to += n;
		bytes -= n;
	}
	return 0;
}
