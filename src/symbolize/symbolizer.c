/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/symbolize/symbolizer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/array.h"
#include "src/base/bytes.h"
#include "src/base/worker.h"
#include "src/model/record.h"
#include "src/symbolize/demangle.h"
#include "src/symbolize/elf_symbols.h"
#include "src/symbolize/kernel_symbols.h"

#define DEFAULT_TABLE_BYTES (16u << 20)
#define MAX_TEXT (64u << 20)		/* bytes of names in one batch */
#define NO_NAME UINT32_MAX

/* A request and its answer. */
struct request {
	uint64_t addr, func_addr;
	uint32_t cookie;
	uint32_t name, sysname;		/* offsets in the batch's text */
	uint8_t status, lang, func_flags;
	bool has_func_addr;
};

/*
 * One binary. While a batch of it is open, the table belongs to the thread that runs the batch;
 * everything else is the owner's.
 */
struct subject {
	struct symbol_source src;	/* .path is owned, .fd too */
	struct elf_symbols *table;
	struct kernel_symbols *kernel;	/* owned; for SOURCE_KERNEL without data */
	int err;			/* of the load; it is not tried again */
	uint32_t flags;
	size_t table_bytes;
	uint64_t last_used;		/* count of batches */
	struct request *pending;
	size_t nr_pending, cap_pending;
	bool is_open;			/* a batch is queued or running */
};

struct batch {
	struct worker_job job;
	struct symbolizer *owner;
	struct subject *subject;
	struct request *v;
	size_t nr, answered;
	struct byte_buf text;
	bool no_demangle;
	struct batch *next;
};

struct symbolizer {
	struct worker_pool *pool;
	struct symbolizer_options opts;
	struct subject **subjects;	/* by id */
	size_t nr_subjects, cap_subjects;
	struct subject kernel;		/* all SOURCE_KERNEL binaries are this one */
	struct subject unknown;		/* ids that were never added */
	struct batch *answered, **answered_tail;
	unsigned nr_open;		/* batches queued or running */
	size_t nr_pending;		/* requests of all subjects that are in no batch yet */
	uint64_t nr_batches;		/* done */
	size_t table_bytes;
};

/* ---- in a worker thread ---- */

static void load_table(struct subject *b)
{
	struct elf_symbols_source src = { .fd = b->src.fd, .data = b->src.data, .len = b->src.len,
					  .path = b->src.path };

	if (b->err || b->table || b->kernel)
		return;
	if (b->src.kind == SOURCE_KERNEL) {
		if (b->src.data)
			return;
		b->err = kernel_symbols_load(&b->kernel);
	} else if (b->src.kind == SOURCE_ELF && b->src.fd < 0) {
		b->err = -ENOENT;
	} else {
		src.fd = b->src.kind == SOURCE_ELF ? src.fd : -1;
		b->err = elf_symbols_load(&src, &b->table);
	}
}

static uint8_t status_of_error(int err)
{
	if (err == -ENOMEM)
		return SYMBOL_LIMITED;
	return err == -ENOENT ? SYMBOL_GONE : SYMBOL_UNREADABLE;
}

/* Stores both names of an answer, each with suffix. sysname has no "@plt". */
static void put_names(struct batch *job, struct request *r, const char *sysname, const char *suffix)
{
	struct byte_buf *text = &job->text;
	size_t len = strlen(sysname);
	int demangled;

	if (text->nr > MAX_TEXT) {
		r->status = SYMBOL_LIMITED;
		return;
	}
	r->sysname = r->name = (uint32_t)text->nr;
	bb_bytes(text, sysname, len);
	bb_bytes(text, suffix, strlen(suffix) + 1);
	if (job->no_demangle || text->bad)
		return;
	demangled = demangle(sysname, text);
	if (demangled <= 0)
		return;
	r->name = r->sysname + (uint32_t)(len + strlen(suffix) + 1);
	text->nr--;
	bb_bytes(text, suffix, strlen(suffix) + 1);
}

