/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/foreign/file_opener.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/io.h"
#include "src/base/task_state.h"
#include "src/elf/debug_name.h"
#include "src/foreign/kept_file.h"
#include "src/foreign/sealed_file.h"
#include "src/foreign/wait_budget.h"
#include "src/proc/procfs.h"
#include "src/rights/capabilities.h"

/*
 * On a machine whose CPUs may all be busy; but a scan each second is to be complete nevertheless.
 */
#define OPEN_NS (700 * NSEC_PER_MSEC)
#define COPY_NS (2 * NSEC_PER_SEC)
#define COPY_STALL_NS (500 * NSEC_PER_MSEC)
#define MAX_COPY_BYTES (128u << 20)
/* Several parsers read a copy: none of them may change it for the others, or make it grow. */
#define COPY_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)
#define CHUNK_BYTES (64 * 1024)
#define MAX_MESSAGE 65536

enum opener_op { OPEN_MAPPED, OPEN_AGAIN, OPEN_COPY, OPEN_DEBUG, OPEN_BESIDE, OPEN_PERF_MAP,
		 OPEN_BENEATH, OPENER_OPS };

/*
 * Part 0 of a request; part 1 is the path, part 2 the struct debug_name or struct beside_names,
 * whose file is descriptor 0 of the message.
 */
struct request {
	pid_t pid;
	struct proc_map map;		/* .path is of no use */
	struct process_tmp tmp;		/* .dir is descriptor 0 of the message */
	struct stat st;			/* of the binary whose debug file is wanted */
};

/* ---- in the helper ---- */

static int copy_file(int from, int to, const struct stat *st)
{
	static char chunk[CHUNK_BYTES];
	uint64_t done = 0;
	ssize_t n;

	if (st->st_size > MAX_COPY_BYTES)
		return -EFBIG;
	while ((n = io_pread(from, chunk, sizeof(chunk), done)) > 0) {
		if (!done && (n < SELFMAG || memcmp(chunk, ELFMAG, SELFMAG)))
			return -ENOEXEC;
		if (done + (uint64_t)n > MAX_COPY_BYTES)
			return -EFBIG;
		if (io_write(to, chunk, (size_t)n, NULL))
			return -EIO;
		done += (uint64_t)n;
	}
	return (int)n;
}

/* What it had mapped cannot be told any more: of one that is dead, /proc has the name alone. */
static bool has_ended(pid_t pid)
{
	return strchr("ZX?", task_state(pid, pid));
}

static int open_mapped(pid_t pid, const struct proc_map *map, struct stat *st, bool *is_unsure)
{
	int fd = foreign_open_mapped(pid, map, st);

	if (fd >= 0)
		return fd;
	*is_unsure = true;
	fd = foreign_open_mapped_now(pid, map, st);
	return fd < 0 && has_ended(pid) ? -ESRCH : fd;
}

static int serve_copy(const struct request *r, const struct proc_map *map,
		      const struct helper_message *m, struct stat *st)
{
	int fd = m->nr_fds ? foreign_open_mapped(r->pid, map, st) : -EINVAL;
	int err = fd < 0 ? fd : copy_file(fd, m->fds[0], st);

	if (fd >= 0)
		close(fd);
	return err;
}

static int serve_perf_map(const struct request *r, const struct helper_message *m, struct stat *st)
{
	struct process_tmp tmp = r->tmp;

	tmp.dir = m->nr_fds ? m->fds[0] : -1;
	return foreign_open_perf_map(&tmp, st);
}

static int open_beneath(const struct helper_message *m, struct stat *st)
{
	static const struct foreign_want any;

	return m->nr_fds ? foreign_open(m->fds[0], m->part[1].v, &any, st) : -EINVAL;
}

/*
 * Answers with what form makes of the file, which is closed before it is told of: a helper that
 * hangs here hangs over this file and no other.
 */
static void answer_form(struct helper_message *answer, int fd, int (*form)(int fd))
{
	int given = fd < 0 ? fd : form(fd);

	if (fd >= 0)
		close(fd);
	answer->status = given < 0 ? given : 0;
	if (given >= 0)
		answer->fds[answer->nr_fds++] = given;
}

static void answer_fd(struct helper_message *answer, int fd)
{
	answer_form(answer, fd, kept_file_new);
}

static void answer_again(struct helper_message *answer, const struct helper_message *m)
{
	answer_form(answer, m->nr_fds ? kept_file_open(m->fds[0]) : -EINVAL, sealed_file_new);
}

