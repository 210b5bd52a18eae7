/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a report as one call tree.
 *
 * Under the root "all" stands the name of the thread, then the user stack from its outermost
 * function to the innermost (inlined functions are nodes of their own), then the kernel's. A user
 * stack that is not whole begins with a synthetic node that says why (stack_note.h). Each node has
 * the weight of its samples, in the unit of the event that is shown, and their number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct definition_store;
struct profile;
struct report;
struct report_sample;

struct fold_options {
	bool offsets;			/* names end in "+0x12": one node per address instead of per
					   function */
};

/* *pp is the caller's: profile_free(). opts may be NULL. Says why it fails. */
int fold_report(struct report *rep, const struct fold_options *opts, struct profile **pp);

/*
 * The same of samples that do not come from a report and were counted already, such as those of a
 * recording under way (live_profile.h):
 *
 *	fold_new(&opts, &f)			opts are borrowed until fold_free()
 *	fold_counted(f, &sample, nr) ...	nr samples that are like this one
 *	fold_take(f, tables_of, ctx, &p)	the tree; of its facts, what stacks say is filled
 *	fold_free(f)
 *
 * All return 0 or -ENOMEM, silently.
 */
struct fold;
typedef const struct definition_store *(*segment_tables_fn)(const void *ctx, uint32_t segment);

int fold_new(const struct fold_options *opts, struct fold **fp);
void fold_free(struct fold *f);				/* NULL is fine */
int fold_counted(struct fold *f, const struct report_sample *s, uint64_t nr);
int fold_take(struct fold *f, segment_tables_fn tables_of, const void *ctx, struct profile **pp);
