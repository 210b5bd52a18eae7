/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/session/runtime_names.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/array.h"
#include "src/base/clock.h"
#include "src/base/hash_index.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/capture/session/runtime_names_parts.h"
#include "src/capture/session/runtime_shift.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/capture/tables/process_runtimes.h"
#include "src/model/binary.h"
#include "src/model/per_process.h"
#include "src/model/process.h"
#include "src/model/record.h"
#include "src/model/stacks.h"
#include "src/runtimes/runtime.h"
#include "unwind/unwind_limits.h"

#define WAIT_MS 50
/*
 * A code object that was gone when it was read may be there again, by the same address and cookie:
 * PHP makes the code of a script anew for each request. So when it is met again, it is read again.
 */
#define MAX_TRIES 200
#define TRY_AGAIN_NS NSEC_PER_MSEC
/* Frames of one that stays gone are told so: rows that are shown meanwhile wait for them. */
#define GONE_AFTER_NS NSEC_PER_SEC
#define LOOK_NS (NSEC_PER_SEC / 2)
/* The end of a recording waits so long for objects of a user who has very many. */
#define MANY_NS NSEC_PER_SEC

int runtime_names_new(const struct runtime_names_deps *deps, struct runtime_names **np)
{
	struct runtime_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->deps = *deps;
	n->of_processes.size = sizeof(struct codes_of);
	code_owners_init(&n->owners, RUNTIME_NAMES_MAX, deps->process_owner, deps->owner_ctx);
	n->memory = memory_reader_new(deps->forker, deps->costs);
	n->keep = runtime_keep_new();
	if (!n->memory || !n->keep) {
		runtime_names_free(n);
		return -ENOMEM;
	}
	*np = n;
	return 0;
}

static void free_code(struct code *c)
{
	runtime_code_free(c->code);
	free(c->waiting);
	free(c);
}

void runtime_names_free(struct runtime_names *n)
{
	if (!n)
		return;
	worker_pool_free(n->pool);
	memory_reader_free(n->memory);
	runtime_keep_free(n->keep);
	for (size_t i = 0; i < n->nr_codes; i++)
		free_code(n->codes[i]);
	free(n->codes);
	ix_release(&n->index);
	per_process_release(&n->of_processes);
	code_owners_release(&n->owners);
	free(n->binaries);
	free(n);
}

/* ---- reading, in a thread ---- */

static void code_run(struct worker_job *job)
{
	struct code *c = (struct code *)job;
	struct memory_of_process of = { c->names->memory, (pid_t)c->tgid, c->job.unwanted };
	const struct target_memory memory = { memory_of_process, &of };
	const struct runtime_process process = { memory, c->names->keep, c->serial };

	c->err = runtime_code_read_kept(c->image, c->bias, &process, c->kind, c->addr, c->cookie,
					&c->code);
	if (!c->looks_for_way)
		return;
	runtime_constants(c->image, c->bias, &c->way);
	c->has_way = !runtime_shorten(c->image, c->bias, &memory, &c->way);
}

/* ---- code objects ---- */

static void let_go(struct code *c);

/* Puts it among those whose frames can be answered. */
static void list(struct code *c)
{
	struct runtime_names *n = c->names;

	if (c->is_listed || !c->is_read || !c->nr_waiting)
		return;
	c->is_listed = true;
	c->next = n->ready;
	n->ready = c;
}

static bool is_gone(const struct code *c)
{
	return c->err == -ESTALE || c->err == -EFAULT;
}

static void count(struct runtime_names *n, const struct code *c, int by)
{
	uint64_t *number = !c->err     ? &n->stats.named
			   : is_gone(c) ? &n->stats.gone
					: &n->stats.failed;

	*number += (uint64_t)(int64_t)by;
}

static void code_done(struct worker_job *job, bool cancelled)
{
	struct code *c = (struct code *)job;
	struct runtime_names *n = c->names;

	assert(n->nr_pending && c->is_pending);
	n->nr_pending--;
	code_owner_was_read(c->owner);
	c->is_pending = false;
	if (cancelled)
		c->err = -ECANCELED;
	count(n, c, 1);
	if (!cancelled && c->has_way && n->deps.on_short_way)
		n->deps.on_short_way(n->deps.ctx, c->tgid, c->serial, c->image, c->bias, &c->way);
	c->is_read = !is_gone(c) || c->tries >= MAX_TRIES;
	list(c);
	let_go(c);
}

