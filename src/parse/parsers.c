/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/parse/parsers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/elf/beside_names.h"
#include "src/elf/debug_name.h"
#include "src/foreign/debug_server.h"
#include "src/foreign/file_opener.h"
#include "src/foreign/wait_budget.h"
#include "src/parse/line_cache.h"
#include "src/parse/parse_protocol.h"
#include "src/symbolize/symbol_batch.h"

#define MAX_LANES 4
#define IDENTITY_LANES 2		/* of root's files and of others */
/* Longer than the largest programs need on a slow and busy machine. */
#define IDENTITY_NS NSEC_PER_SEC
#define TABLE_NS (30 * NSEC_PER_SEC)
#define NAMES_NS (20 * NSEC_PER_SEC)
#define MAX_LATE 2000			/* rounds for the lines of one batch */
/*
 * The lines of one answer, of one file, and of all files of an owner who is not root: enough for
 * the largest programs, and no more than a busy thread for a minute.
 */
#define LINES_NS (10 * NSEC_PER_SEC)
#define FILE_LINES_NS (40 * NSEC_PER_SEC)
#define OWNER_LINES_NS (60 * NSEC_PER_SEC)
#define OWNERS 16			/* further ones count as one */
#define CODE_NS (10 * NSEC_PER_SEC)

/*
 * A parser process. It is given the files of one owner only, until another process takes its place:
 * one that was taken over by a file can then lie about files of that file's owner, and about no
 * others. A fresh process takes 1.3 ms.
 */
struct lane {
	struct helper *helper;
	bool is_busy;
	bool is_used;			/* it was given a file */
	uint32_t owner;			/* of that file */
	uint64_t used;			/* count of calls, as of its last one */
};

struct lanes {
	struct lane v[MAX_LANES];
	unsigned nr;
};

/* What the lines of an owner's files have cost. */
struct lines_cost {
	uint32_t owner;
	uint64_t ns;
};

struct parsers {
	struct file_opener *opener;
	struct debug_server *server;	/* NULL: none is asked */
	struct line_cache *line_cache;	/* NULL: lines are not kept */
	struct lanes identity, perf_map, names, lines, tables, code;
	struct wait_budget *identity_budget;
	struct lines_cost costs[OWNERS];
	unsigned nr_costs;
	uint64_t nr_calls;
	pthread_mutex_t lock;		/* of all but the helpers */
	pthread_cond_t free_lane;
};

/* A request, of whom it is asked, and how long its answer may take. */
struct question {
	struct lanes *lanes;
	struct helper_message message;
	size_t max;			/* bytes of the answer */
	uint32_t owner;			/* of the file */
	/*
	 * Which lane it is to be, if that is the owner's, because a parser keeps symbols: + 1. 0:
	 * any.
	 */
	unsigned wish;
};

static int start_lanes(struct lanes *l, unsigned nr, struct helper_keeper *k,
		       const struct helper_kind *kind)
{
	int err = 0;

	for (; l->nr < nr && !err; l->nr += !err)
		err = helper_new(k, kind, &l->v[l->nr].helper);
	return err;
}

static void end_lanes(struct lanes *l)
{
	for (unsigned i = 0; i < l->nr; i++)
		helper_free(l->v[i].helper);
}

int parsers_new(struct helper_keeper *k, struct file_opener *opener, unsigned nr_threads,
		struct parsers **pp)
{
	unsigned nr = nr_threads < 1 ? 1 : nr_threads > MAX_LANES ? MAX_LANES : nr_threads;
	struct parsers *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->opener = opener;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->free_lane, NULL);
	if (line_cache_new(&p->line_cache))
		p->line_cache = NULL;
	p->identity_budget = wait_budget_new();
	err = p->identity_budget ? start_lanes(&p->identity, IDENTITY_LANES, k, &table_parser_kind)
				 : -ENOMEM;
	if (!err)
		err = start_lanes(&p->perf_map, 1, k, &name_parser_kind);
	if (!err)
		err = start_lanes(&p->names, nr, k, &name_parser_kind);
	if (!err)
		err = start_lanes(&p->lines, 1, k, &line_parser_kind);
	if (!err)
		err = start_lanes(&p->tables, nr, k, &table_parser_kind);
	if (!err)
		err = start_lanes(&p->code, 1, k, &table_parser_kind);
	if (err)
		parsers_free(p);
	else
		*pp = p;
	return err;
}