static void answer_debug(struct helper_message *answer, const struct request *r,
			 const struct helper_message *m)
{
	int fds[DEBUG_FILES_MAX];
	size_t nr;

	if (m->part[2].len != sizeof(struct debug_name))
		return;
	nr = foreign_open_debug(r->pid, m->part[1].v, &r->st, m->part[2].v, fds);
	for (size_t i = 0; i < nr; i++)
		answer_fd(answer, fds[i]);
	answer->status = 0;
}

/* A copy in memory has no place. -1: there is none. */
static int open_from(const struct helper_message *m)
{
	int fd = m->nr_fds && kept_file_is(m->fds[0]) ? kept_file_open(m->fds[0]) : -1;

	return fd < 0 ? -1 : fd;
}

static void answer_beside(struct helper_message *answer, const struct request *r,
			  const struct helper_message *m)
{
	static uint32_t names[BESIDE_MAX];
	struct beside_file files[BESIDE_MAX];
	size_t nr, nr_sealed = 0;
	int from;

	if (m->part[2].len != sizeof(struct beside_names) ||
	    !beside_names_are_sound(m->part[2].v))
		return;
	from = open_from(m);
	nr = foreign_open_beside(r->pid, m->part[1].v, &r->st, from, m->part[2].v, files);
	if (from >= 0)
		close(from);
	for (size_t i = 0; i < nr; i++) {
		answer_fd(answer, files[i].fd);
		if (answer->nr_fds > nr_sealed)
			names[nr_sealed++] = files[i].name;
	}
	answer->part[2] = (struct message_part){ names, nr_sealed * sizeof(*names) };
	answer->status = 0;
}

static void serve(void *state, struct helper_message *m, struct helper_message *answer)
{
	static struct stat st;		/* the helper serves one request at a time */
	static bool is_unsure;		/* the file may be another one (OPEN_MAPPED) */
	const struct request *r = m->part[0].v;
	const char *path = m->part[1].v;
	struct proc_map map;

	(void)state;
	answer->status = -EINVAL;
	if (m->part[0].len != sizeof(*r))
		return;
	map = r->map;
	map.path = path;
	memset(&st, 0, sizeof(st));
	is_unsure = false;
	switch ((enum opener_op)m->op) {
	case OPEN_MAPPED: answer_fd(answer, open_mapped(r->pid, &map, &st, &is_unsure)); break;
	case OPEN_AGAIN: answer_again(answer, m); break;
	case OPEN_COPY: answer->status = serve_copy(r, &map, m, &st); break;
	case OPEN_PERF_MAP: answer_fd(answer, serve_perf_map(r, m, &st)); break;
	case OPEN_BENEATH: answer_fd(answer, open_beneath(m, &st)); break;
	case OPEN_DEBUG: answer_debug(answer, r, m); break;
	case OPEN_BESIDE: answer_beside(answer, r, m); break;
	case OPENER_OPS: break;
	}
	answer->part[0] = (struct message_part){ &st, sizeof(st) };
	answer->part[1] = (struct message_part){ &is_unsure, sizeof(is_unsure) };
}

static void done(void *state, struct helper_message *answer)
{
	(void)state;
	for (size_t i = 0; i < answer->nr_fds; i++)
		close(answer->fds[i]);
}

/* A file is opened through /proc/self/fd (foreign_file.h). */
static int begin(void **state)
{
	(void)state;
	rights_own_proc();
	return 0;
}

const struct helper_kind file_opener_kind = {
	.name = "probee-opener",
	.begin = begin,
	.is_urgent = true,
	.serve = serve,
	.done = done,
	.max_request = MAX_MESSAGE,
	.gives_fds = true,
};

/* ---- in probee ---- */

/* One helper for each question. */
struct asker {
	pthread_mutex_t turn;		/* so that nobody pays for the questions of others */
	struct helper *helper;
	struct wait_budget *budget;
};

struct file_opener {
	struct asker askers[OPENER_OPS];
};

int file_opener_new(struct helper_keeper *k, struct file_opener **op)
{
	struct file_opener *o = calloc(1, sizeof(*o));
	int err = o ? 0 : -ENOMEM;

	for (size_t i = 0; i < OPENER_OPS && !err; i++) {
		pthread_mutex_init(&o->askers[i].turn, NULL);
		o->askers[i].budget = wait_budget_new();
		err = !o->askers[i].budget
			      ? -ENOMEM
			      : helper_new(k, &file_opener_kind, &o->askers[i].helper);
	}
	if (err)
		file_opener_free(o);
	else
		*op = o;
	return err;
}