struct code_key {
	const struct runtime_names *names;
	uint64_t serial, addr;
	uint32_t cookie, slot;
};

static bool is_same(const void *ctx, uint32_t id)
{
	const struct code_key *k = ctx;
	const struct code *c = k->names->codes[id];

	return c->serial == k->serial && c->addr == k->addr && c->cookie == k->cookie &&
	       c->slot == k->slot;
}

static uint64_t hash_of(const struct code_key *k)
{
	return hash_u64(hash_u64(k->serial, k->addr), (uint64_t)k->slot << 32 | k->cookie);
}

static uint64_t hash_of_code(const struct code *c)
{
	return hash_of(&(struct code_key){ c->names, c->serial, c->addr, c->cookie, c->slot });
}

/* The last one takes its place. Without memory that one is not found any more, and comes anew. */
static void drop(struct code *c)
{
	struct runtime_names *n = c->names;
	struct code *last = n->codes[n->nr_codes - 1];

	ix_remove(&n->index, hash_of_code(c), (uint32_t)c->at);
	if (last != c) {
		ix_remove(&n->index, hash_of_code(last), (uint32_t)last->at);
		last->at = c->at;
		n->codes[last->at] = last;
		ix_add(&n->index, hash_of_code(last), (uint32_t)last->at);
	}
	n->nr_codes--;
	c->owner->nr--;
	free_code(c);
}

/* When no one asks for it any more. */
static void let_go(struct code *c)
{
	if (c->is_left && !c->is_pending && !c->is_listed && !c->nr_waiting)
		drop(c);
}

void runtime_names_forget(struct runtime_names *n, const struct process *p)
{
	struct codes_of *of = per_process_find(&n->of_processes, p);
	struct code *c = of ? of->first : NULL, *next;

	for (; c; c = next) {
		next = c->next_of_process;
		c->is_left = true;
		let_go(c);
	}
	if (of)
		of->first = NULL;
}

/* A new one's place; NULL: its user has too many, or out of memory. */
static struct code *new_code(struct runtime_names *n, const struct process *p)
{
	struct code_owner *owner = code_owner_of(&n->owners, p);
	struct codes_of *of = per_process_at(&n->of_processes, p);
	struct code *c = NULL, **place;