void parsers_ask_server(struct parsers *p, struct debug_server *server)
{
	p->server = server;
}

void parsers_free(struct parsers *p)
{
	if (!p)
		return;
	end_lanes(&p->identity);
	end_lanes(&p->perf_map);
	end_lanes(&p->names);
	end_lanes(&p->lines);
	end_lanes(&p->tables);
	end_lanes(&p->code);
	wait_budget_free(p->identity_budget);
	line_cache_free(p->line_cache);
	pthread_cond_destroy(&p->free_lane);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- lanes ---- */

/* How well a lane fits: the owner's own one, else an unused one, else any. */
static int fit(const struct lane *l, const struct question *q)
{
	return l->is_used ? l->owner == q->owner ? 2 : 0 : 1;
}

/* The free lane that fits best; of these that which was not used for longest. NULL: none. */
static struct lane *best_free_lane(const struct question *q)
{
	struct lane *best = NULL;

	for (unsigned i = 0; i < q->lanes->nr; i++) {
		struct lane *l = &q->lanes->v[i];

		if (!l->is_busy && (!best || fit(l, q) > fit(best, q) ||
				    (fit(l, q) == fit(best, q) && l->used < best->used)))
			best = l;
	}
	return best;
}

/* The lane that was wished for, or else one of the owner's. NULL: it is busy. */
static struct lane *wished_lane(const struct question *q)
{
	struct lane *wish = &q->lanes->v[(q->wish - 1) % q->lanes->nr], *l = wish;

	for (unsigned i = 0; i < q->lanes->nr && !fit(wish, q); i++)
		if (fit(&q->lanes->v[i], q) > fit(l, q))
			l = &q->lanes->v[i];
	return l->is_busy ? NULL : l;
}

static struct lane *take_lane(struct parsers *p, const struct question *q)
{
	struct lane *l;
	bool is_others;

	pthread_mutex_lock(&p->lock);
	while (!(l = q->wish ? wished_lane(q) : best_free_lane(q)))
		pthread_cond_wait(&p->free_lane, &p->lock);
	is_others = l->is_used && l->owner != q->owner;
	l->is_busy = l->is_used = true;
	l->owner = q->owner;
	l->used = ++p->nr_calls;
	pthread_mutex_unlock(&p->lock);
	if (is_others)
		helper_restart(l->helper);
	return l;
}

static void give_lane(struct parsers *p, struct lane *l)
{
	pthread_mutex_lock(&p->lock);
	l->is_busy = false;
	pthread_cond_broadcast(&p->free_lane);
	pthread_mutex_unlock(&p->lock);
}

/*
 * A parser may be killed for what others have done (for want of memory), and its answer is missing
 * until the end of the recording. So a file counts as unreadable when a second parser has ended.
 * The time counts from when the lane is free, for both together. 0 or -errno, also that of the
 * answer.
 */
static int call(struct parsers *p, const struct question *q, uint64_t ns, struct helper_wait wait,
		struct helper_message *answer)
{
	struct lane *l = take_lane(p, q);
	int err;

	if (ns)
		wait.until_ns = now_ns() + ns;
	err = helper_call(l->helper, &q->message, q->max, &wait, answer);
	if (err == -EPIPE)
		err = helper_call(l->helper, &q->message, q->max, &wait, answer);
	give_lane(p, l);
	return err ? err : parse_take_status(answer);
}

/* ---- identity ---- */

/*
 * Most files are read where they are, and a file system that is on top of another one (overlayfs)
 * may have a server beneath that does not answer. So whoever maps such files pays for the time that
 * is lost.
 */
int parse_identity(struct parsers *p, int fd, pid_t pid, uint32_t owner, struct elf_identity *out)
{
	const struct question q = {
		.lanes = &p->identity, .max = PARSE_MAX_IDENTITY, .owner = owner,
		.message = { .op = PARSE_IDENTITY, .fds = { fd }, .nr_fds = 1 },
	};
	uid_t user = wait_budget_user(p->identity_budget, pid, owner);
	uint64_t begin = now_ns(), end;
	uint64_t limit_ns = wait_budget_ask(p->identity_budget, user, begin, IDENTITY_NS);
	struct helper_message answer;
	int err;

	if (!limit_ns)
		return -EBUSY;
	err = call(p, &q, 0, (struct helper_wait){ .until_ns = begin + limit_ns }, &answer);
	end = now_ns();
	(err == -ETIMEDOUT ? wait_budget_hung : wait_budget_pay)(p->identity_budget, user, end,
								 end - begin);
	if (!err)
		err = parse_take_identity(&answer, out);
	helper_message_release(&answer);
	return err;
}

/* ---- tables ---- */

int parse_table(struct parsers *p, const struct parse_table_request *r, struct unwind_table **tp)
{
	const struct question q = {
		.lanes = &p->tables, .max = PARSE_MAX_TABLE, .owner = r->owner,
		.message = { .op = PARSE_TABLE,
			     .part = { { (void *)r->pages, r->nr_pages * sizeof(*r->pages) } },
			     .fds = { r->fd }, .nr_fds = 1 },
	};
	struct helper_message answer;
	int err = call(p, &q, TABLE_NS, (struct helper_wait){ .unwanted = r->unwanted }, &answer);

	*tp = NULL;
	if (!err)
		err = parse_take_table(&answer, tp);
	helper_message_release(&answer);
	if (err) {
		unwind_table_free(*tp);
		*tp = NULL;
	}
	return err;
}

/* ---- windows of generated code ---- */

/* All bytes of the pieces behind each other. NULL: no memory. */
static uint8_t *join_pieces(const struct code_window *in, size_t *len)
{
	uint8_t *bytes, *at;

	*len = 0;
	for (size_t i = 0; i < in->nr_pieces; i++)
		*len += in->pieces[i].len;
	at = bytes = malloc(*len + 1);
	for (size_t i = 0; at && i < in->nr_pieces; i++, at += in->pieces[i - 1].len)
		memcpy(at, in->pieces[i].code, in->pieces[i].len);
	return bytes;
}

int parse_code(struct parsers *p, const struct code_window *in, uint32_t owner,
	       const atomic_bool *unwanted, struct unwind_table **tp, struct code_wants *wants)
{
	struct code_piece pieces[CODE_MAX_PIECES];	/* without our own addresses */
	struct code_head head = { (uint32_t)in->nr_pins, (uint32_t)in->nr_seeds };
	size_t pins = in->nr_pins * sizeof(*in->pins), seeds = in->nr_seeds * sizeof(*in->seeds);
	uint8_t known[CODE_MAX_PINS * sizeof(*in->pins) + CODE_MAX_SEEDS * sizeof(*in->seeds)];
	size_t len;
	uint8_t *bytes = join_pieces(in, &len);
	const struct question q = {
		.lanes = &p->code, .max = PARSE_MAX_CODE, .owner = owner,
		.message = { .op = PARSE_CODE,
			     .part = { { &head, sizeof(head) },
				       { pieces, in->nr_pieces * sizeof(*pieces) },
				       { bytes, len },
				       { known, pins + seeds } } },
	};
	struct helper_message answer = { 0 };
	int err;

	*tp = NULL;
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_pieces; i++)
		pieces[i] = (struct code_piece){ .len = in->pieces[i].len,
						 .addr = in->pieces[i].addr };
	if (pins)
		memcpy(known, in->pins, pins);
	memcpy(known + pins, in->seeds, seeds);
	err = call(p, &q, CODE_NS, (struct helper_wait){ .unwanted = unwanted }, &answer);
	if (!err)
		err = parse_take_code(&answer, in, tp, wants);
	helper_message_release(&answer);
	free(bytes);
	if (err) {
		unwind_table_free(*tp);
		*tp = NULL;
	}
	return err;
}

