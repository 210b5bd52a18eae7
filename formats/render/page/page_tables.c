/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns are kept apart because equal numbers compress well. */
#include "formats/render/page/page_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/render/escape.h"
#include "formats/render/page/page_functions.h"
#include "formats/render/page/page_message.h"
#include "src/base/array.h"
#include "src/base/intern.h"
#include "src/model/definition_store.h"
#include "src/profile/program_name.h"

int page_tables_init(struct page_tables *t)
{
	*t = (struct page_tables){ .strings = intern_new() };
	return t->strings && intern_str(t->strings, "") == 0 ? 0 : -ENOMEM;
}

void page_tables_release(struct page_tables *t)
{
	intern_free(t->strings);
	ix_release(&t->process_lives);
	ix_release(&t->thread_lives);
	free(t->processes);
	free(t->threads);
	*t = (struct page_tables){ .nr_threads = 0 };
}

/* ---- lives ---- */

/* The lives of threads, or of processes: a member of each row, stride bytes apart. */
struct life_list {
	const struct page_life *v;	/* of row 0 */
	size_t stride;
	const struct page_life *wanted;
};

static bool is_life(const void *ctx, uint32_t at)
{
	const struct life_list *l = ctx;
	const struct page_life *a = (const void *)((const char *)l->v + at * l->stride);
	const struct page_life *b = l->wanted;

	return a->id == b->id && a->pid == b->pid && a->start_ns == b->start_ns &&
	       (a->start_ns || a->segment == b->segment);
}

static uint64_t life_hash(const struct page_life *life)
{
	uint64_t hash = hash_u64(hash_u64(life->id, life->pid), life->start_ns);

	return hash_u64(hash, life->start_ns ? 0 : life->segment);
}

/* Fills in the first row of the life of row at. 0 or -ENOMEM. */
static int find_first(struct life_list *l, struct hash_index *index, struct page_life *life,
		      uint32_t at)
{
	uint64_t hash = life_hash(life);
	uint32_t first;

	l->wanted = life;
	first = life->id ? ix_find(index, hash, is_life, l) : at;
	life->first = first == IX_NONE ? at : first;
	return first == IX_NONE ? ix_add(index, hash, at) : 0;
}

/* ---- rows ---- */

static uint32_t string_of(struct page_tables *t, const struct definition_store *tables, uint32_t id)
{
	size_t len;
	const char *s = definition_store_string(tables, id, &len);

	return intern_bytes(t->strings, s, len);
}

static uint32_t program_of(struct page_tables *t, const struct page_origin *of)
{
	size_t len;
	const char *s = program_name(of->tables, of->process, &len);

	return intern_bytes(t->strings, s, len);
}

static uint32_t title_of(struct page_tables *t, const struct page_origin *of)
{
	size_t len;
	const char *s = process_title(of->tables, of->process, &len);

	return intern_bytes(t->strings, s, len);
}

int page_tables_process(struct page_tables *t, const struct page_origin *of, uint32_t *process)
{
	struct page_process *p = array_push(&t->processes, &t->nr_processes, &t->cap_processes);
	const struct rec_process *rec = of->process;
	struct life_list lives;

	if (!p)
		return -ENOMEM;
	*process = (uint32_t)t->nr_processes - 1;
	*p = (struct page_process){ .pid = of->pid };
	if (rec)
		*p = (struct page_process){ of->pid, title_of(t, of),
					    program_of(t, of),
					    string_of(t, of->tables, rec->cgroup), rec->uid,
					    { .start_ns = rec->start_boottime_ns } };
	if (p->name == IX_NONE || p->program == IX_NONE || p->cgroup == IX_NONE)
		return -ENOMEM;
	p->life = (struct page_life){ p->life.start_ns, p->pid, p->pid, of->segment, 0 };
	lives = (struct life_list){ &t->processes[0].life, sizeof(*p), NULL };
	return find_first(&lives, &t->process_lives, &p->life, *process);
}

