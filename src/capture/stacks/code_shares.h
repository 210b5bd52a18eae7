/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each process may have of the reading of generated code (code_windows.h), and what is known
 * of its code besides the windows: the places to which it leaves, found out last. Windows that are
 * read later need no second round for these.
 *
 * A parsed window costs a token. A process has SHARE_TOKENS, and gets SHARE_A_SECOND of them back;
 * all together have twice as many.
 *
 *	struct code_shares s;
 *	code_shares_init(&s)
 *	code_share_of(&s, p)		NULL: no memory
 *	code_shares_pay(&s, share, tokens)
 *	code_shares_release(&s)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/model/per_process.h"
#include "unwind/code_window.h"

#define SHARE_TOKENS 256
#define SHARE_A_SECOND 64
#define SHARE_EXITS 8

struct process;

struct code_tokens {
	uint64_t since_ns;
	uint32_t used;
};

struct code_share {
	uint64_t serial;		/* of the process */
	struct code_tokens tokens;
	uint64_t served_ns;		/* when a window of it was last read */
	unsigned nr_queued;		/* windows */
	struct code_pin exits[SHARE_EXITS];
	unsigned nr_exits;		/* in all */
};

struct code_shares {
	struct per_process of;		/* struct code_share */
	struct code_tokens all;
};

void code_shares_init(struct code_shares *s);
void code_shares_release(struct code_shares *s);

/* That of p, valid until the next call with another process. */
struct code_share *code_share_of(struct code_shares *s, const struct process *p);

uint32_t code_share_left(struct code_share *share);	/* tokens */
bool code_shares_are_spent(struct code_shares *s);	/* by all together */
void code_shares_pay(struct code_shares *s, struct code_share *share, uint32_t tokens);

void code_share_exit(struct code_share *share, const struct code_pin *pin);
