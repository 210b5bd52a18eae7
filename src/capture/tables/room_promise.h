/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who gets the room that others were thrown out for.
 *
 * The problem. Room for a table is free a second after others were evicted for it (epoch.h). Other
 * tables that are wanted meanwhile take it first, and a large one that all stacks go through (libc)
 * may wait for ever behind many small ones.
 *
 * The idea. One table is promised its room, that which most stacks have asked for, and others leave
 * it. A table that is not asked for again within two seconds loses the promise.
 *
 *	rows = room_promise_to_leave(p, binary, wants, now_ns())	before taking room
 *	room_promise_ask(p, binary, wants, nr_rows, now_ns())		there was none, but will be
 *	room_promise_kept(p, binary)					it has its room
 */
#pragma once

#include <stdint.h>

#include "src/base/clock.h"

#define ROOM_PROMISE_NS (2 * NSEC_PER_SEC)

struct room_promise {
	uint32_t binary;
	uint32_t wants;			/* how often stacks have asked for its table */
	uint64_t rows;			/* 0: nothing is promised */
	uint64_t asked_ns;
};

/* Rows that binary must leave to another one. */
static inline uint64_t room_promise_to_leave(const struct room_promise *p, uint32_t binary,
					     uint32_t wants, uint64_t now)
{
	return p->binary == binary || wants > p->wants || now > p->asked_ns + ROOM_PROMISE_NS
		       ? 0
		       : p->rows;
}

static inline void room_promise_ask(struct room_promise *p, uint32_t binary, uint32_t wants,
				    uint64_t rows, uint64_t now)
{
	if (p->rows && p->binary != binary && wants <= p->wants &&
	    now <= p->asked_ns + ROOM_PROMISE_NS)
		return;
	*p = (struct room_promise){ binary, wants, rows, now };
}

static inline void room_promise_kept(struct room_promise *p, uint32_t binary)
{
	if (p->binary == binary)
		*p = (struct room_promise){ 0 };
}
