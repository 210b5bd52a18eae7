/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions for the names of a file, and then for its inlined functions and lines. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/elf/beside_names.h"
#include "src/elf/debug_name.h"
#include "src/foreign/debug_server.h"
#include "src/foreign/file_opener.h"
#include "src/parse/line_cache.h"
#include "src/parse/lines_costs.h"
#include "src/parse/parse_protocol.h"
#include "src/parse/parsers.h"
#include "src/parse/parsers_parts.h"
#include "src/symbolize/symbol_batch.h"

#define NAMES_NS (20 * NSEC_PER_SEC)
#define MAX_LATE 2000			/* rounds for the lines of one batch */
/* The lines of one answer, and of one file whose owner is not root: see also lines_costs.c. */
#define LINES_NS (10 * NSEC_PER_SEC)
#define FILE_LINES_NS (40 * NSEC_PER_SEC)

/* A question for the names and lines of a file. */
struct names_question {
	struct parsers *p;
	struct symbol_file *file;
	struct helper_wait wait;
	unsigned max_depth;
	struct beside_names beside;	/* files that answers wait for */
};

/* The last place is for the cache file. */
static void add_debug_file(int fd, struct helper_message *request)
{
	if (request->nr_fds < MESSAGE_FDS - 1)
		request->fds[request->nr_fds++] = fd;
	else
		close(fd);
}

/* Duplicates, because all but the first file of a request are closed behind it. */
static void add_known_debug_files(const struct symbol_file *file, struct helper_message *request)
{
	for (size_t i = 0; i < file->nr_debug_fds; i++) {
		int fd = fcntl(file->debug_fds[i], F_DUPFD_CLOEXEC, 3);

		if (fd >= 0)
			add_debug_file(fd, request);
	}
}

/* true: the binary has no debug information of its own. */
static bool lacks_debug_info(const struct helper_message *answer)
{
	const struct names_answer *head = answer->part[1].v;

	return answer->part[1].len == sizeof(*head) && !(head->flags & BINARY_HAS_DEBUGINFO);
}

/* Servers are asked once, for the names, which come before the lines. */
static int from_server(const struct names_question *n, const struct debug_name *name)
{
	struct symbol_file_notes *notes = n->file->notes;
	int fd;

	if (!n->max_depth && !notes->server_fd) {
		fd = debug_server_find(n->p->server, name->build_id, name->build_id_len,
				       n->wait.unwanted);
		notes->server_fd = fd < 0 ? 0 : fd + 1;
	}
	return notes->server_fd ? fcntl(notes->server_fd - 1, F_DUPFD_CLOEXEC, 3) : -1;
}

/* Adds what may be the debug file, from this machine or else from a server. */
static void add_debug_files(const struct names_question *n, const struct debug_name *name,
			    bool ask_server, struct helper_message *request)
{
	const struct symbol_file *file = n->file;
	struct stat st = { .st_dev = file->inode.dev, .st_ino = file->inode.ino,
			   .st_uid = file->inode.uid };
	int fds[DEBUG_FILES_MAX], fd;
	size_t nr = file_opener_debug(n->p->opener, file->pid, file->path, &st, name, fds);

	for (size_t i = 0; i < nr; i++)
		add_debug_file(fds[i], request);
	if (!n->p->server || request->nr_fds > 1 || !ask_server)
		return;
	fd = from_server(n, name);
	if (fd >= 0)
		add_debug_file(fd, request);
}

static struct cache_key cache_key(const struct symbol_file *file)
{
	const struct debug_name *name = &file->notes->debug;

	return cache_key_of(name->build_id, name->build_id_len, file->owner, &file->inode);
}

/*
 * Puts into the request what a parser needs to load the symbols: what may be the debug file by the
 * name in its answer, and the cache file.
 */
static void add_files(const struct names_question *n, const struct helper_message *answer,
		      struct names_head *head, struct helper_message *request)
{
	struct debug_name *name = &n->file->notes->debug;
	struct cache_key key;
	int fd;

	head->load = 1;
	if (parse_take_debug_name(answer, name))
		return;
	add_debug_files(n, name, lacks_debug_info(answer), request);
	if (!n->max_depth)
		return;
	key = cache_key(n->file);
	fd = line_cache_open(n->p->cache, &key);
	head->has_cache = fd >= 0;
	head->keeps_cache = n->p->cache && key.build_id_len;
	if (fd >= 0)
		request->fds[request->nr_fds++] = fd;
}

/*
 * Opens the files that answers wait for. Their names count from the debug file, if there is one.
 */
static size_t open_beside(const struct names_question *n, struct beside_file v[BESIDE_MAX])
{
	const struct symbol_file *file = n->file;
	struct stat st = { .st_dev = file->inode.dev, .st_ino = file->inode.ino,
			   .st_uid = file->inode.uid };
	struct beside_query q = { .pid = file->pid, .path = file->path, .st = &st, .from = file->fd,
				  .names = &n->beside };
	int fds[DEBUG_FILES_MAX];
	size_t nr, nr_debug;

	nr_debug = file_opener_debug(n->p->opener, file->pid, file->path, &st,
				     &file->notes->debug, fds);
	if (nr_debug)
		q.from = fds[0];
	else if (file->nr_debug_fds)
		q.from = file->debug_fds[0];
	nr = file_opener_beside(n->p->opener, &q, v);
	for (size_t i = 0; i < nr_debug; i++)
		close(fds[i]);
	return nr;
}

