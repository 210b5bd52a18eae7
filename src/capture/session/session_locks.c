/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of threads that wait for a lock of their runtime: who holds it. */
#include <errno.h>
#include <stdlib.h>

#include "src/capture/processes/process_tracker.h"
#include "src/capture/session/runtime_locks.h"
#include "src/capture/session/session_parts.h"
#include "src/capture/waits/wait_facts.h"

static bool lacks_owner(const struct rec_sample *sample)
{
	return !sample->owner && wait_facts_is_futex(sample);
}

bool session_asks_runtime(const struct session *s, const struct process *p,
			  const struct rec_sample *sample)
{
	return p && lacks_owner(sample) && runtime_locks_are_known(s->locks, p);
}

bool session_asks_again(const struct session *s, const struct wire_sample *head,
			const struct rec_sample *sample)
{
	const struct process *p = lacks_owner(sample) ? session_process(s, head) : NULL;

	return p && runtime_locks_are_known(s->locks, p) &&
	       runtime_locks_are_unanswered(s->locks, p);
}

/* The rows' questions; their number. */
static size_t take_questions(const struct session *s, struct lock_question *questions)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->peers.nr; i++) {
		const struct peer_row *row = &s->peers.v[i];
		const struct process *p = row->is_lock ? session_process(s, &row->head) : NULL;

		if (row->is_lock)
			questions[nr++] = (struct lock_question){ p, row->head.tid, 0 };
	}
	return nr;
}

static void take_answers(struct session *s, const struct lock_question *questions)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->peers.nr; i++) {
		struct peer_row *row = &s->peers.v[i];
		uint32_t owner = row->is_lock ? questions[nr++].owner : 0;

		if (owner)
			row->sample.owner = wait_facts_thread(s->waits, row->head.tgid, owner);
	}
}

int session_ask_runtimes(struct session *s)
{
	struct lock_question *questions;
	size_t nr = 0;

	for (size_t i = 0; i < s->peers.nr; i++)
		nr += s->peers.v[i].is_lock;
	if (!nr)
		return 0;
	questions = malloc(nr * sizeof(*questions));
	if (!questions)
		return -ENOMEM;
	runtime_locks_ask(s->locks, questions, take_questions(s, questions));
	take_answers(s, questions);
	free(questions);
	return 0;
}
