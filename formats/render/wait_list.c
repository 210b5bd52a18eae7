/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/wait_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "src/base/clock.h"
#include "src/base/intern.h"
#include "src/model/syscall_names.h"
#include "src/model/definition_store.h"
#include "src/profile/wait_graph.h"
#include "src/profile/wait_place.h"

#define PLACE_WIDTH 32
#define PLACE_BYTES 1024

struct entry {
	uint32_t call, place;		/* interned names */
	uint32_t row;
	uint64_t ns;			/* UINT64_MAX: not known */
};

struct group {
	size_t first, nr;		/* its entries, longest wait first */
};

struct list {
	const struct wait_graph *g;
	struct intern *names;
	struct entry *entries;
	struct group *groups;
	size_t nr, nr_groups;
};

bool wait_is_off_cpu(const struct rec_sample *rec)
{
	return rec->state != TASK_RUNNING && rec->state != TASK_RUNNABLE && rec->cpu == UINT32_MAX;
}

const char *wait_call_name(const struct syscall_names *calls, const struct rec_sample *rec,
			   char buf[WAIT_CALL_MAX])
{
	const char *name = rec->syscall ? syscall_name(calls, rec->syscall - 1) : NULL;

	if (name)
		return name;
	if (rec->syscall)
		snprintf(buf, WAIT_CALL_MAX, "syscall %u", rec->syscall - 1);
	else if (rec->end == END_KTHREAD)
		snprintf(buf, WAIT_CALL_MAX, "[kernel thread]");
	else if (!wait_is_off_cpu(rec))
		snprintf(buf, WAIT_CALL_MAX, "[%s]",
			 rec->state == TASK_RUNNABLE ? "ready to run" : "running");
	else
		snprintf(buf, WAIT_CALL_MAX, "[%s]", task_state_name(rec->state));
	return buf;
}

/* Groups the entries; in a group, the longest wait first and unknown ones last. */
static int by_group(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->ns + 1 != y->ns + 1)
		return x->ns + 1 > y->ns + 1 ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int by_size(const void *a, const void *b, void *list)
{
	const struct group *x = a, *y = b;
	const struct list *l = list;

	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	return by_group(&l->entries[x->first], &l->entries[y->first]);
}

/* No function of the kernel has a longer name, but a trace may say so of each thread. */
static uint32_t place_of(struct list *l, const struct rec_sample *rec, char buf[FRAME_TEXT_MAX])
{
	const char *place = wait_place(l->g->tables, rec->kstack, buf);

	return intern_bytes(l->names, place, strnlen(place, PLACE_BYTES));
}

static int add_entries(struct list *l, const struct syscall_names *calls)
{
	char number[WAIT_CALL_MAX], buf[FRAME_TEXT_MAX];

	for (uint32_t i = 0; i < l->g->nr; i++) {
		const struct wait_row *row = &l->g->rows[i];
		struct entry *e = &l->entries[l->nr];

		if (row->absent)
			continue;
		e->call = intern_str(l->names, wait_call_name(calls, &row->rec, number));
		e->place = wait_is_off_cpu(&row->rec)
				   ? place_of(l, &row->rec, buf)
				   : 0;
		if (e->call == UINT32_MAX || e->place == UINT32_MAX)
			return -ENOMEM;
		e->row = i;
		e->ns = wait_row_ns(row);
		l->nr++;
	}
	return 0;
}

static void make_groups(struct list *l)
{
	qsort(l->entries, l->nr, sizeof(*l->entries), by_group);
	for (size_t i = 0; i < l->nr; i++) {
		const struct entry *e = &l->entries[i];

		if (!i || e->call != e[-1].call || e->place != e[-1].place)
			l->groups[l->nr_groups++].first = i;
		l->groups[l->nr_groups - 1].nr++;
	}
	qsort_r(l->groups, l->nr_groups, sizeof(*l->groups), by_size, l);
}

static void put_group(const struct list *l, const struct group *group, FILE *out)
{
	const struct entry *e = &l->entries[group->first];
	const struct wait_row *row = &l->g->rows[e->row];
	const struct rec_thread *thread =
		definition_store_find_thread(l->g->tables, row->rec.thread);
	size_t len, comm_len;
	const char *place = intern_get(l->names, e->place, &len);
	const char *comm = definition_store_string(l->g->tables, thread ? thread->comm : UINT32_MAX,
						   &comm_len);

	fprintf(out, "%8zu  ", group->nr);
	if (e->ns == UINT64_MAX)
		fprintf(out, "%14s", "-");
	else
		fprintf(out, "%14.3f", (double)e->ns / NSEC_PER_SEC);
	fprintf(out, "  %-18s  ", intern_get(l->names, e->call, NULL));
	escape_text(out, place, len);
	fprintf(out, "%*s  %u ", len < PLACE_WIDTH ? (int)(PLACE_WIDTH - len) : 0, "", row->tid);
	escape_text(out, comm, comm_len);
	putc('\n', out);
}

int wait_list_put(const struct wait_graph *g, const struct syscall_names *calls, FILE *out)
{
	struct list l = { .g = g,
			  .names = intern_new(),
			  .entries = calloc(g->nr + 1, sizeof(*l.entries)),
			  .groups = calloc(g->nr + 1, sizeof(*l.groups)) };
	int err = l.names && l.entries && l.groups ? add_entries(&l, calls) : -ENOMEM;

	if (!err) {
		make_groups(&l);
		fprintf(out, "%8s  %14s  %-18s  %-*s  %s\n", "threads", "longest, s", "system call",
			PLACE_WIDTH, "kernel function", "that thread");
		for (size_t i = 0; i < l.nr_groups && !ferror(out); i++)
			put_group(&l, &l.groups[i], out);
	}
	intern_free(l.names);
	free(l.entries);
	free(l.groups);
	return err;
}