/* Puts these files into the request; which: their names. */
static void add_beside(const struct names_question *n, struct names_head *head,
		       struct helper_message *request, uint32_t which[BESIDE_MAX])
{
	struct beside_file v[BESIDE_MAX];
	size_t nr = n->beside.nr ? open_beside(n, v) : 0;

	for (size_t i = 0; i < nr; i++) {
		request->fds[request->nr_fds++] = v[i].fd;
		which[i] = v[i].name;
	}
	head->nr_beside = (uint32_t)nr;
	request->part[2] = (struct message_part){ which, nr * sizeof(*which) };
}

static void close_added(struct helper_message *request)
{
	while (request->nr_fds > 1)
		close(request->fds[--request->nr_fds]);
}

/*
 * Sends a request, with the files that its answers wait for. A parser that does not have the file
 * yet says how it names its debug files; then it is asked again, with all that it needs.
 */
static int send_names(struct names_question *n, struct question *q, struct names_head *head,
		      struct helper_message *answer)
{
	uint64_t ns = n->max_depth ? LINES_NS : NAMES_NS;
	uint32_t which[BESIDE_MAX];
	int err;

	add_beside(n, head, &q->message, which);
	err = parsers_call(n->p, q, ns, n->wait, answer);
	close_added(&q->message);
	n->beside.nr = 0;
	if (err != -EAGAIN)
		return err;
	head->nr_beside = 0;
	q->message.part[2].len = 0;
	add_known_debug_files(n->file, &q->message);
	add_files(n, answer, head, &q->message);
	helper_message_release(answer);
	err = parsers_call(n->p, q, ns, n->wait, answer);
	close_added(&q->message);
	return err;
}

/* Has a batch answered; *nr_late: as of parse_take_names(). */
static int ask_names(struct names_question *n, struct symbol_batch *b, uint32_t *nr_late)
{
	struct names_head head = { .binary = n->file->binary, .no_demangle = b->no_demangle,
				   .max_depth = n->max_depth, .is_kernel = n->file->is_kernel,
				   .text_start = n->file->text_start };
	struct question q = {
		.lanes = n->max_depth ? &n->p->lines : &n->p->names,
		.max = PARSE_MAX_NAMES + b->nr * sizeof(*b->v),
		.owner = n->file->owner, .dev = n->file->inode.dev,
		.wish = n->file->binary % MAX_LANES + 1,
		.message = { .op = PARSE_NAMES,
			     .part = { { &head, sizeof(head) }, { b->v, b->nr * sizeof(*b->v) } },
			     .fds = { n->file->fd }, .nr_fds = 1 },
	};
	struct helper_message answer;
	struct cache_key key;
	int err = send_names(n, &q, &head, &answer);

	if (!err)
		err = parse_take_names(&answer, n->file, b, nr_late);
	if (!err) {
		if (!parse_take_beside(&answer, &n->beside))
			n->beside.nr = 0;
		key = cache_key(n->file);
		line_cache_append(n->p->cache, &key, answer.part[4].v, answer.part[4].len);
	}
	helper_message_release(&answer);
	return err;
}

/* Asks for those answers again that were late. */
static int ask_late(struct names_question *n, struct symbol_batch *b, uint32_t *nr_late)
{
	struct symbol_batch late = { .no_demangle = b->no_demangle };
	int err = symbol_batch_take_late(b, &late);

	if (!err)
		err = ask_names(n, &late, nr_late);
	if (!err)
		err = symbol_batch_join(b, &late);
	symbol_batch_release(&late);
	free(late.v);
	return err;
}

/* false: no more lines of this file. Root's files may cost what they need. */
static bool may_cost_more(const struct parsers *p, const struct symbol_file *file)
{
	if (!file->owner || p->takes_time)
		return true;
	return file->notes->lines_ns < FILE_LINES_NS &&
	       lines_costs_may(p->lines_costs, file->owner);
}

static void add_cost(const struct parsers *p, struct symbol_file *file, uint64_t ns)
{
	file->notes->lines_ns += ns;
	lines_costs_add(p->lines_costs, file->owner, ns);
}

int parse_names(void *parsers, struct symbol_file *file, struct symbol_batch *b,
		const atomic_bool *unwanted)
{
	struct names_question n = {
		.p = parsers, .file = file, .wait = { .unwanted = unwanted },
	};
	uint32_t nr_late;

	return ask_names(&n, b, &nr_late);
}

/*
 * Debug information may be made to break its reader, or to keep it busy. The answers have their
 * names already, and keep them whatever becomes of the lines.
 */
void parse_lines(void *parsers, struct symbol_file *file, struct symbol_batch *b,
		 const atomic_bool *unwanted)
{
	struct names_question n = {
		.p = parsers, .file = file, .wait = { .unwanted = unwanted },
		.max_depth = file->max_depth,
	};
	uint32_t nr_late = 0;
	int err = file->notes->are_lines_bad;

	for (size_t i = 0; i < b->nr; i++)
		nr_late += b->v[i].is_late = !b->v[i].is_variable;
	for (unsigned i = 0; !err && nr_late && i < MAX_LATE && !atomic_load(unwanted); i++) {
		uint64_t begin = now_ns();

		err = may_cost_more(n.p, file) ? ask_late(&n, b, &nr_late) : -EBUSY;
		add_cost(n.p, file, now_ns() - begin);
	}
	file->notes->are_lines_bad |= err == -EPIPE || err == -ETIMEDOUT || err == -EPROTO;
}
