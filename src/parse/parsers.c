/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/parsers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/elf/debug_name.h"
#include "src/foreign/file_opener.h"
#include "src/parse/parse_protocol.h"
#include "src/symbolize/symbol_batch.h"

#define MAX_LANES 4
/* Longer than the largest programs need on a slow and busy machine. */
#define IDENTITY_NS (2 * NSEC_PER_SEC)
#define TABLE_NS (30 * NSEC_PER_SEC)
#define NAMES_NS (20 * NSEC_PER_SEC)

struct parsers {
	struct file_opener *opener;
	struct helper *identity, *perf_map;
	struct helper *names[MAX_LANES];	/* a binary is always asked of the same one */
	struct helper *tables[MAX_LANES];
	bool busy[MAX_LANES];			/* of tables */
	unsigned nr_lanes;
	pthread_mutex_t lock;			/* of busy */
	pthread_cond_t free_lane;
};

int parsers_new(struct helper_keeper *k, struct file_opener *opener, unsigned nr_threads,
		struct parsers **pp)
{
	struct parsers *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->opener = opener;
	p->nr_lanes = nr_threads < 1 ? 1 : nr_threads > MAX_LANES ? MAX_LANES : nr_threads;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->free_lane, NULL);
	err = helper_new(k, &table_parser_kind, &p->identity);
	if (!err)
		err = helper_new(k, &name_parser_kind, &p->perf_map);
	for (unsigned i = 0; i < p->nr_lanes && !err; i++) {
		err = helper_new(k, &name_parser_kind, &p->names[i]);
		if (!err)
			err = helper_new(k, &table_parser_kind, &p->tables[i]);
	}
	if (err)
		parsers_free(p);
	else
		*pp = p;
	return err;
}

void parsers_free(struct parsers *p)
{
	if (!p)
		return;
	helper_free(p->identity);
	helper_free(p->perf_map);
	for (unsigned i = 0; i < MAX_LANES; i++) {
		helper_free(p->names[i]);
		helper_free(p->tables[i]);
	}
	pthread_cond_destroy(&p->free_lane);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- identity ---- */

static int take_identity(struct helper_message *answer, struct elf_identity *out)
{
	size_t len;

	if (answer->part[0].len != sizeof(*out))
		return -EPROTO;
	memcpy(out, answer->part[0].v, sizeof(*out));
	out->segments = NULL;
	if (out->build_id_len > sizeof(out->build_id) ||
	    answer->part[1].len != out->nr_segments * sizeof(*out->segments))
		return -EPROTO;
	out->segments = helper_take_part(answer, 1, &len);
	return 0;
}

int parse_identity(struct parsers *p, int fd, struct elf_identity *out)
{
	struct helper_message request = { .op = PARSE_IDENTITY, .fds = { fd }, .nr_fds = 1 };
	struct helper_wait wait = { .until_ns = now_ns() + IDENTITY_NS };
	struct helper_message answer;
	int err = helper_call(p->identity, &request, PARSE_MAX_ANSWER, &wait, &answer);

	if (!err)
		err = answer.status;
	if (!err)
		err = take_identity(&answer, out);
	helper_message_release(&answer);
	return err;
}

/* ---- tables ---- */

static unsigned take_lane(struct parsers *p)
{
	unsigned i;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		for (i = 0; i < p->nr_lanes && p->busy[i]; i++)
			;
		if (i < p->nr_lanes)
			break;
		pthread_cond_wait(&p->free_lane, &p->lock);
	}
	p->busy[i] = true;
	pthread_mutex_unlock(&p->lock);
	return i;
}

static void give_lane(struct parsers *p, unsigned i)
{
	pthread_mutex_lock(&p->lock);
	p->busy[i] = false;
	pthread_cond_signal(&p->free_lane);
	pthread_mutex_unlock(&p->lock);
}

static int take_table(struct helper_message *m, struct unwind_table **tp)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	const struct table_head *head = m->part[0].v;
	size_t len;

	if (!t)
		return -ENOMEM;
	*tp = t;
	if (m->part[0].len != sizeof(*head) ||
	    m->part[1].len != head->nr_pages * sizeof(*t->pages) ||
	    m->part[2].len % sizeof(*t->rows) || m->part[3].len % sizeof(*t->rules))
		return -EPROTO;
	t->vaddr_lo = head->vaddr_lo;
	t->nr_pages = head->nr_pages;
	t->pages = helper_take_part(m, 1, &len);
	t->rows = helper_take_part(m, 2, &len);
	t->nr_rows = len / sizeof(*t->rows);
	t->rules = helper_take_part(m, 3, &len);
	t->nr_rules = len / sizeof(*t->rules);
	return unwind_table_is_sound(t) ? 0 : -EPROTO;
}

int parse_table(struct parsers *p, int fd, const atomic_bool *unwanted, struct unwind_table **tp)
{
	struct helper_message request = { .op = PARSE_TABLE, .fds = { fd }, .nr_fds = 1 };
	struct helper_wait wait = { .unwanted = unwanted };
	unsigned lane = take_lane(p);
	struct helper_message answer;
	int err;

	wait.until_ns = now_ns() + TABLE_NS;
	err = helper_call(p->tables[lane], &request, PARSE_MAX_ANSWER, &wait, &answer);
	give_lane(p, lane);
	*tp = NULL;
	if (!err)
		err = answer.status;
	if (!err)
		err = take_table(&answer, tp);
	helper_message_release(&answer);
	if (err) {
		unwind_table_free(*tp);
		*tp = NULL;
	}
	return err;
}

