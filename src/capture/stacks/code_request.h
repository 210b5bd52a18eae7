/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slow part of code_windows.h, for one window: its memory is read, compared with what is known,
 * and parsed, in a thread other than the main one.
 *
 *	code_request_begin(q, pid, begin, len, behind)
 *	code_request_pin(), code_request_page()		what is known of other places
 *	code_request_submit(q, pool)			q->done is called when it is over
 *	...						in done(): another round, for what q->wants
 *	code_request_end(q)
 *
 * The bytes are foreign: only a parser process looks at them (src/parse/parsers.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/worker.h"
#include "unwind/code_window.h"
#include "unwind/row.h"

struct memory_reader;
struct parsers;
struct unwind_table;

enum code_request_result {
	CODE_CANCELLED,
	CODE_ABSENT,			/* the memory is not there */
	CODE_BUSY,			/* it could not be read now */
	CODE_SAME,			/* the code is what it was */
	CODE_CHANGED,			/* it is not, and was not to be parsed */
	CODE_UNPARSED,			/* the parser failed or took too long */
	CODE_PARSED,			/* table and wants are there */
};

struct code_request {
	struct worker_job job;		/* the first member */
	/* Called in the owner's thread. */
	void (*done)(struct code_request *q);
	void *ctx;
	struct memory_reader *memory;	/* used by the pool's only thread */
	struct parsers *parsers;
	pid_t pid;
	uint64_t begin;
	size_t len, behind;		/* bytes of the window, and behind it */
	uint64_t hash;			/* of the code that is known, 0: none; then of that read */
	bool must_parse;		/* even what is the same */
	bool may_parse;
	uint64_t page[CODE_MAX_PIECES];	/* to be read besides, with the next round */
	size_t nr_pages;
	unsigned rounds;
	enum code_request_result result;
	uint64_t read_ns;		/* when reading of the window began */
	struct unwind_table *table;
	struct code_wants wants;
	struct code_window in;
	struct code_piece pieces[CODE_MAX_PIECES];
	struct code_pin pins[CODE_MAX_PINS];
	uint64_t seeds[CODE_MAX_SEEDS];
	uint8_t window[CODE_WINDOW_BYTES + CODE_BEHIND];
	uint8_t other[CODE_MAX_PIECES][CODE_PIECE_BYTES];
};

void code_request_begin(struct code_request *q, pid_t pid, uint64_t begin, size_t len,
			size_t behind);
void code_request_submit(struct code_request *q, struct worker_pool *pool);
void code_request_end(struct code_request *q);		/* frees the table */

/* A place where an instruction begins. false: there is no room. */
bool code_request_seed(struct code_request *q, uint64_t addr);
/* A rule that is known at an address outside. false: it cannot be of use, or there is no room. */
bool code_request_pin(struct code_request *q, uint64_t addr, const struct unwind_rule *r,
		      bool is_file);
/* The page with addr is to be read as well. false: it is there, or there is no room. */
bool code_request_page(struct code_request *q, uint64_t addr);
