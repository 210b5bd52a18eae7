/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/parsers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/foreign/file_opener.h"
#include "src/foreign/kept_file.h"
#include "src/foreign/wait_budget.h"
#include "src/parse/cache_folder.h"
#include "src/parse/lines_costs.h"
#include "src/parse/parse_protocol.h"
#include "src/parse/parsers_parts.h"
#include "src/parse/table_cache.h"
#include "src/symbolize/symbol_batch.h"

#define IDENTITY_LANES 2		/* of root's files and of others */
/* Longer than the largest programs need on a slow and busy machine. */
#define IDENTITY_NS NSEC_PER_SEC
#define TABLE_NS (30 * NSEC_PER_SEC)
#define CODE_NS (10 * NSEC_PER_SEC)

static int start_lanes(struct lanes *l, unsigned nr, struct helper_keeper *k,
		       const struct helper_kind *kind)
{
	int err = 0;

	for (; l->nr < nr && !err; l->nr += !err)
		err = helper_new(k, kind, &l->v[l->nr].helper);
	return err;
}

static void end_lanes(struct lanes *l)
{
	for (unsigned i = 0; i < l->nr; i++)
		helper_free(l->v[i].helper);
}

int parsers_new(struct helper_keeper *k, struct file_opener *opener, unsigned nr_threads,
		struct parsers **pp)
{
	unsigned nr = nr_threads < 1 ? 1 : nr_threads > MAX_LANES ? MAX_LANES : nr_threads;
	struct parsers *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->opener = opener;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->free_lane, NULL);
	if (cache_folder_new(&p->cache))
		p->cache = NULL;
	p->program = table_cache_program();
	p->identity_budget = wait_budget_new();
	p->lines_costs = lines_costs_new();
	err = p->identity_budget && p->lines_costs ? 0 : -ENOMEM;
	if (!err)
		err = start_lanes(&p->identity, IDENTITY_LANES, k, &table_parser_kind);
	if (!err)
		err = start_lanes(&p->perf_map, 1, k, &name_parser_kind);
	if (!err)
		err = start_lanes(&p->names, nr, k, &name_parser_kind);
	if (!err)
		err = start_lanes(&p->lines, 1, k, &line_parser_kind);
	if (!err)
		err = start_lanes(&p->tables, nr, k, &table_parser_kind);
	if (!err)
		err = start_lanes(&p->code, 1, k, &table_parser_kind);
	if (err)
		parsers_free(p);
	else
		*pp = p;
	return err;
}

void parsers_ask_server(struct parsers *p, struct debug_server *server)
{
	p->server = server;
}

void parsers_tell_costs(struct parsers *p, parse_cost_fn on_cost, void *ctx)
{
	p->on_cost = on_cost;
	p->cost_ctx = ctx;
}

void parsers_take_time(struct parsers *p)
{
	p->takes_time = true;
}