	if (!of)
		return NULL;
	if (n->nr_codes >= RUNTIME_NAMES_MAX || !code_owner_may_add(&n->owners, owner)) {
		n->stats.refused++;
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	place = c ? array_push(&n->codes, &n->nr_codes, &n->cap_codes) : NULL;
	if (!place) {
		free(c);
		return NULL;
	}
	*place = c;
	c->owner = owner;
	owner->nr++;
	c->next_of_process = of->first;
	of->first = c;
	return c;
}

/* Its number, or IX_NONE: there is no runtime, there are too many, or out of memory. */
static uint32_t code_of(struct runtime_names *n, const struct process *p, const uint64_t words[2])
{
	struct code_key k = { n, p->serial, words[0] & UNWIND_ADDRESS_MASK,
			      (uint32_t)(words[1] >> 32),
			      (uint32_t)(words[0] >> UNWIND_RUNTIME_SLOT_SHIFT) };
	uint64_t hash = hash_of(&k);
	uint32_t id = ix_find(&n->index, hash, is_same, &k);
	const struct runtime_image *image;
	struct code *c;
	uint64_t bias;

	assert(id == IX_NONE || id < n->nr_codes);
	if (id != IX_NONE)
		return id;
	image = n->deps.runtimes ? process_runtimes_of(n->deps.runtimes, p, k.slot, &bias) : NULL;
	c = image ? new_code(n, p) : NULL;
	if (!c)
		return IX_NONE;
	id = (uint32_t)(n->nr_codes - 1);
	*c = (struct code){ .job = { .run = code_run, .done = code_done }, .names = n,
			    .owner = c->owner, .next_of_process = c->next_of_process,
			    .at = id, .number = n->next_number++,
			    .image = image, .bias = bias, .serial = k.serial, .addr = k.addr,
			    .cookie = k.cookie, .tgid = p->tgid, .slot = k.slot,
			    .kind = words[0] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS,
			    .looks_for_way = n->last_serial != p->serial ||
					     n->last_slot != k.slot };
	n->last_serial = p->serial;
	n->last_slot = k.slot;
	return ix_add(&n->index, hash, id) ? IX_NONE : id;
}

/* The binary that stands for all code of an interpreter: "[python 3.11.2]". */
static uint32_t binary_of(struct runtime_names *n, const struct runtime_image *image)
{
	static const struct file_id none;
	char title[RUNTIME_TITLE_BYTES], path[RUNTIME_TITLE_BYTES + 2];
	struct image_binary *place;
	struct binary *b;

	for (size_t i = 0; i < n->nr_binaries; i++)
		if (n->binaries[i].image == image)
			return n->binaries[i].binary;
	runtime_title(image, title);
	path[0] = '[';
	strcpy(path + 1, title);
	strcat(path, "]");
	b = binaries_add(n->deps.binaries, &none, path, BINARY_ANON);
	place = b ? array_push(&n->binaries, &n->nr_binaries, &n->cap_binaries) : NULL;
	if (!place)
		return 0;
	*place = (struct image_binary){ image, b->index };
	return b->index;
}

static uint8_t kind_of(const uint64_t words[2])
{
	return words[0] >> UNWIND_RUNTIME_KIND_SHIFT & UNWIND_RUNTIME_KINDS;
}

static uint8_t flags_of_kind(uint8_t kind)
{
	return kind == RUNTIME_FRAME_COMPILED  ? FRAME_COMPILED
	       : kind == RUNTIME_FRAME_INLINED ? FRAME_INLINED
					       : 0;
}

/* Reading begins at once. */
static int ask(struct runtime_names *n, struct code *c)
{
	if (!n->pool)
		n->pool = worker_pool_new_with(1, n->deps.begin_thread);
	if (!n->pool)
		return -ENOMEM;
	assert(!c->is_pending);		/* a job is in the pool once */
	n->nr_pending++;
	c->is_pending = true;
	c->tries++;
	c->tried_ns = now_ns();
	c->job.priority = code_owner_waits(c->owner);
	worker_submit(n->pool, &c->job);
	return 0;
}

/* It was gone and is met again. */
static void ask_again(struct runtime_names *n, struct code *c)
{
	if (!c->tries || c->is_read || c->is_pending || now_ns() - c->tried_ns < TRY_AGAIN_NS)
		return;
	count(n, c, -1);
	c->looks_for_way &= !c->has_way;
	ask(n, c);
}

enum runtime_failure runtime_names_frame(struct runtime_names *n, const struct process *p,
					 const uint64_t words[2], struct stack_frame *f)
{
	uint64_t refused = n->stats.refused;
	uint32_t id = code_of(n, p, words);

	if (id == IX_NONE)
		return n->stats.refused == refused ? RUNTIME_FAILED_PROGRAM : RUNTIME_FAILED_MANY;
	ask_again(n, n->codes[id]);
	*f = (struct stack_frame){ .kind = FRAME_JIT,
				   .flags = FRAME_RUNTIME | flags_of_kind(kind_of(words)),
				   .binary = binary_of(n, n->codes[id]->image),
				   .addr = runtime_names_place(n->codes[id]) | (uint32_t)words[1] };
	return f->binary ? RUNTIME_FAILED_NONE : RUNTIME_FAILED_PROGRAM;
}

bool runtime_names_has_trampolines(struct runtime_names *n, const struct process *p,
				   const uint64_t words[2])
{
	uint32_t id = kind_of(words) == RUNTIME_FRAME_INTERPRETED ? code_of(n, p, words) : IX_NONE;

	return id != IX_NONE && runtime_has_trampolines(n->codes[id]->image);
}

bool runtime_names_shift(struct runtime_names *n, const struct process *p, const uint64_t *words,
			 size_t nr, uint64_t *out)
{
	return n->deps.runtimes && runtime_shift(n->deps.runtimes, p, words, nr, out);
}

int runtime_names_request(struct runtime_names *n, const struct process *p, uint32_t cookie,
			  const uint64_t words[2])
{
	uint32_t id = code_of(n, p, words);
	struct code *c = id == IX_NONE ? NULL : n->codes[id];
	struct waiting *w;

	if (!c)
		return -ENOMEM;
	w = array_push(&c->waiting, &c->nr_waiting, &c->cap_waiting);
	if (!w)
		return -ENOMEM;
	*w = (struct waiting){ cookie, (uint32_t)words[1], kind_of(words) };
	if (c->nr_waiting == 1)
		c->waits_since_ns = now_ns();
	list(c);
	return c->tries ? 0 : ask(n, c);
}

void runtime_names_meet(struct runtime_names *n, const struct process *p, const uint64_t words[2])
{
	uint32_t id = code_of(n, p, words);

	if (id != IX_NONE && !n->codes[id]->tries)
		ask(n, n->codes[id]);
}

/* ---- names ---- */

static int answer_all(struct code *c, int why, symbol_fn fn, void *ctx)
{
	int err = runtime_names_answer(c, why, fn, ctx);

	let_go(c);
	return err;
}

static int give_ready(struct runtime_names *n, symbol_fn fn, void *ctx)
{
	int err = 0;

	if (n->pool)
		worker_reap(n->pool);
	while (n->ready && !err) {
		struct code *c = n->ready;

		n->ready = c->next;
		c->is_listed = false;
		err = answer_all(c, c->err, fn, ctx);
	}
	return err;
}

static bool is_worth_waiting(const struct runtime_names *n, uint64_t since_ns)
{
	return n->nr_pending &&
	       (now_ns() < since_ns + MANY_NS || code_owners_have_few_waiting(&n->owners));
}

/* Gives what comes until nothing is pending, or the patience is over. */
static int give_and_wait(struct runtime_names *n, symbol_fn fn, void *ctx, struct patience *wait)
{
	int err = give_ready(n, fn, ctx);
	uint64_t begin = now_ns();

	while (!err && wait && is_worth_waiting(n, begin) && patience_lasts(wait)) {
		struct pollfd fd = { .fd = worker_fd(n->pool), .events = POLLIN };

		poll(&fd, 1, WAIT_MS);
		err = give_ready(n, fn, ctx);
	}
	return err;
}

static bool stays_gone(const struct code *c)
{
	return c->tries && !c->is_pending && is_gone(c);
}

/* Frames that have waited since then, or longer, for objects that are gone. */
static int answer_gone(struct runtime_names *n, symbol_fn fn, void *ctx, uint64_t since_ns)
{
	int err = 0;

	/* From the end: one that is dropped there gives its place to one that was asked. */
	for (size_t i = n->nr_codes; i-- > 0 && !err;) {
		struct code *c = n->codes[i];

		if (c->nr_waiting && stays_gone(c) && c->waits_since_ns <= since_ns)
			err = answer_all(c, c->err, fn, ctx);
	}
	return err;
}

/* Frames whose objects were not read in time. */
static int answer_late(struct runtime_names *n, symbol_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = n->nr_codes; i-- > 0 && !err;)
		if (n->codes[i]->nr_waiting)
			err = answer_all(n->codes[i], -ETIMEDOUT, fn, ctx);
	return err;
}

int runtime_names_collect(struct runtime_names *n, symbol_fn fn, void *ctx, struct patience *wait)
{
	int err = give_and_wait(n, fn, ctx, wait);
	uint64_t now = now_ns();

	if (!err && wait)
		err = answer_gone(n, fn, ctx, UINT64_MAX);
	if (!err && wait)
		return answer_late(n, fn, ctx);
	if (err || now < n->next_look_ns)
		return err;
	n->next_look_ns = now + LOOK_NS;
	return answer_gone(n, fn, ctx, now - GONE_AFTER_NS);
}

int runtime_names_settle(struct runtime_names *n, symbol_fn fn, void *ctx, struct patience *wait)
{
	int err = give_and_wait(n, fn, ctx, wait);

	if (!err)
		err = answer_gone(n, fn, ctx, UINT64_MAX);
	return err ? err : answer_late(n, fn, ctx);
}

void runtime_names_stats(const struct runtime_names *n, struct runtime_names_stats *out)
{
	*out = n->stats;
	out->kept = n->nr_codes;
}
