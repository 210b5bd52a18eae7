/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/capture/stacks/code_request.h"

#include <errno.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/capture/stacks/memory_reader.h"
#include "src/parse/parsers.h"
#include "unwind/unwind_table.h"

#define PAGE(addr) ((addr) & ~(uint64_t)(CODE_PIECE_BYTES - 1))

/* FNV-1a by words: it tells whether code has changed. Never 0. */
static uint64_t hash_code(const uint8_t *code, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325ull, word;

	for (size_t i = 0; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, code + i, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ull;
		hash ^= hash >> 29;
	}
	return hash | 1;
}

/* ---- in the thread ---- */

/* Reads the window, and some bytes behind it, because instructions go on there. */
static enum code_request_result read_window(struct code_request *q)
{
	uint64_t hash;
	int err;

	q->read_ns = now_ns();
	err = memory_reader_get(q->memory, q->pid, q->begin, q->window, q->len + q->behind,
				q->job.unwanted);
	if (err)
		return err == -EFAULT ? CODE_ABSENT : CODE_BUSY;
	hash = hash_code(q->window, q->len + q->behind);
	if (hash == q->hash && !q->must_parse)
		return CODE_SAME;
	q->hash = hash;
	q->pieces[0] = (struct code_piece){ q->window, q->len + q->behind, q->begin };
	q->in.nr_pieces = 1;
	return q->may_parse ? CODE_PARSED : CODE_CHANGED;
}

static void read_pages(struct code_request *q)
{
	for (size_t i = 0; i < q->nr_pages && q->in.nr_pieces < CODE_MAX_PIECES; i++) {
		uint8_t *to = q->other[q->in.nr_pieces];

		if (memory_reader_get(q->memory, q->pid, q->page[i], to, CODE_PIECE_BYTES,
				      q->job.unwanted))
			continue;
		q->pieces[q->in.nr_pieces++] =
			(struct code_piece){ to, CODE_PIECE_BYTES, q->page[i] };
	}
	q->nr_pages = 0;
}

static void run(struct worker_job *job)
{
	struct code_request *q = (struct code_request *)job;

	q->result = q->in.nr_pieces ? CODE_PARSED : read_window(q);
	if (q->result != CODE_PARSED)
		return;
	read_pages(q);
	if (parse_code(q->parsers, &q->in, (uint32_t)q->pid, job->unwanted, &q->table, &q->wants))
		q->result = CODE_UNPARSED;
}

static void done(struct worker_job *job, bool cancelled)
{
	struct code_request *q = (struct code_request *)job;

	if (cancelled || atomic_load_explicit(job->unwanted, memory_order_relaxed))
		q->result = CODE_CANCELLED;
	q->done(q);
}

/* ---- in the owner's ---- */

void code_request_begin(struct code_request *q, pid_t pid, uint64_t begin, size_t len,
			size_t behind)
{
	q->job = (struct worker_job){ .run = run, .done = done };
	q->pid = pid;
	q->begin = begin;
	q->len = len;
	q->behind = behind;
	q->nr_pages = 0;
	q->rounds = 0;
	q->table = NULL;
	q->in = (struct code_window){ .pieces = q->pieces, .pins = q->pins, .seeds = q->seeds };
}

void code_request_submit(struct code_request *q, struct worker_pool *pool)
{
	unwind_table_free(q->table);
	q->table = NULL;
	q->rounds++;
	worker_submit(pool, &q->job);
}

void code_request_end(struct code_request *q)
{
	unwind_table_free(q->table);
	q->table = NULL;
}

bool code_request_seed(struct code_request *q, uint64_t addr)
{
	if (q->in.nr_seeds == CODE_MAX_SEEDS)
		return false;
	q->seeds[q->in.nr_seeds++] = addr;
	return true;
}

bool code_request_pin(struct code_request *q, uint64_t addr, const struct unwind_rule *r,
		      bool is_file)
{
	if (q->in.nr_pins == CODE_MAX_PINS || r->cfa != CFA_SP || r->aux ||
	    RULE_RA(r) != RA_CFA || r->fp > FP_UNDEFINED)
		return false;
	q->pins[q->in.nr_pins++] = (struct code_pin){
		.addr = addr, .cfa_off = r->cfa_off, .fp_off = r->fp_off, .fp = r->fp,
		.is_file = is_file,
	};
	return true;
}

bool code_request_page(struct code_request *q, uint64_t addr)
{
	if (q->in.nr_pieces + q->nr_pages >= CODE_MAX_PIECES - 1 || addr - q->begin < q->len)
		return false;
	for (size_t i = 1; i < q->in.nr_pieces; i++)
		if (q->pieces[i].addr == PAGE(addr))
			return false;
	for (size_t i = 0; i < q->nr_pages; i++)
		if (q->page[i] == PAGE(addr))
			return false;
	q->page[q->nr_pages++] = PAGE(addr);
	return true;
}