void file_opener_free(struct file_opener *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < OPENER_OPS; i++) {
		helper_free(o->askers[i].helper);
		wait_budget_free(o->askers[i].budget);
		pthread_mutex_destroy(&o->askers[i].turn);
	}
	free(o);
}

static int ask_in_turn(struct asker *a, uid_t user, struct helper_message *m,
		       struct helper_wait *wait, uint64_t limit_ns, struct helper_message *answer)
{
	uint64_t begin = now_ns(), spent_ns = 0;
	int err;

	limit_ns = wait_budget_ask(a->budget, user, begin, limit_ns);
	if (!limit_ns)
		return -EBUSY;
	wait->until_ns = begin + limit_ns;
	wait->spent_ns = &spent_ns;
	err = helper_call(a->helper, m, MAX_MESSAGE, wait, answer);
	wait->spent_ns = NULL;
	(err == -ETIMEDOUT ? wait_budget_hung : wait_budget_pay)(a->budget, user, now_ns(),
								 spent_ns);
	return err ? err : answer->status;
}

/*
 * Sends the request and waits for its answer, whose status it returns. Sets wait->until_ns. user
 * pays for the time.
 */
static int ask(struct file_opener *o, uid_t user, struct helper_message *m,
	       struct helper_wait *wait, uint64_t limit_ns, struct helper_message *answer)
{
	struct asker *a = &o->askers[m->op];
	int err;

	pthread_mutex_lock(&a->turn);
	err = ask_in_turn(a, user, m, wait, limit_ns, answer);
	pthread_mutex_unlock(&a->turn);
	return err;
}

/* Who pays for a question about a file that pid has mapped. */
static uid_t user_of(struct file_opener *o, enum opener_op op, pid_t pid, uid_t owner)
{
	return wait_budget_user(o->askers[op].budget, pid, owner);
}

uid_t file_opener_user(struct file_opener *o, pid_t pid)
{
	return user_of(o, OPEN_MAPPED, pid, WAIT_BUDGET_NOBODY);
}

uid_t file_opener_user_was(struct file_opener *o, uid_t real, uid_t effective)
{
	return wait_budget_user_was(o->askers[OPEN_MAPPED].budget, real, effective);
}

static struct message_part path_part(const char *path)
{
	size_t len = path ? strnlen(path, PATH_MAX) : 0;

	return (struct message_part){ (void *)(path ? path : ""), len };
}

static void take_stat(const struct helper_message *answer, struct stat *st)
{
	if (answer->part[0].len == sizeof(*st))
		memcpy(st, answer->part[0].v, sizeof(*st));
}

/* The fd of the answer; consumes the answer. */
static int take_answer(int err, struct helper_message *answer, struct stat *st)
{
	int fd = err ? err : helper_take_fd(answer, 0);

	if (!err)
		take_stat(answer, st);
	helper_message_release(answer);
	return !err && fd < 0 ? -EPROTO : fd;
}

int file_opener_mapped(struct file_opener *o, pid_t pid, const struct proc_map *map,
		       struct stat *st, bool *is_unsure)
{
	struct request r = { .pid = pid, .map = *map };
	uid_t user = user_of(o, OPEN_MAPPED, pid, WAIT_BUDGET_NOBODY);
	struct helper_message answer = { 0 };
	struct helper_message m = { .op = OPEN_MAPPED,
				    .part = { { &r, sizeof(r) }, path_part(map->path) } };
	struct helper_wait wait = { 0 };
	int err = ask(o, user, &m, &wait, OPEN_NS, &answer);

	*is_unsure = !answer.part[1].len || *(char *)answer.part[1].v;
	return take_answer(err, &answer, st);
}

int file_opener_again(struct file_opener *o, int kept, uint64_t dev)
{
	struct request r = { 0 };
	struct helper_message answer = { 0 };
	struct helper_message m = { .op = OPEN_AGAIN, .part = { { &r, sizeof(r) } },
				    .fds = { kept }, .nr_fds = 1 };
	struct helper_wait wait = { 0 };
	struct stat st;

	return take_answer(ask(o, wait_budget_file_system(dev), &m, &wait, OPEN_NS, &answer),
			   &answer, &st);
}

