/*
 * The samples of a report as one call tree.
 *
 * Under the root "all" stands the name of the thread, then the user stack from its outermost
 * function to the innermost (inlined functions are nodes of their own), then the kernel's. A user
 * stack that is not whole begins with a synthetic node that says why (stack_note.h). Weight is the
 * number of samples.
 */
#pragma once

#include <stdbool.h>

struct profile;
struct report;

struct fold_options {
	bool offsets;			/* names end in "+0x12": one node per address instead of per
					   function */
};

/* *pp is the caller's: profile_free(). opts may be NULL. Says why it fails. */
int fold_report(struct report *rep, const struct fold_options *opts, struct profile **pp);
