/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds the samples of a report into one call tree.
 *
 * The children of the root "all" are what fold_options.by says (fold_roots.h): the names of threads
 * where it says nothing. Below them stand the functions of the user stack from the outermost to the
 * innermost (inlined functions are nodes of their own), then those of the kernel stack. A user
 * stack that is not whole begins with a synthetic node that says why (stack_note.h). Each node has
 * the number of its samples and their weight, in the unit of the event that is shown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "src/profile/fold_roots.h"
#include "src/profile/frame_style.h"

struct answer;
struct definition_store;
struct profile;
struct report;
struct report_sample;

struct fold_options {
	struct frame_style style;
	struct fold_by by;
	bool fold_idle;			/* idle waits are one node: src/waits/idle.h */
	struct answer *answer;		/* gets all samples, too; NULL: none */
	/* Limits of the tree; 0: those of tree_builder.h. */
	uint32_t max_nodes;
	uint64_t max_name_bytes;
	uint64_t max_steps;		/* frames that are looked at; 0: any number */
};

/*
 * Folds all samples of a report. *pp is the caller's: profile_free(). opts may be NULL. Prints why
 * it fails.
 */
int fold_report(struct report *rep, const struct fold_options *opts, struct profile **pp);

/*
 * A renderer that wants to know the node of each sample makes its tree by hand:
 *
 *	fold_limit(&opts, rep)
 *	fold_new(&opts, &f)
 *	report_samples(rep, ...)		fold_node(f, sample, &node) for each
 *	fold_take_report(f, rep, &p)
 *	fold_free(f)
 */
void fold_limit(struct fold_options *opts, const struct report *rep);

/*
 * Folds samples that do not come from a report and were counted already, such as those of a
 * recording under way (live_profile.h):
 *
 *	fold_new(&opts, &f)			opts are borrowed until fold_free()
 *	fold_counted(f, &sample, nr) ...	nr samples that are like this one
 *	fold_node(f, &sample, &node) ...	one sample; node: index of its innermost function's
 *						node in the tree that fold_take() makes
 *	fold_take(f, tables_of, ctx, &p)	the tree, with the facts about stacks
 *	fold_free(f)
 *
 * All return 0 or -ENOMEM, silently.
 */
struct fold;
typedef const struct definition_store *(*segment_tables_fn)(const void *ctx, uint32_t segment);

int fold_new(const struct fold_options *opts, struct fold **fp);
void fold_free(struct fold *f);				/* NULL is fine */
int fold_counted(struct fold *f, const struct report_sample *s, uint64_t nr);
int fold_node(struct fold *f, const struct report_sample *s, uint32_t *node);
int fold_take(struct fold *f, segment_tables_fn tables_of, const void *ctx, struct profile **pp);

/* The tree of samples of a report, with all facts. 0 or -ENOMEM, silently. */
int fold_take_report(struct fold *f, struct report *rep, struct profile **pp);