void parsers_free(struct parsers *p)
{
	if (!p)
		return;
	end_lanes(&p->identity);
	end_lanes(&p->perf_map);
	end_lanes(&p->names);
	end_lanes(&p->lines);
	end_lanes(&p->tables);
	end_lanes(&p->code);
	lines_costs_free(p->lines_costs);
	wait_budget_free(p->identity_budget);
	cache_folder_free(p->cache);
	pthread_cond_destroy(&p->free_lane);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- lanes ---- */

/* How well a lane fits: the owner's own one, else an unused one, else any. */
static int fit(const struct lane *l, const struct question *q)
{
	return l->is_used ? l->owner == q->owner ? 2 : 0 : 1;
}

/* The free lane that fits best; of these that which was not used for longest. NULL: none. */
static struct lane *best_free_lane(const struct question *q)
{
	struct lane *best = NULL;

	for (unsigned i = 0; i < q->lanes->nr; i++) {
		struct lane *l = &q->lanes->v[i];

		if (!l->is_busy && (!best || fit(l, q) > fit(best, q) ||
				    (fit(l, q) == fit(best, q) && l->used < best->used)))
			best = l;
	}
	return best;
}

/* The lane that was wished for, or else one of the owner's. NULL: it is busy. */
static struct lane *wished_lane(const struct question *q)
{
	struct lane *wish = &q->lanes->v[(q->wish - 1) % q->lanes->nr], *l = wish;

	for (unsigned i = 0; i < q->lanes->nr && !fit(wish, q); i++)
		if (fit(&q->lanes->v[i], q) > fit(l, q))
			l = &q->lanes->v[i];
	return l->is_busy ? NULL : l;
}

static struct lane *take_lane(struct parsers *p, const struct question *q)
{
	struct lane *l;
	bool is_others;

	assert(q->lanes->nr);		/* else none ever gets free */
	pthread_mutex_lock(&p->lock);
	while (!(l = q->wish ? wished_lane(q) : best_free_lane(q)))
		pthread_cond_wait(&p->free_lane, &p->lock);
	is_others = l->is_used && l->owner != q->owner;
	l->is_busy = l->is_used = true;
	l->owner = q->owner;
	l->used = ++p->nr_calls;
	pthread_mutex_unlock(&p->lock);
	if (is_others)
		helper_restart(l->helper);
	return l;
}

static void give_lane(struct parsers *p, struct lane *l)
{
	pthread_mutex_lock(&p->lock);
	assert(l->is_busy);
	l->is_busy = false;
	pthread_cond_broadcast(&p->free_lane);
	pthread_mutex_unlock(&p->lock);
}

/*
 * A parser opens nothing, and what stands for a file cannot be read. So the kept files of m are
 * opened; sealed: which ones the caller closes behind the question. 0 or -errno.
 */
static int seal_files(struct parsers *p, uint64_t dev, struct helper_message *m,
		      bool sealed[MESSAGE_FDS])
{
	for (size_t i = 0; i < m->nr_fds; i++) {
		int fd = kept_file_is(m->fds[i]) ? file_opener_again(p->opener, m->fds[i], dev)
						 : -ENOTSUP;

		sealed[i] = fd >= 0;
		if (fd >= 0)
			m->fds[i] = fd;
		else if (fd != -ENOTSUP)
			return fd;
	}
	return 0;
}

/* Asks the parser of a lane, with files that it can read. */
static int ask_lane(struct parsers *p, struct lane *l, const struct question *q,
		    const struct helper_wait *wait, struct helper_message *answer)
{
	struct helper_message m = q->message;
	bool sealed[MESSAGE_FDS] = { 0 };
	int err = seal_files(p, q->dev, &m, sealed);

	*answer = (struct helper_message){ 0 };
	if (!err)
		err = helper_call(l->helper, &m, q->max, wait, answer);
	if (err == -EPIPE)
		err = helper_call(l->helper, &m, q->max, wait, answer);
	for (size_t i = 0; i < m.nr_fds; i++)
		if (sealed[i])
			close(m.fds[i]);
	return err;
}

int parsers_call(struct parsers *p, const struct question *q, uint64_t ns, struct helper_wait wait,
		 struct helper_message *answer)
{
	struct lane *l = take_lane(p, q);
	uint64_t cpu_ns = 0;
	int err;

	if (ns)
		wait.until_ns = now_ns() + ns;
	wait.cpu_ns = &cpu_ns;
	err = ask_lane(p, l, q, &wait, answer);
	give_lane(p, l);
	/* The owner of generated code is the number of a process. */
	if (p->on_cost)
		p->on_cost(p->cost_ctx, q->lanes == &p->code ? (pid_t)q->owner : 0, q->owner,
			   cpu_ns);
	return err ? err : parse_take_status(answer);
}

/* ---- identity ---- */

/*
 * Most files are read where they are, and a file system that is on top of another one (overlayfs)
 * may have a server beneath that does not answer. So whoever maps such files pays for the time that
 * is lost.
 */
int parse_identity(struct parsers *p, const struct parse_file *file, pid_t pid,
		   struct elf_identity *out)
{
	const struct question q = {
		.lanes = &p->identity, .max = PARSE_MAX_IDENTITY, .owner = file->owner,
		.dev = file->dev,
		.message = { .op = PARSE_IDENTITY, .fds = { file->fd }, .nr_fds = 1 },
	};
	uid_t user = wait_budget_user(p->identity_budget, pid, file->owner);
	uint64_t begin = now_ns(), spent_ns = 0;
	uint64_t limit_ns = wait_budget_ask(p->identity_budget, user, begin, IDENTITY_NS);
	struct helper_wait wait = { .until_ns = begin + limit_ns, .spent_ns = &spent_ns };
	struct helper_message answer;
	int err;

	if (!limit_ns)
		return -EBUSY;
	err = parsers_call(p, &q, 0, wait, &answer);
	/* A file that kills its parser would do so again and again. */
	(err == -ETIMEDOUT || err == -EPIPE ? wait_budget_hung : wait_budget_pay)(
		p->identity_budget, user, now_ns(), spent_ns);
	if (!err)
		err = parse_take_identity(&answer, out);
	helper_message_release(&answer);
	return err;
}

/* ---- tables ---- */

/* Takes over an answer, from whomever it is, and releases it. */
static int take_table_answer(struct helper_message *answer, const struct parse_table_request *r,
			     struct unwind_table **tp)
{
	int err = parse_take_table(answer, tp, r->runtime);

	helper_message_release(answer);
	if (err) {
		unwind_table_free(*tp);
		*tp = NULL;
	}
	return err;
}

/* 0: the table was kept. */
static int take_kept_table(struct parsers *p, const struct parse_table_request *r,
			   struct unwind_table **tp)
{
	struct helper_message answer;
	int err = table_cache_get(p->cache, r->key, p->program, &answer);

	if (!err)
		return take_table_answer(&answer, r, tp);
	helper_message_release(&answer);
	return err;
}

static int ask_for_table(struct parsers *p, const struct parse_table_request *r,
			 struct unwind_table **tp)
{
	struct table_wants wants = { .runtime = r->runtime != NULL };
	const struct question q = {
		.lanes = &p->tables, .max = PARSE_MAX_TABLE, .owner = r->file.owner,
		.dev = r->file.dev,
		.message = { .op = PARSE_TABLE,
			     .part = { { (void *)r->pages, r->nr_pages * sizeof(*r->pages) },
				       { &wants, sizeof(wants) } },
			     .fds = { r->file.fd }, .nr_fds = 1 },
	};
	struct helper_message answer;
	const struct helper_wait wait = { .unwanted = r->unwanted };
	int err = parsers_call(p, &q, TABLE_NS, wait, &answer);

	if (!err)
		return take_table_answer(&answer, r, tp);
	helper_message_release(&answer);
	return err;
}

int parse_table(struct parsers *p, const struct parse_table_request *r, struct unwind_table **tp)
{
	*tp = NULL;
	if (r->key && r->runtime && !r->nr_pages && !take_kept_table(p, r, tp)) {
		*r->was_kept = true;
		return 0;
	}
	return ask_for_table(p, r, tp);
}

void parse_keep_table(struct parsers *p, const struct cache_key *key, const struct unwind_table *t,
		      const struct runtime_image *runtime)
{
	table_cache_put(p->cache, key, p->program, t, runtime);
}

/* ---- windows of generated code ---- */

/* All bytes of the pieces behind each other. NULL: no memory. */
static uint8_t *join_pieces(const struct code_window *in, size_t *len)
{
	uint8_t *bytes, *at;

	*len = 0;
	for (size_t i = 0; i < in->nr_pieces; i++)
		*len += in->pieces[i].len;
	at = bytes = malloc(*len + 1);
	for (size_t i = 0; at && i < in->nr_pieces; i++, at += in->pieces[i - 1].len)
		memcpy(at, in->pieces[i].code, in->pieces[i].len);
	return bytes;
}

int parse_code(struct parsers *p, const struct code_window *in, uint32_t owner,
	       const atomic_bool *unwanted, struct unwind_table **tp, struct code_wants *wants)
{
	struct code_piece pieces[CODE_MAX_PIECES];	/* without our own addresses */
	struct code_head head = { (uint32_t)in->nr_pins, (uint32_t)in->nr_seeds };
	size_t pins = in->nr_pins * sizeof(*in->pins), seeds = in->nr_seeds * sizeof(*in->seeds);
	uint8_t known[CODE_MAX_PINS * sizeof(*in->pins) + CODE_MAX_SEEDS * sizeof(*in->seeds)];
	size_t len;
	uint8_t *bytes = join_pieces(in, &len);
	const struct question q = {
		.lanes = &p->code, .max = PARSE_MAX_CODE, .owner = owner,
		.message = { .op = PARSE_CODE,
			     .part = { { &head, sizeof(head) },
				       { pieces, in->nr_pieces * sizeof(*pieces) },
				       { bytes, len },
				       { known, pins + seeds } } },
	};
	struct helper_message answer = { 0 };
	int err;

	*tp = NULL;
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_pieces; i++)
		pieces[i] = (struct code_piece){ .len = in->pieces[i].len,
						 .addr = in->pieces[i].addr };
	if (pins)
		memcpy(known, in->pins, pins);
	memcpy(known + pins, in->seeds, seeds);
	err = parsers_call(p, &q, CODE_NS, (struct helper_wait){ .unwanted = unwanted },
			   &answer);
	if (!err)
		err = parse_take_code(&answer, in, tp, wants);
	helper_message_release(&answer);
	free(bytes);
	if (err) {
		unwind_table_free(*tp);
		*tp = NULL;
	}
	return err;
}