/* ---- names ---- */

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
	fd = debug_server_find(n->p->server, name->build_id, name->build_id_len, n->wait.unwanted);
	if (fd >= 0)
		add_debug_file(fd, request);
}

static struct line_cache_key cache_key(const struct symbol_file *file)
{
	return (struct line_cache_key){ file->notes->build_id, file->notes->build_id_len,
					file->owner };
}

/*
 * Puts into the request what a parser needs to load the symbols: what may be the debug file by the
 * name in its answer, and the cache file.
 */
static void add_files(const struct names_question *n, const struct helper_message *answer,
		      struct names_head *head, struct helper_message *request)
{
	struct symbol_file_notes *notes = n->file->notes;
	struct line_cache_key key;
	struct debug_name name;
	int fd;

	head->load = 1;
	if (parse_take_debug_name(answer, &name))
		return;
	memcpy(notes->build_id, name.build_id, sizeof(notes->build_id));
	notes->build_id_len = name.build_id_len;
	add_debug_files(n, &name, lacks_debug_info(answer), request);
	if (!n->max_depth)
		return;
	key = cache_key(n->file);
	fd = line_cache_open(n->p->line_cache, &key);
	head->has_cache = fd >= 0;
	head->keeps_cache = n->p->line_cache && key.build_id_len;
	if (fd >= 0)
		request->fds[request->nr_fds++] = fd;
}