int page_tables_thread(struct page_tables *t, const struct page_origin *of, uint32_t process,
		       uint32_t *thread)
{
	struct page_thread *row = array_push(&t->threads, &t->nr_threads, &t->cap_threads);
	const struct rec_thread *rec = of->thread;
	struct life_list lives;

	if (!row)
		return -ENOMEM;
	*thread = (uint32_t)t->nr_threads - 1;
	*row = (struct page_thread){
		.tid = rec ? rec->tid + 1 : 0,
		.name = rec ? string_of(t, of->tables, rec->comm)
			    : intern_str(t->strings, "[missing]"),
		.process = process,
	};
	if (row->name == IX_NONE)
		return -ENOMEM;
	row->life = (struct page_life){ rec ? rec->start_boottime_ns : 0, row->tid,
					t->processes[process].pid, of->segment, 0 };
	lives = (struct life_list){ &t->threads[0].life, sizeof(*row), NULL };
	return find_first(&lives, &t->thread_lives, &row->life, *thread);
}

/* ---- sections ---- */

static void put_strings(const struct page_tables *t, uint32_t from, struct byte_buf *out)
{
	struct byte_buf b = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	if (from == intern_count(t->strings))
		return;
	f = open_memstream(&text, &len);
	for (uint32_t i = from; f && i < intern_count(t->strings); i++) {
		size_t n;
		const char *s = intern_get(t->strings, i, &n);

		escape_text(f, s, n);
		putc('\n', f);
	}
	if (!f || fclose(f))
		out->bad = true;
	bb_uv(&b, from);
	bb_bytes(&b, text, text ? len : 0);
	page_message_section(out, "strings", &b);
	free(text);
}

static void put_processes(const struct page_tables *t, uint32_t from, struct byte_buf *out)
{
	const struct page_process *v = t->processes;
	struct byte_buf b = { 0 };

	if (from == t->nr_processes)
		return;
	page_begin_columns(&b, from, t->nr_processes);
	PAGE_PUT_COLUMN(&b, from, t->nr_processes, v[i].pid);
	PAGE_PUT_COLUMN(&b, from, t->nr_processes, v[i].name);
	PAGE_PUT_COLUMN(&b, from, t->nr_processes, v[i].program);
	PAGE_PUT_COLUMN(&b, from, t->nr_processes, v[i].cgroup);
	PAGE_PUT_COLUMN(&b, from, t->nr_processes, v[i].uid);
	PAGE_PUT_COLUMN(&b, from, t->nr_processes, v[i].life.first);
	page_message_section(out, "processes", &b);
}

static void put_threads(const struct page_tables *t, uint32_t from, struct byte_buf *out)
{
	const struct page_thread *v = t->threads;
	struct byte_buf b = { 0 };

	if (from == t->nr_threads)
		return;
	page_begin_columns(&b, from, t->nr_threads);
	PAGE_PUT_COLUMN(&b, from, t->nr_threads, v[i].tid);
	PAGE_PUT_COLUMN(&b, from, t->nr_threads, v[i].name);
	PAGE_PUT_COLUMN(&b, from, t->nr_threads, v[i].process);
	PAGE_PUT_COLUMN(&b, from, t->nr_threads, v[i].life.first);
	page_message_section(out, "threads", &b);
}

static void put_functions(const struct page_functions *f, uint32_t from, struct byte_buf *out)
{
	struct byte_buf b = { 0 };

	if (from == f->nr)
		return;
	page_begin_columns(&b, from, f->nr);
	for (size_t field = 0; field < PAGE_FUNCTION_FIELDS; field++)
		PAGE_PUT_COLUMN(&b, from, f->nr, page_function_field(&f->v[i], field));
	page_message_section(out, "functions", &b);
}

void page_tables_put(const struct page_tables *t, const struct page_functions *f,
		     const struct page_rows *known, struct byte_buf *out)
{
	put_strings(t, known->strings, out);
	put_processes(t, known->processes, out);
	put_threads(t, known->threads, out);
	put_functions(f, known->functions, out);
}

struct page_rows page_tables_rows(const struct page_tables *t, const struct page_functions *f)
{
	return (struct page_rows){ .strings = intern_count(t->strings),
				   .processes = (uint32_t)t->nr_processes,
				   .threads = (uint32_t)t->nr_threads,
				   .functions = (uint32_t)f->nr };
}
