/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The deadlock that the last snapshot of a report shows, for its first answer. While rows come, it
 * is noted which thread waits for which. If these links make a ring, the rows of the last snapshot
 * are read again, and wait_graph.h says whether the deadlock is certain.
 *
 *	answer_deadlock_sample(a, sample)	each row of a snapshot; 0 or -ENOMEM
 *	answer_deadlock_find(a, rep)		a->text: "2 threads wait for each other: ..."; NULL:
 *						none. 0 or an error, silently
 *	answer_deadlock_release(a)
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "src/base/hash_index.h"

struct report;
struct report_sample;

#define ANSWER_LINKS (1u << 16)		/* threads that are noted at most */

/* A thread, and the one that holds the lock for which it waited when it was seen last. */
struct answer_link {
	uint64_t thread;		/* segment and tid */
	uint32_t owner;			/* tid; 0: it waits for no lock any more */
	uint32_t visited;		/* number of the search that came by; 0: none */
};

struct answer_deadlock {
	char *text;			/* foreign bytes */
	/* Private: */
	struct answer_link *v;
	size_t nr, cap;
	struct hash_index index;
};

int answer_deadlock_sample(struct answer_deadlock *a, const struct report_sample *s);
int answer_deadlock_find(struct answer_deadlock *a, struct report *rep);
void answer_deadlock_release(struct answer_deadlock *a);
