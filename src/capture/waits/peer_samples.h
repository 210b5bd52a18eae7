/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of a scan whose threads wait for a pipe or a socket. They are kept until the scan is over;
 * then one look at all descriptors of the machine finds the processes that hold the other ends
 * (wait_peers.h).
 *
 *	peer_samples_add(p, &row) ...
 *	peer_samples_ask(p, find, ctx)		sets .sample.owner and .holders of p->v
 *	peer_samples_clear(p)			before the next scan
 *	peer_samples_release(p)
 *
 * The row of a thread that has not run since the last scan keeps its answer, and a scan that has
 * only such rows needs no look at all. But a row whose other end no process holds, or several do,
 * is asked about again when there is a look: when the first program of a pipeline waits already,
 * the shell may not yet have closed its own copies of the pipe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "src/model/record.h"

struct peer_question;

struct peer_row {
	struct wire_sample head;
	struct rec_sample sample;
	struct peer_key key;
	bool same;			/* the thread has not run, and the row has not changed */
	bool is_lock;			/* no other end: its runtime may know the lock */
};

struct peer_samples {
	struct peer_row *v;
	size_t nr, cap, nr_new;
	struct peer_question *questions;
	size_t cap_questions;
};

typedef int (*find_peers_fn)(void *ctx, struct peer_question *questions, size_t nr);

int peer_samples_add(struct peer_samples *p, const struct peer_row *row);	/* 0 or -ENOMEM */
int peer_samples_ask(struct peer_samples *p, find_peers_fn find, void *ctx);	/* 0 or -ENOMEM */
void peer_samples_clear(struct peer_samples *p);
void peer_samples_release(struct peer_samples *p);

/* true: exactly one process holds the other end. */
bool peer_is_settled(const struct rec_sample *sample);