/*
 * Opens the files that answers wait for. Their names count from the debug file, if there is one.
 */
static size_t open_beside(const struct names_question *n, struct beside_file v[BESIDE_MAX])
{
	const struct symbol_file *file = n->file;
	struct debug_name name = { .build_id_len = file->notes->build_id_len };
	struct stat st = { .st_dev = file->inode.dev, .st_ino = file->inode.ino,
			   .st_uid = file->inode.uid };
	struct beside_query q = { .pid = file->pid, .path = file->path, .st = &st, .from = file->fd,
				  .names = &n->beside };
	int fds[DEBUG_FILES_MAX];
	size_t nr, nr_debug;

	memcpy(name.build_id, file->notes->build_id, sizeof(name.build_id));
	nr_debug = file_opener_debug(n->p->opener, file->pid, file->path, &st, &name, fds);
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

/* Has a batch answered; *nr_late: as of parse_take_names(). */
static int ask_names(struct names_question *n, struct symbol_batch *b, uint32_t *nr_late)
{
	uint32_t which[BESIDE_MAX];
	struct names_head head = { .binary = n->file->binary, .no_demangle = b->no_demangle,
				   .max_depth = n->max_depth };
	struct question q = {
		.lanes = n->max_depth ? &n->p->lines : &n->p->names,
		.max = PARSE_MAX_NAMES + b->nr * sizeof(*b->v),
		.owner = n->file->owner, .wish = n->file->binary % MAX_LANES + 1,
		.message = { .op = PARSE_NAMES,
			     .part = { { &head, sizeof(head) }, { b->v, b->nr * sizeof(*b->v) } },
			     .fds = { n->file->fd }, .nr_fds = 1 },
	};
	struct helper_message answer;
	struct line_cache_key key;
	uint64_t ns = n->max_depth ? LINES_NS : NAMES_NS;
	int err;

	add_beside(n, &head, &q.message, which);
	err = call(n->p, &q, ns, n->wait, &answer);
	close_added(&q.message);
	n->beside.nr = 0;
	if (err == -EAGAIN) {
		head.nr_beside = 0;
		q.message.part[2].len = 0;
		add_known_debug_files(n->file, &q.message);
		add_files(n, &answer, &head, &q.message);
		helper_message_release(&answer);
		err = call(n->p, &q, ns, n->wait, &answer);
		close_added(&q.message);
	}
	if (!err)
		err = parse_take_names(&answer, n->file, b, nr_late);
	if (!err && !parse_take_beside(&answer, &n->beside))
		n->beside.nr = 0;
	key = cache_key(n->file);
	if (!err)
		line_cache_append(n->p->line_cache, &key, answer.part[4].v, answer.part[4].len);
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

/* Where it is kept what the lines of an owner's files have cost; under the lock. */
static struct lines_cost *cost_of(struct parsers *p, uint32_t owner)
{
	for (unsigned i = 0; i < p->nr_costs; i++)
		if (p->costs[i].owner == owner)
			return &p->costs[i];
	if (p->nr_costs == OWNERS)
		return &p->costs[OWNERS - 1];
	p->costs[p->nr_costs].owner = owner;
	return &p->costs[p->nr_costs++];
}

/*
 * What the lines of files of one owner may cost. Root's files may cost what they need. false: no
 * more of them.
 */
static bool may_cost_more(struct parsers *p, const struct symbol_file *file)
{
	bool may;

	if (!file->owner)
		return true;
	pthread_mutex_lock(&p->lock);
	may = cost_of(p, file->owner)->ns < OWNER_LINES_NS;
	pthread_mutex_unlock(&p->lock);
	return may && file->notes->lines_ns < FILE_LINES_NS;
}

static void add_cost(struct parsers *p, struct symbol_file *file, uint64_t ns)
{
	file->notes->lines_ns += ns;
	pthread_mutex_lock(&p->lock);
	cost_of(p, file->owner)->ns += ns;
	pthread_mutex_unlock(&p->lock);
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
	uint32_t nr_late = (uint32_t)b->nr;
	int err = file->notes->are_lines_bad;

	for (size_t i = 0; i < b->nr; i++)
		b->v[i].is_late = 1;
	for (unsigned i = 0; !err && nr_late && i < MAX_LATE && !atomic_load(unwanted); i++) {
		uint64_t begin = now_ns();

		err = may_cost_more(n.p, file) ? ask_late(&n, b, &nr_late) : -EBUSY;
		add_cost(n.p, file, now_ns() - begin);
	}
	file->notes->are_lines_bad |= err == -EPIPE || err == -ETIMEDOUT || err == -EPROTO;
}

/* ---- maps of generated code ---- */

static int search(struct parsers *p, struct question *q, uint64_t size,
		  const struct helper_wait *wait, struct map_search *s)
{
	struct map_head head = { .size = size, .mark = s->mark, .is_growing = s->is_growing };
	struct helper_message answer;
	int err, taken = 0;

	q->lanes = &p->perf_map;
	q->max = PARSE_MAX_NAMES + s->nr * sizeof(*s->v);
	q->message.part[0] = (struct message_part){ s->v, s->nr * sizeof(*s->v) };
	q->message.part[1] = (struct message_part){ &head, sizeof(head) };
	q->message.nr_fds = 1;
	perf_map_sort(s->v, s->nr);		/* as the answers will be */
	err = call(p, q, 0, *wait, &answer);
	/* Names found before an error count. */
	if (answer.part[0].v && (!err || err == -E2BIG || err == -EIO))
		taken = parse_take_queries(&answer, s->v, s->nr, size, &s->mark, s->names);
	helper_message_release(&answer);
	return taken ? taken : err;
}

int parse_perf_map(struct parsers *p, int fd, const struct stat *st, const struct helper_wait *wait,
		   struct map_search *s)
{
	struct question q = { .owner = st->st_uid,
			      .message = { .op = PARSE_PERF_MAP, .fds = { fd } } };

	return search(p, &q, (uint64_t)st->st_size, wait, s);
}

int parse_jitdump(struct parsers *p, int fd, uint32_t owner, const struct helper_wait *wait,
		  struct map_search *s)
{
	struct question q = { .owner = owner,
			      .message = { .op = PARSE_JITDUMP, .fds = { fd } } };

	return search(p, &q, UINT64_MAX, wait, s);
}
