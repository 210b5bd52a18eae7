/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of a walk that wait for a pipe or a socket, kept to its end: then one look at all
 * descriptors tells who holds the other ends (wait_peers.h).
 *
 *	peer_samples_add(p, &row) ...
 *	peer_samples_ask(p, find, ctx)		.sample.owner and .holders of p->v
 *	peer_samples_clear(p)			before the next walk
 *	peer_samples_release(p)
 *
 * A thread that has not run since the last walk keeps its answer, and when there is no other row
 * nobody is asked at all. It is asked again, with others, while its other end is held by none or by
 * several: a shell has not yet closed its own copies of a pipe when the first of a pipeline waits
 * already.
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
	bool same;			/* the thread has not run, and nothing else has changed */
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

/* Exactly one process holds the other end. */
bool peer_is_settled(const struct rec_sample *sample);
