/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches that have their names and wait for their lines. */
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
void symbolizer_add_lines(struct batch *first)
{
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