static uint8_t lang_of(const struct elf_symbols *t, const char *sysname)
{
	if (elf_symbols_is_go(t) && strpbrk(sysname, "./") && strncmp(sysname, "_Z", 2))
		return LANG_GO;
	return demangle_lang(sysname);
}

static void answer_elf(struct batch *job, struct request *r)
{
	static const char suffix[] = "@plt";
	const struct elf_symbols *t = job->subject->table;
	struct elf_symbol sym;

	if (elf_symbols_find(t, r->addr, &sym)) {
		r->status = elf_symbols_is_whole(t) ? SYMBOL_NONE : SYMBOL_STRIPPED;
		r->has_func_addr = !elf_symbols_unnamed(t, r->addr, &r->func_addr);
		return;
	}
	if (sym.is_plt)
		sym.name[strlen(sym.name) - strlen(suffix)] = 0;
	r->status = SYMBOL_OK_SYMTAB;
	r->func_addr = sym.addr;
	r->has_func_addr = true;
	r->lang = lang_of(t, sym.name);
	r->func_flags = sym.is_plt ? FUNC_PLT : 0;
	if (!strncmp(sym.name, "_ZTh", 4) || !strncmp(sym.name, "_ZTv", 4) ||
	    !strncmp(sym.name, "_ZTc", 4))
		r->func_flags |= FUNC_THUNK;
	put_names(job, r, sym.name, sym.is_plt ? suffix : "");
}

static void answer_kernel(struct batch *job, struct request *r, const struct kernel_symbols *k)
{
	struct kernel_symbol sym;

	r->status = kernel_symbols_hidden(k) ? SYMBOL_UNREADABLE : SYMBOL_NONE;
	if (kernel_symbols_find(k, r->addr, &sym))
		return;
	r->status = SYMBOL_OK_SYMTAB;
	r->func_addr = sym.addr;
	r->has_func_addr = true;
	r->lang = demangle_lang(sym.name);
	put_names(job, r, sym.name, "");
}

static void answer(struct batch *job, struct request *r)
{
	struct subject *b = job->subject;

	if (b->table)
		answer_elf(job, r);
	else if (b->kernel || (b->src.kind == SOURCE_KERNEL && b->src.data))
		answer_kernel(job, r, b->kernel ? b->kernel : b->src.data);
	else
		r->status = status_of_error(b->err);
}

static void run_batch(struct worker_job *j)
{
	struct batch *job = (struct batch *)j;

	load_table(job->subject);
	for (size_t i = 0; i < job->nr; i++) {
		size_t before = job->text.nr;

		answer(job, &job->v[i]);
		if (!job->text.bad)
			continue;
		/* Out of memory: this name is given up, earlier ones stay valid. */
		job->text.bad = false;
		job->text.nr = before;
		job->v[i].status = SYMBOL_LIMITED;
		job->v[i].name = job->v[i].sysname = NO_NAME;
	}
}

/* ---- in the owner's thread ---- */

static void free_batch(struct batch *job)
{
	bb_release(&job->text);
	free(job->v);
	free(job);
}

