/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a BPF ring buffer, fetched into a queue and handed out from there. In between the
 * caller brings its knowledge of processes up to date: what a record needs to be resolved happened
 * before the record was written.
 *
 *	ring_queue_open(&q, map)
 *	ring_queue_fd(&q)			readable when the programs wake the reader
 *	ring_queue_drain(&q)			0; 1: the queue is full before the ring is empty; or
 *						-errno, which was explained
 *	ring_queue_for_each(&q, fn, ctx)	in their order; the queue is empty then
 *	ring_queue_close(&q)			also after an error, and of a struct that is all 0
 */
#pragma once

#include <stddef.h>

#include "src/base/bytes.h"

struct ring_buffer;

struct ring_queue {
	struct ring_buffer *ring;
	struct byte_buf records;
};

/* data is aligned as in the ring, and borrowed for the call. 0, or an error, which is returned. */
typedef int (*ring_record_fn)(void *ctx, const void *data, size_t len);

int ring_queue_open(struct ring_queue *q, int map);
void ring_queue_close(struct ring_queue *q);
int ring_queue_fd(const struct ring_queue *q);
int ring_queue_drain(struct ring_queue *q);
int ring_queue_for_each(struct ring_queue *q, ring_record_fn fn, void *ctx);
