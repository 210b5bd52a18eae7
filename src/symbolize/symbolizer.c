/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/symbolizer.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/no_answer.h"
#include "src/base/patience.h"
#include "src/base/worker.h"
#include "src/model/record.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/kernel_symbols.h"
#include "src/symbolize/symbol_batch.h"
#include "src/symbolize/symbolizer_parts.h"

#define DEFAULT_TABLE_BYTES (16u << 20)
#define LOOK_MS 50			/* how often patience is asked */

/* ---- in a worker thread ---- */

static void load_table(struct subject *b)
{
	struct elf_symbols_source src = { .fd = b->src.fd, .data = b->src.data, .len = b->src.len };

	if (b->err || b->table || b->kernel)
		return;
	if (b->src.kind == SOURCE_KERNEL) {
		if (b->src.data)
			return;
		b->err = kernel_symbols_load(&b->kernel);
	} else if (b->src.kind == SOURCE_ELF && b->src.fd < 0) {
		b->err = b->src.err ? b->src.err : -ENOENT;
	} else {
		src.fd = b->src.kind == SOURCE_ELF ? src.fd : -1;
		b->err = elf_symbols_load(&src, &b->table);
	}
}

/* Variables are asked for so rarely here that they are not kept. */
static void answer_elf_here(const struct subject *s, struct symbol_batch *b)
{
	const struct elf_symbols_source src = {
		.fd = s->src.kind == SOURCE_ELF ? s->src.fd : -1,
		.data = s->src.data, .len = s->src.len,
	};
	struct elf_symbols *variables = NULL;

	symbol_batch_load_variables(b, &src, &variables);
	symbol_batch_elf(b, s->table, variables);
	elf_symbols_free(variables);
}

static void answer_here(struct subject *s, struct symbol_batch *b)
{
	load_table(s);
	if (s->table)
		answer_elf_here(s, b);
	else if (s->kernel || (s->src.kind == SOURCE_KERNEL && s->src.data))
		symbol_batch_kernel(b, s->kernel ? s->kernel : s->src.data);
	else
		symbol_batch_fail(b, s->err);
}

/*
 * Has the batch answered elsewhere. An error holds for the binary, except that of the end, and that
 * of helpers that somebody has killed.
 */
static void answer_elsewhere(struct subject *s, struct batch *job)
{
	const struct symbolizer_options *o = &job->owner->opts;
	struct symbol_file file = symbolizer_file_of(s, 0, &s->notes);
	int err = s->err ? s->err : o->look_up(o->ctx, &file, &job->b, job->job.unwanted);

	job->is_lost = is_no_answer(err);
	if (err == -ECANCELED)
		symbol_batch_fail(&job->b, -ETIMEDOUT);
	else if (err == -EOWNERDEAD)
		symbol_batch_fail(&job->b, err);
	else if (err)
		symbol_batch_fail(&job->b, s->err = err);
}

static void run_batch(struct worker_job *j)
{
	struct batch *job = (struct batch *)j;
	struct subject *s = job->subject;

	if (s->src.kind == SOURCE_ELF && s->src.fd >= 0 && job->owner->opts.look_up)
		answer_elsewhere(s, job);
	else
		answer_here(s, &job->b);
}

/* ---- in the owner's thread ---- */

static void drop_table(struct symbolizer *s, struct subject *b)
{
	assert(!b->is_open && s->table_bytes >= b->table_bytes);
	s->table_bytes -= b->table_bytes;
	b->table_bytes = 0;
	elf_symbols_free(b->table);
	b->table = NULL;
}

/* Drops the least used tables, but never the last used: it would be loaded again at once. */
static void drop_tables(struct symbolizer *s)
{
	while (s->table_bytes > s->opts.max_table_bytes) {
		struct subject *oldest = NULL;

		for (size_t i = 0; i < s->nr_subjects; i++) {
			struct subject *b = s->subjects[i];

			if (b && !b->is_open && b->table && b->last_used != s->nr_batches &&
			    (!oldest || b->last_used < oldest->last_used))
				oldest = b;
		}
		if (!oldest)
			return;
		drop_table(s, oldest);
	}
}

static void batch_done(struct worker_job *j, bool cancelled);

