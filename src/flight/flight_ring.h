/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last segments of a trace in memory that another process goes on writing.
 *
 * The problem. A recording that is kept for a minute must neither grow nor lose what a report needs
 * to understand it: definitions come once, long before the samples that refer to them.
 *
 * The idea. The recorder begins a new segment every few seconds, each of which can be read without
 * those before it. The ring knows where segments begin from the framing of the file alone (IDENT
 * and SIGNPOST, trace_layout.h), decodes nothing, and gives the memory of whole segments back when
 * all of them is older than what is to be kept. What is kept is a trace at any time.
 *
 *	segment	  1	2	3	4	5 (is written)
 *	ended	75 s	65 s	55 s	45 s  ago; 60 s are to be kept: 1 and 2 are given back
 *
 *	flight_ring_init(&r, fd, keep_ns, max_bytes)
 *	flight_ring_look(&r, now)	now and then: reads what has come, gives back what is old
 *	r.v[0].at ... r.at		the bytes of the file that are kept
 *	flight_ring_release(&r)
 *
 * Limits. When max_bytes are kept, the oldest segment is given back although it is not old enough;
 * that is counted. The segment that is written is never given back, so the recorder has to end it
 * in time (recorder_segments.c), which takes a second or two; nor are those from .hold on. With
 * .is_pinned nothing is given back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_segment {
	uint64_t at;			/* bytes from the beginning of the file */
	uint64_t seen_ns;		/* when it was seen to have begun; never earlier */
	uint64_t first_ns;		/* of its first sample, as it says; 0: it has none */
	uint64_t samples;
};

struct flight_ring {
	int fd;				/* borrowed; read and punched by offset */
	uint64_t keep_ns, max_bytes;
	struct kept_segment *v;		/* the oldest first */
	size_t nr, cap;
	uint64_t at;			/* behind the last whole frame */
	uint64_t freed;			/* bytes from the beginning */
	uint64_t hold;			/* bytes from the beginning; UINT64_MAX: nothing is held */
	bool is_pinned;
	uint64_t early, early_samples;	/* segments given back too early, and their samples */
	uint64_t early_ns;		/* when the last of them was; 0: none was */
};

void flight_ring_init(struct flight_ring *r, int fd, uint64_t keep_ns, uint64_t max_bytes);
void flight_ring_release(struct flight_ring *r);

/* 0; -EBADMSG: no frame stands where one should; -ENOMEM, or the -errno of reading. Silent. */
int flight_ring_look(struct flight_ring *r, uint64_t now);
uint64_t flight_ring_bytes(const struct flight_ring *r);	/* that are kept */
uint64_t flight_ring_span_ns(const struct flight_ring *r, uint64_t now);	/* likewise */
