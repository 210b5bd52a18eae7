/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/profile/answer_stuck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/model/definition_store.h"
#include "src/model/syscall_names.h"
#include "src/report/report_sample.h"
#include "src/waits/stuck.h"

void answer_stuck_release(struct answer_stuck *a)
{
	syscall_names_free(a->calls);
	free(a->text);
}

static int write_text(struct answer_stuck *a, const struct report_sample *s, uint64_t since)
{
	const char *arch = s->facts && s->facts->arch ? s->facts->arch : "";
	const char *comm = definition_store_string(s->tables,
						   s->thread ? s->thread->comm : UINT32_MAX, NULL);
	char buf[STUCK_TEXT_MAX];

	if (!a->calls)
		a->calls = syscall_names_new(arch);
	free(a->text);
	a->text = NULL;
	if (!a->calls)
		return -ENOMEM;
	stuck_text(s->tables, a->calls, s->rec, a->ns, since, buf);
	if (asprintf(&a->text, "%s %u, %s", *comm ? comm : "[no name]",
		     s->thread ? s->thread->tid : 0, buf) < 0) {
		a->text = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void count_thread(struct answer_stuck *a, uint64_t thread)
{
	uint32_t i = 0;

	while (i < a->nr && a->threads[i] != thread)
		i++;
	if (i == a->nr && i < ANSWER_STUCK)
		a->threads[a->nr++] = thread;
}

/* The first of rows that are alike is given; the thread waits on for as long as they all cover. */
int answer_stuck_sample(struct answer_stuck *a, const struct report_sample *s, uint64_t nr)
{
	const struct rec_sample *rec = s->rec;
	uint64_t ns = rec->time_ns - rec->ran_ns, since = s->real_ns - ns;

	/* Some drivers have a thread of the kernel that is in state D for ever. */
	if (rec->end == END_KTHREAD || !stuck_is(s->tables, rec))
		return 0;
	ns += nr > 1 ? s->weight : 0;
	count_thread(a, (uint64_t)s->segment << 32 | rec->thread);
	if (ns <= a->ns)
		return 0;
	a->ns = ns;
	return write_text(a, s, since);
}