static void drop_table(struct symbolizer *s, struct subject *b)
{
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
	job->no_demangle = s->opts.no_demangle;
	job->v = b->pending;
	job->nr = b->nr_pending;
	s->nr_pending -= b->nr_pending;
	b->pending = NULL;
	b->nr_pending = b->cap_pending = 0;
	b->is_open = true;
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

	for (size_t i = 0; cancelled && i < job->nr; i++)
		job->v[i].status = SYMBOL_LIMITED;
	s->nr_open--;
	b->is_open = false;
	b->last_used = ++s->nr_batches;
	if (b->table && !b->table_bytes) {
		b->table_bytes = elf_symbols_bytes(b->table);
		b->flags = elf_symbols_flags(b->table);
		s->table_bytes += b->table_bytes;
	}
	*s->answered_tail = job;
	s->answered_tail = &job->next;
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

static void wait_for_jobs(struct symbolizer *s)
{
	struct pollfd pfd = { .fd = worker_fd(s->pool), .events = POLLIN };

	poll(&pfd, 1, -1);
	worker_reap(s->pool);
}

static void release_subject(struct symbolizer *s, struct subject *b)
{
	drop_table(s, b);
	kernel_symbols_free(b->kernel);
	if (b->src.fd >= 0)
		close(b->src.fd);
	free((char *)b->src.path);
	free(b->pending);
}

void symbolizer_free(struct symbolizer *s)
{
	struct batch *next;

	if (!s)
		return;
	for (size_t i = 0; i < s->nr_subjects; i++)
		if (s->subjects[i])
			s->subjects[i]->nr_pending = 0;
	s->kernel.nr_pending = s->unknown.nr_pending = 0;
	while (s->nr_open)
		wait_for_jobs(s);
	for (struct batch *job = s->answered; job; job = next) {
		next = job->next;
		free_batch(job);
	}
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

int symbolizer_add(struct symbolizer *s, uint32_t binary, const struct symbol_source *src)
{
	struct subject *b = NULL;
	int err = make_place(s, binary);

	if (!err && !s->subjects[binary]) {
		b = new_subject(src);
		err = b ? 0 : -ENOMEM;
		s->subjects[binary] = b;
	}
	if (!b && src->fd >= 0)
		close(src->fd);
	if (b && src->kind == SOURCE_KERNEL && src->data && !s->kernel.is_open && !s->kernel.kernel)
		s->kernel.src.data = src->data;
	return err;
}

int symbolizer_fd(const struct symbolizer *s, uint32_t binary)
{
	const struct subject *b = binary < s->nr_subjects ? s->subjects[binary] : NULL;

	return b ? b->src.fd : -1;
}

static struct subject *subject_of(struct symbolizer *s, uint32_t binary)
{
	struct subject *b = binary < s->nr_subjects ? s->subjects[binary] : NULL;

	if (!b)
		return &s->unknown;
	return b->src.kind == SOURCE_KERNEL ? &s->kernel : b;
}

int symbolizer_request(struct symbolizer *s, uint32_t binary, uint32_t cookie, uint64_t addr)
{
	struct subject *b = subject_of(s, binary);
	struct request *r = array_push(&b->pending, &b->nr_pending, &b->cap_pending);

	if (!r)
		return -ENOMEM;
	r->addr = addr;
	r->cookie = cookie;
	r->name = r->sysname = NO_NAME;
	s->nr_pending++;
	submit(s, b);
	return 0;
}

/* Delivers the answers; one that fn refuses counts as delivered. */
static int deliver(struct symbolizer *s, symbol_fn fn, void *ctx)
{
	int err = 0;

	while (s->answered && !err) {
		struct batch *job = s->answered;

		while (job->answered < job->nr && !err) {
			const struct request *r = &job->v[job->answered++];
			const char *text = (const char *)job->text.v;
			struct symbol sym = {
				.status = r->status, .lang = r->lang, .func_flags = r->func_flags,
				.name = r->name == NO_NAME ? NULL : text + r->name,
				.sysname = r->sysname == NO_NAME ? NULL : text + r->sysname,
				.has_func_addr = r->has_func_addr, .func_addr = r->func_addr,
			};

			err = fn(ctx, r->cookie, r->addr, &sym);
		}
		if (job->answered < job->nr)
			break;
		s->answered = job->next;
		if (!s->answered)
			s->answered_tail = &s->answered;
		free_batch(job);
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

/* Also retries batches that could not be submitted for lack of memory. */
static void work(struct symbolizer *s)
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

int symbolizer_collect(struct symbolizer *s, symbol_fn fn, void *ctx, bool wait)
{
	for (;;) {
		uint64_t before = s->nr_batches;
		int err;

		work(s);
		err = deliver(s, fn, ctx);
		if (err || !wait)
			return err;
		if (s->nr_open)
			wait_for_jobs(s);
		else if (!s->answered && !s->nr_pending)
			return 0;
		else if (s->nr_batches == before)
			return -ENOMEM;		/* no batch could be made */
	}
}

uint32_t symbolizer_binary_flags(const struct symbolizer *s, uint32_t binary)
{
	return binary < s->nr_subjects && s->subjects[binary] ? s->subjects[binary]->flags : 0;
}