/* Moves pending requests into a batch. NULL: none is pending, or no memory; they stay pending. */
static struct batch *make_batch(struct symbolizer *s, struct subject *b)
{
	struct batch *job = b->is_open || !b->nr_pending ? NULL : calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->job.run = run_batch;
	job->job.done = batch_done;
	job->owner = s;
	job->subject = b;
	job->generation = s->generation;
	job->b.no_demangle = s->opts.no_demangle;
	job->b.v = b->pending;
	job->b.nr = b->nr_pending;
	assert(s->nr_pending >= b->nr_pending);
	s->nr_pending -= b->nr_pending;
	b->pending = NULL;
	b->nr_pending = b->cap_pending = 0;
	b->is_open = true;
	b->nr_batches++;
	s->nr_open++;
	return job;
}

static void submit(struct symbolizer *s, struct subject *b)
{
	struct batch *job = s->pool ? make_batch(s, b) : NULL;

	if (job)
		worker_submit(s->pool, &job->job);
}

static void batch_done(struct worker_job *j, bool cancelled)
{
	struct batch *job = (struct batch *)j;
	struct symbolizer *s = job->owner;
	struct subject *b = job->subject;

	assert(s->nr_open && b->is_open);
	s->nr_open--;
	for (size_t i = 0; cancelled && i < job->b.nr; i++)
		job->b.v[i].status = SYMBOL_LIMITED;
	s->nr_lost += (cancelled || job->is_lost) && job->generation == s->generation ? job->b.nr
										     : 0;
	b->is_open = false;
	b->last_used = ++s->nr_batches;
	if (b->table && !b->table_bytes) {
		b->table_bytes = elf_symbols_bytes(b->table);
		b->notes.flags = elf_symbols_flags(b->table);
		s->table_bytes += b->table_bytes;
	}
	if (!cancelled && job->generation == s->generation && symbolizer_wants_lines(s, job)) {
		job->next = s->waiting;
		s->waiting = job;
		symbolizer_start_lines(s);
	} else {
		symbolizer_put_answered(s, job);
	}
	drop_tables(s);
	if (!cancelled)
		submit(s, b);
}

struct symbolizer *symbolizer_new(struct worker_pool *pool, const struct symbolizer_options *opts)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->pool = pool;
	s->opts = *opts;
	if (!s->opts.max_table_bytes)
		s->opts.max_table_bytes = DEFAULT_TABLE_BYTES;
	s->kernel.src = (struct symbol_source){ .kind = SOURCE_KERNEL, .fd = -1 };
	s->unknown.src = (struct symbol_source){ .kind = SOURCE_ELF, .fd = -1 };
	s->answered_tail = &s->answered;
	return s;
}

void symbolizer_wait_for_jobs(struct symbolizer *s)
{
	struct pollfd pfd = { .fd = worker_fd(s->pool), .events = POLLIN };

	poll(&pfd, 1, LOOK_MS);
	worker_reap(s->pool);
}

static void close_files(const struct symbol_source *src)
{
	if (src->fd >= 0)
		close(src->fd);
	for (size_t i = 0; i < src->nr_debug_fds; i++)
		close(src->debug_fds[i]);
}

static void release_subject(struct symbolizer *s, struct subject *b)
{
	drop_table(s, b);
	kernel_symbols_free(b->kernel);
	close_files(&b->src);
	if (b->notes.server_fd)
		close(b->notes.server_fd - 1);
	free((char *)b->src.path);
	free(b->pending);
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	symbolizer_free_batches(s->waiting);
	s->waiting = NULL;
	for (size_t i = 0; i < s->nr_subjects; i++)
		if (s->subjects[i])
			s->subjects[i]->nr_pending = 0;
	s->kernel.nr_pending = s->unknown.nr_pending = 0;
	while (s->nr_open)
		symbolizer_wait_for_jobs(s);
	symbolizer_free_batches(s->answered);
	symbolizer_free_batches(s->adding);
	symbolizer_free_batches(s->waiting);
	for (size_t i = 0; i < s->nr_subjects; i++) {
		if (s->subjects[i])
			release_subject(s, s->subjects[i]);
		free(s->subjects[i]);
	}
	release_subject(s, &s->kernel);
	release_subject(s, &s->unknown);
	free(s->subjects);
	free(s);
}

