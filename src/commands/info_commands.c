/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/commands/info_commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/render/escape.h"
#include "formats/render/json_writer.h"
#include "src/base/array.h"
#include "src/base/bisect.h"
#include "src/base/hash_index.h"
#include "src/base/intern.h"
#include "src/base/plural.h"
#include "src/model/definition_store.h"
#include "src/report/report.h"

#define TOP 10

struct command_row {
	uint32_t line, parent;		/* texts: the command line, the parent's name; 0: unknown */
	uint32_t pid, parent_pid;	/* of the first process */
	uint64_t processes;
};

struct command_list {
	struct command_row *v;
	size_t nr, cap;
	struct intern *texts;
	struct hash_index index;
};

struct row_key {
	const struct command_list *l;
	uint32_t line, parent;
};

static bool same_row(const void *ctx, uint32_t id)
{
	const struct row_key *k = ctx;
	const struct command_row *row = &k->l->v[id];

	return row->line == k->line && row->parent == k->parent;
}

static uint32_t keep(struct command_list *l, const struct definition_store *t, uint32_t string)
{
	size_t len;
	const char *text = definition_store_string(t, string, &len);

	return intern_bytes(l->texts, text, len);
}

static int add(struct command_list *l, const struct definition_store *t,
	       const struct rec_process *p)
{
	const struct rec_process *parent = definition_store_find_process(t, p->parent);
	struct row_key k = { l, keep(l, t, p->cmdline), parent ? keep(l, t, parent->comm) : 0 };
	uint64_t hash = hash_u64(k.line, k.parent);
	uint32_t id = ix_find(&l->index, hash, same_row, &k);
	struct command_row *row;

	if (k.line == IX_NONE || k.parent == IX_NONE)
		return -ENOMEM;
	if (id != IX_NONE) {
		l->v[id].processes++;
		return 0;
	}
	row = array_push(&l->v, &l->nr, &l->cap);
	if (!row)
		return -ENOMEM;
	*row = (struct command_row){ k.line, k.parent, p->tgid, parent ? parent->tgid : 0, 1 };
	return ix_add(&l->index, hash, (uint32_t)l->nr - 1);
}

static int by_processes(const void *x, const void *y)
{
	const struct command_row *a = x, *b = y;

	if (a->processes != b->processes)
		return COMPARE(b->processes, a->processes);
	return COMPARE(a->line, b->line);	/* as they came */
}

static void release(struct command_list *l)
{
	free(l->v);
	intern_free(l->texts);
	ix_release(&l->index);
}

static int list(struct command_list *l, const struct report *rep)
{
	const struct definition_store *t;
	int err;

	memset(l, 0, sizeof(*l));
	l->texts = intern_new();
	err = l->texts ? 0 : -ENOMEM;
	for (uint32_t s = 0; !err && (t = report_tables(rep, s)); s++) {
		for (uint32_t id = 1; !err && id < definition_store_id_end(t, REC_PROCESS); id++) {
			const struct rec_process *p = definition_store_find_process(t, id);

			if (p && p->cmdline)
				err = add(l, t, p);
		}
	}
	if (l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), by_processes);
	return err;
}

static void put_text(const struct command_list *l, uint32_t text)
{
	size_t len;
	const char *s = intern_get(l->texts, text, &len);

	escape_text(stdout, s, len);
}

static void put_row(const struct command_list *l, const struct command_row *row)
{
	printf("%10" PRIu64 "  %7" PRIu32 "  ", row->processes, row->pid);
	put_text(l, row->line);
	if (row->parent_pid) {
		fputs("  from ", stdout);
		put_text(l, row->parent);
		printf(" (%" PRIu32 ")", row->parent_pid);
	}
	putchar('\n');
}

int info_put_commands(const struct report *rep)
{
	struct command_list l;
	int err = list(&l, rep);

	if (!err && l.nr)
		puts("\ncommand lines\n"
		     " processes    first  command line, and the parent of the first");
	for (size_t i = 0; !err && i < l.nr && i < TOP; i++)
		put_row(&l, &l.v[i]);
	if (!err && l.nr > TOP)
		printf("            ... and %zu more %s\n", l.nr - TOP,
		       plural(l.nr - TOP, "command line", "command lines"));
	release(&l);
	return err;
}

static void json_text(struct json_writer *w, const char *key, const struct command_list *l,
		      uint32_t text)
{
	size_t len;
	const char *s = intern_get(l->texts, text, &len);

	json_key(w, key);
	json_string(w, s, len);
}

int info_json_commands(struct json_writer *w, const struct report *rep)
{
	struct command_list l;
	int err = list(&l, rep);

	json_key(w, "commands");
	json_begin(w, '[');
	for (size_t i = 0; !err && i < l.nr; i++) {
		json_begin(w, '{');
		json_put_u64(w, "processes", l.v[i].processes);
		json_put_u64(w, "pid", l.v[i].pid);
		json_text(w, "command_line", &l, l.v[i].line);
		if (l.v[i].parent_pid) {
			json_put_u64(w, "parent_pid", l.v[i].parent_pid);
			json_text(w, "parent", &l, l.v[i].parent);
		}
		json_end(w, '}');
	}
	json_end(w, ']');
	release(&l);
	return err;
}