/* ---- maps of generated code ---- */

static int search(struct parsers *p, struct question *q, uint64_t size,
		  const struct helper_wait *wait, struct map_search *s)
{
	struct map_head head = { .size = size, .mark = s->mark, .is_growing = s->is_growing };
	struct helper_message answer;
	int err, taken = 0;

	q->lanes = &p->perf_map;
	q->max = PARSE_MAX_NAMES + s->nr * sizeof(*s->v);
	q->message.part[0] = (struct message_part){ s->v, s->nr * sizeof(*s->v) };
	q->message.part[1] = (struct message_part){ &head, sizeof(head) };
	q->message.nr_fds = 1;
	perf_map_sort(s->v, s->nr);		/* as the answers will be */
	err = parsers_call(p, q, 0, *wait, &answer);
	/* Names found before an error count. */
	if (answer.part[0].v && (!err || err == -E2BIG || err == -EIO))
		taken = parse_take_queries(&answer, s->v, s->nr, size, &s->mark, s->names);
	helper_message_release(&answer);
	return taken ? taken : err;
}

int parse_perf_map(struct parsers *p, int fd, const struct stat *st, const struct helper_wait *wait,
		   struct map_search *s)
{
	struct question q = { .owner = st->st_uid, .dev = st->st_dev,
			      .message = { .op = PARSE_PERF_MAP, .fds = { fd } } };

	return search(p, &q, (uint64_t)st->st_size, wait, s);
}

int parse_jitdump(struct parsers *p, const struct parse_file *file, const struct helper_wait *wait,
		  struct map_search *s)
{
	struct question q = { .owner = file->owner, .dev = file->dev,
			      .message = { .op = PARSE_JITDUMP, .fds = { file->fd } } };

	return search(p, &q, UINT64_MAX, wait, s);
}
