/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/render/waits/wait_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/waits/wait_table.h"
#include "formats/render/waits/wait_text.h"
#include "src/base/intern.h"
#include "src/model/syscall_names.h"
#include "src/model/definition_store.h"
#include "src/waits/wait_graph.h"
#include "src/waits/wait_place.h"

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

/*
 * No function of the kernel has a longer name, but a trace may say so of each thread. Threads of
 * the kernel that have nothing to do are all the same.
 */
static uint32_t place_of(struct list *l, const struct rec_sample *rec, char buf[FRAME_TEXT_MAX])
{
	bool is_idle = rec->end == END_KTHREAD &&
		       (rec->state == TASK_IDLE || rec->state == TASK_SLEEPING ||
			rec->state == TASK_PARKED);
	const char *place = is_idle ? "" : wait_place(l->g->tables, rec->kstack, buf);

	return intern_bytes(l->names, place, strnlen(place, PLACE_BYTES));
}

static int add_entries(struct list *l, const struct syscall_names *calls)
{
	char number[WAIT_CALL_MAX], buf[FRAME_TEXT_MAX];

	for (uint32_t i = 0; i < l->g->nr; i++) {
		const struct wait_row *row = &l->g->rows[i];
		struct entry *e = &l->entries[l->nr];

		if (row->absent || !row->passes)
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

static void put_group(const struct list *l, const struct group *group, struct wait_table *t)
{
	const struct entry *e = &l->entries[group->first];
	const struct wait_row *row = &l->g->rows[e->row];
	char sum[WAIT_SECONDS_MAX];
	size_t len;
	const char *place = intern_get(l->names, e->place, &len);

	fprintf(t->cell, "%zu", group->nr);
	wait_table_cell(t);
	fputs(e->ns == UINT64_MAX ? "-" : wait_seconds(e->ns, sum), t->cell);
	wait_table_cell(t);
	fputs(intern_get(l->names, e->call, NULL), t->cell);
	wait_table_cell(t);
	escape_text(t->cell, place, len);
	wait_table_cell(t);
	wait_put_comm(l->g->tables, row, t->cell);
	fprintf(t->cell, " %u", row->tid);
	wait_table_tail(t);
	if (row->tgid != row->tid)
		wait_put_process(l->g->tables, row, t->cell);
	wait_table_cell(t);
}

static int put_groups(const struct list *l, uint32_t columns, FILE *out)
{
	static const char *const names[] = {
		"threads", "longest", "system call", "kernel function", "that thread",
	};
	struct wait_table t;
	int err = wait_table_open(&t, sizeof(names) / sizeof(names[0]), 1 << 3);

	for (size_t i = 0; !err && i < sizeof(names) / sizeof(names[0]); i++) {
		fputs(names[i], t.cell);
		wait_table_cell(&t);
	}
	for (size_t i = 0; !err && i < l->nr_groups; i++)
		put_group(l, &l->groups[i], &t);
	if (!err)
		err = wait_table_put(&t, columns, out);
	wait_table_close(&t);
	return err;
}

int wait_list_put(const struct wait_graph *g, const struct syscall_names *calls, uint32_t columns,
		  FILE *out)
{
	struct list l = { .g = g,
			  .names = intern_new(),
			  .entries = calloc(g->nr + 1, sizeof(*l.entries)),
			  .groups = calloc(g->nr + 1, sizeof(*l.groups)) };
	int err = l.names && l.entries && l.groups ? add_entries(&l, calls) : -ENOMEM;

	if (!err) {
		make_groups(&l);
		err = put_groups(&l, columns, out);
	}
	intern_free(l.names);
	free(l.entries);
	free(l.groups);
	return err;
}