static struct subject *new_subject(const struct symbol_source *src)
{
	struct subject *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->src = *src;
	b->src.fd = src->kind == SOURCE_ELF ? src->fd : -1;
	b->src.path = src->path ? strdup(src->path) : NULL;
	if (src->path && !b->src.path) {
		free(b);
		return NULL;
	}
	return b;
}

static int make_place(struct symbolizer *s, uint32_t binary)
{
	if (array_reserve(&s->subjects, &s->cap_subjects, (size_t)binary + 1))
		return -ENOMEM;
	if (binary >= s->nr_subjects)
		s->nr_subjects = (size_t)binary + 1;
	return 0;
}

/* All kernel binaries are one subject, which has the symbols and the file of the first. */
static void add_kernel(struct symbolizer *s, const struct symbol_source *src)
{
	struct symbol_source *k = &s->kernel.src;

	if (s->kernel.is_open || s->kernel.kernel || k->data || !src->data) {
		close_files(src);
		return;
	}
	*k = *src;
	k->path = NULL;
	k->is_kernel = true;
}

int symbolizer_add(struct symbolizer *s, uint32_t binary, const struct symbol_source *src)
{
	struct subject *b = NULL;
	int err = make_place(s, binary);

	if (!err && !s->subjects[binary]) {
		b = new_subject(src);
		err = b ? 0 : -ENOMEM;
		s->subjects[binary] = b;
		if (b)
			b->id = binary;
	}
	if (b && src->kind == SOURCE_KERNEL)
		add_kernel(s, src);
	else if (!b)
		close_files(src);
	return err;
}

int symbolizer_fd(const struct symbolizer *s, uint32_t binary)
{
	const struct subject *b = binary < s->nr_subjects ? s->subjects[binary] : NULL;

	return b ? b->src.fd : -1;
}

const struct symbol_inode *symbolizer_inode(const struct symbolizer *s, uint32_t binary)
{
	const struct subject *b = binary < s->nr_subjects ? s->subjects[binary] : NULL;

	return b && b->src.fd >= 0 ? &b->src.inode : NULL;
}

/* The binary, if it is that of a file and no thread uses what is known of it. */
static struct subject *idle_subject(struct symbolizer *s, uint32_t binary)
{
	struct subject *b = binary < s->nr_subjects ? s->subjects[binary] : NULL;

	return b && b->src.kind == SOURCE_ELF && !b->nr_batches && !b->nr_pending ? b : NULL;
}

void symbolizer_close_file(struct symbolizer *s, uint32_t binary)
{
	struct subject *b = idle_subject(s, binary);

	if (!b)
		return;
	drop_table(s, b);
	close_files(&b->src);
	if (b->src.fd >= 0)
		b->src.err = -EMFILE;
	b->src.fd = -1;
	b->src.nr_debug_fds = 0;
}

void symbolizer_give_file(struct symbolizer *s, uint32_t binary, const struct symbol_source *src)
{
	struct subject *b = idle_subject(s, binary);
	char *path = b && b->src.fd < 0 && src->path ? strdup(src->path) : NULL;

	if (!path) {
		close_files(src);
		return;
	}
	free((char *)b->src.path);
	b->src = *src;
	b->src.path = path;
	b->err = 0;
}

static struct subject *subject_of(struct symbolizer *s, uint32_t binary)
{
	struct subject *b = binary < s->nr_subjects ? s->subjects[binary] : NULL;

	if (!b)
		return &s->unknown;
	return b->src.kind == SOURCE_KERNEL ? &s->kernel : b;
}

/* question: addr, cookie, and what kind of address it is. */
static int request(struct symbolizer *s, uint32_t binary, const struct symbol_answer *question)
{
	struct subject *b = subject_of(s, binary);
	struct symbol_answer *r = array_push(&b->pending, &b->nr_pending, &b->cap_pending);

	if (!r)
		return -ENOMEM;
	*r = *question;
	r->name = r->sysname = SYMBOL_NO_NAME;
	s->nr_pending++;
	submit(s, b);
	return 0;
}

int symbolizer_request(struct symbolizer *s, uint32_t binary, uint32_t cookie, uint64_t addr,
		       bool is_return)
{
	return request(s, binary, &(struct symbol_answer){ .addr = addr, .cookie = cookie,
							   .is_return = is_return });
}