int file_opener_perf_map(struct file_opener *o, const struct process_tmp *tmp,
			 const struct helper_wait *wait, struct stat *st)
{
	struct request r = { .tmp = *tmp };
	struct helper_message answer = { 0 };
	struct helper_message m = { .op = OPEN_PERF_MAP, .part = { { &r, sizeof(r) } },
				    .fds = { tmp->dir }, .nr_fds = 1 };
	struct helper_wait own = *wait;
	uint64_t now = now_ns();
	uid_t user;

	if (tmp->dir < 0)
		return -ENOENT;
	if (wait->until_ns <= now)
		return -ETIMEDOUT;
	user = wait_budget_user_was(o->askers[OPEN_PERF_MAP].budget, tmp->real_uid, tmp->uid);
	return take_answer(ask(o, user, &m, &own, wait->until_ns - now, &answer), &answer, st);
}

int file_opener_beneath(struct file_opener *o, int dir, const char *path, struct stat *st)
{
	struct request r = { 0 };
	struct helper_message answer = { 0 };
	struct helper_message m = { .op = OPEN_BENEATH,
				    .part = { { &r, sizeof(r) }, path_part(path) },
				    .fds = { dir }, .nr_fds = 1 };
	struct helper_wait wait = { 0 };

	return take_answer(ask(o, WAIT_BUDGET_NOBODY, &m, &wait, OPEN_NS, &answer), &answer, st);
}

size_t file_opener_debug(struct file_opener *o, pid_t pid, const char *path, const struct stat *st,
			 const struct debug_name *name, int fds[DEBUG_FILES_MAX])
{
	struct request r = { .pid = pid, .st = *st };
	struct helper_message answer = { 0 };
	struct helper_message m = {
		.op = OPEN_DEBUG,
		.part = { { &r, sizeof(r) }, path_part(path), { (void *)name, sizeof(*name) } },
	};
	uid_t user = user_of(o, OPEN_DEBUG, pid, st->st_uid);
	struct helper_wait wait = { 0 };
	size_t nr = 0;

	if (!ask(o, user, &m, &wait, OPEN_NS, &answer))
		for (; nr < answer.nr_fds && nr < DEBUG_FILES_MAX; nr++)
			fds[nr] = helper_take_fd(&answer, nr);
	helper_message_release(&answer);
	return nr;
}

/* Takes the files out of an answer: as many as have a name. */
static size_t take_beside(struct helper_message *answer, const struct beside_names *names,
			  struct beside_file files[BESIDE_MAX])
{
	const uint32_t *of = answer->part[2].v;
	size_t nr = answer->part[2].len / sizeof(*of), n = 0;

	for (size_t i = 0; i < nr && i < answer->nr_fds && n < BESIDE_MAX; i++)
		if (of[i] < names->nr)
			files[n++] = (struct beside_file){ helper_take_fd(answer, i), of[i] };
	return n;
}

size_t file_opener_beside(struct file_opener *o, const struct beside_query *q,
			  struct beside_file files[BESIDE_MAX])
{
	struct request r = { .pid = q->pid, .st = *q->st };
	struct helper_message answer = { 0 };
	struct helper_message m = {
		.op = OPEN_BESIDE,
		.part = { { &r, sizeof(r) }, path_part(q->path),
			  { (void *)q->names, sizeof(*q->names) } },
		.fds = { q->from }, .nr_fds = q->from >= 0,
	};
	struct helper_wait wait = { 0 };
	size_t nr = 0;

	if (!q->names->nr || !beside_names_are_sound(q->names))
		return 0;
	if (!ask(o, user_of(o, OPEN_BESIDE, q->pid, q->st->st_uid), &m, &wait, OPEN_NS, &answer))
		nr = take_beside(&answer, q->names, files);
	helper_message_release(&answer);
	return nr;
}

int file_opener_copy(struct file_opener *o, pid_t pid, const struct proc_map *map, struct stat *st)
{
	struct request r = { .pid = pid, .map = *map };
	struct helper_message answer = { 0 };
	int copy = memfd_create("probee", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	struct helper_message m = { .op = OPEN_COPY,
				    .part = { { &r, sizeof(r) }, path_part(map->path) },
				    .fds = { copy }, .nr_fds = 1 };
	struct helper_wait wait = { .grows = copy, .stall_ns = COPY_STALL_NS };
	uid_t user = user_of(o, OPEN_COPY, pid, WAIT_BUDGET_NOBODY);

	if (copy < 0)
		return -errno;
	err = ask(o, user, &m, &wait, COPY_NS, &answer);
	if (!err)
		take_stat(&answer, st);
	helper_message_release(&answer);
	if (!err && fcntl(copy, F_ADD_SEALS, COPY_SEALS))
		err = -errno;
	if (!err)
		return copy;
	close(copy);
	return err;
}