/* ---- names ---- */

/* Takes the answers over, but neither the addresses nor whose they are. */
static int take_names(struct helper_message *m, struct symbol_file *file, struct symbol_batch *b)
{
	const struct names_answer *head = m->part[0].v;
	const struct symbol_answer *v = m->part[1].v;
	size_t len = m->part[2].len;

	if (m->part[0].len != sizeof(*head) || m->part[1].len != b->nr * sizeof(*v) ||
	    len > UINT32_MAX)
		return -EPROTO;
	for (size_t i = 0; i < b->nr; i++) {
		struct symbol_answer *to = &b->v[i];
		uint64_t addr = to->addr;
		uint32_t cookie = to->cookie;

		*to = v[i];
		to->addr = addr;
		to->cookie = cookie;
		to->has_func_addr = v[i].has_func_addr != 0;
		if (to->status >= SYMBOL_STATUSES || to->lang >= LANGS)
			return -EPROTO;
		if (to->name >= len)
			to->name = SYMBOL_NO_NAME;
		if (to->sysname >= len)
			to->sysname = SYMBOL_NO_NAME;
	}
	file->flags = head->flags;
	b->text.v = helper_take_part(m, 2, &b->text.nr);
	b->text.cap = b->text.nr;
	return 0;
}

static int ask_names(struct parsers *p, const struct symbol_file *file,
		     const struct helper_message *request, const atomic_bool *unwanted,
		     struct helper_message *answer)
{
	struct helper_wait wait = { .until_ns = now_ns() + NAMES_NS, .unwanted = unwanted };
	struct helper *h = p->names[file->binary % p->nr_lanes];
	int err = helper_call(h, request, PARSE_MAX_ANSWER, &wait, answer);

	return err ? err : answer->status;
}

/* Opens what may be the debug file by the name in answer, and adds it to the request. */
static void add_debug_files(struct parsers *p, const struct symbol_file *file,
			    const struct helper_message *answer, struct helper_message *request)
{
	const struct debug_name *name = answer->part[0].v;
	struct debug_name checked;
	struct stat st;

	if (answer->part[0].len != sizeof(*name) || fstat(file->fd, &st))
		return;
	checked = *name;
	checked.link[sizeof(checked.link) - 1] = 0;
	if (checked.build_id_len > sizeof(checked.build_id))
		checked.build_id_len = 0;
	request->nr_fds += file_opener_debug(p->opener, file->pid, file->path, &st, &checked,
					     request->fds + 1);
}

int parse_names(void *parsers, struct symbol_file *file, struct symbol_batch *b,
		const atomic_bool *unwanted)
{
	struct parsers *p = parsers;
	struct names_head head = { .binary = file->binary, .no_demangle = b->no_demangle };
	struct helper_message request = {
		.op = PARSE_NAMES,
		.part = { { &head, sizeof(head) }, { b->v, b->nr * sizeof(*b->v) } },
		.fds = { file->fd }, .nr_fds = 1,
	};
	struct helper_message answer;
	int err = ask_names(p, file, &request, unwanted, &answer);

	if (err == -EAGAIN) {
		add_debug_files(p, file, &answer, &request);
		helper_message_release(&answer);
		head.load = 1;
		err = ask_names(p, file, &request, unwanted, &answer);
		for (size_t i = 1; i < request.nr_fds; i++)
			close(request.fds[i]);
	}
	if (!err)
		err = take_names(&answer, file, b);
	helper_message_release(&answer);
	return err;
}

/* ---- maps of generated code ---- */

static int by_addr(const void *a, const void *b)
{
	const struct perf_map_query *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int take_queries(struct helper_message *m, struct perf_map_query *v, size_t nr,
			struct byte_buf *names)
{
	const struct perf_map_query *got = m->part[0].v;
	size_t len = m->part[1].len, before = names->nr;

	if (m->part[0].len != nr * sizeof(*v) || len > UINT32_MAX - before)
		return -EPROTO;
	bb_bytes(names, m->part[1].v, len);
	bb_bytes(names, "", 1);
	if (names->bad)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (got[i].addr != v[i].addr)
			return -EPROTO;
		if (v[i].name != PERF_MAP_NO_NAME || got[i].name >= len)
			continue;
		v[i].name = (uint32_t)before + got[i].name;
		v[i].start = got[i].start;
	}
	return 0;
}

int parse_perf_map(struct parsers *p, int fd, uint64_t size, uint64_t until_ns,
		   struct perf_map_query *v, size_t nr, struct byte_buf *names)
{
	struct helper_message request = {
		.op = PARSE_PERF_MAP,
		.part = { { v, nr * sizeof(*v) }, { &size, sizeof(size) } },
		.fds = { fd }, .nr_fds = 1,
	};
	struct helper_wait wait = { .until_ns = until_ns };
	struct helper_message answer;
	int err, taken = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_addr);
	err = helper_call(p->perf_map, &request, PARSE_MAX_ANSWER, &wait, &answer);
	/* Names found before an error count. */
	if (!err && (!answer.status || answer.status == -E2BIG || answer.status == -EIO))
		taken = take_queries(&answer, v, nr, names);
	if (!err)
		err = answer.status ? answer.status : taken;
	helper_message_release(&answer);
	return err;
}