int symbolizer_request_variable(struct symbolizer *s, uint32_t binary, uint32_t cookie,
				uint64_t addr)
{
	return request(s, binary, &(struct symbol_answer){ .addr = addr, .cookie = cookie,
							   .is_variable = 1 });
}

static const char *text_at(const struct symbol_batch *b, uint32_t at)
{
	return at == SYMBOL_NO_NAME ? NULL : (const char *)b->text.v + at;
}

static int give(const struct symbol_batch *b, const struct symbol_answer *r, symbol_fn fn,
		void *ctx)
{
	struct symbol_line lines[SYMBOL_MAX_DEPTH], *last;
	struct symbol sym = {
		.status = r->status,
		.lang = r->lang,
		.func_flags = r->func_flags,
		.name = text_at(b, r->name),
		.sysname = text_at(b, r->sysname),
		.has_func_addr = r->has_func_addr,
		.func_addr = r->func_addr,
		.are_lines_lost = r->is_late,
		.lack = r->lack,
		.lines = lines,
	};

	for (; sym.nr_lines < r->nr_lines && sym.nr_lines < SYMBOL_MAX_DEPTH; sym.nr_lines++)
		symbol_batch_line(b, &b->lines[r->first_line + sym.nr_lines],
				  &lines[sym.nr_lines]);
	if (sym.nr_lines) {
		last = &lines[sym.nr_lines - 1];
		last->func_flags = sym.func_flags;
		sym.name = last->name;
		sym.sysname = last->sysname;
		sym.lang = last->lang;
	}
	return fn(ctx, r->cookie, r->addr, &sym);
}

int symbolizer_deliver(struct symbolizer *s, symbol_fn fn, void *ctx)
{
	int err = 0;

	while (s->answered && !err) {
		struct batch *job = s->answered;

		assert(job->answered <= job->b.nr);
		while (job->answered < job->b.nr && !err)
			err = give(&job->b, &job->b.v[job->answered++], fn, ctx);
		if (job->answered < job->b.nr)
			break;
		s->answered = job->next;
		if (!s->answered)
			s->answered_tail = &s->answered;
		symbolizer_free_batch(job);
	}
	return err;
}

static void run_here(struct symbolizer *s, struct subject *b)
{
	struct batch *job = b ? make_batch(s, b) : NULL;

	if (!job)
		return;
	run_batch(&job->job);
	batch_done(&job->job, false);
}

void symbolizer_work(struct symbolizer *s)
{
	void (*const start)(struct symbolizer *, struct subject *) = s->pool ? submit : run_here;

	for (size_t i = 0; i < s->nr_subjects; i++)
		if (s->subjects[i])
			start(s, s->subjects[i]);
	start(s, &s->kernel);
	start(s, &s->unknown);
	if (s->nr_open)
		worker_reap(s->pool);
}

int symbolizer_collect(struct symbolizer *s, symbol_fn fn, void *ctx, struct patience *wait)
{
	for (;;) {
		uint64_t before = s->nr_batches;
		int err;

		symbolizer_work(s);
		err = symbolizer_deliver(s, fn, ctx);
		if (err || !wait)
			return err;
		if (s->pool && !patience_lasts(wait))
			worker_unwanted(s->pool);	/* all answers are quick from now on */
		if (s->nr_open)
			symbolizer_wait_for_jobs(s);
		else if (!s->answered && !s->nr_pending)
			return 0;
		else if (s->nr_batches == before)
			return -ENOMEM;		/* no batch could be made */
	}
}

uint64_t symbolizer_lost(const struct symbolizer *s)
{
	return s->nr_lost;
}

uint32_t symbolizer_binary_flags(const struct symbolizer *s, uint32_t binary)
{
	return binary < s->nr_subjects && s->subjects[binary]
		       ? s->subjects[binary]->notes.flags
		       : 0;
}

size_t symbol_functions(const struct symbol *sym, struct symbol_line *only,
			const struct symbol_line **v)
{
	*only = (struct symbol_line){ .name = sym->name, .sysname = sym->sysname,
				      .lang = sym->lang, .func_flags = sym->func_flags };
	*v = sym->nr_lines ? sym->lines : only;
	return sym->nr_lines ? sym->nr_lines : sym->name != NULL;
}

bool symbol_line_is_in_file(const struct symbol_line *l)
{
	return !l->file || !l->decl_file || !strcmp(l->file, l->decl_file);
}
