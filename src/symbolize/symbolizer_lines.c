/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batches that have their names and wait for their lines.
 *
 * Debug information may take long, and be made to. So one thread adds lines, to the files of one
 * owner at a time, and the other threads of the pool go on with names. The thread works on copies:
 * the owner can give the names without lines at any time (symbolizer_settle()), and what the thread
 * brings back then is thrown away.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/record.h"
#include "src/symbolize/symbolizer_parts.h"

struct symbol_file symbolizer_file_of(struct subject *s, unsigned max_depth,
				      struct symbol_file_notes *notes)
{
	return (struct symbol_file){
		.binary = s->id, .fd = s->src.fd, .pid = s->src.pid, .inode = s->src.inode,
		.path = s->src.path, .owner = s->src.owner, .max_depth = max_depth,
		.notes = notes,
		.debug_fds = s->src.debug_fds, .nr_debug_fds = s->src.nr_debug_fds,
		.is_kernel = s->src.is_kernel, .text_start = s->src.text_start,
	};
}

/* The first batch is the job; the others go with it. */
static void add_lines(struct worker_job *j)
{
	struct batch *first = (struct batch *)j;
	const struct symbolizer_options *o = &first->owner->opts;

	for (struct batch *job = first; job; job = job->next) {
		struct subject *s = job->subject;
		struct symbol_file file = symbolizer_file_of(s, o->max_depth, &s->line_notes);

		o->look_up_lines(o->ctx, &file, &job->b, first->job.unwanted);
		/* The file has names, too, but the kernel that runs knows better. */
		if (s->src.kind == SOURCE_KERNEL && s->src.data)
			symbol_batch_kernel(&job->b, s->src.data);
	}
}

bool symbolizer_wants_lines(const struct symbolizer *s, const struct batch *job)
{
	const struct subject *b = job->subject;

	return s->opts.look_up_lines && s->opts.max_depth && b->src.kind != SOURCE_MEMORY &&
	       b->src.fd >= 0 && !b->err && !job->is_lost;
}

/* Root's files come first, and of others those that have cost least. */
static bool comes_before(const struct batch *x, const struct batch *y)
{
	const struct subject *a = x->subject, *b = y->subject;

	if (!a->src.owner != !b->src.owner)
		return !a->src.owner;
	return a->line_notes.lines_ns < b->line_notes.lines_ns;
}

struct batch *symbolizer_take_waiting(struct symbolizer *s)
{
	struct batch **best = &s->waiting, *job;

	for (struct batch **at = &s->waiting; *at; at = &(*at)->next)
		if (comes_before(*at, *best))
			best = at;
	job = *best;
	if (job)
		*best = job->next;
	return job;
}

/*
 * Takes the batch that comes first, and with it all others of its owner. The symbolizer's owner
 * looks here once a second only, so one batch at a time would take as many seconds.
 */
struct batch *symbolizer_take_group(struct symbolizer *s)
{
	struct batch *first = symbolizer_take_waiting(s), **end = first ? &first->next : NULL;
	struct batch **at = &s->waiting, *job;

	if (first)
		*end = NULL;
	while (first && (job = *at)) {
		if (job->subject->src.owner != first->subject->src.owner) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		job->next = NULL;
		*end = job;
		end = &job->next;
	}
	return first;
}

/* ---- lines come to copies ---- */

static struct batch *copy_batch(const struct batch *job)
{
	struct batch *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *job;
	copy->is_copy = true;
	copy->next = NULL;
	copy->b.text = (struct byte_buf){ 0 };
	copy->b.lines = NULL;
	copy->b.nr_lines = copy->b.cap_lines = 0;
	copy->b.v = malloc((job->b.nr + 1) * sizeof(*copy->b.v));
	bb_bytes(&copy->b.text, job->b.text.v, job->b.text.nr);
	if (!copy->b.v || copy->b.text.bad) {
		free(copy->b.v);
		bb_release(&copy->b.text);
		free(copy);
		return NULL;
	}
	memcpy(copy->b.v, job->b.v, job->b.nr * sizeof(*copy->b.v));
	copy->subject->nr_batches++;
	return copy;
}

/* NULL: there is no memory for them all. */
static struct batch *copy_group(const struct batch *group)
{
	struct batch *first = NULL, **end = &first;

	for (; group; group = group->next) {
		*end = copy_batch(group);
		if (!*end) {
			symbolizer_free_batches(first);
			return NULL;
		}
		end = &(*end)->next;
	}
	return first;
}

/* Where a file is known to have lines they count as lost; what is in other files is not known. */
static void give_without_lines(struct symbolizer *s, struct batch *job)
{
	struct batch *next;

	for (; job; job = next) {
		next = job->next;
		for (size_t i = 0; i < job->b.nr; i++)
			job->b.v[i].is_late = !!(job->subject->notes.flags & BINARY_HAS_DEBUGINFO);
		symbolizer_put_answered(s, job);
	}
}

/*
 * A pool that has cancelled a job runs no others. Where the names were given without lines
 * meanwhile (symbolizer_give_up_lines()), a frame would have two answers.
 */
static void lines_done(struct worker_job *j, bool cancelled)
{
	struct batch *job = (struct batch *)j, *next;
	struct symbolizer *s = job->owner;
	bool were_given_up = !s->adding;

	assert(s->nr_open && s->is_adding_lines);
	s->nr_open--;
	s->is_adding_lines = false;
	symbolizer_free_batches(s->adding);
	s->adding = NULL;
	for (; job; job = next) {
		next = job->next;
		if (were_given_up)
			symbolizer_free_batch(job);
		else
			symbolizer_put_answered(s, job);
	}
	if (cancelled)
		symbolizer_give_up_waiting(s);
	symbolizer_start_lines(s);
}

void symbolizer_start_lines(struct symbolizer *s)
{
	struct batch *group = s->is_adding_lines ? NULL : symbolizer_take_group(s), *job;

	if (!group)
		return;
	for (struct batch *b = group; b; b = b->next)
		b->subject->line_notes.server_fd = b->subject->notes.server_fd;
	job = copy_group(group);
	if (!job) {
		give_without_lines(s, group);
		return;
	}
	s->adding = group;
	s->is_adding_lines = true;
	s->nr_open++;
	job->job.run = add_lines;
	job->job.done = lines_done;
	if (s->pool) {
		worker_submit(s->pool, &job->job);
		return;
	}
	add_lines(&job->job);
	lines_done(&job->job, false);
}

void symbolizer_give_up_waiting(struct symbolizer *s)
{
	struct batch *job;

	while ((job = symbolizer_take_group(s)))
		give_without_lines(s, job);
}

void symbolizer_give_up_lines(struct symbolizer *s)
{
	struct batch *adding = s->adding;

	s->adding = NULL;
	give_without_lines(s, adding);
	symbolizer_give_up_waiting(s);
}
