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
#include "src/foreign/wait_budget.h"
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
	struct wait_budget *identity_budget;
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
	p->identity_budget = wait_budget_new();
	err = p->identity_budget ? helper_new(k, &table_parser_kind, &p->identity) : -ENOMEM;
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
	wait_budget_free(p->identity_budget);
	helper_free(p->perf_map);
	for (unsigned i = 0; i < MAX_LANES; i++) {
		helper_free(p->names[i]);
		helper_free(p->tables[i]);
	}
	pthread_cond_destroy(&p->free_lane);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/*
 * A parser may be killed for what others have done (for want of memory), and its answer is missing
 * until the end of the recording. So a file counts as unreadable when a second parser has ended.
 */
static int call(struct helper *h, const struct helper_message *request, size_t max,
		const struct helper_wait *wait, struct helper_message *answer)
{
	int err = helper_call(h, request, max, wait, answer);

	return err == -EPIPE ? helper_call(h, request, max, wait, answer) : err;
}

/* ---- identity ---- */

/*
 * Most files are read where they are, and a file system that is on top of another one (overlayfs)
 * may have a server beneath that does not answer. So whoever maps such files pays for the time that
 * is lost.
 */
int parse_identity(struct parsers *p, int fd, pid_t pid, uid_t owner, struct elf_identity *out)
{
	struct helper_message request = { .op = PARSE_IDENTITY, .fds = { fd }, .nr_fds = 1 };
	uid_t user = wait_budget_user(p->identity_budget, pid, owner);
	uint64_t begin = now_ns(), end;
	uint64_t limit_ns = wait_budget_ask(p->identity_budget, user, begin, IDENTITY_NS);
	struct helper_wait wait = { .until_ns = begin + limit_ns };
	struct helper_message answer;
	int err;

	if (!limit_ns)
		return -EBUSY;
	err = call(p->identity, &request, PARSE_MAX_IDENTITY, &wait, &answer);
	end = now_ns();
	wait_budget_pay(p->identity_budget, user, end, err ? end - begin : (end - begin) / 2);
	if (!err)
		err = parse_take_status(&answer);
	if (!err)
		err = parse_take_identity(&answer, out);
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

int parse_table(struct parsers *p, int fd, const atomic_bool *unwanted, struct unwind_table **tp)
{
	struct helper_message request = { .op = PARSE_TABLE, .fds = { fd }, .nr_fds = 1 };
	struct helper_wait wait = { .unwanted = unwanted };
	unsigned lane = take_lane(p);
	struct helper_message answer;
	int err;

	wait.until_ns = now_ns() + TABLE_NS;
	err = call(p->tables[lane], &request, PARSE_MAX_TABLE, &wait, &answer);
	give_lane(p, lane);
	*tp = NULL;
	if (!err)
		err = parse_take_status(&answer);
	if (!err)
		err = parse_take_table(&answer, tp);
	helper_message_release(&answer);
	if (err) {
		unwind_table_free(*tp);
		*tp = NULL;
	}
	return err;
}

/* ---- names ---- */

static int ask_names(struct parsers *p, const struct symbol_file *file,
		     const struct helper_message *request, const atomic_bool *unwanted,
		     struct helper_message *answer)
{
	struct helper_wait wait = { .until_ns = now_ns() + NAMES_NS, .unwanted = unwanted };
	struct helper *h = p->names[file->binary % p->nr_lanes];
	int err = call(h, request, PARSE_MAX_NAMES + request->part[1].len, &wait, answer);

	return err ? err : parse_take_status(answer);
}

/* Opens what may be the debug file by the name in answer, and adds it to the request. */
static void add_debug_files(struct parsers *p, const struct symbol_file *file,
			    const struct helper_message *answer, struct helper_message *request)
{
	struct debug_name name;
	struct stat st = { .st_dev = file->inode.dev, .st_ino = file->inode.ino,
			   .st_uid = file->inode.uid };

	if (parse_take_debug_name(answer, &name))
		return;
	request->nr_fds += file_opener_debug(p->opener, file->pid, file->path, &st, &name,
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
		err = parse_take_names(&answer, file, b);
	helper_message_release(&answer);
	return err;
}

/* ---- maps of generated code ---- */

static int by_addr(const void *a, const void *b)
{
	const struct perf_map_query *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int parse_perf_map(struct parsers *p, int fd, uint64_t size, const struct helper_wait *wait,
		   struct perf_map_query *v, size_t nr, struct byte_buf *names)
{
	struct helper_message request = {
		.op = PARSE_PERF_MAP,
		.part = { { v, nr * sizeof(*v) }, { &size, sizeof(size) } },
		.fds = { fd }, .nr_fds = 1,
	};
	struct helper_message answer;
	int err, status, taken = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_addr);
	err = call(p->perf_map, &request, PARSE_MAX_NAMES + nr * sizeof(*v), wait, &answer);
	status = err ? err : parse_take_status(&answer);
	/* Names found before an error count. */
	if (!err && (!status || status == -E2BIG || status == -EIO))
		taken = parse_take_queries(&answer, v, nr, names);
	err = taken ? taken : status;
	helper_message_release(&answer);
	return err;
}
