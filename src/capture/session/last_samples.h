/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last row of each thread that scans have met, so that the row of a thread that has not run
 * since need not be made again.
 *
 * The problem: a scan takes a row of every thread. Most threads sleep from one scan to the next,
 * and their rows would be the same each time. Unwinding them again would cost CPU time, and writing
 * them again space in the trace.
 *
 * How it works, in three places:
 *
 * - The kernel side counts how often each thread has left a CPU. If the number is that of the last
 *   scan and the thread is on no CPU, it has not moved. Then only the header of a row comes, with
 *   WIRE_SAME (bpf/unchanged.bpf.h).
 * - The session finds the thread's last row here, with its stack, what it waits for and the holders
 *   of the other end (session.c, same_again()).
 * - If the row is the last one again but for its time, only the id of the thread is noted. At the
 *   end of the scan one REPEAT record names all such threads as runs of ids (TRACE.md 4.20).
 *
 * Example: a machine has 10,000 threads, and 40 of them ran since the last scan. 40 rows are
 * unwound and written as samples; the other 9,960 are a REPEAT with a few runs of ids.
 *
 * A tid is used again when its thread has ended, so a thread is identified by its tid and its start
 * time. A damaged chunk of a trace takes last rows with it, so each thread gets a row of its own
 * once in 128 scans all the same (session.c, is_its_turn()).
 *
 * Limits: the kernel side must not say WIRE_SAME of a thread whose row did not arrive; such a row
 * has no stack here and is written with END_BUG. An element takes some 200 bytes, and elements of
 * threads that have ended are only forgotten when there are 1,000 more than twice the rows of a
 * scan.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "src/model/record.h"

struct last_samples;

struct last_row {
	uint32_t tid;
	uint64_t start_boottime_ns;	/* identifies the thread, with tid */
	char comm[WIRE_COMM];
	struct rec_sample sample;	/* as it was written */
	struct peer_key peer;		/* the other end of its wait; .end 0: none */
};

struct last_samples *last_samples_new(void);		/* NULL: out of memory */
void last_samples_free(struct last_samples *l);	/* NULL is fine */

/* The last row of the thread of head, borrowed until the next put; NULL: it was not met yet. */
struct last_row *last_samples_find(const struct last_samples *l, const struct wire_sample *head);
/* Keeps sample as the last row of the thread of head. peer NULL: none. 0 or -ENOMEM. */
int last_samples_put(struct last_samples *l, const struct wire_sample *head,
		     const struct rec_sample *sample, const struct peer_key *peer);

/* Forgets threads whose last row is of a scan before that one. 0 or -ENOMEM. */
int last_samples_prune(struct last_samples *l, uint32_t scan);
void last_samples_forget(struct last_samples *l);	/* all */
size_t last_samples_nr(const struct last_samples *l);
